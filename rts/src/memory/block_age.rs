//! The byte of the side table that every block has.
//!
//! The low four bits are the *age*: 0 nursery, 1 survivors of one collection (both generation
//! 0), n+1 generation n. The high bits say how the block is managed. Cmm tests `age > 1` to
//! see whether an object is old (`HEC_IS_OLD`); the collector tests [`Age::CONDEMNED`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Age(pub u8);

impl Age {
    pub const NURSERY: Age = Age(0);
    pub const SURVIVOR: Age = Age(1);
    /// No object lives here.
    pub const FREE: Age = Age(15);

    /// The block is a whole object, or part of one.
    pub const LARGE: u8 = 0x10;
    /// The block holds pinned byte arrays; it lives or dies as a whole.
    pub const PINNED: u8 = 0x20;
    /// The block belongs to a compact region.
    pub const COMPACT: u8 = 0x40;
    /// From-space of the running collection: what is reached here must be saved.
    pub const CONDEMNED: u8 = 0x80;

    /// The age of objects of generation `gen` that have been there for a collection.
    #[inline(always)]
    pub const fn of_generation(gen: usize) -> Age {
        Age(gen as u8 + 1)
    }
    #[inline(always)]
    pub fn step(self) -> usize {
        (self.0 & 15) as usize
    }
    #[inline(always)]
    pub fn generation(self) -> usize {
        self.step().saturating_sub(1)
    }
    #[inline(always)]
    pub fn is_old(self) -> bool {
        self.step() > 1
    }
    #[inline(always)]
    pub fn is(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
    /// Objects are copied out, one by one, by the running collection.
    #[inline(always)]
    pub fn is_condemned_plain(self) -> bool {
        self.0 & (Age::CONDEMNED | Age::LARGE | Age::PINNED | Age::COMPACT) == Age::CONDEMNED
    }
    /// Neither large, pinned nor compact: objects are copied out one by one.
    #[inline(always)]
    pub fn is_plain(self) -> bool {
        self.0 & (Age::LARGE | Age::PINNED | Age::COMPACT) == 0
    }
}
