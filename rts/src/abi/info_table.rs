//! Info tables. A table lies directly before the entry code that the info pointer refers to.
use crate::abi::layout::*;
use crate::abi::{Closure, Info, WORD};

/// Which of `size` words are pointers: bit i is set if word i is not a pointer.
#[derive(Clone, Copy)]
pub enum Bitmap {
    Small { size: usize, bits: usize },
    Large { size: usize, words: *const usize },
}

impl Bitmap {
    #[inline(always)]
    pub fn from_small(word: usize) -> Bitmap {
        Bitmap::Small { size: word & BITMAP_SIZE_MASK, bits: word >> BITMAP_BITS_SHIFT }
    }
    /// # Safety
    /// `p` points to an `StgLargeBitmap`.
    #[inline(always)]
    pub unsafe fn from_large(p: *const usize) -> Bitmap {
        Bitmap::Large { size: *p, words: p.add(1) }
    }
    #[inline(always)]
    pub fn size(&self) -> usize {
        match *self {
            Bitmap::Small { size, .. } | Bitmap::Large { size, .. } => size,
        }
    }
}

#[inline(always)]
unsafe fn half(p: usize) -> u32 {
    *(p as *const u32)
}

/// # Safety
/// For all methods: the info pointer refers to an info table of the kind that the method reads.
#[expect(clippy::missing_safety_doc, reason = "the section above is about all methods")]
impl Info {
    #[inline(always)]
    fn table(self) -> usize {
        self.0 - SIZEOF_InfoTable
    }
    /// Closure type.
    #[inline(always)]
    pub unsafe fn kind(self) -> usize {
        half(self.table() + OFFSET_InfoTable_type) as usize
    }
    #[inline(always)]
    pub unsafe fn ptrs(self) -> usize {
        half(self.table() + OFFSET_InfoTable_layout) as usize
    }
    #[inline(always)]
    pub unsafe fn nptrs(self) -> usize {
        half(self.table() + OFFSET_InfoTable_layout + 4) as usize
    }
    /// Constructor number, counted from zero.
    #[inline(always)]
    pub unsafe fn con_tag(self) -> usize {
        half(self.table() + OFFSET_InfoTable_srt) as usize
    }
    /// The name of a constructor: package, module and name.
    #[inline(always)]
    pub unsafe fn con_name(self) -> *const std::ffi::c_char {
        let offset = half(self.table() - WORD) as i32;
        self.0.wrapping_add(offset as isize as usize) as *const std::ffi::c_char
    }
    /// The static reference table of a function, thunk or return frame.
    #[inline(always)]
    pub unsafe fn srt(self) -> Option<Closure> {
        match half(self.table() + OFFSET_InfoTable_srt) as i32 {
            0 => None,
            off => Some(Closure(self.0.wrapping_add(off as isize as usize))),
        }
    }
    #[inline(always)]
    unsafe fn layout_word(self) -> usize {
        *((self.table() + OFFSET_InfoTable_layout) as *const usize)
    }
    #[inline(always)]
    pub unsafe fn selector_offset(self) -> usize {
        self.layout_word()
    }
    /// Bitmap of a `RET_SMALL` (and other small) frame.
    #[inline(always)]
    pub unsafe fn small_bitmap(self) -> Bitmap {
        Bitmap::from_small(self.layout_word())
    }
    /// Bitmap of a `RET_BIG` frame.
    #[inline(always)]
    pub unsafe fn large_bitmap(self) -> Bitmap {
        let off = half(self.table() + OFFSET_InfoTable_layout) as i32;
        Bitmap::from_large(self.0.wrapping_add(off as isize as usize) as *const usize)
    }
    #[inline(always)]
    fn fun_extra(self) -> usize {
        self.table() - SIZEOF_FunInfoExtra
    }
    #[inline(always)]
    pub unsafe fn fun_type(self) -> usize {
        half(self.fun_extra() + OFFSET_FunInfoExtra_fun_type) as usize
    }
    #[inline(always)]
    pub unsafe fn arity(self) -> usize {
        half(self.fun_extra() + OFFSET_FunInfoExtra_arity) as usize
    }
    /// Which arguments of a function are pointers.
    #[inline(always)]
    pub unsafe fn fun_bitmap(self) -> Bitmap {
        match self.fun_type() {
            ARG_GEN => Bitmap::from_small(*((self.fun_extra() + OFFSET_FunInfoExtra_bitmap) as *const usize)),
            ARG_GEN_BIG => {
                let off = half(self.fun_extra() + OFFSET_FunInfoExtra_bitmap) as i32;
                Bitmap::from_large(self.0.wrapping_add(off as isize as usize) as *const usize)
            }
            canned => Bitmap::from_small(*crate::abi::symbols::stg_arg_bitmaps.as_ptr().add(canned)),
        }
    }
}
