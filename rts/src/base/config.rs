//! The runtime's settings: a view of `RtsFlags` in the runtime's own units.
//!
//! *Invariants*
//!
//! - `RtsFlags` is the only copy, because C code may change it while the program runs. The view is computed on request:
//!   once for each collection or thread, not for each object.
use crate::abi::c_struct::Time;
use crate::abi::layout::*;
use crate::abi::rts_flags::{flags, Flags};
use std::sync::OnceLock;
use std::time::Duration;

/// The unit in which `RtsFlags` counts memory.
pub const FLAG_BLOCK: usize = 1 << BLOCK_SHIFT;
/// Most generations that the heap is divided into, because an age has four bits. If a program asks for more (`-G`), the
/// oldest of these stands for all older ones, and has the number of the oldest that was asked for.
pub const MAX_GENERATIONS: usize = 12;
/// Most generations that a program may ask for. The stock runtime accepts any number, and crashes from 65 on.
pub const MAX_NAMED_GENERATIONS: usize = 1000;
/// Most threads of one collection: enough for the machines at hand, and little for tables.
pub const MAX_GC_THREADS: usize = 64;

/// How much is reported about collections (`-T -t -s -S`), in order of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StatsMode {
    Off,
    /// Collect for `GHC.Stats`, print nothing.
    Collect,
    OneLine,
    Summary,
    Verbose,
}

/// What `-H` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeapSuggestion {
    None,
    Bytes(usize),
    /// `-H` alone: as much as the program's peak so far.
    Auto,
}

/// A collection when nothing has run for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleGc {
    pub after: Duration,
    /// Least time between two of them.
    pub at_least_every: Duration,
}

/// The default of `-C`, in nanoseconds: that of the user guide.
pub const DEFAULT_TIME_SLICE: i64 = 20_000_000;

#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// HECs at start.
    pub hecs: usize,
    pub nursery_bytes: usize,
    /// Bytes of large objects after which a collection is due.
    pub large_alloc_bytes: usize,
    pub nursery_chunk_bytes: Option<usize>,
    pub max_heap_bytes: Option<usize>,
    /// Bytes beyond the maximum that are allowed after each heap overflow exception.
    pub heap_grace_bytes: usize,
    pub heap_suggestion: HeapSuggestion,
    /// Generations that the heap is divided into.
    pub generations: usize,
    /// Generations that the program asked for.
    pub named_generations: usize,
    /// A generation may grow to this multiple of its live data before it is collected.
    pub old_gen_factor: f64,
    pub min_old_gen_bytes: usize,
    /// `usize::MAX` for no limit (`-K0`).
    pub max_stack_words: usize,
    pub initial_stack_words: usize,
    pub stack_chunk_words: usize,
    /// Words that are copied to the next stack chunk at an overflow, so that a return does not underflow at once.
    pub stack_chunk_buffer_words: usize,
    /// Bytes that a thread may allocate after each AllocationLimitExceeded exception.
    pub alloc_limit_grace_bytes: usize,
    /// `None`: no timer (`-V0`).
    pub tick: Option<Duration>,
    /// Ticks between two context switches; 0: at every heap check.
    pub context_switch_ticks: u32,
    /// The length of a time slice (`-C`) was not set.
    pub default_slices: bool,
    pub idle_gc: Option<IdleGc>,
    pub signal_handlers: bool,
    /// Report if stopping the world takes longer than this many nanoseconds.
    pub long_gc_sync: Option<i64>,
    pub max_local_sparks: usize,
    /// Check the heap at collections (`-DS`).
    pub sanity: bool,
}

/// The number of processors that this process may use.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

fn duration(t: Time) -> Duration {
    Duration::from_nanos(t.max(0) as u64)
}

fn stats_mode(give: u32) -> StatsMode {
    match give as usize {
        NO_GC_STATS => StatsMode::Off,
        COLLECT_GC_STATS => StatsMode::Collect,
        ONELINE_GC_STATS => StatsMode::OneLine,
        SUMMARY_GC_STATS => StatsMode::Summary,
        _ => StatsMode::Verbose,
    }
}

