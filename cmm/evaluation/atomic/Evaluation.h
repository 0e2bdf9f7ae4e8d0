/* How thunks would be entered and updated with an atomic instruction each:
 * for `hecaton study` alone, which compares it with ../lock-free. */

#pragma once

/* Exchanging the header by itself costs what a claim does. */
#define CLAIM()                                                         \
    W_ claimed;                                                         \
    (claimed) = prim %cmpxchgW(R1, GET_INFO(R1), GET_INFO(R1));

#define STORE_IND(updatee)                                              \
    W_ seen;                                                            \
    (seen) = prim %cmpxchgW(updatee, GET_INFO(updatee), stg_IND_info)
