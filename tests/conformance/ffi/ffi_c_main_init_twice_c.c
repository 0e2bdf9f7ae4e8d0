#include <stdio.h>
#include "HsFFI.h"
#include "Rts.h"

extern HsInt32 triple(HsInt32);

int main(int argc, char **argv) {
  hs_init_with_rtsopts(&argc, &argv);
  hs_init(NULL, NULL);
  printf("%d\n", triple(5));
  hs_exit();
  printf("%d\n", triple(6));
  hs_exit();
  return 0;
}
