//! What the options mean together: derived flags, and combinations that cannot be.
use crate::abi::layout::*;
use crate::api::flags::parser::{Read, Reader};

/// Nurseries of this many blocks are handed out in chunks, unless `-n` says otherwise.
const CHUNKED_NURSERY: u32 = (16 << 20) >> BLOCK_SHIFT;
const CHUNK: u32 = (4 << 20) >> BLOCK_SHIFT;
/// From this nursery size on, load balancing pays in minor collections too.
const BALANCED_NURSERY: u32 = (32 << 20) >> BLOCK_SHIFT;
/// The smallest nursery that works.
const MIN_NURSERY: u32 = 2;

/// The lowest address that `-xb` may name; it stays without effect.
const MIN_HEAP_BASE: usize = 8 << 30;

impl Reader<'_> {
    /// After all sources have been read.
    pub fn normalise(&mut self) -> Read {
        self.times();
        self.areas();
        self.statistics_for_events();
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
        self.usage_if_wrong()?;
        if gc.useNonmoving && gc.generations == 1 {
            return Err(self.end("The non-moving collector doesn't support -G1"));
        }
        if gc.generations == 1 && (gc.compact || gc.sweep) {
            self.said.say("WARNING: compact/sweep is incompatible with -G1; disabled");
        }
        self.limit();
        if (1..MIN_HEAP_BASE).contains(&gc.heapBase) {
            let message = format!(
                "Provided heap start address {:#x} is lower than minimum address {MIN_HEAP_BASE:#x}",
                gc.heapBase
            );
            self.said.say(message);
        }
        Ok(())
    }

    /// One ticker serves context switches and samples: it ticks as fast as the faster of them.
    fn times(&mut self) {
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

    /// Who hears of collections hears how much they did, so the program may read it too.
    fn statistics_for_events(&mut self) {
        let f = &mut self.flags;
        let told = f.DebugFlags.gc || (f.TraceFlags.tracing != TRACE_NONE as i32 && f.TraceFlags.gc);
        if told && f.GcFlags.giveStats == NO_GC_STATS as u32 {
            f.GcFlags.giveStats = COLLECT_GC_STATS as u32;
        }
    }

    fn areas(&mut self) {
        let gc = &mut self.flags.GcFlags;
        if gc.minAllocAreaSize >= CHUNKED_NURSERY && gc.nurseryChunkSize == 0 {
            gc.nurseryChunkSize = CHUNK;
        }
        if gc.minAllocAreaSize >= BALANCED_NURSERY && !self.balance_given {
            self.flags.ParFlags.parGcLoadBalancingGen = 0;
        }
        self.flags.DebugFlags.zero_on_gc |= self.flags.DebugFlags.sanity;
    }

    /// The maximum heap size against the sizes that must fit in it.
    fn limit(&mut self) {
        let gc = &mut self.flags.GcFlags;
        if gc.maxHeapSize == 0 {
            return;
        }
        gc.maxHeapSize = gc.maxHeapSize.max(gc.heapSizeSuggestion);
        if gc.maxHeapSize < gc.minAllocAreaSize {
            gc.minAllocAreaSize = gc.maxHeapSize.max(MIN_NURSERY);
            let message = "maximum heap size (-M) is smaller than minimum alloc area size (-A)";
            self.said.say(message);
        }
    }
}
