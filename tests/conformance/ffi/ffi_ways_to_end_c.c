#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "Rts.h"

extern void hs_arguments(void), hs_buffered(void);
extern HsStablePtr hs_thunk(void);

static char *words[] = {"/some/where/program", "first", "+RTS", "-A2m", "-RTS", "last", NULL};

static void begin(void) {
  int argc = 6;
  char **argv = words;
  hs_init_with_rtsopts(&argc, &argv);
}

static void said(void) { puts("init_root"); }

static void by_startup(void) {
  char *argv[] = {"begun", "with", "words", NULL};
  startupHaskell(3, argv, said);
  hs_arguments();
  hs_buffered();
  shutdownHaskell();
}

static void by_nowait(void) {
  begin();
  hs_buffered();
  hs_exit_nowait();
}

static void with_code(void) {
  begin();
  hs_buffered();
  shutdownHaskellAndExit(42, 0);
}

static void with_code_fast(void) {
  begin();
  shutdownHaskellAndExit(43, 1);
}

static void with_signal(void) {
  begin();
  hs_buffered();
  shutdownHaskellAndSignal(SIGTERM, 0);
}

static void show_arguments(const char *which, int argc, char **argv) {
  printf("%s:", which);
  for (int i = 0; i < argc; i++) printf(" %s", argv[i]);
  puts(argv[argc] == NULL ? "" : " and no end");
}

static void arguments(void) {
  int argc;
  char **argv;
  begin();
  getProgArgv(&argc, &argv);
  show_arguments("program", argc, argv);
  getFullProgArgv(&argc, &argv);
  show_arguments("all", argc, argv);
  printf("%s, %d, %s\n", prog_name, prog_argc, prog_argv[1]);
  fflush(stdout);
  hs_arguments();
  char *others[] = {"other", "words", NULL};
  setProgArgv(2, others);
  hs_arguments();
  char *third[] = {"a/third", "set", "of", NULL};
  hs_set_argv(3, third);
  hs_arguments();
  setFullProgArgv(2, others);
  getFullProgArgv(&argc, &argv);
  show_arguments("all", argc, argv);
  freeFullProgArgv();
  getFullProgArgv(&argc, &argv);
  printf("freed: %d\n", argc);
  hs_exit();
}

static char text[200];

static void note(const char *format, va_list ap) { vsnprintf(text, sizeof text, format, ap); }

static void messages(void) {
  begin();
  /* The same file, in one order. */
  dup2(1, 2);
  errorBelch("number %d", 5);
  errno = ENOENT;
  sysErrorBelch("%s", "file");
  debugBelch("debug %d\n", 6);
  errorMsgFn = debugMsgFn = note;
  errorBelch("noted %d", 7);
  puts(text);
  debugBelch("noted %c", '9');
  puts(text);
  hs_exit();
}

static void values(void) {
  begin();
  HsStablePtr p = hs_thunk();
  Capability *cap = rts_lock();
  HaskellObj result = NULL;
  uint64_t before = getAllocations();
  rts_eval_(&cap, (HaskellObj)deRefStablePtr(p), 64, &result);
  printf("evaluated %ld, status %d\n", (long)rts_getInt(result), rts_getSchedStatus(cap));
  StgTSO *a = createThread(cap, 100), *b = createThread(cap, 100);
  printf("threads %d %d %d %d %d, numbers %d\n", eq_thread((StgPtr)a, (StgPtr)a), eq_thread((StgPtr)a, (StgPtr)b),
         cmp_thread((StgPtr)a, (StgPtr)b), cmp_thread((StgPtr)b, (StgPtr)a), cmp_thread((StgPtr)b, (StgPtr)b),
         rts_getThreadId((StgPtr)b) == rts_getThreadId((StgPtr)a) + 1);
  rts_pinThreadToNumaNode(0);
  rts_unlock(cap);
  performMajorGC();
  printf("allocated %d\n", getAllocations() > before);
  printf("profiled %d, dynamic %d, bound threads %d\n", rts_isProfiled(), rts_isDynamic(), (int)rtsSupportsBoundThreads());
  hs_lock_stable_tables();
  hs_free_stable_ptr_unsafe(p);
  hs_unlock_stable_tables();
  HsStablePtr again = hs_thunk();
  printf("used again %d\n", again == p);
  hs_exit();
}

static void in_child(const char *name, void (*what)(void)) {
  int status;
  printf("-- %s\n", name);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    what();
    fflush(stdout);
    _exit(3);
  }
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) printf("signal %d\n", WTERMSIG(status));
  else printf("code %d\n", WEXITSTATUS(status));
  fflush(stdout);
}

int main(void) {
  in_child("startupHaskell", by_startup);
  in_child("hs_exit_nowait", by_nowait);
  in_child("shutdownHaskellAndExit", with_code);
  in_child("shutdownHaskellAndExit, fast", with_code_fast);
  in_child("shutdownHaskellAndSignal", with_signal);
  in_child("arguments", arguments);
  in_child("messages", messages);
  in_child("values", values);
  return 0;
}
