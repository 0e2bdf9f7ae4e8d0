/* Which runtime the dynamic loader has loaded.
 *
 * A program linked with -dynamic finds Hecaton by the folder in its run path. If the libraries have gone from there,
 * or LD_LIBRARY_PATH names another folder, the loader takes GHC's own runtime, which has the same name, and the
 * program would run on that unnoticed. So this file is linked into every such program, and into every shared library
 * that brings the runtime, and looks before any Haskell runs: a program ends with one line (ENDS is 1); a library,
 * whose program is another's, says it and leaves the program alone (ENDS is 0). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A name that every runtime of Hecaton defines, and no other. */
#define OURS "hecaton_way_threaded"

/* The first folder of the run path, which is Hecaton's. */
static const char *run_path(void)
{
    const char *strings = NULL;
    ElfW(Xword) path = 0;
    for (const ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_STRTAB)
            strings = (const char *)entry->d_un.d_ptr;
        if (entry->d_tag == DT_RUNPATH || entry->d_tag == DT_RPATH)
            path = entry->d_un.d_val;
    }
    return strings != NULL && path != 0 ? strings + path : "";
}

static __attribute__((constructor)) void look(void)
{
    if (dlsym(RTLD_DEFAULT, OURS) != NULL)
        return;
    Dl_info runtime, self;
    void *start = dlsym(RTLD_DEFAULT, "hs_init");
    const char *loaded = start != NULL && dladdr(start, &runtime) != 0 ? runtime.dli_fname : "none";
    const char *name = ENDS ? program_invocation_short_name : dladdr((void *)look, &self) != 0 ? self.dli_fname : "a library";
    const char *path = run_path();
    int length = 0;
    while (path[length] != '\0' && path[length] != ':')
        length++;
    fprintf(stderr,
            "%s: linked with Hecaton, but the runtime that was loaded is %s; build Hecaton (it was in %.*s), or have LD_LIBRARY_PATH name the "
            "folder of its libraries first\n",
            name, loaded, length, path);
    if (ENDS)
        _exit(1);
}
