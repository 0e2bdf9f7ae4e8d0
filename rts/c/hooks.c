/* Hooks. They are weak, so that a C program may define functions with the same
 * names. The defaults are in Rust (api/default_hooks.rs). */
#include "Rts.h"

#define REPLACEABLE __attribute__((weak))

void hec_stack_overflow(W_ stack_bytes);
void hec_out_of_heap(W_ request_bytes, W_ heap_bytes);
void hec_malloc_failed(W_ request_bytes, const char *what);
void hec_long_gc_sync(uint32_t hec, Time elapsed);
void hec_long_gc_sync_end(Time elapsed);

REPLACEABLE void FlagDefaultsHook(void) {}

REPLACEABLE void OnExitHook(void) {}

REPLACEABLE void StackOverflowHook(W_ stack_bytes)
{
    hec_stack_overflow(stack_bytes);
}

REPLACEABLE void OutOfHeapHook(W_ request_bytes, W_ heap_bytes)
{
    hec_out_of_heap(request_bytes, heap_bytes);
}

REPLACEABLE void MallocFailHook(W_ request_bytes, const char *what)
{
    hec_malloc_failed(request_bytes, what);
}

REPLACEABLE void LongGCSync(uint32_t hec, Time elapsed)
{
    hec_long_gc_sync(hec, elapsed);
}

REPLACEABLE void LongGCSyncEnd(Time elapsed)
{
    hec_long_gc_sync_end(elapsed);
}
