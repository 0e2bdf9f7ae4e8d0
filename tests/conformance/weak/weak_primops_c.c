#include <stdio.h>

void fin1(long argument) {
  printf("c %ld\n", argument);
  fflush(stdout);
}

void fin2(long environment, long argument) {
  printf("c %ld of %ld\n", argument, environment);
  fflush(stdout);
}