impl Settings {
    pub fn of(f: &Flags) -> Settings {
        let gc = &f.GcFlags;
        let blocks = |n: u32| n as usize * FLAG_BLOCK;
        Settings {
            hecs: (f.ParFlags.nCapabilities as usize).max(1),
            nursery_bytes: blocks(gc.minAllocAreaSize),
            large_alloc_bytes: match gc.largeAllocLim {
                0 => blocks(gc.minAllocAreaSize),
                n => blocks(n),
            },
            nursery_chunk_bytes: (gc.nurseryChunkSize != 0).then(|| blocks(gc.nurseryChunkSize)),
            max_heap_bytes: (gc.maxHeapSize != 0).then(|| blocks(gc.maxHeapSize)),
            heap_grace_bytes: gc.heapLimitGrace,
            heap_suggestion: match (gc.heapSizeSuggestionAuto, gc.heapSizeSuggestion) {
                (true, _) => HeapSuggestion::Auto,
                (false, 0) => HeapSuggestion::None,
                (false, n) => HeapSuggestion::Bytes(blocks(n)),
            },
            generations: (gc.generations as usize).clamp(1, MAX_GENERATIONS),
            named_generations: named_generations(gc.generations),
            old_gen_factor: gc.oldGenFactor,
            min_old_gen_bytes: blocks(gc.minOldGenSize),
            max_stack_words: match gc.maxStkSize {
                0 => usize::MAX,
                n => n as usize,
            },
            initial_stack_words: gc.initialStkSize as usize,
            stack_chunk_words: gc.stkChunkSize as usize,
            stack_chunk_buffer_words: gc.stkChunkBufferSize as usize,
            alloc_limit_grace_bytes: gc.allocLimitGrace * FLAG_BLOCK,
            tick: (f.MiscFlags.tickInterval > 0).then(|| duration(f.MiscFlags.tickInterval)),
            context_switch_ticks: f.ConcFlags.ctxtSwitchTicks.max(0) as u32,
            default_slices: f.ConcFlags.ctxtSwitchTime == DEFAULT_TIME_SLICE,
            idle_gc: gc
                .doIdleGC
                .then(|| IdleGc { after: duration(gc.idleGCDelayTime), at_least_every: duration(gc.interIdleGCWait) }),
            signal_handlers: f.MiscFlags.install_signal_handlers,
            long_gc_sync: (gc.longGCSync > 0).then_some(gc.longGCSync),
            max_local_sparks: f.ParFlags.maxLocalSparks as usize,
            sanity: f.DebugFlags.sanity,
        }
    }
}

/// The current settings.
pub fn settings_now() -> Settings {
    Settings::of(&flags())
}

/// The number of generations that the program sees. It may have set the number itself.
fn named_generations(asked: u32) -> usize {
    (asked as usize).clamp(1, MAX_NAMED_GENERATIONS)
}

/// The number that the program sees for `generation`, if it asked for `asked` generations.
fn name_of(generation: usize, asked: u32) -> usize {
    let named = named_generations(asked);
    if generation + 1 >= named.min(MAX_GENERATIONS) {
        named - 1
    } else {
        generation
    }
}

/// The number that the program sees for `generation`.
pub fn generation_name(generation: usize) -> usize {
    name_of(generation, flags().GcFlags.generations)
}

/// Only how much is reported about collections: cheaper than all settings.
pub fn stats_mode_now() -> StatsMode {
    stats_mode(flags().GcFlags.giveStats)
}

/// The flags for parallel collections (`-qg -qb -qn -qa`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParallelGc {
    /// Collections of this generation and older ones may be parallel; `None`: none may.
    pub from_generation: Option<usize>,
    /// From this generation on, a GC thread may take work from another one.
    balanced_from: Option<usize>,
    /// GC threads; `None`: one for each HEC, or as the runtime decides.
    pub threads: Option<usize>,
    /// Each thread is bound to a core.
    pub affinity: bool,
}

