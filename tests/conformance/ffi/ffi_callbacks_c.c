#include <stdint.h>

double fold_range(int n, double acc, double (*f)(int, double)) {
  for (int i = 1; i <= n; i++) acc = f(i, acc);
  return acc;
}
double call_many(double (*f)(int8_t, uint16_t, int, int64_t, float, double, uint8_t, double, intptr_t, float)) {
  return f(-1, 2, -3, 4, 5.5f, 6.25, 7, 8.5, -9, 10.5f);
}
void repeat_call(int n, void (*f)(void)) { while (n-- > 0) f(); }
