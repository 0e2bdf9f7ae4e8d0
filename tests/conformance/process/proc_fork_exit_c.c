#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void say(const char *text)
{
    if (write(1, text, strlen(text)) < 0)
        abort();
}

void finalize(void *memory)
{
    say("C finalizer\n");
    free(memory);
}

static void at_end(void)
{
    say("at exit\n");
}

void say_at_exit(void)
{
    atexit(at_end);
}
