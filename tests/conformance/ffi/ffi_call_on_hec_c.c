#include <pthread.h>
#include <stdio.h>
#include "Rts.h"

extern HsInt hs_hec(void);
extern void hs_set_hecs(HsInt);

static int hecs;

/* A thread may move where another waits to run: most calls stay where they begin. */
static void call(long chosen) {
  int there = 0;
  rts_setInCallCapability(chosen, 0);
  for (int i = 0; i < 20; i++)
    there += hs_hec() == chosen % hecs;
  printf("%ld of %d: %s\n", chosen, hecs, there > 15 ? "there" : "elsewhere");
}

static void *caller(void *arg) {
  call((long)arg);
  rts_done();
  return NULL;
}

int main(int argc, char **argv) {
  RtsConfig config = defaultRtsConfig;
  config.rts_opts_enabled = RtsOptsAll;
  config.rts_opts = "-N4";
  hs_init_ghc(&argc, &argv, config);
  for (hecs = 4; hecs > 1; hecs -= 2) {
    hs_set_hecs(hecs);
    for (long chosen = 0; chosen < 7; chosen++) {
      pthread_t thread;
      pthread_create(&thread, NULL, caller, (void *)chosen);
      pthread_join(thread, NULL);
    }
  }
  hecs = 2;
  for (long chosen = 5; chosen >= 0; chosen--)
    call(chosen);
  hs_exit();
  return 0;
}
