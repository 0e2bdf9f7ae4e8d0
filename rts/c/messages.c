/* Messages in the manner of printf, for compiled C code. (Rust cannot define
 * such functions.)
 *
 * Each kind goes through a pointer, so that a program may redirect messages. By
 * default they go to standard error. All but debug messages follow the
 * program's name. */
#include "Rts.h"
#include "ghcversion.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

RtsMsgFunction rtsFatalInternalErrorFn;
RtsMsgFunction rtsDebugMsgFn;
RtsMsgFunction rtsErrorMsgFn;
RtsMsgFunction rtsSysErrorMsgFn;

RtsMsgFunction *fatalInternalErrorFn = rtsFatalInternalErrorFn;
RtsMsgFunction *debugMsgFn = rtsDebugMsgFn;
RtsMsgFunction *errorMsgFn = rtsErrorMsgFn;
RtsMsgFunction *sysErrorMsgFn = rtsSysErrorMsgFn;

/* Before hs_init the program has no name yet. */
static void name(void)
{
    if (prog_name != NULL) {
        fprintf(stderr, "%s: ", prog_name);
    }
}

void rtsFatalInternalErrorFn(const char *s, va_list ap)
{
    name();
    fputs("internal error: ", stderr);
    vfprintf(stderr, s, ap);
    fprintf(stderr,
            "\n    (Hecaton for GHC version %s, %s-%s)\n"
            "    This is a bug in the runtime system: please report it to Hecaton.\n",
            __GLASGOW_HASKELL_FULL_VERSION__, HOST_ARCH, HOST_OS);
    fflush(stderr);
    abort();
}

void rtsDebugMsgFn(const char *s, va_list ap)
{
    vfprintf(stderr, s, ap);
    fflush(stderr);
}

void rtsErrorMsgFn(const char *s, va_list ap)
{
    name();
    vfprintf(stderr, s, ap);
    fputc('\n', stderr);
}

void rtsSysErrorMsgFn(const char *s, va_list ap)
{
    const char *why = strerror(errno);
    name();
    vfprintf(stderr, s, ap);
    fprintf(stderr, ": %s\n", why);
}

void vbarf(const char *s, va_list ap)
{
    (*fatalInternalErrorFn)(s, ap);
    abort();
}

void barf(const char *s, ...)
{
    va_list ap;
    va_start(ap, s);
    vbarf(s, ap);
}

void _assertFail(const char *filename, unsigned int linenum)
{
    barf("ASSERTION FAILED: file %s, line %u\n", filename, linenum);
}

/* Called by code compiled with -falignment-sanitisation. */
void rtsBadAlignmentBarf(void)
{
    barf("a pointer into the heap is not aligned");
}

void verrorBelch(const char *s, va_list ap)
{
    (*errorMsgFn)(s, ap);
}

void errorBelch(const char *s, ...)
{
    va_list ap;
    va_start(ap, s);
    verrorBelch(s, ap);
    va_end(ap);
}

void vsysErrorBelch(const char *s, va_list ap)
{
    (*sysErrorMsgFn)(s, ap);
}

void sysErrorBelch(const char *s, ...)
{
    va_list ap;
    va_start(ap, s);
    vsysErrorBelch(s, ap);
    va_end(ap);
}

void vdebugBelch(const char *s, va_list ap)
{
    (*debugMsgFn)(s, ap);
}

void debugBelch(const char *s, ...)
{
    va_list ap;
    va_start(ap, s);
    vdebugBelch(s, ap);
    va_end(ap);
}
