//! The structures of flags and configuration that the runtime shares with C programs and `base`.
//!
//! *Invariants*
//!
//! - `RtsFlags` is the only copy of the settings. `base` reads it (GHC.RTS.Flags). C code writes it: a
//!   `FlagDefaultsHook`, or the `ghc` library, which raises the heap size.
//! - So the runtime reads its settings here, through `base::config`, each time that it needs them.
//! - `RtsConfig` is passed by value to `hs_main` and `hs_init_ghc`.
// Fields keep the names that the headers give them.
#![allow(non_snake_case)]
use crate::abi::c_struct::{same_layout, Time};
use crate::abi::layout::*;
use crate::abi::rts_stats::GcDetails;
use libc::{c_char, c_int, c_void, FILE};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct GcFlags {
    pub statsFile: *mut FILE,
    pub giveStats: u32,
    /// Words, like the next three.
    pub maxStkSize: u32,
    pub initialStkSize: u32,
    pub stkChunkSize: u32,
    pub stkChunkBufferSize: u32,
    /// Blocks, like the next five; 0 for no limit.
    pub maxHeapSize: u32,
    pub minAllocAreaSize: u32,
    pub largeAllocLim: u32,
    pub nurseryChunkSize: u32,
    pub minOldGenSize: u32,
    pub heapSizeSuggestion: u32,
    pub heapSizeSuggestionAuto: bool,
    pub oldGenFactor: f64,
    pub pcFreeHeap: f64,
    pub useNonmoving: bool,
    pub generations: u32,
    pub squeezeUpdFrames: bool,
    pub compact: bool,
    pub compactThreshold: f64,
    pub sweep: bool,
    pub ringBell: bool,
    pub idleGCDelayTime: Time,
    pub interIdleGCWait: Time,
    pub doIdleGC: bool,
    pub longGCSync: Time,
    pub heapBase: usize,
    /// Blocks.
    pub allocLimitGrace: usize,
    /// Bytes, although the header says otherwise: `-Mgrace` stores bytes.
    pub heapLimitGrace: usize,
    pub numa: bool,
    pub numaMask: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ConcFlags {
    pub ctxtSwitchTime: Time,
    pub ctxtSwitchTicks: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct MiscFlags {
    pub tickInterval: Time,
    pub install_signal_handlers: bool,
    pub install_seh_handlers: bool,
    pub generate_dump_file: bool,
    pub generate_stack_trace: bool,
    pub machineReadable: bool,
    pub disableDelayedOsMemoryReturn: bool,
    pub internalCounters: bool,
    pub linkerAlwaysPic: bool,
    pub linkerMemBase: usize,
    pub ioManager: u32,
    pub numIoWorkerThreads: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct DebugFlags {
    pub scheduler: bool,
    pub interpreter: bool,
    pub weak: bool,
    pub gccafs: bool,
    pub gc: bool,
    pub nonmoving_gc: bool,
    pub block_alloc: bool,
    pub sanity: bool,
    pub zero_on_gc: bool,
    pub stable: bool,
    pub prof: bool,
    pub linker: bool,
    pub apply: bool,
    pub stm: bool,
    pub squeeze: bool,
    pub hpc: bool,
    pub sparks: bool,
    pub numa: bool,
    pub compact: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct CcFlags {
    pub doCostCentres: u32,
    pub profilerTicks: c_int,
    pub msecsPerTick: c_int,
    pub outputFileNameStem: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ProfFlags {
    pub doHeapProfile: u32,
    pub heapProfileInterval: Time,
    pub heapProfileIntervalTicks: u32,
    pub includeTSOs: bool,
    pub showCCSOnException: bool,
    pub maxRetainerSetSize: u32,
    pub ccsLength: u32,
    pub modSelector: *const c_char,
    pub descrSelector: *const c_char,
    pub typeSelector: *const c_char,
    pub ccSelector: *const c_char,
    pub ccsSelector: *const c_char,
    pub retainerSelector: *const c_char,
    pub bioSelector: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct TraceFlags {
    pub tracing: c_int,
    pub timestamp: bool,
    pub scheduler: bool,
    pub gc: bool,
    pub nonmoving_gc: bool,
    pub sparks_sampled: bool,
    pub sparks_full: bool,
    pub user: bool,
    /// Waits and timers. C's structure has a hole here.
    pub waits: bool,
    pub trace_output: *mut c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct TickyFlags {
    pub showTickyStats: bool,
    pub tickyFile: *mut FILE,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ParFlags {
    pub nCapabilities: u32,
    pub migrate: bool,
    pub maxLocalSparks: u32,
    pub parGcEnabled: bool,
    pub parGcGen: u32,
    pub parGcLoadBalancingEnabled: bool,
    pub parGcLoadBalancingGen: u32,
    pub parGcNoSyncWithIdle: u32,
    pub parGcThreads: u32,
    pub setAffinity: bool,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Flags {
    pub GcFlags: GcFlags,
    pub ConcFlags: ConcFlags,
    pub MiscFlags: MiscFlags,
    pub DebugFlags: DebugFlags,
    pub CcFlags: CcFlags,
    pub ProfFlags: ProfFlags,
    pub TraceFlags: TraceFlags,
    pub TickyFlags: TickyFlags,
    pub ParFlags: ParFlags,
}

// SAFETY: its pointers are only passed on, or refer to files whose functions lock.
unsafe impl Sync for Flags {}

impl Flags {
    pub const fn zeroed() -> Flags {
        // SAFETY: numbers, booleans and raw pointers, for all of which zero is a valid value.
        unsafe { std::mem::zeroed() }
    }
}

/// All zero until `hs_init` sets the defaults.
#[no_mangle]
pub static mut RtsFlags: Flags = Flags::zeroed();

/// A copy of the current flags.
pub fn flags() -> Flags {
    // SAFETY: written while one thread runs (start-up). Later only C code writes single words, and accepts that a copy
    // may be torn.
    unsafe { (&raw const RtsFlags).read() }
}

/// Replaces the flags.
/// # Safety
/// No other thread uses them, so Haskell does not run yet.
pub unsafe fn set_flags(new: Flags) {
    (&raw mut RtsFlags).write(new);
}

/// The functions that write an event log. A C program may supply them.
#[repr(C)]
pub struct EventLogWriter {
    pub initEventLogWriter: Option<unsafe extern "C" fn()>,
    pub writeEventLog: Option<unsafe extern "C" fn(*mut c_void, usize) -> bool>,
    pub flushEventLog: Option<unsafe extern "C" fn()>,
    pub stopEventLogWriter: Option<unsafe extern "C" fn()>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct RtsConfig {
    /// One of `RtsOpts…`.
    pub rts_opts_enabled: u32,
    /// Do messages suggest RTS options?
    pub rts_opts_suggestions: isize,
    pub rts_opts: *const c_char,
    pub rts_hs_main: isize,
    pub keep_cafs: isize,
    pub eventlog_writer: *const EventLogWriter,
    pub defaultsHook: Option<unsafe extern "C" fn()>,
    pub onExitHook: Option<unsafe extern "C" fn()>,
    pub stackOverflowHook: Option<unsafe extern "C" fn(usize)>,
    pub outOfHeapHook: Option<unsafe extern "C" fn(usize, usize)>,
    pub mallocFailHook: Option<unsafe extern "C" fn(usize, *const c_char)>,
    pub gcDoneHook: Option<unsafe extern "C" fn(*const GcDetails)>,
    pub longGCSync: Option<unsafe extern "C" fn(u32, Time)>,
    pub longGCSyncEnd: Option<unsafe extern "C" fn(Time)>,
}

// SAFETY: constants and functions.
unsafe impl Sync for RtsConfig {}

same_layout!(GcFlags, LAYOUT_GC_FLAGS,
    statsFile giveStats maxStkSize initialStkSize stkChunkSize stkChunkBufferSize
    maxHeapSize minAllocAreaSize largeAllocLim nurseryChunkSize minOldGenSize
    heapSizeSuggestion heapSizeSuggestionAuto oldGenFactor pcFreeHeap useNonmoving
    generations squeezeUpdFrames compact compactThreshold sweep ringBell idleGCDelayTime
    interIdleGCWait doIdleGC longGCSync heapBase allocLimitGrace heapLimitGrace numa
    numaMask);
same_layout!(ConcFlags, LAYOUT_CONCURRENT_FLAGS,
    ctxtSwitchTime ctxtSwitchTicks);
same_layout!(MiscFlags, LAYOUT_MISC_FLAGS,
    tickInterval install_signal_handlers install_seh_handlers generate_dump_file
    generate_stack_trace machineReadable disableDelayedOsMemoryReturn internalCounters
    linkerAlwaysPic linkerMemBase ioManager numIoWorkerThreads);
same_layout!(DebugFlags, LAYOUT_DEBUG_FLAGS,
    scheduler interpreter weak gccafs gc nonmoving_gc block_alloc sanity zero_on_gc stable
    prof linker apply stm squeeze hpc sparks numa compact);
same_layout!(CcFlags, LAYOUT_COST_CENTRE_FLAGS,
    doCostCentres profilerTicks msecsPerTick outputFileNameStem);
same_layout!(ProfFlags, LAYOUT_PROFILING_FLAGS,
    doHeapProfile heapProfileInterval heapProfileIntervalTicks includeTSOs
    showCCSOnException maxRetainerSetSize ccsLength modSelector descrSelector typeSelector
    ccSelector ccsSelector retainerSelector bioSelector);
same_layout!(TraceFlags, LAYOUT_TRACE_FLAGS,
    tracing timestamp scheduler gc nonmoving_gc sparks_sampled sparks_full user
    trace_output);
same_layout!(TickyFlags, LAYOUT_TICKY_FLAGS,
    showTickyStats tickyFile);
same_layout!(ParFlags, LAYOUT_PAR_FLAGS,
    nCapabilities migrate maxLocalSparks parGcEnabled parGcGen parGcLoadBalancingEnabled
    parGcLoadBalancingGen parGcNoSyncWithIdle parGcThreads setAffinity);
same_layout!(Flags, LAYOUT_RTS_FLAGS,
    GcFlags ConcFlags MiscFlags DebugFlags CcFlags ProfFlags TraceFlags TickyFlags
    ParFlags);
same_layout!(RtsConfig, LAYOUT_RtsConfig,
    rts_opts_enabled rts_opts_suggestions rts_opts rts_hs_main keep_cafs eventlog_writer
    defaultsHook onExitHook stackOverflowHook outOfHeapHook mallocFailHook gcDoneHook
    longGCSync longGCSyncEnd);
same_layout!(EventLogWriter, LAYOUT_EventLogWriter,
    initEventLogWriter writeEventLog flushEventLog stopEventLogWriter);
