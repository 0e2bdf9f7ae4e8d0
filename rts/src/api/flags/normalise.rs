//! Derived flags, and impossible combinations of options.
use crate::abi::layout::*;
use crate::api::flags::parser::{Read, Reader};

/// Blocks of the smallest nursery (16 MB) that is divided into chunks without `-n`, and blocks of a chunk (4 MB). The
/// stock runtime has the same values.
const CHUNKED_NURSERY: u32 = (16 << 20) >> BLOCK_SHIFT;
const CHUNK: u32 = (4 << 20) >> BLOCK_SHIFT;
/// Blocks of the smallest nursery (32 MB) for which load balancing pays in minor collections too. The stock runtime has
/// the same value.
const BALANCED_NURSERY: u32 = (32 << 20) >> BLOCK_SHIFT;
/// Blocks of the smallest nursery that works.
const MIN_NURSERY: u32 = 2;

/// The lowest address that `-xb` accepts (8 GB), as in the stock runtime. The option has no effect.
const MIN_HEAP_BASE: usize = 8 << 30;

impl Reader<'_> {
    /// Normalises the flags after all sources have been parsed.
    pub fn normalise(&mut self) -> Read {
        self.normalise_times();
        self.normalise_areas();
        self.enable_statistics_for_events();
        let gc = self.flags.GcFlags;
        if gc.stkChunkBufferSize > gc.stkChunkSize / 2 {
            let message = "stack chunk buffer size (-kb) must be less than 50%\n\
                           of the stack chunk size (-kc)";
            self.wrong_option(message, &[]);
        }
        if gc.useNonmoving && gc.compact {
            let message = "The non-moving collector cannot be used in conjunction with\n\
                           the compacting collector.";
            self.wrong_option(message, &[]);
        }
        self.usage_if_errors()?;
        if gc.useNonmoving && gc.generations == 1 {
            return Err(self.exit_with("The non-moving collector doesn't support -G1"));
        }
        if gc.generations == 1 && (gc.compact || gc.sweep) {
            self.messages.add("WARNING: compact/sweep is incompatible with -G1; disabled");
        }
        self.check_heap_limit();
        if (1..MIN_HEAP_BASE).contains(&gc.heapBase) {
            let message = format!(
                "Provided heap start address {:#x} is lower than minimum address {MIN_HEAP_BASE:#x}",
                gc.heapBase
            );
            self.messages.add(message);
        }
        Ok(())
    }

    /// One ticker serves context switches and samples. It has the shorter of the two intervals.
    fn normalise_times(&mut self) {
        let f = &mut self.flags;
        let tick = &mut f.MiscFlags.tickInterval;
        if *tick < 0 {
            *tick = DEFAULT_TICK_INTERVAL as i64;
        }
        if *tick == 0 {
            f.ConcFlags.ctxtSwitchTime = 0;
            f.GcFlags.idleGCDelayTime = 0;
            f.ProfFlags.heapProfileInterval = 0;
        }
        for time in [f.ConcFlags.ctxtSwitchTime, f.ProfFlags.heapProfileInterval] {
            if time > 0 {
                *tick = time.min(*tick);
            }
        }
        let ticks = |time: i64| if time > 0 && *tick > 0 { time / *tick } else { 0 };
        f.ConcFlags.ctxtSwitchTicks = ticks(f.ConcFlags.ctxtSwitchTime) as i32;
        f.ProfFlags.heapProfileIntervalTicks = ticks(f.ProfFlags.heapProfileInterval) as u32;
    }

    /// The event log and debug messages show statistics of collections, so these are collected, and the program may
    /// read them.
    fn enable_statistics_for_events(&mut self) {
        let f = &mut self.flags;
        let logged = f.DebugFlags.gc || (f.TraceFlags.tracing != TRACE_NONE as i32 && f.TraceFlags.gc);
        if logged && f.GcFlags.giveStats == NO_GC_STATS as u32 {
            f.GcFlags.giveStats = COLLECT_GC_STATS as u32;
        }
    }

    fn normalise_areas(&mut self) {
        let gc = &mut self.flags.GcFlags;
        if gc.minAllocAreaSize >= CHUNKED_NURSERY && gc.nurseryChunkSize == 0 {
            gc.nurseryChunkSize = CHUNK;
        }
        if gc.minAllocAreaSize >= BALANCED_NURSERY && !self.balance_given {
            self.flags.ParFlags.parGcLoadBalancingGen = 0;
        }
        self.flags.DebugFlags.zero_on_gc |= self.flags.DebugFlags.sanity;
    }

    /// Checks the maximum heap size against the sizes that must fit in it.
    fn check_heap_limit(&mut self) {
        let gc = &mut self.flags.GcFlags;
        if gc.maxHeapSize == 0 {
            return;
        }
        gc.maxHeapSize = gc.maxHeapSize.max(gc.heapSizeSuggestion);
        if gc.maxHeapSize < gc.minAllocAreaSize {
            gc.minAllocAreaSize = gc.maxHeapSize.max(MIN_NURSERY);
            let message = "maximum heap size (-M) is smaller than minimum alloc area size (-A)";
            self.messages.add(message);
        }
    }
}
