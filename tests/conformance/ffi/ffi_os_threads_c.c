#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "Rts.h"

extern HsInt answer(HsInt);

static Mutex mutex;
static Condition condition;
static int turns, ended, go;
static StgWord64 main_thread;
static ThreadLocalKey key;
static sem_t has_tried;

static void note_end(void) {
  OS_ACQUIRE_LOCK(&mutex);
  ended++;
  signalCondition(&condition);
  OS_RELEASE_LOCK(&mutex);
}

static void wait_for_ends(int n) {
  OS_ACQUIRE_LOCK(&mutex);
  while (ended < n) waitCondition(&condition, &mutex);
  ended = 0;
  OS_RELEASE_LOCK(&mutex);
}

static void *body(void *argument) {
  printf("%s: itself %d, as the kernel says %d, another than main %d\n", (char *)argument,
         pthread_equal(osThreadId(), pthread_self()), kernelThreadId() == (StgWord64)syscall(SYS_gettid), kernelThreadId() != main_thread);
  printf("held by main: %d\n", TRY_ACQUIRE_LOCK(&mutex) == EBUSY);
  sem_post(&has_tried);
  printf("its own variable: %s\n", getThreadLocalVar(&key) == NULL ? "none" : "that of main");
  setThreadLocalVar(&key, &ended);
  printf("its own variable: %d\n", getThreadLocalVar(&key) == &ended && pthread_getspecific(key) == &ended);
  printf("Haskell answers %ld\n", (long)answer(41));
  note_end();
  return NULL;
}

static void *waits(void *argument) {
  OS_ACQUIRE_LOCK(&mutex);
  turns++;
  signalCondition(&condition);
  while (!go) waitCondition((Condition *)argument, &mutex);
  ended++;
  signalCondition(&condition);
  OS_RELEASE_LOCK(&mutex);
  return NULL;
}

static void ends(void *unused) {
  (void)unused;
  note_end();
}

static void *shuts_down(void *argument) {
  pthread_cleanup_push(ends, argument);
  shutdownThread();
  puts("not reached");
  pthread_cleanup_pop(0);
  return NULL;
}

static int pipe_ends[2];

static void *reads(void *argument) {
  char c;
  OS_ACQUIRE_LOCK(&mutex);
  go = 1;
  signalCondition(&condition);
  OS_RELEASE_LOCK(&mutex);
  ssize_t n;
  /* The ticks of the non-threaded way may be what interrupts it. */
  n = read(pipe_ends[0], &c, 1);
  *(int *)argument = n < 0 && errno == EINTR;
  OS_ACQUIRE_LOCK(&mutex);
  go = 2;
  OS_RELEASE_LOCK(&mutex);
  note_end();
  return NULL;
}

static void *joinable(void *argument) {
  usleep(20000);
  *(int *)argument = 7;
  return NULL;
}

static int cores(void) {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  return CPU_COUNT(&set);
}

static void *spreads(void *unused) {
  (void)unused;
  setThreadAffinity(0, 1);
  printf("on all cores for Haskell: %d\n", cores() == (int)getNumberOfProcessors());
  setThreadAffinity(0, getNumberOfProcessors());
  printf("on one: %d\n", cores());
  note_end();
  return NULL;
}

static volatile sig_atomic_t got;
static void on_signal(int signal) { got = signal; }

static void say_bye(int code) {
  printf("exitFn %d\n", code);
  fflush(stdout);
  _exit(code + 1);
}

int main(int argc, char **argv) {
  OSThreadId id;
  setvbuf(stdout, NULL, _IOLBF, 0);
  hs_init_with_rtsopts(&argc, &argv);
  main_thread = kernelThreadId();
  printf("itself %d, alive %d\n", pthread_equal(osThreadId(), pthread_self()), osThreadIsAlive(osThreadId()));

  initMutex(&mutex);
  initCondition(&condition);
  newThreadLocalKey(&key);
  printf("fresh %d\n", getThreadLocalVar(&key) == NULL);
  setThreadLocalVar(&key, &turns);
  printf("free %d\n", TRY_ACQUIRE_LOCK(&mutex));
  printf("held %d\n", TRY_ACQUIRE_LOCK(&mutex) == EBUSY);
  int created = createOSThread(&id, "first", body, "first");
  sem_wait(&has_tried);
  OS_RELEASE_LOCK(&mutex);
  wait_for_ends(1);
  printf("created %d\n", created);
  printf("main's own variable: %d\n", getThreadLocalVar(&key) == &turns);

  Condition door;
  initCondition(&door);
  OS_ACQUIRE_LOCK(&mutex);
  for (int i = 0; i < 3; i++) createOSThread(&id, "waits", waits, &door);
  while (turns < 3) waitCondition(&condition, &mutex);
  go = 1;
  printf("broadcast %d\n", broadcastCondition(&door));
  OS_RELEASE_LOCK(&mutex);
  wait_for_ends(3);
  puts("all three went on");
  closeCondition(&door);

  createOSThread(&id, "shuts down", shuts_down, NULL);
  wait_for_ends(1);
  puts("shut down");

  int interrupted = 0;
  go = 0;
  pipe(pipe_ends);
  createOSThread(&id, "reads", reads, &interrupted);
  OS_ACQUIRE_LOCK(&mutex);
  while (go == 0) waitCondition(&condition, &mutex);
  while (go == 1) {
    interruptOSThread(id);
    OS_RELEASE_LOCK(&mutex);
    yieldThread();
    usleep(1000);
    OS_ACQUIRE_LOCK(&mutex);
  }
  OS_RELEASE_LOCK(&mutex);
  wait_for_ends(1);
  printf("interrupted %d\n", interrupted);

  int result = 0;
  pthread_create(&id, NULL, joinable, &result);
  joinOSThread(id);
  printf("joined %d\n", result);

  createOSThread(&id, "spreads", spreads, NULL);
  wait_for_ends(1);
  int before = cores();
  setThreadNode(0);
  releaseThreadNode();
  printf("on as many as before: %d\n", cores() == before);

  freeThreadLocalKey(&key);
  printf("no key any more: %d\n", pthread_setspecific(key, &key) != 0);
  closeCondition(&condition);
  closeMutex(&mutex);
  freeThreadingResources();

  signal(SIGUSR1, on_signal);
  int raised = genericRaise(SIGUSR1);
  printf("raised %d: %d; no such signal: %d\n", raised, got == SIGUSR1, genericRaise(1000));
  hs_exit();
  exitFn = say_bye;
  stg_exit(8);
}
