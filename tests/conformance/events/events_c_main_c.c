#include <stdio.h>
#include <unistd.h>
#include "HsFFI.h"
#include "Rts.h"

extern HsInt32 waitFor(HsInt32 fd, HsInt32 us);
extern void startWaiters(void);

/* Twice, counted by the runtime: the second hs_exit ends it, with threads still waiting. */
int main(int argc, char **argv) {
  int p[2];
  if (pipe(p) != 0) return 1;
  hs_init_with_rtsopts(&argc, &argv);
  printf("nothing there: %d\n", waitFor(p[0], 2000));
  if (write(p[1], "abc", 3) != 3) return 1;
  printf("a byte: %d\n", waitFor(p[0], 50000000));
  printf("a byte: %d\n", waitFor(p[0], 50000000));
  startWaiters();
  hs_init(&argc, &argv);
  hs_exit();
  printf("still on: %d\n", waitFor(p[0], 50000000));
  startWaiters();
  printf("nothing there: %d\n", waitFor(p[0], 1000));
  fflush(stdout);
  hs_exit();
  /* The descriptors are C's, and as they were. */
  if (write(p[1], "end", 3) != 3) return 1;
  char buf[10];
  printf("after hs_exit: %d bytes\n", (int)read(p[0], buf, sizeof buf));
  return 0;
}
