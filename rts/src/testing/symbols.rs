//! Info tables and closures for unit tests, which run without Cmm code: the built-in ones that Rust refers to, and some
//! that a compiler would make.
use crate::abi::layout::*;
use crate::abi::{Closure, Info};
use std::arch::global_asm;

/// An info table: its layout word, closure type, and SRT field or constructor tag.
macro_rules! table {
    ($name:literal, $layout:expr, $kind:expr, $srt:literal) => {
        global_asm!(
            ".pushsection .data.tables,\"aw\"",
            ".balign 8",
            ".quad {layout}",
            ".long {kind}",
            concat!(".long ", $srt),
            concat!(".globl ", $name),
            concat!($name, ":"),
            ".quad 0",
            ".popsection",
            layout = const $layout,
            kind = const $kind,
        );
    };
}

/// A static closure: its words.
macro_rules! closure {
    ($name:literal, $($word:literal),*) => {
        global_asm!(
            ".pushsection .data.tables,\"aw\"",
            ".balign 8",
            concat!(".globl ", $name),
            concat!($name, ":"),
            $(concat!(".quad ", $word),)*
            ".popsection",
        );
    };
}

/// A frame with `size` words after its header. A bit of `bits` is set if a word is not a pointer.
const fn frame(size: usize, bits: usize) -> usize {
    bits << BITMAP_BITS_SHIFT | size
}

const fn payload(ptrs: usize, nptrs: usize) -> usize {
    nptrs << 32 | ptrs
}

table!("hec_wait_fd_info", frame(4, 15), RET_SMALL, "0");
table!("hec_wait_delay_info", frame(2, 3), RET_SMALL, "0");
table!("stg_IND_info", payload(1, 0), IND, "0");
table!("stg_IND_STATIC_info", payload(1, 0), IND_STATIC, "0");
table!("stg_BLACKHOLE_info", payload(1, 0), BLACKHOLE, "0");
table!("__stg_EAGER_BLACKHOLE_info", payload(1, 0), BLACKHOLE, "0");
table!("stg_CAF_BLACKHOLE_info", payload(1, 0), BLACKHOLE, "0");
table!("stg_WHITEHOLE_info", payload(0, 0), WHITEHOLE, "0");
table!("stg_BLOCKING_QUEUE_CLEAN_info", payload(4, 0), BLOCKING_QUEUE, "0");
table!("stg_BLOCKING_QUEUE_DIRTY_info", payload(4, 0), BLOCKING_QUEUE, "0");
table!("stg_TSO_info", 0usize, TSO, "0");
table!("stg_STACK_info", 0usize, STACK, "0");
table!("stg_WEAK_info", payload(1, 4), WEAK, "0");
table!("stg_DEAD_WEAK_info", payload(0, 5), WEAK, "0");
table!("stg_MVAR_CLEAN_info", payload(3, 0), MVAR_CLEAN, "0");
table!("stg_MVAR_DIRTY_info", payload(3, 0), MVAR_DIRTY, "0");
table!("stg_TVAR_CLEAN_info", payload(2, 1), TVAR, "0");
table!("stg_TVAR_DIRTY_info", payload(2, 1), TVAR, "0");
table!("stg_MUT_VAR_CLEAN_info", payload(1, 0), MUT_VAR_CLEAN, "0");
table!("stg_MUT_VAR_DIRTY_info", payload(1, 0), MUT_VAR_DIRTY, "0");
table!("stg_ARR_WORDS_info", 0usize, ARR_WORDS, "0");
table!("stg_MUT_ARR_PTRS_CLEAN_info", 0usize, MUT_ARR_PTRS_CLEAN, "0");
table!("stg_MUT_ARR_PTRS_DIRTY_info", 0usize, MUT_ARR_PTRS_DIRTY, "0");
table!("stg_MUT_ARR_PTRS_FROZEN_CLEAN_info", 0usize, MUT_ARR_PTRS_FROZEN_CLEAN, "0");
table!("stg_MUT_ARR_PTRS_FROZEN_DIRTY_info", 0usize, MUT_ARR_PTRS_FROZEN_DIRTY, "0");
table!("stg_SMALL_MUT_ARR_PTRS_CLEAN_info", 0usize, SMALL_MUT_ARR_PTRS_CLEAN, "0");
table!("stg_SMALL_MUT_ARR_PTRS_DIRTY_info", 0usize, SMALL_MUT_ARR_PTRS_DIRTY, "0");
table!("stg_SMALL_MUT_ARR_PTRS_FROZEN_CLEAN_info", 0usize, SMALL_MUT_ARR_PTRS_FROZEN_CLEAN, "0");
table!("stg_SMALL_MUT_ARR_PTRS_FROZEN_DIRTY_info", 0usize, SMALL_MUT_ARR_PTRS_FROZEN_DIRTY, "0");
table!("stg_MVAR_TSO_QUEUE_info", payload(2, 0), PRIM, "0");
table!("stg_TVAR_WATCH_QUEUE_info", payload(3, 0), MUT_PRIM, "0");
table!("stg_MSG_THROWTO_info", payload(4, 0), MUT_PRIM, "0");
table!("stg_MSG_BLACKHOLE_info", payload(3, 0), PRIM, "0");
table!("hec_TREC_info", payload(5, 6), MUT_PRIM, "0");
table!("hec_SCHED_info", payload(5, 2), MUT_PRIM, "0");
table!("stg_AP_STACK_info", 0usize, AP_STACK, "0");
table!("stg_AP_STACK_NOUPD_info", 0usize, AP_STACK, "0");
table!("stg_STABLE_NAME_info", payload(0, 1), PRIM, "0");
table!("hec_CELL_info", payload(1, 0), IND, "0");
table!("hec_ABSENT_info", payload(0, 0), THUNK, "0");
table!("hec_REMOTE_MVAR_info", payload(1, 2), PRIM, "0");
table!("hec_REMOTE_TVAR_info", payload(1, 2), PRIM, "0");
table!("hec_REMOTE_THREAD_info", payload(1, 2), PRIM, "0");
table!("hec_REMOTE_WEAK_info", payload(1, 2), PRIM, "0");
table!("stg_AP_info", 0usize, AP, "0");
table!("stg_AP_NOUPD_info", 0usize, AP, "0");
table!("stg_PAP_info", 0usize, PAP, "0");
table!("stg_raise_info", payload(1, 0), THUNK_1_0, "0");
table!("stg_ap_1_upd_info", payload(1, 0), THUNK_1_0, "0");
table!("stg_ap_2_upd_info", payload(2, 0), THUNK_2_0, "0");
table!("stg_ap_3_upd_info", payload(3, 0), THUNK, "0");
table!("stg_ap_4_upd_info", payload(4, 0), THUNK, "0");
table!("stg_ap_5_upd_info", payload(5, 0), THUNK, "0");
table!("stg_ap_6_upd_info", payload(6, 0), THUNK, "0");
table!("stg_ap_7_upd_info", payload(7, 0), THUNK, "0");

