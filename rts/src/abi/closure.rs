//! Closure addresses, and access to the words of a closure. Info tables are in `info_table.rs`.
use crate::abi::TAG_MASK;

/// A pointer to a closure, as in registers, fields and stack slots. It may be tagged.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Closure(pub usize);

/// An info pointer (the first word of a closure or stack frame).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Info(pub usize);

impl std::fmt::Debug for Info {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "info {:#x}", self.0)
    }
}

impl Closure {
    pub const NULL: Closure = Closure(0);

    #[inline(always)]
    pub fn is_null(self) -> bool {
        self.0 == 0
    }
    #[inline(always)]
    pub fn tag(self) -> usize {
        self.0 & TAG_MASK
    }
    #[inline(always)]
    pub fn untag(self) -> Closure {
        Closure(self.0 & !TAG_MASK)
    }
    #[inline(always)]
    pub fn with_tag(self, tag: usize) -> Closure {
        Closure(self.0 | tag)
    }
    /// The address of word `i`; word 0 is the info pointer. The pointer must be untagged.
    #[inline(always)]
    pub fn slot(self, i: usize) -> *mut usize {
        debug_assert!(self.tag() == 0, "slot of a tagged pointer {:#x}", self.0);
        (self.0 as *mut usize).wrapping_add(i)
    }
    /// Word `i` of the closure.
    /// # Safety
    /// `self` is untagged and points to a live closure of more than `i` words.
    #[inline(always)]
    pub unsafe fn word(self, i: usize) -> usize {
        *self.slot(i)
    }
    /// Overwrites word `i`.
    /// # Safety
    /// As for [`Closure::word`]. The caller runs the write barrier.
    #[inline(always)]
    pub unsafe fn set_word(self, i: usize, v: usize) {
        *self.slot(i) = v
    }
    /// Word `i` as a closure pointer.
    /// # Safety
    /// As for [`Closure::word`].
    #[inline(always)]
    pub unsafe fn field(self, i: usize) -> Closure {
        Closure(self.word(i))
    }
    /// The info pointer.
    /// # Safety
    /// `self` is untagged and points to a closure without a forwarding pointer.
    #[inline(always)]
    pub unsafe fn info(self) -> Info {
        Info(self.word(0))
    }
    /// Overwrites the info pointer.
    /// # Safety
    /// The payload fits the new info table.
    #[inline(always)]
    pub unsafe fn set_info(self, i: Info) {
        self.set_word(0, i.0)
    }
}

impl std::fmt::Debug for Closure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "closure {:#x}", self.0)
    }
}

/// Field positions, in words from the start of the closure.
pub mod fields {
    /// `IND`, `BLACKHOLE` and thunks: the word for the value. It is not part of the payload.
    pub const INDIRECTEE: usize = 1;
    /// First payload word of a thunk.
    pub const THUNK_PAYLOAD: usize = 2;
    pub const MUT_VAR: usize = 1;
    pub const ARR_BYTES: usize = 1;
    pub const ARR_BYTES_PAYLOAD: usize = 2;
    pub const MUT_ARR_PTRS: usize = 1;
    pub const MUT_ARR_SIZE: usize = 2;
    pub const MUT_ARR_PAYLOAD: usize = 3;
    pub const SMALL_ARR_PTRS: usize = 1;
    pub const SMALL_ARR_PAYLOAD: usize = 2;
    /// PAP: the arity (low half) and n_args (high half) share a word.
    pub const PAP_COUNTS: usize = 1;
    pub const PAP_FUN: usize = 2;
    pub const PAP_PAYLOAD: usize = 3;
    pub const AP_COUNTS: usize = 2;
    pub const AP_FUN: usize = 3;
    pub const AP_PAYLOAD: usize = 4;
    pub const AP_STACK_SIZE: usize = 2;
    pub const AP_STACK_FUN: usize = 3;
    pub const AP_STACK_PAYLOAD: usize = 4;
    pub const SELECTOR_SELECTEE: usize = 2;
    pub const MVAR_HEAD: usize = 1;
    pub const MVAR_TAIL: usize = 2;
    pub const MVAR_VALUE: usize = 3;
    pub const MVAR_QUEUE_LINK: usize = 1;
    pub const MVAR_QUEUE_TSO: usize = 2;
    pub const TVAR_VALUE: usize = 1;
    pub const TVAR_WAITERS: usize = 2;
    pub const TVAR_UPDATES: usize = 3;
    pub const WEAK_CFINALIZERS: usize = 1;
    pub const WEAK_KEY: usize = 2;
    pub const WEAK_VALUE: usize = 3;
    pub const WEAK_FINALIZER: usize = 4;
    pub const WEAK_LINK: usize = 5;
    pub const STABLE_NAME_SN: usize = 1;
    pub const BQ_LINK: usize = 1;
    pub const BQ_BH: usize = 2;
    pub const BQ_OWNER: usize = 3;
    pub const BQ_QUEUE: usize = 4;
    /// Static link and saved info of an evaluated CAF.
    pub const CAF_STATIC_LINK: usize = 2;
    pub const CAF_SAVED_INFO: usize = 3;
    /// Update frame, on the stack.
    pub const UPD_FRAME_UPDATEE: usize = 1;
    pub const UPD_FRAME_WORDS: usize = 2;
    pub const CATCH_FRAME_EXCEPTIONS_BLOCKED: usize = 1;
    pub const CATCH_FRAME_HANDLER: usize = 2;
    pub const CATCH_FRAME_WORDS: usize = 3;
    pub const UNDERFLOW_NEXT: usize = 1;
}
