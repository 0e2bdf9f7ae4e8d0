/* The counters of code that was compiled with -ticky. Such code counts in them, so that it links and runs; the runtime writes no report of them. */
#define TICKY_C
#include "Rts.h"

StgEntCounter top_ct = {.str = "TOP", .arg_kinds = ""};
StgEntCounter *ticky_entry_ctrs = NULL;
