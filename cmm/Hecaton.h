/* Macros shared by all of Hecaton's Cmm code: what Cmm.h lacks for this
 * runtime. Every .cmm file includes this file, directly or through Prims.h or
 * HeaderLock.h. */

#pragma once

#include "Cmm.h"

/* Why a thread left Haskell code. The scheduler reads it after StgRun. */
#define RET_CODE W_[BaseReg + OFFSET_StgRegTable_rRet]

/* Evaluate R1 and return it to the frame on top of the stack. */
#define EVAL_R1() jump stg_ap_0_fast [R1]

/* Return R1 to the frame on top of the stack. */
#define RETURN_R1() jump %ENTRY_CODE(Sp(0)) [R1]

/* Around a call into Rust that may allocate or read the nursery. While Rust
 * runs, Hp is in the nursery's descriptor. */
#define SAVE_HP()  bdescr_free(CurrentNursery) = Hp + WDS(1)
#define LOAD_HP()  Hp = bdescr_free(CurrentNursery) - WDS(1)

/* Leave for the scheduler. Sp(0) must be a frame that a collection can walk.
 * The frame restores the live values when it is returned to. */
#define LEAVE(code)          \
    RET_CODE = code;         \
    jump stg_returnToSched []

/* Leave so that other threads run (ThreadBlocked, ThreadYielding). Mostly the
 * next thread runs at once, without the scheduler. */
#define LEAVE_TO_OTHERS(code)           \
    R1 = code;                          \
    jump hec_leave_to_others [R1]

/* Leave to wait for `on`. The frame at Sp(0) repeats the operation. */
#define LEAVE_TO_WAIT(why, on)                                  \
    ccall hec_about_to_wait(MyCapability() "ptr", why, on);     \
    LEAVE_TO_OTHERS(ThreadBlocked)

/* Leave after a failed heap or stack check: undo the allocation, and set the
 * reason. HpAlloc stays set, so the scheduler knows how much was requested. */
#define LEAVE_CHECK_FAILED()                  \
    if (HpAlloc != 0) {                       \
        Hp = Hp - HpAlloc;                    \
        RET_CODE = HeapOverflow;              \
    } else {                                  \
        RET_CODE = StackOverflow;             \
    }                                         \
    jump stg_returnToSched []

/* Explicit requests of primitive operations for a collection, in high-level
 * Cmm: collect, then call `fun` again with the same arguments. They differ from
 * stg_gc_prim*, which serve heap and stack checks. */
#define HEC_GC(fun)                  jump hec_gc_prim(fun);
#define HEC_GC_N(fun, arg)           jump hec_gc_prim_n(arg, fun);
#define HEC_GC_P(fun, arg)           jump hec_gc_prim_p(arg, fun);
#define HEC_GC_PP(fun, arg1, arg2)   jump hec_gc_prim_pp(arg1, arg2, fun);

/* The heap's side table has one byte for each block of 16 KB, with its age in
 * the low four bits (0 and 1: young). hec_meta_bias is the address that block 0
 * would have in the table. `p` must be an address in the heap. */
#define HEC_BLOCK_SHIFT 14
#define HEC_BLOCK_MASK  ((1 << HEC_BLOCK_SHIFT) - 1)
#define HEC_AGE(p) \
    (TO_ZXW_(bits8[W_[hec_meta_bias] + ((p) >> HEC_BLOCK_SHIFT)]) & 15)
#define HEC_IS_OLD(p)    (HEC_AGE(p) > 1)
/* Nothing but the runtime writes such objects. */
#define HEC_IS_FIXED(p)  (HEC_AGE(p) == 14)

/* Are there several HECs? If not, no thread runs beside the caller. */
#define MANY_HECS (TO_ZXW_(bits32[n_capabilities]) > 1)

/* The function part of a function closure's info table. */
#define FUN_INFO_OF(fun) %FUN_INFO(%INFO_PTR(UNTAG(fun)))

/* End the program because of a feature that this runtime does not support. */
#define UNSUPPORTED(name) foreign "C" hec_unsupported(name "ptr") never returns
