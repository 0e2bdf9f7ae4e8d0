#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "HsFFI.h"

struct request { int cap; HsStablePtr mvar; };

static void *later(void *arg) {
  struct request *r = arg;
  usleep(10000);
  hs_try_putmvar(r->cap, r->mvar);
  free(r);
  return NULL;
}

void signal_later(int cap, HsStablePtr mvar) {
  struct request *r = malloc(sizeof *r);
  pthread_t t;
  r->cap = cap;
  r->mvar = mvar;
  pthread_create(&t, NULL, later, r);
  pthread_detach(t);
}
