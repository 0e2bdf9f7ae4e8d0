/* Prints, as Rust constants, every number of the contract between compiled code
 * and its runtime. Compiled and run by build.rs against the installed headers, so
 * that no offset is ever copied by hand: another GHC is another build input. */
#include <stdio.h>
#include <stddef.h>
#define THREADED_RTS 1
#include "Rts.h"

#define N(name, v) printf("pub const %s: usize = %lluusize;\n", name, (unsigned long long)(v))
#define V(macro)   N(#macro, macro)
#define OFF(name, type, field) N(name, offsetof(type, field))

int main(void)
{
    /* Closure types */
    V(INVALID_OBJECT); V(CONSTR); V(CONSTR_1_0); V(CONSTR_0_1); V(CONSTR_2_0);
    V(CONSTR_1_1); V(CONSTR_0_2); V(CONSTR_NOCAF); V(FUN); V(FUN_1_0); V(FUN_0_1);
    V(FUN_2_0); V(FUN_1_1); V(FUN_0_2); V(FUN_STATIC); V(THUNK); V(THUNK_1_0);
    V(THUNK_0_1); V(THUNK_2_0); V(THUNK_1_1); V(THUNK_0_2); V(THUNK_STATIC);
    V(THUNK_SELECTOR); V(BCO); V(AP); V(PAP); V(AP_STACK); V(IND); V(IND_STATIC);
    V(RET_BCO); V(RET_SMALL); V(RET_BIG); V(RET_FUN); V(UPDATE_FRAME); V(CATCH_FRAME);
    V(UNDERFLOW_FRAME); V(STOP_FRAME); V(BLOCKING_QUEUE); V(BLACKHOLE); V(MVAR_CLEAN);
    V(MVAR_DIRTY); V(TVAR); V(ARR_WORDS); V(MUT_ARR_PTRS_CLEAN); V(MUT_ARR_PTRS_DIRTY);
    V(MUT_ARR_PTRS_FROZEN_DIRTY); V(MUT_ARR_PTRS_FROZEN_CLEAN); V(MUT_VAR_CLEAN);
    V(MUT_VAR_DIRTY); V(WEAK); V(PRIM); V(MUT_PRIM); V(TSO); V(STACK); V(TREC_CHUNK);
    V(ATOMICALLY_FRAME); V(CATCH_RETRY_FRAME); V(CATCH_STM_FRAME); V(WHITEHOLE);
    V(SMALL_MUT_ARR_PTRS_CLEAN); V(SMALL_MUT_ARR_PTRS_DIRTY);
    V(SMALL_MUT_ARR_PTRS_FROZEN_DIRTY); V(SMALL_MUT_ARR_PTRS_FROZEN_CLEAN);
    V(COMPACT_NFDATA); V(N_CLOSURE_TYPES);

    /* Function types */
    V(ARG_GEN); V(ARG_GEN_BIG); V(ARG_BCO); V(ARG_NONE); V(ARG_N); V(ARG_P); V(ARG_F);
    V(ARG_D); V(ARG_L); V(ARG_V16); V(ARG_V32); V(ARG_V64); V(ARG_NN); V(ARG_NP);
    V(ARG_PN); V(ARG_PP); V(ARG_NNN); V(ARG_NNP); V(ARG_NPN); V(ARG_NPP); V(ARG_PNN);
    V(ARG_PNP); V(ARG_PPN); V(ARG_PPP); V(ARG_PPPP); V(ARG_PPPPP); V(ARG_PPPPPP);
    V(ARG_PPPPPPP); V(ARG_PPPPPPPP);

    /* Thread states and return codes */
    V(ThreadRunGHC); V(ThreadInterpret); V(ThreadKilled); V(ThreadComplete);
    V(NotBlocked); V(BlockedOnMVar); V(BlockedOnMVarRead); V(BlockedOnBlackHole);
    V(BlockedOnRead); V(BlockedOnWrite); V(BlockedOnDelay); V(BlockedOnSTM);
    V(BlockedOnCCall); V(BlockedOnCCall_Interruptible); V(BlockedOnMsgThrowTo);
    V(ThreadMigrating); V(BlockedOnIOCompletion);
    V(HeapOverflow); V(StackOverflow); V(ThreadYielding); V(ThreadBlocked); V(ThreadFinished);
    V(TSO_LOCKED); V(TSO_BLOCKEX); V(TSO_INTERRUPTIBLE); V(TSO_STOPPED_ON_BREAKPOINT);
    V(TSO_ALLOC_LIMIT); V(STACK_DIRTY); V(RESERVED_STACK_WORDS); V(AP_STACK_SPLIM);
    V(RESERVED_C_STACK_BYTES); V(MIN_INTLIKE); V(MAX_INTLIKE); V(MAX_CHARLIKE); V(TREC_CHUNK_NUM_ENTRIES);
    N("SIZEOF_StgTRecChunk", sizeof(StgTRecChunk));
    V(MUT_ARR_PTRS_CARD_BITS); V(BITMAP_SIZE_MASK); V(BITMAP_BITS_SHIFT);
    V(BLOCK_SHIFT); V(MAX_SPEC_SELECTEE_SIZE);

    /* Register table and HEC */
    N("SIZEOF_RegTable", sizeof(StgRegTable));
    OFF("OFFSET_rR1", StgRegTable, rR1); OFF("OFFSET_rSp", StgRegTable, rSp);
    OFF("OFFSET_rSpLim", StgRegTable, rSpLim); OFF("OFFSET_rHp", StgRegTable, rHp);
    OFF("OFFSET_rHpLim", StgRegTable, rHpLim); OFF("OFFSET_rCCCS", StgRegTable, rCCCS);
    OFF("OFFSET_rCurrentTSO", StgRegTable, rCurrentTSO);
    OFF("OFFSET_rNursery", StgRegTable, rNursery);
    OFF("OFFSET_rCurrentNursery", StgRegTable, rCurrentNursery);
    OFF("OFFSET_rCurrentAlloc", StgRegTable, rCurrentAlloc);
    OFF("OFFSET_rHpAlloc", StgRegTable, rHpAlloc); OFF("OFFSET_rRet", StgRegTable, rRet);
    OFF("OFFSET_Capability_r", CapabilityPublic, r);
    N("SIZEOF_FunTable", sizeof(StgFunTable));

    /* Block descriptor, as compiled code reads it around foreign calls */
    OFF("OFFSET_bdescr_start", bdescr, start); OFF("OFFSET_bdescr_free", bdescr, free);
    OFF("OFFSET_bdescr_link", bdescr, link); OFF("OFFSET_bdescr_blocks", bdescr, blocks);

    /* Threads */
    N("SIZEOF_StgTSO", sizeof(StgTSO)); N("SIZEOF_StgStack", sizeof(StgStack));
    OFF("OFFSET_TSO_link", StgTSO, _link); OFF("OFFSET_TSO_global_link", StgTSO, global_link);
    OFF("OFFSET_TSO_stackobj", StgTSO, stackobj); OFF("OFFSET_TSO_what_next", StgTSO, what_next);
    OFF("OFFSET_TSO_why_blocked", StgTSO, why_blocked); OFF("OFFSET_TSO_flags", StgTSO, flags);
    OFF("OFFSET_TSO_block_info", StgTSO, block_info); OFF("OFFSET_TSO_id", StgTSO, id);
    OFF("OFFSET_TSO_saved_errno", StgTSO, saved_errno); OFF("OFFSET_TSO_dirty", StgTSO, dirty);
    OFF("OFFSET_TSO_bound", StgTSO, bound); OFF("OFFSET_TSO_cap", StgTSO, cap);
    OFF("OFFSET_TSO_trec", StgTSO, trec);
    OFF("OFFSET_TSO_blocked_exceptions", StgTSO, blocked_exceptions);
    OFF("OFFSET_TSO_bq", StgTSO, bq); OFF("OFFSET_TSO_alloc_limit", StgTSO, alloc_limit);
    OFF("OFFSET_TSO_tot_stack_size", StgTSO, tot_stack_size);
    OFF("OFFSET_STACK_stack_size", StgStack, stack_size); OFF("OFFSET_STACK_dirty", StgStack, dirty);
    OFF("OFFSET_STACK_marking", StgStack, marking);
    OFF("OFFSET_STACK_sp", StgStack, sp); OFF("OFFSET_STACK_stack", StgStack, stack);

    /* Info tables, addressed backwards from the info pointer */
    N("SIZEOF_InfoTable", sizeof(StgInfoTable)); N("SIZEOF_FunInfoExtra", sizeof(StgFunInfoExtraRev));
    OFF("OFFSET_InfoTable_layout", StgInfoTable, layout);
    OFF("OFFSET_InfoTable_type", StgInfoTable, type); OFF("OFFSET_InfoTable_srt", StgInfoTable, srt);
    OFF("OFFSET_FunInfoExtra_slow_apply", StgFunInfoExtraRev, slow_apply_offset);
    OFF("OFFSET_FunInfoExtra_bitmap", StgFunInfoExtraRev, b);
    OFF("OFFSET_FunInfoExtra_fun_type", StgFunInfoExtraRev, fun_type);
    OFF("OFFSET_FunInfoExtra_arity", StgFunInfoExtraRev, arity);

    /* Compact regions */
    N("SIZEOF_CompactNFData", sizeof(StgCompactNFData));
    N("SIZEOF_CompactBlock", sizeof(StgCompactNFDataBlock));
    OFF("OFFSET_CompactNFData_result", StgCompactNFData, result);
    return 0;
}
