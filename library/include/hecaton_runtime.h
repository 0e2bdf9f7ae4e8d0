/* What Hecaton's runtime has for this package. The references are weak: on another runtime there is nothing. */

#pragma once

#include <stddef.h>

#define OF_RUNTIME __attribute__((weak))
extern void *hec_for_library(void) OF_RUNTIME;
extern void *hec_substrate(void) OF_RUNTIME;
extern void *hec_file_ring(size_t hec) OF_RUNTIME;
extern int hec_file_ring_fd(void *ring) OF_RUNTIME;
extern size_t hec_file_ring_submit(void *ring, void *requests, size_t n) OF_RUNTIME;
extern size_t hec_file_ring_reap(void *ring, void *completions, size_t n) OF_RUNTIME;
extern void *hec_lenient_function(void) OF_RUNTIME;
extern int hec_own_pe(void) OF_RUNTIME;
extern int hec_pe_count(void) OF_RUNTIME;
extern unsigned long hec_call(int pe, void *action, void *mvar, void **why) OF_RUNTIME;
extern void hec_cancel_call(unsigned long call) OF_RUNTIME;
extern void hec_place(int pe, void *thunk) OF_RUNTIME;
extern void hec_perform_global_gc(void) OF_RUNTIME;
extern void performMajorGC(void);

/* A tuple of functions, or null. */
static inline void *hecaton_functions(void) { return hec_for_library ? hec_for_library() : NULL; }

/* A tuple of functions for schedulers, or null. */
static inline void *hecaton_substrate(void) { return hec_substrate ? hec_substrate() : NULL; }

/* The function that sparks a value for lenient evaluation, or null. */
static inline void *hecaton_lenient(void) { return hec_lenient_function ? hec_lenient_function() : NULL; }

/* The ring of a HEC, or null. The other functions are called only if there is one. */
static inline void *hecaton_file_ring(size_t hec) { return hec_file_ring ? hec_file_ring(hec) : NULL; }

/* The number of this processing element, and how many there are. */
static inline int hecaton_own_pe(void) { return hec_own_pe ? hec_own_pe() : 0; }
static inline int hecaton_pe_count(void) { return hec_pe_count ? hec_pe_count() : 1; }

/* Collects the garbage of all processing elements. */
static inline void hecaton_perform_global_gc(void) {
    if (hec_perform_global_gc)
        hec_perform_global_gc();
    else
        performMajorGC();
}

/* These are called only if there are other processing elements. */
static inline unsigned long hecaton_call(int pe, void *action, void *mvar, void **why) {
    return hec_call(pe, action, mvar, why);
}
static inline void hecaton_cancel_call(unsigned long call) { hec_cancel_call(call); }
static inline void hecaton_place(int pe, void *thunk) { hec_place(pe, thunk); }
