//! Sizes of heap objects and stack frames, for a linear walk over a block or a stack.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::tso::TSO_WORDS;
use crate::abi::{words, Closure, Info};

/// Words of a heap object, header included.
/// # Safety
/// `c` is an untagged pointer to a live, unforwarded heap object whose header is `info`.
#[inline]
pub unsafe fn size_of_object(c: Closure, info: Info) -> usize {
    let kind = info.kind();
    match kind {
        CONSTR_1_0 | CONSTR_0_1 | FUN_1_0 | FUN_0_1 => 2,
        CONSTR_2_0 | CONSTR_1_1 | CONSTR_0_2 | FUN_2_0 | FUN_1_1 | FUN_0_2 => 3,
        THUNK_1_0 | THUNK_0_1 | THUNK_SELECTOR => 3,
        THUNK_2_0 | THUNK_1_1 | THUNK_0_2 => 4,
        THUNK => THUNK_PAYLOAD + info.ptrs() + info.nptrs(),
        IND | BLACKHOLE | MUT_VAR_CLEAN | MUT_VAR_DIRTY => 2,
        PAP => PAP_PAYLOAD + (c.word(PAP_COUNTS) >> 32),
        AP => AP_PAYLOAD + (c.word(AP_COUNTS) >> 32),
        AP_STACK => AP_STACK_PAYLOAD + c.word(AP_STACK_SIZE),
        ARR_WORDS => ARR_BYTES_PAYLOAD + words(c.word(ARR_BYTES)),
        MUT_ARR_PTRS_CLEAN | MUT_ARR_PTRS_DIRTY | MUT_ARR_PTRS_FROZEN_CLEAN | MUT_ARR_PTRS_FROZEN_DIRTY => {
            MUT_ARR_PAYLOAD + c.word(MUT_ARR_SIZE)
        }
        SMALL_MUT_ARR_PTRS_CLEAN
        | SMALL_MUT_ARR_PTRS_DIRTY
        | SMALL_MUT_ARR_PTRS_FROZEN_CLEAN
        | SMALL_MUT_ARR_PTRS_FROZEN_DIRTY => SMALL_ARR_PAYLOAD + c.word(SMALL_ARR_PTRS),
        MVAR_CLEAN | MVAR_DIRTY | TVAR => 4,
        BLOCKING_QUEUE => 5,
        WEAK => 6,
        TREC_CHUNK => SIZEOF_StgTRecChunk / 8,
        TSO => TSO_WORDS,
        STACK => SIZEOF_StgStack / 8 + (c.word(OFFSET_STACK_stack_size / 8) as u32) as usize,
        BCO => c.word(4) >> 32,
        _ => 1 + info.ptrs() + info.nptrs(),
    }
}

/// Words of a stack frame, header included.
/// # Safety
/// `frame` points to a frame on a stack.
#[inline]
pub unsafe fn size_of_frame(frame: *const usize) -> usize {
    let info = Info(*frame);
    match info.kind() {
        RET_FUN => 3 + *frame.add(1),
        RET_BIG => 1 + info.large_bitmap().size(),
        RET_BCO => 2 + *Closure(*frame.add(1)).slot(5),
        _ => 1 + info.small_bitmap().size(),
    }
}
