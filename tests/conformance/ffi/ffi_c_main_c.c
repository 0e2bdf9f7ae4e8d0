#include <stdio.h>
#include <stdlib.h>
#include "HsFFI.h"
#include "Rts.h"

extern HsInt32 addUp(HsInt32, HsInt32);
extern HsDouble scale(HsDouble);
extern void report(void);
extern void *describe(void *, HsInt32);
extern HsInt32 viaThreads(HsInt32);

int main(int argc, char **argv) {
  hs_init_with_rtsopts(&argc, &argv);
  printf("argc %d\n", argc);
  printf("%d %d\n", addUp(3, 4), addUp(10, 10));
  printf("%.2f\n", scale(2.0));
  fflush(stdout);
  report();
  char *s = describe("ab", 3);
  puts(s);
  free(s);
  printf("%d\n", viaThreads(50));
  hs_perform_gc();
  printf("%d\n", addUp(1, 1));
  fflush(stdout);
  hs_exit();
  puts("after hs_exit");
  return 5;
}
