#include "HsFFI.h"

int call_and_free(int n, int (*f)(int)) {
  int r = f(n);
  hs_free_fun_ptr((HsFunPtr)f);
  return r;
}
void drop_stable(HsStablePtr p) { hs_free_stable_ptr(p); }
