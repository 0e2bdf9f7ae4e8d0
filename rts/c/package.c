/* What the Haskell package hecaton has for this runtime. The reference is weak: not every program is linked with the
 * package. */
#include "HsFFI.h"
#include <stddef.h>

/* The action that runs an action under the scheduler of this name (library/src/Hecaton/Scheduler/Named.hs). */
extern HsStablePtr hecaton_main_under(HsPtr scheduler, HsStablePtr action) __attribute__((weak));

HsWord8 hec_has_package(void);
HsWord8 hec_has_package(void) { return hecaton_main_under != NULL; }

HsStablePtr hec_main_under(HsPtr scheduler, HsStablePtr action);
HsStablePtr hec_main_under(HsPtr scheduler, HsStablePtr action) { return hecaton_main_under(scheduler, action); }
