#include "Rts.h"
#include <unistd.h>

static volatile int held;
/* In nanoseconds, once somebody has been told. */
static volatile Time wait_so_far, wait_in_all;

int64_t told_of_wait(void) { return wait_so_far; }
int64_t told_of_end(void) { return wait_in_all; }

void hold_hec(void)
{
    held = 1;
    while (!wait_so_far) usleep(1000);
}

void wait_until_held(void)
{
    while (!held) usleep(1000);
}

void LongGCSync(uint32_t hec, Time elapsed) { wait_so_far = elapsed; }

void LongGCSyncEnd(Time elapsed) { wait_in_all = elapsed; }
