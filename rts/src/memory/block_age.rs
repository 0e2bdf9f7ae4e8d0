//! The age byte that every block has in the side table.
//!
//! *Invariants*
//!
//! - The low four bits are the *age*: 0 for a nursery, 1 for survivors of one collection, n+1 for generation n. Ages 0
//!   and 1 are generation 0. Fixed objects, to which other processing elements may refer, are older than all.
//! - The high bits say how the block is managed.
//! - Cmm tests `age > 1` to see whether an object is old (`HEC_IS_OLD`). The collector tests [`Age::CONDEMNED`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct Age(pub u8);

impl Age {
    pub const NURSERY: Age = Age(0);
    pub const SURVIVOR: Age = Age(1);
    /// The block holds fixed objects (`fixed_blocks.rs`). Generations are younger.
    pub const FIXED: Age = Age(14);
    /// The block is free.
    pub const FREE: Age = Age(15);

    /// The block is one large object, or a part of one.
    pub const LARGE: u8 = 0x10;
    /// The block holds pinned byte arrays. They are retained or freed together.
    pub const PINNED: u8 = 0x20;
    /// The block belongs to a compact region.
    pub const COMPACT: u8 = 0x40;
    /// The block is from-space of the running collection. Objects that are reached here must be retained.
    pub const CONDEMNED: u8 = 0x80;

    /// The age of objects of generation `gen` that have survived a collection there.
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
    pub fn is_fixed(self) -> bool {
        self.step() == Age::FIXED.step()
    }
    #[inline(always)]
    pub fn is(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
    /// In from-space, and objects are copied out one by one.
    #[inline(always)]
    pub fn is_condemned_plain(self) -> bool {
        self.0 & (Age::CONDEMNED | Age::LARGE | Age::PINNED | Age::COMPACT) == Age::CONDEMNED
    }
    /// Neither large, pinned nor compact: a collection copies the objects one by one.
    #[inline(always)]
    pub fn is_plain(self) -> bool {
        self.0 & (Age::LARGE | Age::PINNED | Age::COMPACT) == 0
    }
}
