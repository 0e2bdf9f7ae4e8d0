/* Prints, as Rust constants, all numbers of the contract between compiled code
 * and its runtime. build.rs compiles it against the installed headers and runs
 * it. So no offset is copied by hand, and another GHC is only another build
 * input. */
#include <stdio.h>
#include <stddef.h>
#define THREADED_RTS 1
#include "Rts.h"
#include "rts/EventLogFormat.h"
#include "ghcversion.h"

#define N(name, v) printf("pub const %s: usize = %lluusize;\n", name, (unsigned long long)(v))
#define V(macro)   N(#macro, macro)
#define OFF(name, type, field) N(name, offsetof(type, field))

/* A structure as a list: its size, then the offset of each field in the order of declaration. */
#define LAYOUT(type)   printf("pub const LAYOUT_%s: &[usize] = &[%zu", #type, sizeof(type))
#define F(type, field) printf(", %zu", offsetof(type, field))
#define END            printf("];\n")
#define TEXT(name, s)  printf("pub const %s: &str = \"%s\";\n", name, s)

/* Structures shared with C programs and with base: flags, configuration, statistics. */
static void flags_config_statistics(void)
{
    LAYOUT(GC_FLAGS); F(GC_FLAGS, statsFile); F(GC_FLAGS, giveStats); F(GC_FLAGS, maxStkSize);
        F(GC_FLAGS, initialStkSize); F(GC_FLAGS, stkChunkSize); F(GC_FLAGS, stkChunkBufferSize);
        F(GC_FLAGS, maxHeapSize); F(GC_FLAGS, minAllocAreaSize); F(GC_FLAGS, largeAllocLim);
        F(GC_FLAGS, nurseryChunkSize); F(GC_FLAGS, minOldGenSize);
        F(GC_FLAGS, heapSizeSuggestion); F(GC_FLAGS, heapSizeSuggestionAuto);
        F(GC_FLAGS, oldGenFactor); F(GC_FLAGS, pcFreeHeap); F(GC_FLAGS, useNonmoving);
        F(GC_FLAGS, generations); F(GC_FLAGS, squeezeUpdFrames); F(GC_FLAGS, compact);
        F(GC_FLAGS, compactThreshold); F(GC_FLAGS, sweep); F(GC_FLAGS, ringBell);
        F(GC_FLAGS, idleGCDelayTime); F(GC_FLAGS, interIdleGCWait); F(GC_FLAGS, doIdleGC);
        F(GC_FLAGS, longGCSync); F(GC_FLAGS, heapBase); F(GC_FLAGS, allocLimitGrace);
        F(GC_FLAGS, heapLimitGrace); F(GC_FLAGS, numa); F(GC_FLAGS, numaMask); END;
    LAYOUT(CONCURRENT_FLAGS); F(CONCURRENT_FLAGS, ctxtSwitchTime);
        F(CONCURRENT_FLAGS, ctxtSwitchTicks); END;
    LAYOUT(MISC_FLAGS); F(MISC_FLAGS, tickInterval); F(MISC_FLAGS, install_signal_handlers);
        F(MISC_FLAGS, install_seh_handlers); F(MISC_FLAGS, generate_dump_file);
        F(MISC_FLAGS, generate_stack_trace); F(MISC_FLAGS, machineReadable);
        F(MISC_FLAGS, disableDelayedOsMemoryReturn); F(MISC_FLAGS, internalCounters);
        F(MISC_FLAGS, linkerAlwaysPic); F(MISC_FLAGS, linkerMemBase); F(MISC_FLAGS, ioManager);
        F(MISC_FLAGS, numIoWorkerThreads); END;
    LAYOUT(DEBUG_FLAGS); F(DEBUG_FLAGS, scheduler); F(DEBUG_FLAGS, interpreter);
        F(DEBUG_FLAGS, weak); F(DEBUG_FLAGS, gccafs); F(DEBUG_FLAGS, gc);
        F(DEBUG_FLAGS, nonmoving_gc); F(DEBUG_FLAGS, block_alloc); F(DEBUG_FLAGS, sanity);
        F(DEBUG_FLAGS, zero_on_gc); F(DEBUG_FLAGS, stable); F(DEBUG_FLAGS, prof);
        F(DEBUG_FLAGS, linker); F(DEBUG_FLAGS, apply); F(DEBUG_FLAGS, stm);
        F(DEBUG_FLAGS, squeeze); F(DEBUG_FLAGS, hpc); F(DEBUG_FLAGS, sparks);
        F(DEBUG_FLAGS, numa); F(DEBUG_FLAGS, compact); END;
    LAYOUT(COST_CENTRE_FLAGS); F(COST_CENTRE_FLAGS, doCostCentres);
        F(COST_CENTRE_FLAGS, profilerTicks); F(COST_CENTRE_FLAGS, msecsPerTick);
        F(COST_CENTRE_FLAGS, outputFileNameStem); END;
    LAYOUT(PROFILING_FLAGS); F(PROFILING_FLAGS, doHeapProfile);
        F(PROFILING_FLAGS, heapProfileInterval); F(PROFILING_FLAGS, heapProfileIntervalTicks);
        F(PROFILING_FLAGS, includeTSOs); F(PROFILING_FLAGS, showCCSOnException);
        F(PROFILING_FLAGS, maxRetainerSetSize); F(PROFILING_FLAGS, ccsLength);
        F(PROFILING_FLAGS, modSelector); F(PROFILING_FLAGS, descrSelector);
        F(PROFILING_FLAGS, typeSelector); F(PROFILING_FLAGS, ccSelector);
        F(PROFILING_FLAGS, ccsSelector); F(PROFILING_FLAGS, retainerSelector);
        F(PROFILING_FLAGS, bioSelector); END;
    LAYOUT(TRACE_FLAGS); F(TRACE_FLAGS, tracing); F(TRACE_FLAGS, timestamp);
        F(TRACE_FLAGS, scheduler); F(TRACE_FLAGS, gc); F(TRACE_FLAGS, nonmoving_gc);
        F(TRACE_FLAGS, sparks_sampled); F(TRACE_FLAGS, sparks_full); F(TRACE_FLAGS, user);
        F(TRACE_FLAGS, trace_output); END;
    LAYOUT(TICKY_FLAGS); F(TICKY_FLAGS, showTickyStats); F(TICKY_FLAGS, tickyFile); END;
    LAYOUT(PAR_FLAGS); F(PAR_FLAGS, nCapabilities); F(PAR_FLAGS, migrate);
        F(PAR_FLAGS, maxLocalSparks); F(PAR_FLAGS, parGcEnabled); F(PAR_FLAGS, parGcGen);
        F(PAR_FLAGS, parGcLoadBalancingEnabled); F(PAR_FLAGS, parGcLoadBalancingGen);
        F(PAR_FLAGS, parGcNoSyncWithIdle); F(PAR_FLAGS, parGcThreads);
        F(PAR_FLAGS, setAffinity); END;
    LAYOUT(RTS_FLAGS); F(RTS_FLAGS, GcFlags); F(RTS_FLAGS, ConcFlags); F(RTS_FLAGS, MiscFlags);
        F(RTS_FLAGS, DebugFlags); F(RTS_FLAGS, CcFlags); F(RTS_FLAGS, ProfFlags);
        F(RTS_FLAGS, TraceFlags); F(RTS_FLAGS, TickyFlags); F(RTS_FLAGS, ParFlags); END;
    LAYOUT(GCDetails); F(GCDetails, gen); F(GCDetails, threads); F(GCDetails, allocated_bytes);
        F(GCDetails, live_bytes); F(GCDetails, large_objects_bytes);
        F(GCDetails, compact_bytes); F(GCDetails, slop_bytes); F(GCDetails, mem_in_use_bytes);
        F(GCDetails, copied_bytes); F(GCDetails, par_max_copied_bytes);
        F(GCDetails, par_balanced_copied_bytes); F(GCDetails, sync_elapsed_ns);
        F(GCDetails, cpu_ns); F(GCDetails, elapsed_ns); F(GCDetails, nonmoving_gc_sync_cpu_ns);
        F(GCDetails, nonmoving_gc_sync_elapsed_ns); F(GCDetails, nonmoving_gc_cpu_ns);
        F(GCDetails, nonmoving_gc_elapsed_ns); END;
    LAYOUT(RTSStats); F(RTSStats, gcs); F(RTSStats, major_gcs); F(RTSStats, allocated_bytes);
        F(RTSStats, max_live_bytes); F(RTSStats, max_large_objects_bytes);
        F(RTSStats, max_compact_bytes); F(RTSStats, max_slop_bytes);
        F(RTSStats, max_mem_in_use_bytes); F(RTSStats, cumulative_live_bytes);
        F(RTSStats, copied_bytes); F(RTSStats, par_copied_bytes);
        F(RTSStats, cumulative_par_max_copied_bytes);
        F(RTSStats, cumulative_par_balanced_copied_bytes); F(RTSStats, init_cpu_ns);
        F(RTSStats, init_elapsed_ns); F(RTSStats, mutator_cpu_ns);
        F(RTSStats, mutator_elapsed_ns); F(RTSStats, gc_cpu_ns); F(RTSStats, gc_elapsed_ns);
        F(RTSStats, cpu_ns); F(RTSStats, elapsed_ns); F(RTSStats, gc);
        F(RTSStats, gc_spin_spin); F(RTSStats, gc_spin_yield); F(RTSStats, mut_spin_spin);
        F(RTSStats, mut_spin_yield); F(RTSStats, any_work); F(RTSStats, no_work);
        F(RTSStats, scav_find_work); F(RTSStats, nonmoving_gc_sync_cpu_ns);
        F(RTSStats, nonmoving_gc_sync_elapsed_ns);
        F(RTSStats, nonmoving_gc_sync_max_elapsed_ns); F(RTSStats, nonmoving_gc_cpu_ns);
        F(RTSStats, nonmoving_gc_elapsed_ns); F(RTSStats, nonmoving_gc_max_elapsed_ns); END;
    LAYOUT(RtsConfig); F(RtsConfig, rts_opts_enabled); F(RtsConfig, rts_opts_suggestions);
        F(RtsConfig, rts_opts); F(RtsConfig, rts_hs_main); F(RtsConfig, keep_cafs);
        F(RtsConfig, eventlog_writer); F(RtsConfig, defaultsHook); F(RtsConfig, onExitHook);
        F(RtsConfig, stackOverflowHook); F(RtsConfig, outOfHeapHook);
        F(RtsConfig, mallocFailHook); F(RtsConfig, gcDoneHook); F(RtsConfig, longGCSync);
        F(RtsConfig, longGCSyncEnd); END;
    LAYOUT(EventLogWriter); F(EventLogWriter, initEventLogWriter);
        F(EventLogWriter, writeEventLog); F(EventLogWriter, flushEventLog);
        F(EventLogWriter, stopEventLogWriter); END;
    V(RtsOptsNone); V(RtsOptsIgnore); V(RtsOptsIgnoreAll); V(RtsOptsSafeOnly); V(RtsOptsAll);
    V(NO_GC_STATS); V(COLLECT_GC_STATS); V(ONELINE_GC_STATS); V(SUMMARY_GC_STATS);
    V(VERBOSE_GC_STATS); V(IO_MNGR_NATIVE); V(IO_MNGR_POSIX); V(DEFAULT_TICK_INTERVAL);
    V(EXIT_INTERNAL_ERROR); V(EXIT_DEADLOCK); V(EXIT_INTERRUPTED); V(EXIT_HEAPOVERFLOW);
    V(EXIT_KILLED);
    TEXT("GHC_VERSION", __GLASGOW_HASKELL_FULL_VERSION__);
    TEXT("BUILD_ARCH", BUILD_ARCH); TEXT("BUILD_OS", BUILD_OS);
    TEXT("BUILD_VENDOR", BUILD_VENDOR); TEXT("HOST_ARCH", HOST_ARCH);
    TEXT("HOST_OS", HOST_OS); TEXT("HOST_VENDOR", HOST_VENDOR);
}

