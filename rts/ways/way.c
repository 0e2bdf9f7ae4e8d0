/* What the six ways of the runtime differ in.
 *
 * A program chooses its way when it is linked (-threaded, -debug, -eventlog), so each library holds the same runtime
 * and one copy of this file, compiled with WAY_THREADED, WAY_DEBUG, WAY_EVENTLOG and WAY_DYNAMIC set to 0 or 1. */
#include "HsFFI.h"

const int hecaton_way_threaded = WAY_THREADED;
const int hecaton_way_debug = WAY_DEBUG;
const int hecaton_way_eventlog = WAY_EVENTLOG;
const int hecaton_way_dynamic = WAY_DYNAMIC;

HsBool rtsSupportsBoundThreads(void)
{
    return WAY_THREADED;
}

int rts_isDynamic(void)
{
    return WAY_DYNAMIC;
}
