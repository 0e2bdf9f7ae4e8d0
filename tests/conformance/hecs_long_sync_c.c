#include "Rts.h"
#include <unistd.h>

static volatile int held, waits, waited;

int told_of_wait(void) { return waits; }
int told_of_end(void) { return waited; }

int hold_hec(int ms)
{
    held = 1;
    usleep(ms * 1000);
    return 0;
}

void wait_until_held(void)
{
    while (!held) usleep(1000);
}

void LongGCSync(uint32_t hec, Time elapsed) { waits++; }

void LongGCSyncEnd(Time elapsed) { waited = elapsed / 1000000; }
