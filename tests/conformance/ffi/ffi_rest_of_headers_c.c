#include "Rts.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void with_list(RtsMsgFunction *f, const char *s, ...) {
  va_list ap;
  va_start(ap, s);
  f(s, ap);
  va_end(ap);
}

static void shout(const char *s, va_list ap) {
  fputs("hook: ", stderr);
  vfprintf(stderr, s, ap);
  fputs("\n", stderr);
}

void messages(void) {
  errorBelch("an error, %d", 1);
  with_list(verrorBelch, "an error, %d", 2);
  with_list(rtsErrorMsgFn, "an error, %d", 3);
  errno = ENOENT;
  sysErrorBelch("no %s", "file");
  errno = EACCES;
  with_list(vsysErrorBelch, "not %s", "allowed");
  errno = EEXIST;
  with_list(rtsSysErrorMsgFn, "%s", "there");
  debugBelch("debugging %d\n", 4);
  with_list(vdebugBelch, "debugging %d\n", 5);
  with_list(rtsDebugMsgFn, "debugging %d\n", 6);
  RtsMsgFunction *error = errorMsgFn, *debug = debugMsgFn;
  errorMsgFn = debugMsgFn = shout;
  errorBelch("an error, %d", 7);
  debugBelch("debugging, %d", 8);
  errorMsgFn = error, debugMsgFn = debug;
  reportHeapOverflow();
}

// What a message says of a library that is not there; the path is the system's.
static const char *missing(const char *message) {
  return message == NULL ? "no message" : strstr(message, "libnosuch.so") ? "libnosuch.so is missing" : message;
}

void shared_libraries(void) {
  initLinker();
  initLinker_(0);
  char *message = NULL;
  void *handle = loadNativeObj("libm.so.6", &message);
  double (*cosine)(double) = handle ? (double (*)(double))dlsym(handle, "cos") : NULL;
  printf("cos 0 = %g\n", cosine ? cosine(0) : -1.0);
  printf("loadNativeObj: %d", loadNativeObj("libnosuch.so", &message) == NULL);
  printf(", %s\n", missing(message));
  free(message);
  printf("addDLL: %d", addDLL("libm.so.6") == NULL);
  printf(", %s\n", missing(addDLL("libnosuch.so")));
  printf("findSystemLibrary: %d\n", findSystemLibrary("libm.so.6") == NULL);
  printf("lookupSymbol: %d\n", lookupSymbol("malloc") == dlsym(RTLD_DEFAULT, "malloc"));
  fflush(stdout);
}

static StgWord64 key[2] = {0x0123456789abcdef, 42}, other[2] = {1, 1};

void static_pointers(HsStablePtr a, HsStablePtr b) {
  printf("static pointers: %d", hs_spt_key_count());
  hs_spt_insert(key, (void *)deRefStablePtr(a));
  StgStablePtr *entry = malloc(sizeof *entry);
  *entry = b;
  hs_spt_insert_stableptr(other, entry);
  StgPtr keys[4] = {0};
  int found = hs_spt_keys(keys, 4);
  StgWord64 sum = 0;
  for (int i = 0; i < found; i++) sum += ((StgWord64 *)keys[i])[1];
  printf(", then %d with keys of %d", hs_spt_key_count(), (int)sum);
  printf(", found %d %d", hs_spt_lookup(key) != NULL, hs_spt_lookup(other) != NULL);
  hs_spt_remove(key);
  printf(", and then %d %d of %d\n", hs_spt_lookup(key) != NULL, hs_spt_lookup(other) != NULL, hs_spt_key_count());
  fflush(stdout);
}

void coverage(void) {
  static StgWord64 ticks[3] = {1, 2, 3};
  static char name[] = "Made.Up";
  hs_hpc_module(name, 3, 17, ticks);
  HpcModuleInfo *m = hs_hpc_rootModule();
  printf("coverage of %s: %u ticks, hash %u, %d %d\n", m->modName, m->tickCount, m->hashNo, m->tixArr == ticks, m->next == NULL);
  fflush(stdout);
}

void clocks(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  StgWord64 before = t.tv_sec * 1000000000ull + t.tv_nsec, now = getMonotonicNSec();
  clock_gettime(CLOCK_MONOTONIC, &t);
  StgWord64 after = t.tv_sec * 1000000000ull + t.tv_nsec;
  printf("getMonotonicNSec: %d\n", before <= now && now <= after);
  Time first = getProcessElapsedTime();
  usleep(1000);
  printf("getProcessElapsedTime: %d\n", getProcessElapsedTime() - first >= 1000000);
  printf("rtsTimerSignal: %d\n", rtsTimerSignal());
  fflush(stdout);
}

#define SET(name) printf(#name ": %d %d\n", getOrSet##name(a) == a, getOrSet##name(b) == a)

void globals(HsStablePtr a, HsStablePtr b) {
  SET(GHCConcWindowsPendingDelaysStore);
  SET(GHCConcWindowsIOManagerThreadStore);
  SET(GHCConcWindowsProddingStore);
  SET(LibHSghcFastStringTable);
  SET(LibHSghcPersistentLinkerState);
  SET(LibHSghcInitLinkerDone);
  SET(LibHSghcGlobalDynFlags);
  SET(LibHSghcStaticOptions);
  SET(LibHSghcStaticOptionsReady);
  fflush(stdout);
}

static void dies(void) { barf("barf %d", 1); }
static void dies_with_list(void) { with_list(vbarf, "vbarf %d", 2); }
static void asserts(void) { _assertFail("file.c", 3); }
static void hook(const char *s, va_list ap) { shout(s, ap), _exit(7); }
static void is_hooked(void) { fatalInternalErrorFn = hook, barf("barf %d", 4); }

// The texts of internal errors name the runtime's version; how they end counts.
static void in_child(const char *name, void (*f)(void), int silent) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    if (silent) freopen("/dev/null", "w", stderr);
    f();
    _exit(0);
  }
  int status;
  waitpid(pid, &status, 0);
  printf("%s: exit code %d, signal %d\n", name, WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : -1);
  fflush(stdout);
}

void ends(void) {
  in_child("barf", dies, 1);
  in_child("vbarf", dies_with_list, 1);
  in_child("_assertFail", asserts, 1);
  in_child("with a hook", is_hooked, 0);
}
