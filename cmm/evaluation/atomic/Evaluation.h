/* Entering and updating thunks with an atomic instruction each. Only for
 * `hecaton study`, which compares it with ../lock-free. */

#pragma once

/* Exchanging the header with itself costs as much as a claim. */
#define CLAIM()                                                         \
    W_ claimed;                                                         \
    (claimed) = prim %cmpxchgW(R1, GET_INFO(R1), GET_INFO(R1));

#define STORE_IND(updatee)                                              \
    W_ seen;                                                            \
    (seen) = prim %cmpxchgW(updatee, GET_INFO(updatee), stg_IND_info)
