#include <stdio.h>
#include <string.h>
#include "Rts.h"

extern HsStablePtr hs_action(HsInt), hs_product(HsInt);
extern HsInt hs_total(HsStablePtr);
extern StgInfoTable ghczmprim_GHCziTypes_Izh_con_info, ghczmprim_GHCziTypes_ZC_con_info;
extern StgClosure ghczmprim_GHCziTypes_ZMZN_closure;

static Capability *cap;

static StgClosure *at(HsStablePtr p) { return (StgClosure *)deRefStablePtr(p); }

/* The size of a stack: at least as many words as were named, less what the thread and the stack themselves take. */
static int is_new(StgTSO *t, W_ words) {
  StgStack *s = t->stackobj;
  W_ *top = s->stack + s->stack_size;
  return t->what_next == ThreadRunGHC && t->why_blocked == NotBlocked && t->_link == END_TSO_QUEUE &&
         top[-1] == (W_)&stg_stop_thread_info && s->stack_size + sizeofW(StgTSO) + sizeofW(StgStack) >= words &&
         t->tot_stack_size == s->stack_size && t->cap == cap;
}

static void run(const char *how, StgTSO *(*make)(Capability *, W_, StgClosure *), HsStablePtr what, int show) {
  cap = rts_lock();
  StgTSO *t = make(cap, 1000, at(what));
  int fresh = is_new(t, 1000);
  HaskellObj result = NULL;
  scheduleWaitThread(t, &result, &cap);
  printf("%s: new %d, status %d", how, fresh, rts_getSchedStatus(cap));
  if (show) {
    rts_eval(&cap, result, &result);
    printf(", result %ld", (long)rts_getInt(result));
  } else if (result) {
    printf(", evaluated %d", closure_HNF(UNTAG_CLOSURE(result)) != 0);
  }
  puts("");
  fflush(stdout);
  rts_unlock(cap);
}

static void io(HsInt n, int show) {
  HsStablePtr action = hs_action(n);
  run("IO", createIOThread, action, show);
  run("strict IO", createStrictIOThread, action, show);
  hs_free_stable_ptr(action);
}

/* A thread with an empty stack gets frames: enter the action, then apply it to nothing. */
static void by_hand(HsStablePtr action) {
  HaskellObj result = NULL;
  cap = rts_lock();
  StgTSO *t = createThread(cap, 500);
  printf("empty %d\n", t->stackobj->sp == t->stackobj->stack + t->stackobj->stack_size - 1 && is_new(t, 500));
  StgPtr sp = t->stackobj->sp -= 3;
  sp[0] = (W_)&stg_enter_info;
  sp[1] = (W_)at(action);
  sp[2] = (W_)&stg_ap_v_info;
  scheduleWaitThread(t, &result, &cap);
  printf("by hand: status %d, result %ld\n", rts_getSchedStatus(cap), (long)rts_getInt(result));
  rts_unlock(cap);
}

static StgClosure *word(StgPtr p, const StgInfoTable *info, W_ a, W_ b) {
  SET_INFO((StgClosure *)p, info);
  p[1] = a;
  p[2] = b;
  return (StgClosure *)p;
}

/* A list of numbers, made cell by cell; collections come between. */
static void list_by_hand(int length) {
  HsStablePtr list = getStablePtr((StgPtr)TAG_CLOSURE(1, &ghczmprim_GHCziTypes_ZMZN_closure));
  for (int i = 1; i <= length; i++) {
    cap = rts_lock();
    StgPtr number = i % 2 ? allocate(cap, 2) : allocateMightFail(cap, 2);
    SET_INFO((StgClosure *)number, &ghczmprim_GHCziTypes_Izh_con_info);
    number[1] = i;
    StgPtr cell = allocate(cap, 3);
    StgClosure *c = word(cell, &ghczmprim_GHCziTypes_ZC_con_info, (W_)TAG_CLOSURE(1, (StgClosure *)number), (W_)at(list));
    HsStablePtr longer = getStablePtr((StgPtr)TAG_CLOSURE(2, c));
    rts_unlock(cap);
    hs_free_stable_ptr(list);
    list = longer;
    if (i % 1000 == 0) performGC();
  }
  printf("total %ld\n", (long)hs_total(list));
  hs_free_stable_ptr(list);
}

static StgArrBytes *bytes(StgPtr p, W_ size, int fill) {
  StgArrBytes *a = (StgArrBytes *)p;
  SET_ARR_HDR(a, &stg_ARR_WORDS_info, CCS_MAIN, size);
  memset(a->payload, fill, size);
  return a;
}

