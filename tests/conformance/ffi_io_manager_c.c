#define THREADED_RTS
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>
#include "Rts.h"

extern HsInt hs_delay(void);

static int descriptors(void) {
  DIR *d = opendir("/proc/self/fd");
  int n = 0;
  while (readdir(d)) n++;
  closedir(d);
  return n;
}

int main(int argc, char **argv) {
  hs_init_with_rtsopts(&argc, &argv);
  setvbuf(stdout, NULL, _IOLBF, 0);
  printf("delayed %ld\n", (long)hs_delay());
  int before = descriptors();
  ioManagerWakeup();
  printf("delayed %ld\n", (long)hs_delay());
  ioManagerDie();
  while (descriptors() >= before) usleep(1000);
  puts("ended");
  ioManagerStart();
  printf("delayed %ld, as many descriptors as before: %d\n", (long)hs_delay(), descriptors() == before);
  hs_exit();
  return 0;
}