table!("stg_stop_thread_info", 0usize, STOP_FRAME, "0");
table!("stg_upd_frame_info", 1usize, UPDATE_FRAME, "0");
table!("stg_bh_upd_frame_info", 1usize, UPDATE_FRAME, "0");
table!("stg_marked_upd_frame_info", 1usize, UPDATE_FRAME, "0");
table!("hec_once_upd_frame_info", 1usize, UPDATE_FRAME, "0");
table!("stg_stack_underflow_frame_info", frame(1, 1), UNDERFLOW_FRAME, "0");
table!("stg_enter_info", frame(1, 0), RET_SMALL, "0");
table!("hec_copied_upd_frame_info", frame(1, 0), RET_SMALL, "0");
table!("stg_noupd_frame_info", frame(0, 0), RET_SMALL, "0");
table!("stg_ret_p_info", frame(1, 0), RET_SMALL, "0");
table!("stg_ap_v_info", frame(0, 0), RET_SMALL, "0");
table!("stg_ap_pv_info", frame(1, 0), RET_SMALL, "0");
table!("stg_ap_pppv_info", frame(3, 0), RET_SMALL, "0");
table!("stg_unmaskAsyncExceptionszh_ret_info", frame(0, 0), RET_SMALL, "0");
table!("stg_maskAsyncExceptionszh_ret_info", frame(0, 0), RET_SMALL, "0");
table!("stg_maskUninterruptiblezh_ret_info", frame(0, 0), RET_SMALL, "0");
table!("hec_restart_atomically_info", frame(1, 0), RET_SMALL, "0");
table!("hec_switch_frame_info", frame(1, 0), ATOMICALLY_FRAME, "0");
table!("hec_switch_waiting_frame_info", frame(1, 0), ATOMICALLY_FRAME, "0");
table!("hec_restart_switch_info", frame(1, 0), RET_SMALL, "0");
table!("hec_after_call_info", frame(0, 0), RET_SMALL, "0");
table!("hec_modifying_component_info", frame(4, 1), RET_SMALL, "0");
table!("hec_modifying_whole_info", frame(4, 1), RET_SMALL, "0");
table!("hec_has_modified_info", frame(2, 2), RET_SMALL, "0");
table!("hec_modify_info", payload(2, 0), THUNK_2_0, "0");
table!("stg_sel_0_upd_info", 0usize, THUNK_SELECTOR, "0");
table!("stg_block_putmvar_info", frame(2, 0), RET_SMALL, "0");
table!("stg_atomically_waiting_frame_info", frame(1, 0), ATOMICALLY_FRAME, "0");
table!("test_atomically_info", frame(1, 0), ATOMICALLY_FRAME, "0");
table!("test_catch_retry_info", frame(3, 0b011), CATCH_RETRY_FRAME, "0");
table!("test_catch_info", frame(2, 0b01), CATCH_FRAME, "0");
table!("test_ret_p_info", frame(1, 0), RET_SMALL, "0");
table!("test_ret_pp_info", frame(2, 0), RET_SMALL, "0");
table!("test_ret_9_info", frame(9, 0x1ff), RET_SMALL, "0");
table!("test_ret_fun_info", 0usize, RET_FUN, "0");
table!("test_nullary_con_info", payload(0, 0), CONSTR_NOCAF, "0");
closure!("stg_END_TSO_QUEUE_closure", "test_nullary_con_info");
closure!("stg_NO_FINALIZER_closure", "test_nullary_con_info");
closure!("hec_PACKETS_closure", "test_nullary_con_info");
closure!("stg_NO_TREC_closure", "test_nullary_con_info");
closure!("stg_END_STM_WATCH_QUEUE_closure", "test_nullary_con_info");
closure!("ghczmprim_GHCziTuple_Z0T_closure", "test_nullary_con_info");
closure!("base_GHCziIOziException_stackOverflow_closure", "test_nullary_con_info");
closure!("base_GHCziConcziSync_runSparks_closure", "test_nullary_con_info");
closure!("base_GHCziIOziException_heapOverflow_closure", "test_nullary_con_info");
closure!("base_GHCziIOziException_allocationLimitExceeded_closure", "test_nullary_con_info");
closure!("base_GHCziIOziException_blockedIndefinitelyOnMVar_closure", "test_nullary_con_info");
closure!("base_GHCziIOziException_blockedIndefinitelyOnSTM_closure", "test_nullary_con_info");
closure!("base_ControlziExceptionziBase_nonTermination_closure", "test_nullary_con_info");
closure!("base_GHCziConcziSignal_runHandlersPtr_closure", "test_nullary_con_info");
closure!("base_GHCziWeak_runFinalizzerBatch_closure", "test_nullary_con_info");

