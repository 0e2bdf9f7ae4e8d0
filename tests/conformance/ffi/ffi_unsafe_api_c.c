#include <string.h>
#include "Rts.h"

#define CAP rts_unsafeGetMyCapability()

static HsStablePtr keep(HaskellObj v) { return getStablePtr((StgPtr)v); }

HsStablePtr make_int(HsInt n) { return keep(rts_mkInt(CAP, n)); }
HsStablePtr make_double(HsDouble d) { return keep(rts_mkDouble(CAP, d)); }
HsStablePtr make_string(void) { return keep(rts_mkString(CAP, "made in C")); }

/* A thunk, which Haskell evaluates later. */
HsStablePtr make_sum(HsStablePtr f, HsInt n) {
  HaskellObj x = rts_mkInt(CAP, n);
  return keep(rts_apply(CAP, (HaskellObj)deRefStablePtr(f), x));
}

static HsInt fill(StgPtr p, W_ size) {
  StgArrBytes *a = (StgArrBytes *)p;
  SET_ARR_HDR(a, &stg_ARR_WORDS_info, CCS_MAIN, size);
  memset(a->payload, 1, size);
  return ((char *)a->payload)[size - 1];
}

HsInt make_bytes(HsInt size) {
  W_ words = sizeofW(StgArrBytes) + ROUNDUP_BYTES_TO_WDS(size);
  HsInt sum = 0;
  for (int i = 0; i < 50; i++) {
    sum += fill(allocate(CAP, words), size);
    sum += fill(allocateMightFail(CAP, words), size);
    sum += fill(allocatePinned(CAP, words, 16, sizeof(StgArrBytes)), size);
  }
  return sum;
}

/* The pointers in a closure, as an array that C makes. */
HsInt count_pointers(HsStablePtr p) {
  StgClosure *c = UNTAG_CLOSURE((StgClosure *)deRefStablePtr(p));
  return heap_view_closurePtrs(CAP, c)->ptrs;
}

HsInt make_thread(HsStablePtr action) {
  StgTSO *t = createIOThread(CAP, 200, (StgClosure *)deRefStablePtr(action));
  return t->what_next == ThreadRunGHC && t->why_blocked == NotBlocked;
}
