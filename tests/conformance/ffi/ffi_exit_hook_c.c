#include <unistd.h>

void OnExitHook(void)
{
    (void) !write(1, "hook\n", 5);
}
