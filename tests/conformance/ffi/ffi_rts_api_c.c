#include <stdint.h>
#include <stdio.h>
#include "Rts.h"

extern HsStablePtr hs_identity(void);
extern HsStablePtr hs_action(HsInt);
extern StgClosure base_SystemziIO_putStrLn_closure, base_GHCziErr_undefined_closure;

static Capability *cap;

static HaskellObj eval(HaskellObj f, HaskellObj x) {
  HaskellObj result = NULL;
  rts_eval(&cap, rts_apply(cap, f, x), &result);
  return result;
}

#define THERE_AND_BACK(T, x, format, type) \
  printf(#T " " format "\n", (type)rts_get##T(eval(deRefStablePtr(identity), rts_mk##T(cap, x))))

static void perform(HsInt n) {
  HsStablePtr action = hs_action(n), result = NULL;
  cap = rts_lock();
  rts_evalStableIO(&cap, action, &result);
  printf("status %d, result %d\n", rts_getSchedStatus(cap), result != NULL);
  fflush(stdout);
  if (result) {
    HaskellObj value = NULL;
    rts_eval(&cap, deRefStablePtr(result), &value);
    printf("%ld\n", (long)rts_getInt(value));
    hs_free_stable_ptr(result);
  }
  rts_unlock(cap);
  hs_free_stable_ptr(action);
}

int main(int argc, char **argv) {
  hs_init_with_rtsopts(&argc, &argv);
  setvbuf(stdout, NULL, _IOLBF, 0);
  HsStablePtr identity = hs_identity();
  cap = rts_lock();
  THERE_AND_BACK(Char, 0x10ffff, "%lx", long);
  THERE_AND_BACK(Int, INT64_MIN, "%ld", long);
  THERE_AND_BACK(Int8, INT8_MIN, "%d", int);
  THERE_AND_BACK(Int16, INT16_MIN, "%d", int);
  THERE_AND_BACK(Int32, INT32_MIN, "%d", int);
  THERE_AND_BACK(Int64, -5, "%ld", long);
  THERE_AND_BACK(Word, UINT64_MAX, "%lu", unsigned long);
  THERE_AND_BACK(Word8, UINT8_MAX, "%u", unsigned);
  THERE_AND_BACK(Word16, UINT16_MAX, "%u", unsigned);
  THERE_AND_BACK(Word32, UINT32_MAX, "%u", unsigned);
  THERE_AND_BACK(Word64, UINT64_MAX, "%lu", unsigned long);
  THERE_AND_BACK(Float, 1.5f, "%g", double);
  THERE_AND_BACK(Double, -2.25, "%g", double);
  THERE_AND_BACK(Bool, 1, "%d", int);
  THERE_AND_BACK(Bool, 0, "%d", int);
  THERE_AND_BACK(Ptr, (HsPtr)16, "%p", void *);
  THERE_AND_BACK(FunPtr, (HsFunPtr)32, "%p", void *);
  THERE_AND_BACK(StablePtr, (HsStablePtr)48, "%p", void *);

  HaskellObj result = NULL, putStrLn = (HaskellObj)&base_SystemziIO_putStrLn_closure;
  rts_evalIO(&cap, rts_apply(cap, putStrLn, rts_mkString(cap, "strictly")), &result);
  printf("status %d, tag %d\n", rts_getSchedStatus(cap), (int)((W_)result & 7));
  rts_evalLazyIO(&cap, rts_apply(cap, putStrLn, rts_mkString(cap, "lazily")), NULL);
  rts_evalLazyIO_(&cap, rts_apply(cap, putStrLn, rts_mkString(cap, "on a small stack")), 128, NULL);
  rts_checkSchedStatus("main", cap);
  eval((HaskellObj)&base_GHCziErr_undefined_closure, rts_mkInt(cap, 1));
  printf("status %d\n", rts_getSchedStatus(cap));
  rts_unlock(cap);

  for (int n = 0; n < 4; n++)
    perform(n);

  HsStablePtr as_main = hs_action(4);
  cap = rts_lock();
  rts_evalStableIOMain(&cap, as_main, NULL);
  printf("not reached\n");
  return 0;
}