impl ParallelGc {
    pub fn of(f: &Flags) -> ParallelGc {
        let par = &f.ParFlags;
        let enabled = par.parGcEnabled && !f.GcFlags.useNonmoving;
        ParallelGc {
            from_generation: enabled.then_some(par.parGcGen as usize),
            balanced_from: par.parGcLoadBalancingEnabled.then_some(par.parGcLoadBalancingGen as usize),
            threads: (par.parGcThreads > 0).then_some(par.parGcThreads as usize),
            affinity: par.setAffinity,
        }
    }

    /// May GC threads take each other's work when `generation` is collected? The default of the flag, 1, leaves that to
    /// the runtime, which always allows it.
    pub fn allows_balancing(&self, generation: usize) -> bool {
        self.balanced_from.is_some_and(|g| g <= 1 || generation >= g)
    }
}

/// The current setting.
pub fn parallel_gc_now() -> ParallelGc {
    ParallelGc::of(&flags())
}

/// The runtime's checks of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Verify the whole heap at every collection.
    pub heap: bool,
    /// Collect at every block.
    pub every_block: bool,
    /// Run every collection with this many GC threads, whether it pays or not.
    pub gc_threads: Option<usize>,
    /// Let all HECs be active at a time, however few cores there are.
    pub oversubscribe: bool,
    /// Change the size of nurseries at every collection.
    pub vary_nursery: bool,
    /// Steal thunks from threads that do not run, wherever that is possible, instead of waiting for them.
    pub steal_thunks: bool,
    /// Evaluate what modifies a variable before the modification is published, wherever that is possible.
    pub eager_modify: bool,
    /// Promote all survivors of a collection at once. The heap is verified as often as that does not take too long.
    pub promote_at_once: bool,
}

/// Parses `HECATON_CHECK`: a list of `heap`, `every-block`, `old`, `oversubscribe`, `vary-nursery`, `steal-thunks`,
/// `eager-modify` and `gc-threads=N`. Four words have an earlier name, too. The error is the unknown word.
fn parse_checks(list: &str) -> Result<Checks, &str> {
    let mut checks = Checks::default();
    for word in list.split(',').map(str::trim).filter(|w| !w.is_empty()) {
        match word {
            "heap" => checks.heap = true,
            "every-block" => checks.every_block = true,
            "old" => (checks.every_block, checks.promote_at_once) = (true, true),
            "oversubscribe" | "crowd" => checks.oversubscribe = true,
            "vary-nursery" | "nurseries" => checks.vary_nursery = true,
            "steal-thunks" | "steal" => checks.steal_thunks = true,
            "eager-modify" | "modify" => checks.eager_modify = true,
            other => match other.strip_prefix("gc-threads=").map(str::parse) {
                Some(Ok(n)) if (1..=MAX_GC_THREADS).contains(&n) => checks.gc_threads = Some(n),
                _ => return Err(other),
            },
        }
    }
    Ok(checks)
}

/// The checks that the environment variable `HECATON_CHECK` and `-DS` ask for. An unknown word in the variable ends the
/// program, because a check must not be skipped silently.
pub fn checks() -> Checks {
    static FROM_ENV: OnceLock<Checks> = OnceLock::new();
    let mut checks = *FROM_ENV.get_or_init(|| {
        let list = std::env::var_os("HECATON_CHECK").unwrap_or_default();
        parse_checks(&list.to_string_lossy()).unwrap_or_else(|word| {
            crate::base::fatal::exit_with(
                1,
                &format!(
                    "HECATON_CHECK has `{word}'; it knows `heap', `every-block', `old', `oversubscribe', \
                     `vary-nursery', `steal-thunks', `eager-modify' and `gc-threads=N'"
                ),
            )
        })
    });
    checks.heap |= flags().DebugFlags.sanity;
    checks
}

/// What the runtime reports at the end of a run, in addition to the statistics of the flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reports {
    /// Waits for black holes, and duplicated work.
    pub blackholes: bool,
}