/* The event log: kinds of events, and the marks between its parts. */
static void event_log(void)
{
    V(EVENT_CREATE_THREAD); V(EVENT_RUN_THREAD); V(EVENT_STOP_THREAD); V(EVENT_THREAD_RUNNABLE);
    V(EVENT_MIGRATE_THREAD); V(EVENT_THREAD_WAKEUP); V(EVENT_GC_START); V(EVENT_GC_END);
    V(EVENT_REQUEST_SEQ_GC); V(EVENT_REQUEST_PAR_GC); V(EVENT_CREATE_SPARK_THREAD);
    V(EVENT_LOG_MSG); V(EVENT_BLOCK_MARKER); V(EVENT_USER_MSG); V(EVENT_GC_IDLE); V(EVENT_GC_WORK);
    V(EVENT_GC_DONE); V(EVENT_CAPSET_CREATE); V(EVENT_CAPSET_DELETE); V(EVENT_CAPSET_ASSIGN_CAP);
    V(EVENT_CAPSET_REMOVE_CAP); V(EVENT_RTS_IDENTIFIER); V(EVENT_PROGRAM_ARGS);
    V(EVENT_OSPROCESS_PID); V(EVENT_OSPROCESS_PPID); V(EVENT_SPARK_COUNTERS);
    V(EVENT_SPARK_CREATE); V(EVENT_SPARK_DUD); V(EVENT_SPARK_OVERFLOW); V(EVENT_SPARK_RUN);
    V(EVENT_SPARK_STEAL); V(EVENT_SPARK_FIZZLE); V(EVENT_SPARK_GC); V(EVENT_WALL_CLOCK_TIME);
    V(EVENT_THREAD_LABEL); V(EVENT_CAP_CREATE); V(EVENT_CAP_DELETE); V(EVENT_CAP_DISABLE);
    V(EVENT_CAP_ENABLE); V(EVENT_HEAP_ALLOCATED); V(EVENT_HEAP_SIZE); V(EVENT_HEAP_LIVE);
    V(EVENT_HEAP_INFO_GHC); V(EVENT_GC_STATS_GHC); V(EVENT_GC_GLOBAL_SYNC); V(EVENT_TASK_CREATE);
    V(EVENT_TASK_MIGRATE); V(EVENT_TASK_DELETE); V(EVENT_USER_MARKER); V(EVENT_HACK_BUG_T9003); V(EVENT_USER_BINARY_MSG);
    V(EVENT_HEADER_BEGIN); V(EVENT_HEADER_END); V(EVENT_DATA_BEGIN); V(EVENT_DATA_END);
    V(EVENT_HET_BEGIN); V(EVENT_HET_END); V(EVENT_ET_BEGIN); V(EVENT_ET_END);
    V(EVENT_PAYLOAD_SIZE_MAX);
    V(CAPSET_TYPE_OSPROCESS); V(CAPSET_TYPE_CLOCKDOMAIN); V(THREAD_SUSPENDED_FOREIGN_CALL);
    V(TRACE_NONE); V(TRACE_EVENTLOG); V(TRACE_STDERR);
    V(EVENTLOG_NOT_SUPPORTED); V(EVENTLOG_NOT_CONFIGURED); V(EVENTLOG_RUNNING);
}

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
    flags_config_statistics();
    event_log();
    return 0;
}
