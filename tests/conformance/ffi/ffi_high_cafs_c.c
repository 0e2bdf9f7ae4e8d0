#include <stdint.h>

extern char ZCMain_main_closure[];

long is_high(void) { return (uintptr_t)ZCMain_main_closure >= 1UL << 31; }
