#include <stdio.h>
#include "Rts.h"

/* All by address, so that it is the library's function that is called, and not its text in the header. */
#define F(f) __typeof__(f) *volatile const the_##f = f
F(closure_sizeW); F(closure_sizeW_); F(get_itbl); F(get_ret_itbl); F(INFO_PTR_TO_STRUCT); F(RET_INFO_PTR_TO_STRUCT);
F(sizeW_fromITBL); F(thunk_sizeW_fromITBL); F(stack_frame_sizeW); F(stack_sizeW); F(pap_sizeW); F(PAP_sizeW); F(AP_sizeW);
F(AP_STACK_sizeW); F(CONSTR_sizeW); F(THUNK_SELECTOR_sizeW); F(BLACKHOLE_sizeW); F(ap_sizeW); F(ap_stack_sizeW);
F(arr_words_words); F(arr_words_sizeW); F(mut_arr_ptrs_sizeW); F(small_mut_arr_ptrs_sizeW); F(bco_sizeW);
F(compact_nfdata_full_sizeW); F(zeroSlop); F(overwritingClosure); F(overwritingMutableClosureOfs); F(overwritingClosureSize);

static void flags(StgClosure *c) {
  printf("hnf %d thunk %d mutable %d unpointed %d srt %d indirection %d spark %d\n", !!closure_HNF(c), !!closure_THUNK(c),
         !!closure_MUTABLE(c), !!closure_UNPOINTED(c), !!closure_SRT(c), !!closure_IND(c), !!closure_SHOULD_SPARK(c));
}

void look(HsInt what, HsStablePtr p) {
  Capability *cap = rts_lock();
  StgClosure *c = UNTAG_CLOSURE((StgClosure *)deRefStablePtr(p));
  while (closure_IND(c)) c = UNTAG_CLOSURE(((StgInd *)c)->indirectee);
  const StgInfoTable *info = the_get_itbl(c);
  printf("%ld: type %d, words %u %u %ld, its table %d\n", (long)what, info->type, the_closure_sizeW(c), the_closure_sizeW_(c, info),
         (long)heap_view_closureSize(c), info == the_INFO_PTR_TO_STRUCT(c->header.info));
  flags(c);
  StgMutArrPtrs *found = heap_view_closurePtrs(cap, c);
  printf("%ld pointers, words %ld:", (long)found->ptrs, (long)the_mut_arr_ptrs_sizeW(found));
  for (W_ i = 0; i < found->ptrs; i++) printf(" %d", get_itbl(UNTAG_CLOSURE(found->payload[i]))->type);
  puts("");
  if (info->type == PAP) {
    StgPAP *pap = (StgPAP *)c;
    StgClosure *args[8];
    W_ n = 0;
    heap_view_closure_ptrs_in_pap_payload(args, &n, pap->fun, pap->payload, pap->n_args);
    printf("partial: words %d, arguments %d, pointers %ld\n", the_pap_sizeW(pap), pap->n_args, (long)n);
  } else if (info->type <= CONSTR_NOCAF) {
    printf("constructor: words %d\n", the_sizeW_fromITBL(info));
  }
  StgTSO *t = createIOThread(cap, 300, c);
  StgPtr sp = t->stackobj->sp, top = t->stackobj->stack + t->stackobj->stack_size;
  printf("stack %d, frames:", the_stack_sizeW(t->stackobj) == t->stackobj->stack_size + sizeofW(StgStack));
  for (; sp < top; sp += the_stack_frame_sizeW((StgClosure *)sp)) {
    const StgRetInfoTable *ret = the_get_ret_itbl((StgClosure *)sp);
    printf(" %d/%ld", ret->i.type, (long)the_stack_frame_sizeW((StgClosure *)sp));
    if (ret != the_RET_INFO_PTR_TO_STRUCT(((StgClosure *)sp)->header.info)) printf("!");
  }
  printf(" %d\n", sp == top);
  fflush(stdout);
  rts_unlock(cap);
}

void look_at_tables(void) {
  /* Made by hand, in no heap. */
  static W_ space[16];
  StgArrBytes *bytes = (StgArrBytes *)space;
  bytes->bytes = 33;
  printf("bytes %ld %d\n", (long)the_arr_words_words(bytes), the_arr_words_sizeW(bytes));
  StgSmallMutArrPtrs *small = (StgSmallMutArrPtrs *)space;
  small->ptrs = 5;
  printf("small %d\n", the_small_mut_arr_ptrs_sizeW(small));
  StgAP *ap = (StgAP *)space;
  ap->n_args = 3;
  StgAP_STACK *stack = (StgAP_STACK *)space;
  printf("ap %d", the_ap_sizeW(ap));
  stack->size = 4;
  printf(" %d\n", the_ap_stack_sizeW(stack));
  StgBCO *bco = (StgBCO *)space;
  bco->size = 11;
  StgCompactNFData *compact = (StgCompactNFData *)space;
  printf("bco %ld", (long)the_bco_sizeW(bco));
  compact->totalW = 12;
  printf(" compact %ld\n", (long)the_compact_nfdata_full_sizeW(compact));
  printf("sizes %d %d %d %d %d %d\n", the_PAP_sizeW(2), the_AP_sizeW(2), the_AP_STACK_sizeW(2), the_CONSTR_sizeW(1, 2), the_THUNK_SELECTOR_sizeW(),
         the_BLACKHOLE_sizeW());
  printf("thunk %d\n", the_thunk_sizeW_fromITBL(INFO_PTR_TO_STRUCT((const StgInfoTable *)&stg_ap_2_upd_info)));
  /* Slop is not cleared but under -DS. */
  for (int i = 0; i < 16; i++) space[i] = i;
  ((StgClosure *)space)->header.info = (const StgInfoTable *)&stg_ap_2_upd_info;
  the_zeroSlop((StgClosure *)space, 1, 16, 1);
  the_overwritingClosure((StgClosure *)space);
  the_overwritingClosureSize((StgClosure *)space, 16);
  the_overwritingMutableClosureOfs((StgClosure *)space, 1);
  printf("left alone %d\n", space[1] == 1 && space[3] == 3 && space[15] == 15);
  for (int i = 0; i < N_CLOSURE_TYPES; i++) printf("%x%c", closure_flags[i], i % 16 == 15 ? '\n' : ' ');
  fflush(stdout);
}
