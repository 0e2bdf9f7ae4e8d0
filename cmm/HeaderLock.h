/* Macros for primitive operations that change the running thread's stack, or
 * stop the thread. */

#pragma once

#include "Hecaton.h"

/* Around calls into Rust that rewrite the running thread's stack. Before the
 * call, the frame at Sp(0) must need no register. After it, the frame is
 * returned to. */
#define SAVE_SP()  StgStack_sp(StgTSO_stackobj(CurrentTSO)) = Sp
#define LOAD_SP()                                                           \
    Sp = StgStack_sp(StgTSO_stackobj(CurrentTSO));                          \
    SpLim = StgTSO_stackobj(CurrentTSO) + SIZEOF_StgHeader                  \
        + OFFSET_StgStack_stack + WDS(RESERVED_STACK_WORDS)

#define SAVE_SP_HP()  SAVE_SP(); SAVE_HP()
#define LOAD_SP_HP()  LOAD_SP(); LOAD_HP()

/* After such a call: the thread has died of an exception, or continues. */
#define CONTINUE(died)                         \
    if (died != 0) {                        \
        LEAVE(ThreadFinished);              \
    }                                       \
    jump %ENTRY_CODE(Sp(0)) []

/* Is there a request for a collection or a context switch? Loops that allocate
 * only through primitive operations stop here. */
#define STOP_REQUESTED  (HpLim == 0)

#define EMPTY  stg_END_TSO_QUEUE_closure
