#define THREADED_RTS
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "Rts.h"

extern HsInt hs_delay(void);

/* Each of the managers, for descriptors and for timers, has a descriptor by which it is woken. */
static int managers(void) {
  int n = 0;
  for (int fd = 0; fd < 256; fd++) {
    char path[32], target[64] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (readlink(path, target, sizeof target - 1) > 0) n += strcmp(target, "anon_inode:[eventfd]") == 0;
  }
  return n;
}

/* Defined by Hecaton, whose own manager never ends: there the manager of base is asked for. */
extern const char hec_seam[] __attribute__((weak));

int main(int argc, char **argv) {
  if (hec_seam) setenv("GHCRTS", "--io-manager=base", 1);
  hs_init_with_rtsopts(&argc, &argv);
  setvbuf(stdout, NULL, _IOLBF, 0);
  printf("delayed %ld\n", (long)hs_delay());
  int before = managers();
  ioManagerWakeup();
  printf("delayed %ld\n", (long)hs_delay());
  ioManagerDie();
  while (managers() > 0) usleep(1000);
  puts("ended");
  /* One whose thread has not come to its end yet is not started again. */
  do {
    ioManagerStart();
    usleep(1000);
  } while (managers() < before);
  printf("delayed %ld, as many managers as before: %d\n", (long)hs_delay(), managers() == before);
  hs_exit();
  return 0;
}
