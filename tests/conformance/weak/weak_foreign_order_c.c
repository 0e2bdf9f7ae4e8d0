#include <stdint.h>

static intptr_t trace[1000];
static intptr_t used;

static void add(intptr_t v) { trace[used++] = v; }
void fin_a(void *p) { (void)p; add(1); }
void fin_b(void *p) { (void)p; add(2); }
void fin_env(intptr_t *env, void *p) { (void)p; add(*env); }
intptr_t trace_length(void) { return used; }
intptr_t trace_at(intptr_t i) { return trace[i]; }
