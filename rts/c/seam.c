/* The functions of base by which programs enter its event manager, and what is put in their place
 * (rts/src/events/seam.rs). The symbols of base are weak: another version of base may lack some, and a static program
 * has no module that it does not use. */

#include <stddef.h>

#include "HsFFI.h"

#define FUNCTION(symbol) extern const char symbol[] __attribute__((weak))
#define BASE(name) base_##name##_info
#define OURS(name) hecatonzmrts_IOManager_##name##_info

struct function {
    const char *base;
    const char *ours;
    /* The stub by which the original is still called, or NONE. */
    HsInt original;
    /* Is it replaced in the non-threaded way, too? A static program may lack such a function. */
    HsInt both_ways;
};

/* Functions whose originals are still called, in the order of the stubs in seam.rs. */
enum { NONE = -1, CLOSE, EVENT_MANAGERS, CAPABILITIES, GET_EVENT_MANAGER };
enum { THREADED, BOTH_WAYS };

#define FUNCTIONS(F)                                                                                       \
    F(GHCziEventziThread_threadDelay1, OURS(threadDelay), NONE, THREADED)                                  \
    F(GHCziEventziThread_threadWaitRead1, OURS(threadWait), NONE, THREADED)                                \
    F(GHCziEventziThread_threadWaitReadSTM1, OURS(threadWaitSTM), NONE, THREADED)                          \
    F(GHCziEventziThread_registerDelay1, OURS(registerDelay), NONE, THREADED)                              \
    F(SystemziTimeout_zdwtimeout, OURS(timeout), NONE, BOTH_WAYS)                                          \
    F(GHCziEventziThread_closeFdWith1, OURS(closeFdWith), CLOSE, THREADED)                                 \
    F(GHCziEventziThread_timerManager, hec_enter_timer_manager, NONE, THREADED)                            \
    F(GHCziEventziThread_ensureIOManagerIsRunning1, OURS(ensureRunning), NONE, THREADED)                   \
    F(GHCziEventziThread_ensureIOManagerIsRunning2, OURS(ensureTimerManager), NONE, THREADED)              \
    F(GHCziEventziThread_ensureIOManagerIsRunning6, OURS(ensureEventManagers), EVENT_MANAGERS, THREADED)   \
    F(GHCziEventziThread_ioManagerCapabilitiesChanged1, OURS(capabilitiesChanged), CAPABILITIES, THREADED) \
    F(GHCziEventziThread_getSystemEventManager1, OURS(getSystemEventManager), GET_EVENT_MANAGER, THREADED)

#define DECLARE(name, replacement, original, ways) FUNCTION(BASE(name)); extern const char replacement[];
#define ENTRY(name, replacement, original, ways) {BASE(name), replacement, original, ways},

FUNCTIONS(DECLARE)

/* The dictionary of the exception that timeout throws. */
#define TIMEOUT_EXCEPTIONS base_SystemziTimeout_zdfExceptionTimeout_closure
extern char TIMEOUT_EXCEPTIONS[] __attribute__((weak));
char *const hec_timeout_exceptions = TIMEOUT_EXCEPTIONS;

/* Closures from which all constants that our functions use can be reached. Null if the program lacks it. */
#define CLOSURE(name) hecatonzmrts_IOManager_##name##_closure
extern char CLOSURE(usedTimerManager)[], CLOSURE(threadWait)[], CLOSURE(threadWaitSTM)[], CLOSURE(registerDelay)[],
    CLOSURE(timeout)[], CLOSURE(closeFdWith)[], CLOSURE(ensureEventManagers)[], CLOSURE(capabilitiesChanged)[],
    CLOSURE(getSystemEventManager)[], CLOSURE(start)[], CLOSURE(afterFork)[], CLOSURE(forLibrary)[];
char *const hec_seam_roots[] = {
    CLOSURE(usedTimerManager), CLOSURE(threadWait), CLOSURE(threadWaitSTM), CLOSURE(registerDelay),
    CLOSURE(timeout), CLOSURE(closeFdWith), CLOSURE(ensureEventManagers), CLOSURE(capabilitiesChanged),
    CLOSURE(getSystemEventManager), CLOSURE(start), CLOSURE(afterFork), CLOSURE(forLibrary),
    TIMEOUT_EXCEPTIONS,
};
const HsInt hec_seam_roots_length = sizeof hec_seam_roots / sizeof *hec_seam_roots;

const struct function hec_seam[] = { FUNCTIONS(ENTRY) };
const HsInt hec_seam_length = sizeof hec_seam / sizeof *hec_seam;

/* What this runtime has for the package hecaton (library/include/hecaton_runtime.h). Null if the program uses the event
 * manager of base, whose closeFdWith does not know the runtime's waits. */
extern HsWord8 hec_uses_base(void);
void *hec_for_library(void);
void *hec_for_library(void) { return hec_uses_base() ? NULL : CLOSURE(forLibrary); }
