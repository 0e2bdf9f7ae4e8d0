/* Macros for primitive operations that change the running thread's stack or
 * stop it. */

#pragma once

#include "Hecaton.h"

/* Around calls of Rust that rewrite the running thread's stack.  Before, the
 * frame at Sp(0) must need no register; after, it is returned to so. */
#define SAVE_SP()  StgStack_sp(StgTSO_stackobj(CurrentTSO)) = Sp
#define LOAD_SP()                                                           \
    Sp = StgStack_sp(StgTSO_stackobj(CurrentTSO));                          \
    SpLim = StgTSO_stackobj(CurrentTSO) + SIZEOF_StgHeader                  \
        + OFFSET_StgStack_stack + WDS(RESERVED_STACK_WORDS)

#define SAVE_SP_HP()  SAVE_SP(); SAVE_HP()
#define LOAD_SP_HP()  LOAD_SP(); LOAD_HP()

/* After such a call: the thread has died of an exception, or goes on. */
#define GO_ON(died)                         \
    if (died != 0) {                        \
        LEAVE(ThreadFinished);              \
    }                                       \
    jump %ENTRY_CODE(Sp(0)) []

/* A collection or another thread's turn is asked for: loops that allocate
 * only through primitive operations stop here. */
#define STOP_ASKED  (HpLim == 0)

#define EMPTY  stg_END_TSO_QUEUE_closure
