/* Properties of a closure by its type (rts/storage/InfoTables.h), for the
 * headers' macros `closure_HNF`, `closure_THUNK` and so on. */
#include "Rts.h"

StgWord16 closure_flags[N_CLOSURE_TYPES] = {
    [CONSTR ... CONSTR_NOCAF] = _HNF | _NS,
    [FUN ... FUN_STATIC] = _HNF | _NS | _SRT,
    [THUNK ... THUNK_SELECTOR] = _THU | _SRT,
    [BCO] = _HNF | _NS,
    [AP] = _THU,
    [PAP] = _HNF | _NS,
    [AP_STACK] = _THU,
    [IND ... IND_STATIC] = _NS | _IND,
    [RET_SMALL] = _BTM | _SRT,
    [RET_BIG] = _SRT,
    [UPDATE_FRAME ... STOP_FRAME] = _BTM,
    [BLOCKING_QUEUE] = _NS | _MUT | _UPT,
    [BLACKHOLE] = _NS | _UPT,
    [MVAR_CLEAN ... TVAR] = _HNF | _NS | _MUT | _UPT,
    [ARR_WORDS] = _HNF | _NS | _UPT,
    [MUT_ARR_PTRS_CLEAN ... MUT_ARR_PTRS_FROZEN_DIRTY] = _HNF | _NS | _MUT | _UPT,
    [MUT_ARR_PTRS_FROZEN_CLEAN] = _HNF | _NS | _UPT,
    [MUT_VAR_CLEAN ... MUT_VAR_DIRTY] = _HNF | _NS | _MUT | _UPT,
    [WEAK ... PRIM] = _HNF | _NS | _UPT,
    [MUT_PRIM ... STACK] = _HNF | _NS | _MUT | _UPT,
    [TREC_CHUNK] = _NS | _MUT | _UPT,
    [ATOMICALLY_FRAME ... CATCH_STM_FRAME] = _BTM,
    [SMALL_MUT_ARR_PTRS_CLEAN ... SMALL_MUT_ARR_PTRS_FROZEN_DIRTY] = _HNF | _NS | _MUT | _UPT,
    [SMALL_MUT_ARR_PTRS_FROZEN_CLEAN] = _HNF | _NS | _UPT,
    [COMPACT_NFDATA] = _HNF | _NS,
};
