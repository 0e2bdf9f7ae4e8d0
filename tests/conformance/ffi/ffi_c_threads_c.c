#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include "HsFFI.h"
#include "Rts.h"

extern HsInt32 work(HsInt32);
extern HsInt32 bound(void);

static void *body(void *arg) {
  intptr_t n = (intptr_t)arg, sum = 0;
  for (int i = 0; i < 50; i++) sum += work(n + i);
  if (!bound()) sum = -1;
  hs_thread_done();
  return (void *)sum;
}

int main(int argc, char **argv) {
  pthread_t t[6];
  hs_init_with_rtsopts(&argc, &argv);
  for (intptr_t i = 0; i < 6; i++) pthread_create(&t[i], NULL, body, (void *)(i * 10));
  for (int i = 0; i < 6; i++) {
    void *r;
    pthread_join(t[i], &r);
    printf("%ld\n", (long)(intptr_t)r);
  }
  printf("%d\n", bound());
  hs_exit();
  return 0;
}
