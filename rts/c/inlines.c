/* The functions that the headers define inline (EXTERN_INLINE), as symbols of
 * the library.
 *
 * A C file that calls one expands it or refers to the library's copy, as the C
 * compiler chooses. Haskell's foreign imports always refer to the copy. A
 * declaration without `inline` makes the compiler emit it. THREADED_RTS selects
 * atomic bodies and real fences, because programs of the non-threaded way may
 * have OS threads of their own.
 *
 * Functions for the stock runtime's block descriptors are left out
 * (docs/limitations.md), and so is `deRefStablePtr`, which is in Rust. */
#define THREADED_RTS
#include "Rts.h"

#define EMIT(function) extern __typeof__(function) function;

/* stg/SMP.h */
EMIT(xchg)
EMIT(cas)
EMIT(cas_word8)
EMIT(atomic_inc)
EMIT(atomic_dec)
EMIT(busy_wait_nop)
EMIT(write_barrier)
EMIT(store_load_barrier)
EMIT(load_load_barrier)

/* rts/OSThreads.h */
EMIT(TRY_ACQUIRE_LOCK)

/* rts/storage/ClosureMacros.h */
EMIT(INFO_PTR_TO_STRUCT)
EMIT(RET_INFO_PTR_TO_STRUCT)
EMIT(get_itbl)
EMIT(get_ret_itbl)
EMIT(PAP_sizeW)
EMIT(AP_sizeW)
EMIT(AP_STACK_sizeW)
EMIT(CONSTR_sizeW)
EMIT(THUNK_SELECTOR_sizeW)
EMIT(BLACKHOLE_sizeW)
EMIT(sizeW_fromITBL)
EMIT(thunk_sizeW_fromITBL)
EMIT(ap_stack_sizeW)
EMIT(ap_sizeW)
EMIT(pap_sizeW)
EMIT(arr_words_words)
EMIT(arr_words_sizeW)
EMIT(mut_arr_ptrs_sizeW)
EMIT(small_mut_arr_ptrs_sizeW)
EMIT(stack_sizeW)
EMIT(bco_sizeW)
EMIT(compact_nfdata_full_sizeW)
EMIT(closure_sizeW_)
EMIT(closure_sizeW)
EMIT(stack_frame_sizeW)
EMIT(zeroSlop)
EMIT(overwritingClosure)
EMIT(overwritingMutableClosureOfs)
EMIT(overwritingClosureSize)

/* Reads of a spin lock before the OS thread yields: the holder may need the
 * core. */
#define SPINS 1000

/* A spin lock (rts/SpinLock.h) is 1 when it is free and 0 when it is held. A
 * thread that finds it held reads it without writing until it is free. */
void acquire_spin_lock_slow_path(SpinLock *p)
{
    do {
        for (int i = 1; RELAXED_LOAD(&p->lock) == 0; i++) {
            busy_wait_nop();
            if (i % SPINS == 0) {
                yieldThread();
            }
        }
    } while (cas((StgVolatilePtr)&p->lock, 1, 0) == 0);
}