/// Parses `HECATON_SHOW`: a list with one possible word, `blackholes`. The error is the unknown word.
fn parse_reports(list: &str) -> Result<Reports, &str> {
    let mut reports = Reports::default();
    for word in list.split(',').map(str::trim).filter(|w| !w.is_empty()) {
        match word {
            "blackholes" => reports.blackholes = true,
            other => return Err(other),
        }
    }
    Ok(reports)
}

/// What the environment variable `HECATON_SHOW` asks for. An unknown word ends the program.
pub fn reports() -> Reports {
    let list = std::env::var_os("HECATON_SHOW").unwrap_or_default();
    parse_reports(&list.to_string_lossy()).unwrap_or_else(|word| {
        crate::base::fatal::exit_with(1, &format!("HECATON_SHOW has `{word}'; it knows `blackholes'"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_collections() {
        let mut f = Flags::zeroed();
        assert_eq!(ParallelGc::of(&f).from_generation, None);
        f.ParFlags.parGcEnabled = true;
        f.ParFlags.parGcLoadBalancingEnabled = true;
        f.ParFlags.parGcLoadBalancingGen = 1;
        let p = ParallelGc::of(&f);
        assert_eq!((p.from_generation, p.threads), (Some(0), None));
        assert!(p.allows_balancing(0) && p.allows_balancing(1));
        (f.ParFlags.parGcGen, f.ParFlags.parGcLoadBalancingGen, f.ParFlags.parGcThreads) = (1, 2, 3);
        let p = ParallelGc::of(&f);
        assert_eq!((p.from_generation, p.threads), (Some(1), Some(3)));
        assert!(!p.allows_balancing(1) && p.allows_balancing(2));
        f.ParFlags.parGcLoadBalancingEnabled = false;
        f.GcFlags.useNonmoving = true;
        let p = ParallelGc::of(&f);
        assert!(p.from_generation.is_none() && !p.allows_balancing(2));
    }

    #[test]
    fn the_oldest_generation_stands_for_all_that_are_older() {
        for (asked, names) in [(1, vec![0]), (2, vec![0, 1]), (3, vec![0, 1, 2])] {
            assert_eq!((0..asked as usize).map(|g| name_of(g, asked)).collect::<Vec<_>>(), names);
        }
        for (asked, oldest) in [(12, 11), (13, 12), (64, 63), (1000, 999), (u32::MAX, 999)] {
            assert_eq!((name_of(0, asked), name_of(10, asked), name_of(11, asked)), (0, 10, oldest));
        }
        let mut f = Flags::zeroed();
        f.GcFlags.generations = 100;
        let s = Settings::of(&f);
        assert_eq!((s.generations, s.named_generations), (MAX_GENERATIONS, 100));
    }

    #[test]
    fn check_lists() {
        assert_eq!(parse_checks(""), Ok(Checks::default()));
        let heap = Checks { heap: true, ..Checks::default() };
        assert_eq!(parse_checks("heap"), Ok(heap));
        // The earlier names.
        let words = "oversubscribe,vary-nursery,steal-thunks,eager-modify";
        assert_eq!(parse_checks("crowd,nurseries,steal,modify"), parse_checks(words));
        assert_ne!(parse_checks(words), Ok(Checks::default()));
        assert_eq!(parse_checks("every-block, heap"), Ok(Checks { every_block: true, ..heap }));
        assert_eq!(parse_checks("heap,old"), Ok(Checks { every_block: true, promote_at_once: true, ..heap }));
        assert_eq!(parse_checks("heap,gc-threads=4"), Ok(Checks { gc_threads: Some(4), ..heap }));
        assert_eq!(parse_checks("heap,nurseries"), Ok(Checks { vary_nursery: true, ..heap }));
        assert_eq!(parse_checks("gc-threads=0"), Err("gc-threads=0"));
        assert_eq!(parse_checks("heap,blocks"), Err("blocks"));
    }

    #[test]
    fn report_lists() {
        assert_eq!(parse_reports(""), Ok(Reports::default()));
        assert_eq!(parse_reports(" blackholes"), Ok(Reports { blackholes: true }));
        assert_eq!(parse_reports("blackhole"), Err("blackhole"));
    }
}
