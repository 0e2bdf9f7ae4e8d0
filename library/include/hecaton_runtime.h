/* What Hecaton's runtime has for this package. The references are weak: on another runtime there is nothing. */

#pragma once

#include <stddef.h>

extern void *hec_for_library(void) __attribute__((weak));

/* A tuple of functions, or null. */
static inline void *hecaton_functions(void) { return hec_for_library ? hec_for_library() : NULL; }
