#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "Rts.h"

/* int f(int x) { return x + 1; } */
static const unsigned char code[] = {0x8d, 0x47, 0x01, 0xc3};

static void write_to(ExecPage *p) { *(volatile char *)p = 1; }
static void read_from(ExecPage *p) { (void)*(volatile char *)p; }
static void run(ExecPage *p) { ((int (*)(int))p)(1); }

/* Tried in a child, which it may kill. */
static const char *outcome(void (*what)(ExecPage *), ExecPage *p) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    what(p);
    _exit(0);
  }
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? "killed" : "fine";
}

void try_page(void) {
  ExecPage *page = allocateExecPage();
  memset(page, 0x90, 4096);
  memcpy(page, code, sizeof code);
  flushExec(4096, page);
  printf("written: run %s, written again %s\n", outcome(run, page), outcome(write_to, page));
  freezeExecPage(page);
  printf("frozen: answers %d, run %s, written %s\n", ((int (*)(int))page)(41), outcome(run, page), outcome(write_to, page));
  freeExecPage(page);
  printf("freed: read %s\n", outcome(read_from, page));
  fflush(stdout);
}
