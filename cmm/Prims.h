/* Macros shared by the primitive operations on data (Prim*.cmm). */

#pragma once

#include "Hecaton.h"

/* Leave for the collector if it has asked for that, so that a loop that
 * allocates only by primitive operations is collected. The scheduler resets
 * HpLim before the thread continues, so going back to `retry` ends. */
#define HEC_POLL(retry)                                         \
    if (HpLim == 0) (likely: False) {                           \
        call hec_gc_noregs();                                   \
        goto retry;                                             \
    }

/* Objects of up to this many words (LARGE_OBJECT_WORDS) are allocated in the
 * nursery. */
#define HEC_SMALL_WORDS 1024

/* Most elements of an array, beyond every address range. Tested before a size
 * in words is computed, so that no size overflows. */
#define HEC_MAX_ELEMS (1 << 40)

#define HEAP_OVERFLOW() \
    jump stg_raisezh(base_GHCziIOziException_heapOverflow_closure)

/* The answers to a request for an array that are not its address
 * (prims/alloc.rs): there is no room, or a full collection will tell. */
#define HEC_COLLECT_FIRST 1
#define HEC_HANDLE_ANSWER(answer, retry)                                \
    if (answer <= HEC_COLLECT_FIRST) (likely: False) {                  \
        if (answer == HEC_COLLECT_FIRST) {                              \
            call hec_gc_noregs();                                       \
            goto retry;                                                 \
        }                                                               \
        HEAP_OVERFLOW();                                                \
    }

/* dst = uninitialised room for `n` words. It must be filled before the next
 * point where a collection may happen. */
#define HEC_ALLOC(dst, n, retry)                                        \
    if ((n) <= HEC_SMALL_WORDS && Hp + WDS(n) <= HpLim) (likely: True) {\
        dst = Hp + WDS(1);                                              \
        Hp = Hp + WDS(n);                                               \
    } else {                                                            \
        HEC_POLL(retry)                                                 \
        SAVE_HP();                                                      \
        ("ptr" dst) = ccall hec_request_array(MyCapability() "ptr", n); \
        LOAD_HP();                                                      \
        HEC_HANDLE_ANSWER(dst, retry)                                   \
    }

/* Tells of an array that is thawed, if somebody keeps copies of arrays. */
#define NOTE_THAW(arr)                                                  \
    if (W_[hec_notes_thaws] != 0) {                                     \
        ccall hec_note_thaw(arr "ptr");                                 \
    }

/* Like HEC_ALLOC, for a small object of constant size. Cannot fail. */
#define HEC_ALLOC_FIXED(dst, n, retry)                                  \
    if (Hp + WDS(n) <= HpLim) (likely: True) {                          \
        dst = Hp + WDS(1);                                              \
        Hp = Hp + WDS(n);                                               \
    } else {                                                            \
        HEC_POLL(retry)                                                 \
        SAVE_HP();                                                      \
        ("ptr" dst) = ccall hec_allocate(MyCapability() "ptr", n);      \
        LOAD_HP();                                                      \
    }
