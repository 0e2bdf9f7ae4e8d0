/* The functions of base by which programs enter its event manager, and what is put in their place
 * (rts/src/events/seam.rs). The symbols of base are weak: another version of base may lack some. */

#include "HsFFI.h"

#define FUNCTION(symbol) extern const char symbol[] __attribute__((weak))
#define BASE(name) base_##name##_info
#define OURS(name) hecatonzmrts_IOManager_##name##_info

struct function {
    const char *base;
    const char *ours;
    /* The stub by which the original is still called, or NONE. */
    HsInt original;
};

/* Functions whose originals are still called, in the order of the stubs in seam.rs. */
enum { NONE = -1, CLOSE, EVENT_MANAGERS, CAPABILITIES, GET_EVENT_MANAGER };

#define FUNCTIONS(F)                                                         \
    F(GHCziEventziThread_threadDelay1, OURS(threadDelay), NONE)                          \
    F(GHCziEventziThread_threadWaitRead1, OURS(threadWait), NONE)                        \
    F(GHCziEventziThread_threadWaitReadSTM1, OURS(threadWaitSTM), NONE)                  \
    F(GHCziEventziThread_registerDelay1, OURS(registerDelay), NONE)                      \
    F(GHCziEventziThread_closeFdWith1, OURS(closeFdWith), CLOSE)                         \
    F(GHCziEventziThread_timerManager, hec_enter_timer_manager, NONE)                    \
    F(GHCziEventziThread_ensureIOManagerIsRunning1, OURS(ensureRunning), NONE)           \
    F(GHCziEventziThread_ensureIOManagerIsRunning2, OURS(ensureTimerManager), NONE)      \
    F(GHCziEventziThread_ensureIOManagerIsRunning6, OURS(ensureEventManagers), EVENT_MANAGERS) \
    F(GHCziEventziThread_ioManagerCapabilitiesChanged1, OURS(capabilitiesChanged), CAPABILITIES) \
    F(GHCziEventziThread_getSystemEventManager1, OURS(getSystemEventManager), GET_EVENT_MANAGER)

#define DECLARE(name, replacement, original) FUNCTION(BASE(name)); extern const char replacement[];
#define ENTRY(name, replacement, original) {BASE(name), replacement, original},

FUNCTIONS(DECLARE)

/* Closures of ours from which all constants of the module can be reached. */
#define CLOSURE(name) hecatonzmrts_IOManager_##name##_closure
extern char CLOSURE(usedTimerManager)[], CLOSURE(threadWait)[], CLOSURE(threadWaitSTM)[], CLOSURE(registerDelay)[],
    CLOSURE(closeFdWith)[], CLOSURE(ensureEventManagers)[], CLOSURE(capabilitiesChanged)[],
    CLOSURE(getSystemEventManager)[], CLOSURE(start)[], CLOSURE(afterFork)[];
char *const hec_seam_roots[] = {
    CLOSURE(usedTimerManager), CLOSURE(threadWait), CLOSURE(threadWaitSTM), CLOSURE(registerDelay),
    CLOSURE(closeFdWith), CLOSURE(ensureEventManagers), CLOSURE(capabilitiesChanged),
    CLOSURE(getSystemEventManager), CLOSURE(start), CLOSURE(afterFork),
};
const HsInt hec_seam_roots_length = sizeof hec_seam_roots / sizeof *hec_seam_roots;

const struct function hec_seam[] = { FUNCTIONS(ENTRY) };
const HsInt hec_seam_length = sizeof hec_seam / sizeof *hec_seam;
