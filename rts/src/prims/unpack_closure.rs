//! Inspection of closures from Haskell: their size, words and pointers.
use crate::abi::closure::fields::*;
use crate::abi::info_table::Bitmap;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, WORD};
use crate::hec::Hec;
use crate::memory::object_size::size_of_object;
use crate::thread::spinlock::pause;
use crate::{info, static_closure};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Words of a closure, static or not, header included.
/// # Safety
/// `c` is live.
#[no_mangle]
pub unsafe extern "C" fn hec_closure_size(c: Closure) -> usize {
    let c = c.untag();
    size_of_object(c, unlocked_info(c))
}

/// The header of an object, after waiting until no other HEC has it locked.
unsafe fn unlocked_info(c: Closure) -> Info {
    let header = &*(c.slot(0) as *const AtomicUsize);
    let mut spins = 0;
    loop {
        let info = header.load(Ordering::Acquire);
        if info != info!(stg_WHITEHOLE_info).0 {
            return Info(info);
        }
        pause(&mut spins);
    }
}

impl Bitmap {
    /// Is word `i` a pointer?
    unsafe fn is_pointer(&self, i: usize) -> bool {
        let word = match *self {
            Bitmap::Small { bits, .. } => bits,
            Bitmap::Large { words, .. } => *words.add(i / usize::BITS as usize),
        };
        word >> (i % usize::BITS as usize) & 1 == 0
    }
}

/// The pointers in a closure, in their order. Of a suspended stack only the function is returned, of threads, stacks
/// and transaction records nothing.
unsafe fn pointers(c: Closure, info: Info) -> Vec<Closure> {
    let fields = |from: usize, n: usize| (from..from + n).map(|i| c.field(i)).collect();
    let application = |fun_at: usize, n: usize| {
        let fun = c.field(fun_at);
        let fun_info = fun.untag().info();
        let mut found = vec![fun];
        if fun_info.kind() != BCO {
            let map = fun_info.fun_bitmap();
            let is_pointer = |&i: &usize| map.is_pointer(i);
            found.extend((0..n).filter(is_pointer).map(|i| c.field(fun_at + 1 + i)));
        }
        found
    };
    match info.kind() {
        THUNK | THUNK_1_0 | THUNK_0_1 | THUNK_2_0 | THUNK_1_1 | THUNK_0_2 => fields(THUNK_PAYLOAD, info.ptrs()),
        THUNK_STATIC | ARR_WORDS | TSO | STACK | TREC_CHUNK | COMPACT_NFDATA => vec![],
        THUNK_SELECTOR => fields(SELECTOR_SELECTEE, 1),
        PAP => application(PAP_FUN, c.word(PAP_COUNTS) >> 32),
        AP => application(AP_FUN, c.word(AP_COUNTS) >> 32),
        AP_STACK => fields(AP_STACK_FUN, 1),
        IND | IND_STATIC | BLACKHOLE => fields(INDIRECTEE, 1),
        MUT_ARR_PTRS_CLEAN | MUT_ARR_PTRS_DIRTY | MUT_ARR_PTRS_FROZEN_CLEAN | MUT_ARR_PTRS_FROZEN_DIRTY => {
            fields(MUT_ARR_PAYLOAD, c.word(MUT_ARR_PTRS))
        }
        SMALL_MUT_ARR_PTRS_CLEAN
        | SMALL_MUT_ARR_PTRS_DIRTY
        | SMALL_MUT_ARR_PTRS_FROZEN_CLEAN
        | SMALL_MUT_ARR_PTRS_FROZEN_DIRTY => fields(SMALL_ARR_PAYLOAD, c.word(SMALL_ARR_PTRS)),
        MVAR_CLEAN | MVAR_DIRTY => fields(MVAR_HEAD, 3),
        TVAR => fields(TVAR_VALUE, 2),
        WEAK => {
            let mut found: Vec<Closure> = fields(WEAK_CFINALIZERS, 5);
            if found[4].is_null() {
                found[4] = static_closure!(stg_NO_FINALIZER_closure);
            }
            found
        }
        BCO => fields(1, 3),
        _ => fields(1, info.ptrs()),
    }
}

/// Writes the words of a closure as a byte array and its pointers as an array to `out`. Returns the address of its info
/// table.
/// # Safety
/// Called from Cmm with the HEC held and Hp saved. `out` has room for two closures.
#[no_mangle]
pub unsafe extern "C" fn hec_unpack_closure(hec: &mut Hec, c: Closure, out: *mut Closure) -> usize {
    let c = c.untag();
    let info = unlocked_info(c);
    let size = size_of_object(c, info);
    let words = hec.allocate(ARR_BYTES_PAYLOAD + size);
    words.set_info(info!(stg_ARR_WORDS_info));
    words.set_word(ARR_BYTES, size * WORD);
    std::ptr::copy_nonoverlapping(c.slot(0), words.slot(ARR_BYTES_PAYLOAD), size);
    *out = words;
    *out.add(1) = crate::prims::array::frozen(hec, &pointers(c, info));
    info.0 - SIZEOF_InfoTable
}

/// The pointers in a closure as an array, for `rts/storage/Heap.h`.
/// # Safety
/// C holds the HEC, and `c` is live.
#[no_mangle]
pub unsafe extern "C" fn heap_view_closurePtrs(hec: &mut Hec, c: Closure) -> Closure {
    let c = c.untag();
    hec.allocate_for_c(|hec| crate::prims::array::frozen(hec, &pointers(c, unlocked_info(c))))
}

/// # Safety
/// `c` is live.
#[no_mangle]
pub unsafe extern "C" fn heap_view_closureSize(c: Closure) -> usize {
    hec_closure_size(c)
}

/// Appends the pointers among the `size` arguments of a partial application of `fun` to the `*count` entries of
/// `found`.
/// # Safety
/// `found` has room for them.
#[no_mangle]
pub unsafe extern "C" fn heap_view_closure_ptrs_in_pap_payload(
    found: *mut Closure,
    count: *mut usize,
    fun: Closure,
    payload: *const Closure,
    size: usize,
) {
    let info = fun.untag().info();
    if info.kind() == BCO {
        return;
    }
    let map = info.fun_bitmap();
    for argument in (0..size).filter(|&i| map.is_pointer(i)) {
        *found.add(*count) = *payload.add(argument);
        *count += 1;
    }
}

/// Word `i` of a suspended stack, or null if `c` is not one.
/// # Safety
/// `c` is live, and the word is a pointer.
#[no_mangle]
pub unsafe extern "C" fn hec_ap_stack_word(c: Closure, i: usize) -> Closure {
    let c = c.untag();
    if c.info().kind() == AP_STACK {
        c.field(AP_STACK_PAYLOAD + i)
    } else {
        Closure::NULL
    }
}
