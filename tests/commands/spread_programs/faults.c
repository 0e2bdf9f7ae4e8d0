/* Ends a processing element where the test says: KILLS has pairs PE:COUNT, and
 * the PE is killed when it has counted so far. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long left = -1;

static void __attribute__((constructor)) plan(void)
{
    const char *membership = getenv("HECATON_SPREAD");
    const char *kills = getenv("KILLS");
    int pe;
    long count;
    int read;

    while (membership && kills && sscanf(kills, "%d:%ld%n", &pe, &count, &read) == 2) {
        if (pe == atoi(membership))
            left = count;
        kills += read;
        if (*kills == ',')
            kills++;
    }
}

long fault_tick(long value)
{
    if (left >= 0 && __atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED) == 0)
        kill(getpid(), SIGKILL);
    return value;
}
