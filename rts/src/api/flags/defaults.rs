//! The flags before any option is parsed.
use crate::abi::layout::*;
use crate::abi::rts_flags::Flags;
use crate::abi::Ways;
use crate::base::config::DEFAULT_TIME_SLICE;

/// Bytes of memory of this machine; 0 if unknown.
pub fn machine_memory() -> u64 {
    // SAFETY: queries.
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    pages.max(0) as u64 * page.max(0) as u64
}

/// Maximum stack in bytes without `-K` if the machine's memory is unknown. Otherwise it is four fifths of the memory,
/// as in the stock runtime.
const MAX_STACK_UNKNOWN: u64 = 8 << 20;

pub fn defaults(ways: Ways, memory: u64) -> Flags {
    const WORD: u64 = 8;
    let mut f = Flags::zeroed();

    let max_stack = match memory {
        0 => MAX_STACK_UNKNOWN,
        n => (n as f64 * 0.8) as u64,
    };
    f.GcFlags.maxStkSize = u32::try_from(max_stack / WORD).unwrap_or(u32::MAX);
    f.GcFlags.initialStkSize = 1024 / WORD as u32;
    f.GcFlags.stkChunkSize = 32 * 1024 / WORD as u32;
    f.GcFlags.stkChunkBufferSize = 1024 / WORD as u32;

    let blocks = |bytes: usize| (bytes >> BLOCK_SHIFT) as u32;
    f.GcFlags.minAllocAreaSize = blocks(1 << 20);
    f.GcFlags.minOldGenSize = blocks(1 << 20);
    f.GcFlags.oldGenFactor = 2.0;
    f.GcFlags.pcFreeHeap = 3.0;
    f.GcFlags.generations = 2;
    f.GcFlags.squeezeUpdFrames = true;
    f.GcFlags.compactThreshold = 30.0;
    f.GcFlags.idleGCDelayTime = 300_000_000;
    f.GcFlags.doIdleGC = ways.threaded;
    f.GcFlags.allocLimitGrace = (100 * 1024) >> BLOCK_SHIFT;
    f.GcFlags.heapLimitGrace = 1 << 20;
    f.GcFlags.numaMask = 1;

    f.ConcFlags.ctxtSwitchTime = DEFAULT_TIME_SLICE;

    f.MiscFlags.tickInterval = DEFAULT_TICK_INTERVAL as i64;
    f.MiscFlags.install_signal_handlers = true;
    f.MiscFlags.install_seh_handlers = true;
    f.MiscFlags.generate_stack_trace = true;
    f.MiscFlags.ioManager = IO_MNGR_POSIX as u32;
    f.MiscFlags.numIoWorkerThreads = 1;

    f.ProfFlags.heapProfileInterval = 100_000_000;

    if ways.threaded {
        f.ParFlags.nCapabilities = 1;
        f.ParFlags.migrate = true;
        f.ParFlags.maxLocalSparks = 4096;
        f.ParFlags.parGcEnabled = true;
        f.ParFlags.parGcLoadBalancingEnabled = true;
        f.ParFlags.parGcLoadBalancingGen = 1;
    }
    f
}
