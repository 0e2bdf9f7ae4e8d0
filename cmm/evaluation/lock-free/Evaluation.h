/* How thunks are entered and updated: without atomic instructions [HMP05, §3].
 * ../atomic has what `hecaton study` measures this against. */

#pragma once

/* The thunk in R1 is about to push its update frame. */
#define CLAIM()

/* The indirectee of `updatee` is its value; say so in the header. */
#define STORE_IND(updatee) SET_INFO(updatee, stg_IND_info)
