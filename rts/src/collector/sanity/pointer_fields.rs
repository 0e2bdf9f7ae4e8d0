//! Enumerates the pointer fields of an object for the heap checker, in code that the collector does not use.
//!
//! The collector's fast paths are thus checked against a second reading of the same layouts ([`crate::abi`]).
use crate::abi::closure::fields::*;
use crate::abi::info_table::Bitmap;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, Stack, Tso, TAG_MASK};
use crate::info;
use crate::memory::object_size::size_of_frame;
use crate::thread::park;

/// Calls `f` with the address of every word of a heap object that holds a closure pointer.
/// # Safety
/// `c` is a live object with a plausible header.
pub(in crate::collector) unsafe fn each_pointer(c: Closure, f: &mut dyn FnMut(*mut usize)) {
    let info = c.info();
    let range = |f: &mut dyn FnMut(*mut usize), from: usize, n: usize| (from..from + n).for_each(|i| f(c.slot(i)));
    match info.kind() {
        CONSTR | CONSTR_NOCAF | CONSTR_1_0 | CONSTR_0_1 | CONSTR_2_0 | CONSTR_1_1 | CONSTR_0_2 | FUN | FUN_1_0
        | FUN_0_1 | FUN_2_0 | FUN_1_1 | FUN_0_2 | PRIM | MUT_PRIM => range(f, 1, info.ptrs()),
        THUNK | THUNK_1_0 | THUNK_0_1 | THUNK_2_0 | THUNK_1_1 | THUNK_0_2 => range(f, THUNK_PAYLOAD, info.ptrs()),
        THUNK_SELECTOR => f(c.slot(SELECTOR_SELECTEE)),
        IND | BLACKHOLE => f(c.slot(INDIRECTEE)),
        PAP => {
            f(c.slot(PAP_FUN));
            arguments(c, PAP_FUN, c.word(PAP_COUNTS) >> 32, f);
        }
        AP => {
            f(c.slot(AP_FUN));
            arguments(c, AP_FUN, c.word(AP_COUNTS) >> 32, f);
        }
        AP_STACK => {
            f(c.slot(AP_STACK_FUN));
            let from = c.slot(AP_STACK_PAYLOAD);
            frames(from, from.add(c.word(AP_STACK_SIZE)), f);
        }
        ARR_WORDS | COMPACT_NFDATA => {}
        MUT_ARR_PTRS_CLEAN | MUT_ARR_PTRS_DIRTY | MUT_ARR_PTRS_FROZEN_CLEAN | MUT_ARR_PTRS_FROZEN_DIRTY => {
            range(f, MUT_ARR_PAYLOAD, c.word(MUT_ARR_PTRS))
        }
        SMALL_MUT_ARR_PTRS_CLEAN
        | SMALL_MUT_ARR_PTRS_DIRTY
        | SMALL_MUT_ARR_PTRS_FROZEN_CLEAN
        | SMALL_MUT_ARR_PTRS_FROZEN_DIRTY => range(f, SMALL_ARR_PAYLOAD, c.word(SMALL_ARR_PTRS)),
        MUT_VAR_CLEAN | MUT_VAR_DIRTY => f(c.slot(MUT_VAR)),
        MVAR_CLEAN | MVAR_DIRTY => range(f, MVAR_HEAD, 3),
        TVAR => range(f, TVAR_VALUE, 2),
        BLOCKING_QUEUE => range(f, BQ_LINK, 4),
        WEAK if info != info!(stg_DEAD_WEAK_info) => range(f, WEAK_CFINALIZERS, 4),
        WEAK => {}
        TSO => {
            let o = Tso(c.0).obj();
            f(&mut o.link as *mut Tso as *mut usize);
            f(&mut o.stackobj as *mut Stack as *mut usize);
            if park::block_info_is_pointer(o.why_blocked as usize) {
                f(&mut o.block_info);
            }
            f(&mut o.trec);
            f(&mut o.blocked_exceptions as *mut Closure as *mut usize);
            f(&mut o.bq as *mut Closure as *mut usize);
            f(&mut o.sched as *mut Closure as *mut usize);
        }
        STACK => {
            let s = Stack(c.0);
            frames(s.obj().sp as *mut usize, s.top() as *mut usize, f);
        }
        TREC_CHUNK => {
            f(c.slot(1));
            for i in 0..c.word(2).min(TREC_CHUNK_NUM_ENTRIES) {
                range(f, 3 + 4 * i, 3);
            }
        }
        _ => {}
    }
}

unsafe fn arguments(c: Closure, fun_field: usize, n: usize, f: &mut dyn FnMut(*mut usize)) {
    let info = Closure(c.word(fun_field) & !TAG_MASK).info();
    let payload = c.slot(fun_field + 1);
    match info.kind() {
        FUN | FUN_1_0 | FUN_0_1 | FUN_2_0 | FUN_1_1 | FUN_0_2 | FUN_STATIC => {
            words_of(payload, info.fun_bitmap(), n, f)
        }
        _ => (0..n).for_each(|i| f(payload.add(i))),
    }
}

unsafe fn words_of(at: *mut usize, bitmap: Bitmap, n: usize, f: &mut dyn FnMut(*mut usize)) {
    for i in 0..n {
        let bit = match bitmap {
            Bitmap::Small { bits, .. } => bits >> i & 1,
            Bitmap::Large { words, .. } => *words.add(i / 64) >> (i % 64) & 1,
        };
        if bit == 0 {
            f(at.add(i));
        }
    }
}

unsafe fn frames(mut sp: *mut usize, end: *mut usize, f: &mut dyn FnMut(*mut usize)) {
    while sp < end {
        let info = Info(*sp);
        match info.kind() {
            UNDERFLOW_FRAME => f(sp.add(UNDERFLOW_NEXT)),
            UPDATE_FRAME => f(sp.add(UPD_FRAME_UPDATEE)),
            RET_BIG => {
                let bitmap = info.large_bitmap();
                words_of(sp.add(1), bitmap, bitmap.size(), f);
            }
            RET_FUN => {
                f(sp.add(2));
                let fun = Closure(*sp.add(2) & !TAG_MASK).info();
                words_of(sp.add(3), fun.fun_bitmap(), *sp.add(1), f);
            }
            _ => {
                let bitmap = info.small_bitmap();
                words_of(sp.add(1), bitmap, bitmap.size(), f);
            }
        }
        sp = sp.add(size_of_frame(sp));
    }
}