table!("ghczmprim_GHCziTypes_Izh_con_info", payload(0, 1), CONSTR_0_1, "0");
table!("ghczmprim_GHCziTypes_ZC_con_info", payload(2, 0), CONSTR_2_0, "1");
table!("ghczmprim_GHCziTypes_Wzh_con_info", payload(0, 1), CONSTR_0_1, "0");
table!("test_scont_info", payload(1, 1), CONSTR_1_1, "0");
table!("ghczmprim_GHCziTypes_Czh_con_info", payload(0, 1), CONSTR_0_1, "0");
table!("base_GHCziPtr_Ptr_con_info", payload(0, 1), CONSTR_0_1, "0");
table!("base_GHCziPtr_FunPtr_con_info", payload(0, 1), CONSTR_0_1, "0");
table!("base_GHCziForeignPtr_PlainPtr_con_info", payload(1, 0), CONSTR_1_0, "2");
table!("base_GHCziForeignPtr_MallocPtr_con_info", payload(2, 0), CONSTR_2_0, "1");
table!("base_GHCziForeignPtr_PlainForeignPtr_con_info", payload(1, 0), CONSTR_1_0, "0");
closure!("base_GHCziForeignPtr_FinalPtr_closure", "test_nullary_con_info");
table!("base_GHCziInt_I32zh_con_info", payload(0, 1), CONSTR_0_1, "0");
// A frame with a pointer and a number.
table!("test_ret_info", 0b10 << BITMAP_BITS_SHIFT | 2, RET_SMALL, "0");
table!("test_nil_con_info", payload(0, 0), CONSTR_NOCAF, "0");
table!("test_fst_info", 0usize, THUNK_SELECTOR, "0");
table!("test_snd_info", 1usize, THUNK_SELECTOR, "0");
table!("test_thunk_info", payload(2, 0), THUNK_2_0, "0");
table!("test_fun_info", payload(1, 0), FUN_1_0, "test_caf_closure - test_fun_info");
table!("test_caf_info", payload(0, 0), THUNK_STATIC, "test_other_closure - test_caf_info");
table!("test_other_info", payload(0, 0), FUN_STATIC, "0");
closure!("test_nil_closure", "test_nil_con_info");
closure!("test_caf_closure", "test_caf_info", "0", "0", "0");
closure!("test_other_closure", "test_other_info", "0");

