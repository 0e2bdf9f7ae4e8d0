//! Symbols that Cmm code defines, and closures of `base` that the runtime refers to.
//!
//! *Invariants*
//!
//! - Only the address of a symbol is used, except for the table of bitmaps.
use crate::abi::{Closure, Info};

/// The address of a symbol.
#[inline(always)]
pub fn address<T>(s: &'static T) -> usize {
    s as *const T as usize
}

macro_rules! symbols {
    ($($name:ident),* $(,)?) => {
        unsafe extern "C" { $(pub safe static $name: u8;)* }
    };
}

/// The info pointer of an info table symbol.
#[macro_export]
macro_rules! info {
    ($name:ident) => {
        $crate::abi::Info($crate::abi::symbols::address(&$crate::abi::symbols::$name))
    };
}

/// A static closure symbol, untagged.
#[macro_export]
macro_rules! static_closure {
    ($name:ident) => {
        $crate::abi::Closure($crate::abi::symbols::address(&$crate::abi::symbols::$name))
    };
}

extern "C" {
    /// Pointer bitmaps of the arguments of the predefined function types, indexed by `ARG_*`.
    pub static stg_arg_bitmaps: [usize; 0];
}

symbols! {
    stg_IND_info, stg_IND_STATIC_info, stg_BLACKHOLE_info, stg_CAF_BLACKHOLE_info,
    __stg_EAGER_BLACKHOLE_info, stg_WHITEHOLE_info, stg_BLOCKING_QUEUE_CLEAN_info,
    stg_BLOCKING_QUEUE_DIRTY_info, stg_TSO_info, stg_STACK_info, stg_WEAK_info, stg_DEAD_WEAK_info,
    stg_C_FINALIZER_LIST_info, stg_NO_FINALIZER_info, stg_STABLE_NAME_info, stg_MVAR_CLEAN_info, stg_MVAR_DIRTY_info,
    stg_TVAR_CLEAN_info, stg_TVAR_DIRTY_info, stg_TVAR_WATCH_QUEUE_info, stg_MVAR_TSO_QUEUE_info,
    stg_ARR_WORDS_info, stg_MUT_ARR_PTRS_CLEAN_info, stg_MUT_ARR_PTRS_DIRTY_info,
    stg_MUT_ARR_PTRS_FROZEN_CLEAN_info, stg_MUT_ARR_PTRS_FROZEN_DIRTY_info,
    stg_SMALL_MUT_ARR_PTRS_CLEAN_info, stg_SMALL_MUT_ARR_PTRS_DIRTY_info,
    stg_SMALL_MUT_ARR_PTRS_FROZEN_CLEAN_info, stg_SMALL_MUT_ARR_PTRS_FROZEN_DIRTY_info,
    stg_MUT_VAR_CLEAN_info, stg_MUT_VAR_DIRTY_info, stg_MSG_THROWTO_info, stg_MSG_NULL_info,
    stg_MSG_BLACKHOLE_info, stg_block_putmvar_info, stg_PAP_info, stg_AP_info, stg_AP_NOUPD_info, stg_AP_STACK_info,
    stg_AP_STACK_NOUPD_info, stg_COMPACT_NFDATA_CLEAN_info, stg_COMPACT_NFDATA_DIRTY_info,
    stg_SRT_1_info, stg_upd_frame_info, stg_bh_upd_frame_info, stg_marked_upd_frame_info, hec_once_upd_frame_info,
    hec_copied_upd_frame_info, stg_noupd_frame_info,
    stg_stack_underflow_frame_info, stg_stop_thread_info, stg_enter_info, stg_ret_p_info,
    stg_ret_v_info, stg_ap_v_info, stg_ap_p_info, stg_ap_pv_info, stg_ap_pppv_info, stg_forceIO_info,
    stg_noforceIO_info, stg_ap_1_upd_info, stg_ap_2_upd_info, stg_ap_3_upd_info, stg_ap_4_upd_info, stg_ap_5_upd_info,
    stg_ap_6_upd_info, stg_ap_7_upd_info,
    stg_returnToStackTop, __stg_gc_enter_1, __stg_gc_fun,
    stg_raise_info, stg_unmaskAsyncExceptionszh_ret_info, stg_maskAsyncExceptionszh_ret_info,
    stg_maskUninterruptiblezh_ret_info, stg_atomically_waiting_frame_info,
    hec_switch_frame_info, hec_switch_waiting_frame_info, hec_restart_switch_info, hec_SCHED_info,
    hec_restart_atomically_info, hec_TREC_info, hec_after_call_info, hec_modify_info,
    hec_CELL_info, hec_ABSENT_info, hec_REMOTE_MVAR_info, hec_REMOTE_TVAR_info, hec_REMOTE_THREAD_info,
    hec_REMOTE_WEAK_info, hec_wait_fd_info, hec_wait_delay_info, hec_modifying_component_info, hec_modifying_whole_info, hec_has_modified_info, stg_sel_0_upd_info,
    stg_END_TSO_QUEUE_closure, stg_NO_FINALIZER_closure, stg_NO_TREC_closure,
    stg_END_STM_WATCH_QUEUE_closure, hec_PACKETS_closure, stg_INTLIKE_closure, stg_CHARLIKE_closure,

    base_GHCziTopHandler_runIO_closure, base_GHCziTopHandler_runNonIO_closure,
    base_GHCziTopHandler_runMainIO_closure, base_GHCziTopHandler_flushStdHandles_closure,
    ghczmprim_GHCziTuple_Z0T_closure, ghczmprim_GHCziTypes_True_closure,
    ghczmprim_GHCziTypes_False_closure, base_GHCziPack_unpackCString_closure,
    base_GHCziWeak_runFinalizzerBatch_closure, base_GHCziIOziException_stackOverflow_closure,
    base_GHCziIOziException_heapOverflow_closure,
    base_GHCziIOziException_allocationLimitExceeded_closure,
    base_GHCziIOziException_blockedIndefinitelyOnMVar_closure,
    base_GHCziIOziException_blockedIndefinitelyOnSTM_closure,
    base_GHCziIOziException_cannotCompactFunction_closure,
    base_GHCziIOziException_cannotCompactPinned_closure,
    base_GHCziIOziException_cannotCompactMutable_closure, base_GHCziIOPort_doubleReadException_closure,
    base_ControlziExceptionziBase_nonTermination_closure,
    base_ControlziExceptionziBase_nestedAtomically_closure,
    base_GHCziExceptionziType_divZZeroException_closure,
    base_GHCziExceptionziType_underflowException_closure,
    base_GHCziExceptionziType_overflowException_closure, base_GHCziConcziSync_runSparks_closure,
    base_GHCziConcziIO_ensureIOManagerIsRunning_closure,
    base_GHCziConcziIO_interruptIOManager_closure,
    base_GHCziConcziIO_ioManagerCapabilitiesChanged_closure,
    base_GHCziConcziSignal_runHandlersPtr_closure,
    hecatonzmrts_IOManager_afterFork_closure, hecatonzmrts_IOManager_start_closure,
    hecatonzmrts_Lenient_spark_closure,
    hecatonzmrts_Spread_serve_closure, hecatonzmrts_Spread_perform_closure, hecatonzmrts_Spread_failed_closure,
    hecatonzmrts_Spread_notTransferable_closure, hecatonzmrts_Spread_peLost_closure,
    hecatonzmrts_Spread_cancelled_closure, hecatonzmrts_Spread_writeLines_closure,
    hecatonzmrts_Spread_partOf_closure,
    hecatonzmrts_Spread_takeMVarRemote_closure,
    hecatonzmrts_Spread_readMVarRemote_closure,
    hecatonzmrts_Spread_putMVarRemote_closure,
    hecatonzmrts_Spread_tryTakeMVarRemote_closure,
    hecatonzmrts_Spread_tryReadMVarRemote_closure,
    hecatonzmrts_Spread_tryPutMVarRemote_closure,
    hecatonzmrts_Spread_isEmptyMVarRemote_closure,
    hecatonzmrts_Spread_readTVarRemote_closure,
    hecatonzmrts_Spread_remoteTVar_closure,
    hecatonzmrts_Spread_throwToRemote_closure,
    hecatonzmrts_Spread_threadStatusRemote_closure,
    hecatonzmrts_Spread_deRefWeakRemote_closure,
    hecatonzmrts_Spread_finalizzeWeakRemote_closure,
    hecatonzmrts_Substrate_forLibrary_closure, hecatonzmrts_Substrate_dequeueUpcall_closure,
    hecatonzmrts_Substrate_enqueueUpcall_closure, hecatonzmrts_Substrate_noAux_closure,
    hecatonzmrts_Substrate_NoMore_closure, hecatonzmrts_Substrate_Batch_con_info,
    ghczmprim_GHCziTypes_Czh_con_info, ghczmprim_GHCziTypes_Izh_con_info,
    ghczmprim_GHCziTypes_ZC_con_info,
    ghczmprim_GHCziTypes_Fzh_con_info, ghczmprim_GHCziTypes_Dzh_con_info,
    ghczmprim_GHCziTypes_Wzh_con_info, base_GHCziPtr_Ptr_con_info,
    base_GHCziForeignPtr_PlainPtr_con_info, base_GHCziForeignPtr_MallocPtr_con_info,
    base_GHCziForeignPtr_PlainForeignPtr_con_info, base_GHCziForeignPtr_FinalPtr_closure,
    base_GHCziPtr_FunPtr_con_info,
    base_GHCziInt_I8zh_con_info, base_GHCziInt_I16zh_con_info, base_GHCziInt_I32zh_con_info,
    base_GHCziInt_I64zh_con_info, base_GHCziWord_W8zh_con_info, base_GHCziWord_W16zh_con_info,
    base_GHCziWord_W32zh_con_info, base_GHCziWord_W64zh_con_info, base_GHCziStable_StablePtr_con_info,
}

/// Is `c`, with any tag, this static closure?
#[inline(always)]
pub fn is_static(c: Closure, s: Closure) -> bool {
    c.untag() == s
}

/// Is `i` the header of a thunk under evaluation?
#[inline(always)]
pub fn is_blackhole_info(i: Info) -> bool {
    i == info!(stg_BLACKHOLE_info) || i == info!(stg_CAF_BLACKHOLE_info) || i == info!(__stg_EAGER_BLACKHOLE_info)
}

/// Is this the header of a mutable array that has not been written to since a collection scavenged it, and that refers
/// to nothing younger?
#[inline(always)]
pub fn is_clean_array_info(i: Info) -> bool {
    i == info!(stg_MUT_ARR_PTRS_CLEAN_info) || i == info!(stg_SMALL_MUT_ARR_PTRS_CLEAN_info)
}
