/* The functions of base by which programs enter its event manager, and what is put in their place
 * (rts/src/events/seam.rs). The symbols of base are weak: another version of base may lack some. */

#include "HsFFI.h"

#define FUNCTION(symbol) extern const char symbol[] __attribute__((weak))
#define BASE(name) base_GHCziEventzi##name##_info
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
    F(Thread_threadDelay1, OURS(threadDelay), NONE)                          \
    F(Thread_threadWaitRead1, OURS(threadWait), NONE)                        \
    F(Thread_threadWaitReadSTM1, OURS(threadWaitSTM), NONE)                  \
    F(Thread_registerDelay1, OURS(registerDelay), NONE)                      \
    F(Thread_closeFdWith1, OURS(closeFdWith), CLOSE)                         \
    F(Thread_timerManager, hec_enter_timer_manager, NONE)                    \
    F(Thread_ensureIOManagerIsRunning1, OURS(ensureRunning), NONE)           \
    F(Thread_ensureIOManagerIsRunning2, OURS(ensureTimerManager), NONE)      \
    F(Thread_ensureIOManagerIsRunning6, OURS(ensureEventManagers), EVENT_MANAGERS) \
    F(Thread_ioManagerCapabilitiesChanged1, OURS(capabilitiesChanged), CAPABILITIES) \
    F(Thread_getSystemEventManager1, OURS(getSystemEventManager), GET_EVENT_MANAGER) \
    F(TimerManager_zdwregisterTimeout, OURS(wregisterTimeout), NONE)         \
    F(TimerManager_unregisterTimeout1, OURS(unregisterTimeout), NONE)        \
    F(TimerManager_updateTimeout1, OURS(updateTimeout), NONE)

#define DECLARE(name, replacement, original) FUNCTION(BASE(name)); extern const char replacement[];
#define ENTRY(name, replacement, original) {BASE(name), replacement, original},

FUNCTIONS(DECLARE)

/* Closures of ours from which all constants of the module can be reached. */
#define CLOSURE(name) hecatonzmrts_IOManager_##name##_closure
extern char CLOSURE(timerManager)[], CLOSURE(threadWait)[], CLOSURE(threadWaitSTM)[], CLOSURE(registerDelay)[],
    CLOSURE(wregisterTimeout)[], CLOSURE(closeFdWith)[], CLOSURE(ensureEventManagers)[], CLOSURE(capabilitiesChanged)[],
    CLOSURE(getSystemEventManager)[];
char *const hec_seam_roots[] = {
    CLOSURE(timerManager), CLOSURE(threadWait), CLOSURE(threadWaitSTM), CLOSURE(registerDelay),
    CLOSURE(wregisterTimeout), CLOSURE(closeFdWith), CLOSURE(ensureEventManagers), CLOSURE(capabilitiesChanged),
    CLOSURE(getSystemEventManager),
};
const HsInt hec_seam_roots_length = sizeof hec_seam_roots / sizeof *hec_seam_roots;

const struct function hec_seam[] = { FUNCTIONS(ENTRY) };
const HsInt hec_seam_length = sizeof hec_seam / sizeof *hec_seam;
