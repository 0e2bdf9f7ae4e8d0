/* Macros shared by the primitive operations on data (Prim*.cmm). */

#pragma once

#include "Hecaton.h"

/* Give the collector its turn if it asked for one, so that a loop that
 * allocates by primitive operations alone is collected.  The scheduler resets
 * HpLim before the thread goes on, so going back to `retry` ends. */
#define HEC_POLL(retry)                                         \
    if (HpLim == 0) (likely: False) {                           \
        call hec_gc_noregs();                                   \
        goto retry;                                             \
    }

/* Objects up to this size (LARGE_OBJECT_WORDS) are cut from the nursery. */
#define HEC_SMALL_WORDS 1024

/* No array has more elements than this: the address range ends long before.
 * Tested before a size in words is computed, so that none overflows. */
#define HEC_MAX_ELEMS (1 << 40)

#define HEAP_OVERFLOW() \
    jump stg_raisezh(base_GHCziIOziException_heapOverflow_closure)

/* What a request for an array is answered with where that is not its address
 * (prims/alloc.rs): there is no room, or a full collection will tell. */
#define HEC_COLLECT_FIRST 1
#define HEC_SEE_TO_ANSWER(answer, retry)                                \
    if (answer <= HEC_COLLECT_FIRST) (likely: False) {                  \
        if (answer == HEC_COLLECT_FIRST) {                              \
            call hec_gc_noregs();                                       \
            goto retry;                                                 \
        }                                                               \
        HEAP_OVERFLOW();                                                \
    }

/* dst = uninitialised room for `n` words.  Must be filled before the next
 * point at which a collection may happen. */
#define HEC_ALLOC(dst, n, retry)                                        \
    if ((n) <= HEC_SMALL_WORDS && Hp + WDS(n) <= HpLim) (likely: True) {\
        dst = Hp + WDS(1);                                              \
        Hp = Hp + WDS(n);                                               \
    } else {                                                            \
        HEC_POLL(retry)                                                 \
        SAVE_HP();                                                      \
        ("ptr" dst) = ccall hec_request_array(MyCapability() "ptr", n); \
        LOAD_HP();                                                      \
        HEC_SEE_TO_ANSWER(dst, retry)                                   \
    }

/* As HEC_ALLOC, for a small object of constant size, which cannot fail. */
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
