#include <stdint.h>
#include <stdlib.h>

int counter = 0;

int64_t mix_ints(int8_t a, int16_t b, int32_t c, int64_t d, uint8_t e, uint16_t f, uint32_t g, uint64_t h) {
  return a + 10 * b + 100 * c + 1000 * d + 3 * (int64_t)e + 5 * (int64_t)f + 7 * (int64_t)g + 11 * (int64_t)h;
}
double mix_floats(double a, float b, double c, intptr_t d, double e, float f, double g, double h, double i, double j, double k, intptr_t l) {
  return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k + 12 * l;
}
int twice(int n) { counter++; return 2 * n; }
void fill(uint8_t *p, size_t n, uint8_t v) { for (size_t i = 0; i < n; i++) p[i] = v + i; }
int8_t neg8(int8_t x) { return -x; }
_Bool is_odd(int n) { return n & 1; }