/* Byte arrays: pinned ones stay where they are, and lie where they were wanted; large ones are there. */
static void arrays(void) {
  static const W_ sizes[] = {8, 100, 3000, 100000};
  for (int i = 0; i < 4; i++)
    for (W_ align = 8; align <= 4096; align *= 8) {
      W_ size = sizes[i], words = sizeofW(StgArrBytes) + ROUNDUP_BYTES_TO_WDS(size);
      cap = rts_lock();
      StgArrBytes *pinned = bytes(allocatePinned(cap, words, align, sizeof(StgArrBytes)), size, 'p');
      HsStablePtr keep = getStablePtr((StgPtr)pinned), moved = getStablePtr(allocate(cap, words));
      bytes((StgPtr)at(moved), size, 'm');
      rts_unlock(cap);
      performMajorGC();
      performMajorGC();
      StgArrBytes *there = (StgArrBytes *)at(moved);
      int whole = there->bytes == size && pinned->bytes == size;
      for (W_ b = 0; b < size; b++)
        whole &= ((char *)pinned->payload)[b] == 'p' && ((char *)there->payload)[b] == 'm';
      if ((StgPtr)pinned != (StgPtr)at(keep) || (W_)pinned->payload % align || !whole)
        printf("size %ld aligned to %ld: same place %d, at %ld, whole %d\n", (long)size, (long)align,
               (StgPtr)pinned == (StgPtr)at(keep), (long)((W_)pinned->payload % align), whole);
      hs_free_stable_ptr(keep);
      hs_free_stable_ptr(moved);
    }
  puts("arrays");
}

/* Old threads that never run lead to young ones, by a link and by what they wait for. The barriers tell young
 * collections. */
static void links(void) {
  HsStablePtr by_link, by_prev, by_dirty;
  cap = rts_lock();
  by_link = getStablePtr((StgPtr)createThread(cap, 200));
  by_prev = getStablePtr((StgPtr)createThread(cap, 200));
  by_dirty = getStablePtr((StgPtr)createThread(cap, 200));
  rts_unlock(cap);
  for (int i = 0; i < 4; i++) performMajorGC();
  cap = rts_lock();
  StgTSO *young[3];
  StgThreadID ids[3];
  for (int i = 0; i < 3; i++) {
    young[i] = createThread(cap, 200);
    ids[i] = young[i]->id;
  }
  setTSOLink(cap, (StgTSO *)at(by_link), young[0]);
  setTSOPrev(cap, (StgTSO *)at(by_prev), young[1]);
  StgTSO *dirty = (StgTSO *)at(by_dirty);
  dirty_TSO(cap, dirty);
  dirty->_link = young[2];
  /* A young value on an old stack. */
  dirty_STACK(cap, dirty->stackobj);
  dirty->stackobj->sp -= 2;
  dirty->stackobj->sp[0] = (W_)&stg_enter_info;
  dirty->stackobj->sp[1] = (W_)rts_mkInt(cap, 4711);
  rts_unlock(cap);
  for (int i = 0; i < 3; i++) {
    performGC();
    list_by_hand(100);
  }
  printf("links %d %d %d, on the stack %ld\n", ((StgTSO *)at(by_link))->_link->id == ids[0],
         ((StgTSO *)at(by_prev))->block_info.prev->id == ids[1], ((StgTSO *)at(by_dirty))->_link->id == ids[2],
         (long)rts_getInt((HaskellObj)((StgTSO *)at(by_dirty))->stackobj->sp[1]));
  cap = rts_lock();
  setTSOPrev(cap, (StgTSO *)at(by_prev), END_TSO_QUEUE);
  rts_unlock(cap);
  hs_free_stable_ptr(by_link);
  hs_free_stable_ptr(by_prev);
  hs_free_stable_ptr(by_dirty);
}

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  hs_init_with_rtsopts(&argc, &argv);
  io(0, 1);
  io(1, 0);
  io(2, 0);
  io(3, 1);
  io(4, 1);
  HsStablePtr p = hs_product(100);
  cap = rts_lock();
  HaskellObj result = NULL;
  scheduleWaitThread(createGenThread(cap, 2000, at(p)), &result, &cap);
  printf("product: status %d, tag %d, evaluated %d\n", rts_getSchedStatus(cap), (int)GET_CLOSURE_TAG(result),
         closure_HNF(UNTAG_CLOSURE(result)) != 0);
  rts_unlock(cap);
  HsStablePtr a = hs_action(5);
  by_hand(a);
  list_by_hand(30000);
  arrays();
  links();
  hs_exit();
  puts("end");
  return 0;
}
