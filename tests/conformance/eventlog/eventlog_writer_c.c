#include "Rts.h"
#include "rts/EventLogFormat.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void work(HsInt n);

static unsigned char *bytes;
static size_t len;
static int begun, stopped;

static void begin(void)
{
    begun++;
}

/* Called with other locks held, and by several OS threads. */
static bool append(void *more, size_t n)
{
    static char busy;
    while (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) {
    }
    bytes = realloc(bytes, len + n);
    memcpy(bytes + len, more, n);
    len += n;
    __atomic_clear(&busy, __ATOMIC_RELEASE);
    return true;
}

static void stop(void)
{
    stopped++;
}

static const EventLogWriter writer = {begin, append, NULL, stop};

static size_t at;

static void need(int ok, const char *what)
{
    if (!ok) {
        printf("at %zu of %zu: %s\n", at, len, what);
        exit(1);
    }
}

static unsigned long long number(int n)
{
    unsigned long long v = 0;
    need(at + n <= len, "cut off");
    for (; n > 0; n--)
        v = v << 8 | bytes[at++];
    return v;
}

static int size_of[65536];

static void header(void)
{
    need(number(4) == EVENT_HEADER_BEGIN && number(4) == EVENT_HET_BEGIN, "header");
    for (;;) {
        unsigned mark = number(4);
        if (mark == EVENT_HET_END)
            break;
        need(mark == EVENT_ET_BEGIN, "kind");
        int kind = number(2);
        size_of[kind] = (short)number(2);
        at += number(4);
        at += number(4);
        need(number(4) == EVENT_ET_END, "end of a kind");
    }
    need(number(4) == EVENT_HEADER_END && number(4) == EVENT_DATA_BEGIN, "end of the header");
}

static void text(const char *what, size_t from, size_t n)
{
    if (n > 1000)
        printf("%s of %zu bytes\n", what, n);
    else
        printf("%s %.*s\n", what, (int)n, bytes + from);
}

/* The events of all blocks. */
static void events(void)
{
    size_t block_end = 0;
    unsigned long long time, block_time = 0;
    int created = 0, running = 0, started = 0, kind;
    while ((kind = number(2)) != EVENT_DATA_END) {
        need(size_of[kind] != -2, "an event of no kind");
        time = number(8);
        if (kind == EVENT_BLOCK_MARKER) {
            size_t from = at - 10;
            need(block_end == 0 || from == block_end, "a block within a block");
            block_end = from + number(4);
            block_time = number(8);
            number(2);
            need(block_time >= time, "a block that ends before it begins");
            continue;
        }
        int n = size_of[kind] == -1 ? (int)number(2) : size_of[kind];
        size_t from = at;
        at += n;
        need(at <= block_end && time <= block_time, "an event outside of its block");
        switch (kind) {
            case EVENT_USER_MSG: text("message", from, n); break;
            case EVENT_USER_MARKER: text("marker", from, n); break;
            case EVENT_USER_BINARY_MSG: printf("%d bytes\n", n); break;
            case EVENT_CREATE_THREAD: created++; break;
            case EVENT_RUN_THREAD: running++; break;
            case EVENT_STOP_THREAD: running--; break;
            case EVENT_GC_START: started++; break;
            case EVENT_GC_END: started--; break;
            case EVENT_THREAD_LABEL:
                if (strncmp((char *)bytes + from + 4, "label", 5) == 0)
                    text("", from + 4, n - 4);
                break;
            default: break;
        }
    }
    need(at == len, "more after the end");
    /* Event managers have threads of their own, or none. */
    printf("%s threads, %d still run, %d collections have not ended\n", created < 5 ? "too few" : "enough", running,
           started);
}

int main(int argc, char *argv[])
{
    RtsConfig config = defaultRtsConfig;
    printf("before: %d, by default to a file: %d\n", eventLogStatus(), config.eventlog_writer == &FileEventLogWriter);
    config.rts_opts_enabled = RtsOptsAll;
    config.rts_opts = "-l";
    config.eventlog_writer = &writer;
    hs_init_ghc(&argc, &argv, config);
    printf("running: %d, begun %d\n", eventLogStatus(), begun);
    printf("another: %d\n", startEventLogging(&FileEventLogWriter));
    work(3);
    endEventLogging();
    printf("ended: %d, stopped %d\n", eventLogStatus(), stopped);
    work(1);
    hs_exit();
    printf("after: %d, stopped %d\n", eventLogStatus(), stopped);
    for (int i = 0; i < 65536; i++)
        size_of[i] = -2;
    header();
    events();
    return 0;
}
