#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int32_t *make_cell(int32_t v) { int32_t *p = malloc(sizeof *p); *p = v; return p; }
void note_finalized(int32_t *p) { printf("finalized %d\n", (int)*p); fflush(stdout); free(p); }
