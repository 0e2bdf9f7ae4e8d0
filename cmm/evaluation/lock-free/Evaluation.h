/* Entering and updating thunks without atomic instructions ([HMP05], section
 * 3). `hecaton study` compares this with ../atomic. */

#pragma once

/* The thunk in R1 is about to push its update frame. */
#define CLAIM()

/* The indirectee of `updatee` is its value: record that in the header. */
#define STORE_IND(updatee) SET_INFO(updatee, stg_IND_info)