global_asm!(
    ".pushsection .data.tables,\"aw\"",
    ".balign 8",
    ".globl stg_INTLIKE_closure",
    "stg_INTLIKE_closure:",
    "n = -16",
    ".rept 272",
    ".quad ghczmprim_GHCziTypes_Izh_con_info, n",
    "n = n + 1",
    ".endr",
    ".globl stg_CHARLIKE_closure",
    "stg_CHARLIKE_closure:",
    "n = 0",
    ".rept 256",
    ".quad ghczmprim_GHCziTypes_Czh_con_info, n",
    "n = n + 1",
    ".endr",
    ".globl stg_arg_bitmaps",
    "stg_arg_bitmaps:",
    ".fill 29, 8, 0",
    ".popsection",
);

// A thread runs its script (`world.rs`) in place of compiled code.
global_asm!(
    ".globl stg_returnToStackTop",
    "stg_returnToStackTop:",
    "sub rsp, 8",
    "mov rdi, r13",
    "call test_thread_body",
    "add rsp, 8",
    "mov rbx, rax",
    "jmp StgReturn",
);

extern "C" {
    static ghczmprim_GHCziTypes_ZC_con_info: u8;
    static test_scont_info: u8;
    static test_fst_info: u8;
    static test_snd_info: u8;
    static test_thunk_info: u8;
    static test_fun_info: u8;
    static test_ret_info: u8;
    static test_atomically_info: u8;
    static test_catch_retry_info: u8;
    static test_catch_info: u8;
    static test_ret_p_info: u8;
    static test_ret_pp_info: u8;
    static test_ret_9_info: u8;
    static test_ret_fun_info: u8;
    static test_nil_closure: u8;
    static test_caf_closure: u8;
}

macro_rules! addresses {
    ($($name:ident: $type:ident = $symbol:ident;)*) => {
        $(pub fn $name() -> $type {
            // SAFETY: only the address is taken.
            $type(crate::abi::symbols::address(unsafe { &$symbol }))
        })*
    };
}

addresses! {
    cons: Info = ghczmprim_GHCziTypes_ZC_con_info;
    scont: Info = test_scont_info;
    fst: Info = test_fst_info;
    snd: Info = test_snd_info;
    thunk: Info = test_thunk_info;
    fun: Info = test_fun_info;
    ret: Info = test_ret_info;
    atomically: Info = test_atomically_info;
    catch_retry: Info = test_catch_retry_info;
    catch: Info = test_catch_info;
    ret_p: Info = test_ret_p_info;
    ret_pp: Info = test_ret_pp_info;
    ret_9: Info = test_ret_9_info;
    ret_fun: Info = test_ret_fun_info;
    nil: Closure = test_nil_closure;
    caf: Closure = test_caf_closure;
}

closure!("hecatonzmrts_IOManager_afterFork_closure", "test_nullary_con_info");
closure!("hecatonzmrts_IOManager_start_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Lenient_spark_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Spread_cancelled_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Spread_writeLines_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Spread_partOf_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Spread_takeMVarRemote_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Spread_readMVarRemote_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Spread_putMVarRemote_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Spread_tryTakeMVarRemote_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Spread_tryReadMVarRemote_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Spread_tryPutMVarRemote_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Spread_isEmptyMVarRemote_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Spread_readTVarRemote_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Spread_remoteTVar_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Spread_throwToRemote_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Spread_threadStatusRemote_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Spread_deRefWeakRemote_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Spread_finalizzeWeakRemote_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Spread_failed_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Spread_notTransferable_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Spread_peLost_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Spread_perform_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Spread_serve_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Substrate_forLibrary_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Substrate_dequeueUpcall_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Substrate_enqueueUpcall_closure", "test_nullary_con_info");
closure!("hecatonzmrts_Substrate_NoMore_closure", "test_nullary_con_info");
table!("hecatonzmrts_Substrate_Batch_con_info", payload(2, 1), CONSTR, "1");
closure!("hecaton_main_under", "0");
closure!("hecatonzmrts_Substrate_noAux_closure", "test_nullary_con_info");
closure!("hec_seam", "0");
closure!("hec_seam_length", "0");
closure!("hec_seam_roots", "0");
closure!("hec_seam_roots_length", "0");
