#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#define THREADED_RTS
#include "Rts.h"

/* By address, so that it is the library's function that is called, and not its text in the header. */
static void (*volatile const store_then_load)(void) = store_load_barrier;
static void (*volatile const store_then_store)(void) = write_barrier;
static void (*volatile const load_then_load)(void) = load_load_barrier;
static void (*volatile const slow_path)(SpinLock *) = acquire_spin_lock_slow_path;

static volatile long round_of[2], said[2], heard[2];
static long rounds;

static void await_round(int other, long n) {
  while (__atomic_load_n(&round_of[other], __ATOMIC_ACQUIRE) < n) sched_yield();
}

static void *talk(void *arg) {
  int me = (int)(intptr_t)arg;
  for (long n = 1; n <= rounds; n++) {
    __atomic_store_n(&round_of[me], 2 * n, __ATOMIC_RELEASE);
    await_round(!me, 2 * n);
    said[me] = n;
    store_then_load();
    heard[me] = said[!me];
    __atomic_store_n(&round_of[me], 2 * n + 1, __ATOMIC_RELEASE);
    await_round(!me, 2 * n + 1);
    if (me == 0 && heard[0] < n && heard[1] < n) heard[0] = rounds + 1;
    if (heard[0] > rounds) break;
  }
  __atomic_store_n(&round_of[me], 2 * rounds + 2, __ATOMIC_RELEASE);
  return NULL;
}

HsInt both_saw_nothing(HsInt n) {
  pthread_t threads[2];
  rounds = n;
  for (intptr_t i = 0; i < 2; i++) pthread_create(&threads[i], NULL, talk, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return heard[0] > rounds;
}

static volatile long message[2], news;

static void *write_messages(void *arg) {
  for (long n = 1; n <= (intptr_t)arg; n++) {
    message[0] = message[1] = n;
    store_then_store();
    news = n;
  }
  return NULL;
}

HsInt torn_messages(HsInt n) {
  pthread_t writer;
  HsInt torn = 0;
  long seen = 0;
  pthread_create(&writer, NULL, write_messages, (void *)(intptr_t)n);
  while (seen < n) {
    seen = news;
    load_then_load();
    torn += message[1] < seen || message[0] < seen;
  }
  pthread_join(writer, NULL);
  return torn;
}

static SpinLock lock;
static HsInt sum;

static void *add(void *arg) {
  for (HsInt i = 0; i < (intptr_t)arg; i++) {
    slow_path(&lock);
    sum++;
    RELEASE_SPIN_LOCK(&lock);
  }
  return NULL;
}

HsInt spin_locked_sum(HsInt n) {
  pthread_t threads[3];
  initSpinLock(&lock);
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, add, (void *)(intptr_t)n);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  return sum;
}
