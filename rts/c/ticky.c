/* The counters of code that was compiled with -ticky. They exist so that such
 * code links and runs. The runtime writes no report of them. */
#define TICKY_C
#include "Rts.h"

StgEntCounter top_ct = {.str = "TOP", .arg_kinds = ""};
StgEntCounter *ticky_entry_ctrs = NULL;
