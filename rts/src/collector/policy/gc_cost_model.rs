//! Predicts from past collections whether several GC workers should share the next one.
//!
//! *Measured*: the work of a collection is the bytes that it copies, and those of large objects that it scavenges in
//! place. The model keeps the cost of a byte, alone and shared, for each power of two of work. It keeps HECs apart from
//! other helpers. It also keeps how late helpers arrive.
//!
//! *Protocol*: the decision for a collection.
//! 1. Expected work is from-space, times the fraction that was work when the generation was last collected.
//! 2. Helpers are not called for work that would be done before they arrive.
//! 3. Little work is shared with helpers that are awake, whatever it has cost, unless it is next to nothing.
//! 4. Where helpers have found hardly anything to do, as in one long list, they are not called for a while. This holds
//!    for all sizes of the generation, because a growing heap has another size each time. It also holds for older
//!    generations that have not been measured.
//! 5. Where the costs of both ways are known for this power of two, or the nearest, the faster way is chosen. Helpers
//!    from outside must be clearly faster, because they cost processor time. Stopped HECs have nothing else to do, so
//!    they share unless that is clearly slower, twice.
//! 6. Now and then the slower way is tried again, less often each time that it loses. The load of the machine and the
//!    shape of the heap change.
//!
//! *Checked by*: the unit tests below.
use crate::base::config::MAX_GENERATIONS;

/// Sharing between stopped HECs may take at most this fraction of the time alone. It is above 1, because stopped HECs
/// have nothing else to do and each copies what lies in its own core's cache. Two measurements of one way differ by
/// more.
const MAX_RATIO_OF_HECS: f64 = 1.15;
/// Sharing with helpers from outside must take at most this fraction of the time alone.
const MAX_RATIO: f64 = 0.85;
/// The expected fraction of from-space that is work, before it has been measured.
const DEFAULT_WORK_RATIO: f64 = 0.25;
/// Remembered measurements of one way.
const SAMPLES: usize = 3;
/// HECs must have shared this often before the model may find it slower.
const CONFIRMATIONS: usize = 2;
/// Weight of the newest arrival delay in the average.
const DELAY_WEIGHT: f64 = 0.5;
/// Helpers that do less than this fraction of the work are useless.
const MIN_HELP_RATIO: f64 = 0.1;
/// The arrival delay of a helper before it has been measured, in nanoseconds: the time to wake an OS thread.
const DEFAULT_DELAY_NS: f64 = 50_000.0;
/// The same for stopped HECs, whose tasks are awake.
const DEFAULT_DELAY_OF_HECS_NS: f64 = 5_000.0;
/// Each helper must find this many times the work that is done before it arrives.
const MIN_WORK_PER_HELPER: f64 = 2.0;
/// Collections until the slower way is tried again, at first.
const MIN_RETRY: u32 = 4;
/// The same where HECs share.
const MIN_RETRY_OF_HECS: u32 = 8;
/// The same, at most.
const MAX_RETRY: u32 = 1024;
/// Powers of two that the model tells apart: up to 2^47 bytes, the user address space of x86-64.
const MAGNITUDES: usize = 48;
/// At least this many bytes of work are shared, unless costs of a similar size speak against it.
const LARGE_WORK_THRESHOLD: f64 = (4 << 20) as f64;
/// Sizes of large work are similar if their powers of two differ by at most this.
const MAX_MAGNITUDE_DISTANCE: usize = 1;
/// Less work than this many bytes is shared with awake helpers, whatever it has cost. Measurements of such short times
/// tell little, and each worker then has the objects in its own core's cache.
const SMALL_WORK_THRESHOLD: f64 = (256 << 10) as f64;
/// Less work than this many bytes is done before two workers have agreed on their shares.
const MIN_SHARED_BYTES: f64 = (16 << 10) as f64;

/// The cost of collections that were done in one way, in nanoseconds for a byte of work.
#[derive(Clone, Copy)]
struct Cost {
    samples: [f64; SAMPLES],
    count: usize,
}

impl Cost {
    const UNKNOWN: Cost = Cost { samples: [f64::INFINITY; SAMPLES], count: 0 };

    fn record(&mut self, new: f64) {
        self.samples[self.count % SAMPLES] = new;
        self.count += 1;
    }

    /// Returns the least of the remembered costs. A collection may be slow for other reasons: a core is preempted, or
    /// caches are cold.
    fn min(&self) -> f64 {
        self.samples.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// The back-off of trials of the slower way.
#[derive(Clone, Copy)]
struct Retry {
    /// Collections since the last trial, and how many trials have failed.
    waited: u32,
    failures: u32,
}

impl Retry {
    const NEW: Retry = Retry { waited: 0, failures: 0 };

    /// Counts a collection, and returns whether the slower way is to be tried. `first` collections pass before the
    /// first trial.
    fn is_due(&mut self, first: u32) -> bool {
        self.waited += 1;
        let due = self.waited >= first.saturating_mul(1 << self.failures).min(MAX_RETRY);
        if due {
            *self = Retry { waited: 0, failures: (self.failures + 1).min(MAX_RETRY.ilog2()) };
        }
        due
    }
}

/// What is known about collections of one power of two of work.
#[derive(Clone, Copy)]
struct SizeClass {
    alone: Cost,
    shared: Cost,
    retry: Retry,
}

impl SizeClass {
    const NONE: SizeClass = SizeClass { alone: Cost::UNKNOWN, shared: Cost::UNKNOWN, retry: Retry::NEW };
}

/// Is sharing faster, if it may take `max_ratio` of the time? `None` unless both costs are known.
fn is_sharing_faster(shared: Cost, alone: Cost, max_ratio: f64) -> Option<bool> {
    (alone.count > 0 && shared.count > 0).then(|| shared.min() < max_ratio * alone.min())
}

/// Returns the largest acceptable ratio of the times, shared to alone.
fn max_ratio(hecs: bool) -> f64 {
    if hecs {
        MAX_RATIO_OF_HECS
    } else {
        MAX_RATIO
    }
}

pub struct ThreadCostModel {
    /// The fraction of from-space that was work, by generation; `None` while unknown.
    work_ratio: [Option<f64>; MAX_GENERATIONS],
    /// For one HEC, and for several that allocate. Their nurseries differ in what a core has in its cache and what it
    /// must fetch from others.
    by_magnitude: [[SizeClass; MAGNITUDES]; 2],
    /// For other helpers and for HECs, by generation: how many collections are still to be done alone, and how many
    /// were last time, because helpers were useless (none, if they were not). `None` while unknown.
    useless: [[Option<(u32, u32)>; MAX_GENERATIONS]; 2],
    /// The average arrival delay of other helpers and of HECs, in nanoseconds.
    delay: [f64; 2],
    /// The collection under way tries the slower way.
    trial: bool,
}

/// The helpers that a collection could have.
#[derive(Clone, Copy)]
pub struct Helpers {
    /// The largest possible number of GC workers, including the caller.
    pub max_threads: usize,
    /// Several HECs allocate ([`super::hec_activity`]): helpers are tasks that have stopped with their HECs.
    pub hecs: bool,
    /// Helpers that are awake already.
    pub awake: usize,
}

/// The measurements of a collection.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    pub generation: usize,
    /// As in [`Helpers`].
    pub hecs: bool,
    /// GC workers that were to take part.
    pub threads: usize,
    /// Bytes in from-space, and bytes of work: those copied out of it or scavenged in it.
    pub from: usize,
    pub work: usize,
    pub gc_ns: f64,
    /// Nanoseconds from the call to the arrival of the first helper, if one came.
    pub delay: Option<f64>,
    /// The fraction of the work that helpers did, if any were called.
    pub helped: Option<f64>,
}

fn magnitude(bytes: usize) -> usize {
    ((usize::BITS - bytes.leading_zeros()) as usize).min(MAGNITUDES - 1)
}

impl ThreadCostModel {
    pub const fn new() -> ThreadCostModel {
        ThreadCostModel {
            work_ratio: [None; MAX_GENERATIONS],
            by_magnitude: [[SizeClass::NONE; MAGNITUDES]; 2],
            useless: [[None; MAX_GENERATIONS]; 2],
            delay: [DEFAULT_DELAY_NS, DEFAULT_DELAY_OF_HECS_NS],
            trial: false,
        }
    }

    /// Chooses the number of workers for a collection of `generation` when from-space has `from` bytes.
    pub fn choose(&mut self, generation: usize, from: usize, helpers: Helpers) -> usize {
        let Helpers { max_threads, hecs, awake } = helpers;
        let bytes = self.work_ratio[generation].unwrap_or(DEFAULT_WORK_RATIO) * from as f64;
        let m = magnitude(bytes as usize);
        // The cost of a byte alone, at least.
        let alone = self
            .nearest(hecs, m, MAGNITUDES, |e| e.alone)
            .or_else(|| self.nearest(hecs, m, MAGNITUDES, |e| e.shared))
            .or_else(|| self.nearest(!hecs, m, MAGNITUDES, |e| e.alone));
        let useful_helpers =
            bytes * alone.map_or(0.0, |cost| cost.min()) / (self.delay[hecs as usize] * MIN_WORK_PER_HELPER);
        let threads = max_threads.min(awake.max(useful_helpers as usize) + 1);
        if threads < 2 || bytes < MIN_SHARED_BYTES {
            return 1;
        }
        if awake > 0 && bytes < SMALL_WORK_THRESHOLD {
            return max_threads.min(awake + 1);
        }
        if self.skip_useless_helpers(generation, hecs) {
            return 1;
        }
        let max_distance = if bytes >= LARGE_WORK_THRESHOLD { MAX_MAGNITUDE_DISTANCE } else { MAGNITUDES };
        let (alone, shared) =
            (self.nearest(hecs, m, max_distance, |e| e.alone), self.nearest(hecs, m, max_distance, |e| e.shared));
        let Some(shared) = shared else { return threads };
        let alone = alone.unwrap_or(Cost::UNKNOWN);
        let unconfirmed = hecs && shared.count < CONFIRMATIONS;
        let share = unconfirmed || is_sharing_faster(shared, alone, max_ratio(hecs)).unwrap_or(true);
        self.trial = self.by_magnitude[hecs as usize][m].retry.is_due(if hecs { MIN_RETRY_OF_HECS } else { MIN_RETRY });
        if share != self.trial {
            threads
        } else {
            1
        }
    }

    /// Are helpers expected to find nothing to do? Counts the collection. An old generation holds what was in younger
    /// ones before, so their experience counts while it has none. Stopped HECs may look for work anyway.
    fn skip_useless_helpers(&mut self, generation: usize, hecs: bool) -> bool {
        match &mut self.useless[hecs as usize][generation] {
            Some((left, _)) => {
                let any = *left > 0;
                *left -= any as u32;
                any
            }
            None => !hecs && self.useless[0][..generation].iter().flatten().any(|&(_, last)| last > 0),
        }
    }

    /// Returns the cost of a byte for work of this power of two, or of the nearest for which it is known, at most
    /// `max_distance` away.
    fn nearest(&self, hecs: bool, m: usize, max_distance: usize, cost: impl Fn(&SizeClass) -> Cost) -> Option<Cost> {
        (0..=max_distance)
            .flat_map(|d| [m.checked_sub(d), Some(m + d)])
            .flatten()
            .filter_map(|i| self.by_magnitude[hecs as usize].get(i))
            .map(cost)
            .find(|cost| cost.count > 0)
    }

    pub fn record(&mut self, c: &Measured) {
        let trial = std::mem::take(&mut self.trial);
        if c.from == 0 {
            return;
        }
        self.work_ratio[c.generation] = Some(c.work as f64 / c.from as f64);
        if let Some(delay) = c.delay {
            let known = &mut self.delay[c.hecs as usize];
            *known = *known * (1.0 - DELAY_WEIGHT) + delay * DELAY_WEIGHT;
        }
        // Helpers that have not arrived, or found little work, may yet be useful.
        if let (Some(part), Some(_), true) = (c.helped, c.delay, c.work as f64 >= SMALL_WORK_THRESHOLD) {
            let useless = &mut self.useless[c.hecs as usize][c.generation];
            let (_, last) = useless.unwrap_or_default();
            // HECs have nothing else to do, and one measurement may be chance.
            let first = if c.hecs { 1 } else { MIN_RETRY };
            let next = if part < MIN_HELP_RATIO { (last * 2).clamp(first, MAX_RETRY) } else { 0 };
            *useless = Some((next, next));
        }
        if c.work == 0 {
            return;
        }
        let max_ratio = max_ratio(c.hecs);
        let e = &mut self.by_magnitude[c.hecs as usize][magnitude(c.work)];
        let before = is_sharing_faster(e.shared, e.alone, max_ratio);
        let known = if c.threads > 1 { &mut e.shared } else { &mut e.alone };
        // What was known of a way that has not been taken for long is outdated.
        if trial {
            *known = Cost::UNKNOWN;
        }
        known.record(c.gc_ns / c.work as f64);
        if before.is_some() && before != is_sharing_faster(e.shared, e.alone, max_ratio) {
            // The balance has changed: try the other way again soon.
            e.retry = Retry::NEW;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `n` collections where sharing takes `factor` times as long as not sharing. Returns how many were shared.
    fn run(model: &mut ThreadCostModel, n: usize, copied: usize, factor: f64) -> usize {
        run_on(model, n, copied, factor, false)
    }

    fn run_on(model: &mut ThreadCostModel, n: usize, copied: usize, factor: f64, hecs: bool) -> usize {
        let mut shared = 0;
        for _ in 0..n {
            let threads = model.choose(0, 2 * copied, Helpers { max_threads: 2, hecs, awake: 0 });
            shared += (threads > 1) as usize;
            let gc_ns = copied as f64 * if threads > 1 { factor } else { 1.0 };
            let delay = (threads > 1).then_some(50_000.0);
            let helped = (threads > 1).then_some(0.5);
            model.record(&Measured {
                generation: 0,
                hecs,
                threads,
                from: 2 * copied,
                work: copied,
                gc_ns,
                delay,
                helped,
            });
        }
        shared
    }

    #[test]
    fn small_collections_are_never_shared() {
        assert_eq!(run(&mut ThreadCostModel::new(), 1000, 90_000, 0.5), 0);
    }

    #[test]
    fn small_collections_are_shared_with_awake_helpers() {
        let mut model = ThreadCostModel::new();
        let helpers = Helpers { max_threads: 3, hecs: true, awake: 1 };
        for (generation, from, threads) in [(0, 100_000, 2), (1, 1000, 1), (0, 100_000_000, 1)] {
            let copied = from / 2;
            let c = Measured {
                generation,
                hecs: true,
                threads: 1,
                from,
                work: copied,
                gc_ns: copied as f64,
                delay: None,
                helped: None,
            };
            model.record(&c);
            for _ in 0..CONFIRMATIONS {
                model.record(&Measured { threads: 2, gc_ns: 2.0 * copied as f64, ..c });
            }
            let helpers = if generation == 0 { helpers } else { Helpers { awake: 0, ..helpers } };
            assert_eq!(model.choose(generation, from, helpers), threads);
        }
    }

    #[test]
    fn sharing_follows_the_measured_gain() {
        assert!(run(&mut ThreadCostModel::new(), 1000, 1 << 20, 0.6) > 980);
        assert!(run(&mut ThreadCostModel::new(), 1000, 1 << 20, 0.95) < 20);
        assert!(run_on(&mut ThreadCostModel::new(), 1000, 1 << 20, 1.05, true) > 980);
        assert!(run_on(&mut ThreadCostModel::new(), 1000, 1 << 20, 1.25, true) < 20);
    }

    #[test]
    fn single_slow_collections_change_nothing() {
        for hecs in [false, true] {
            let mut model = ThreadCostModel::new();
            run_on(&mut model, 50, 1 << 20, 0.6, hecs);
            for _ in 0..50 {
                assert!(run_on(&mut model, 1, 1 << 20, 3.0, hecs) + run_on(&mut model, 4, 1 << 20, 0.6, hecs) >= 4);
            }
        }
    }

    #[test]
    fn hecs_share_twice_before_they_stop_sharing() {
        for (hecs, threads) in [(false, 1), (true, 2)] {
            let mut model = ThreadCostModel::new();
            let c = Measured {
                generation: 0,
                hecs,
                threads: 1,
                from: 1 << 21,
                work: 1 << 20,
                gc_ns: 1e6,
                delay: Some(1e3),
                helped: Some(0.5),
            };
            model.record(&c);
            model.record(&Measured { threads: 2, gc_ns: 5e6, ..c });
            assert_eq!(model.choose(0, c.from, Helpers { max_threads: 2, hecs, awake: 0 }), threads);
            model.record(&Measured { threads: 2, gc_ns: 5e6, ..c });
            assert_eq!(model.choose(0, c.from, Helpers { max_threads: 2, hecs, awake: 0 }), 1);
        }
    }

    #[test]
    fn costs_of_one_hec_do_not_apply_to_several() {
        let mut model = ThreadCostModel::new();
        assert!(run(&mut model, 100, 1 << 20, 1.5) < 10);
        // Each collection takes three times as long alone, and half of that when shared.
        let c = Measured {
            generation: 0,
            hecs: true,
            threads: 1,
            from: 1 << 21,
            work: 1 << 20,
            gc_ns: 3e6,
            delay: None,
            helped: None,
        };
        model.record(&c);
        for _ in 0..5 {
            assert_eq!(model.choose(0, c.from, Helpers { max_threads: 2, hecs: true, awake: 0 }), 2);
            model.record(&Measured { threads: 2, gc_ns: 1.5e6, delay: Some(1e3), helped: Some(0.5), ..c });
        }
    }

    #[test]
    fn sleeping_helpers_are_called_once_sharing_is_known() {
        let mut model = ThreadCostModel::new();
        let c = Measured {
            generation: 0,
            hecs: true,
            threads: 2,
            from: 1 << 21,
            work: 1 << 20,
            gc_ns: 1e6,
            delay: Some(1e3),
            helped: Some(0.5),
        };
        let helpers = Helpers { max_threads: 2, hecs: true, awake: 0 };
        assert_eq!(model.choose(0, c.from, helpers), 1);
        model.record(&c);
        assert_eq!(model.choose(0, c.from, helpers), 2);
    }

    #[test]
    fn a_change_in_cost_is_noticed() {
        let mut model = ThreadCostModel::new();
        run(&mut model, 200, 1 << 20, 0.6);
        assert!(run(&mut model, 1000, 1 << 20, 1.5) < 50);
        run(&mut model, 2000, 1 << 20, 0.6);
        assert!(run(&mut model, 1000, 1 << 20, 0.6) > 900);
    }

    #[test]
    fn the_slower_way_is_not_tried_at_every_size() {
        let mut model = ThreadCostModel::new();
        let mut shared =
            |logs: std::ops::Range<usize>| -> usize { logs.map(|log| run(&mut model, 2, 1 << log, 1.2)).sum() };
        assert_eq!(shared(17..22), 1);
        // Large collections are tried at every other power of two, once each.
        assert_eq!(shared(22..26), 2);
    }

    #[test]
    fn costs_of_small_collections_do_not_apply_to_large_ones() {
        let mut model = ThreadCostModel::new();
        run(&mut model, 200, 1 << 20, 1.2);
        assert_eq!(run(&mut model, 3, 1 << 25, 0.6), 3);
        assert!(run(&mut model, 100, 1 << 25, 1.2) < 10);
    }

    #[test]
    fn useless_helpers_are_called_seldom() {
        let mut model = ThreadCostModel::new();
        let mut called = |part: f64| {
            let mut all = 0;
            for n in 0..1000 {
                // The heap grows.
                let copied = (1 << 21) + (n << 16);
                let threads = model.choose(1, 2 * copied, Helpers { max_threads: 2, hecs: true, awake: 0 });
                let helped = (threads > 1).then_some(part);
                all += (threads > 1) as usize;
                let gc_ns = copied as f64 * if threads > 1 { 1.0 - part } else { 1.0 };
                let delay = helped.map(|_| 1000.0);
                model.record(&Measured {
                    generation: 1,
                    hecs: true,
                    threads,
                    from: 2 * copied,
                    work: copied,
                    gc_ns,
                    delay,
                    helped,
                });
            }
            all
        };
        assert!((5..20).contains(&called(0.05)));
        assert!(called(0.4) > 300);
    }

    #[test]
    fn helpers_useless_for_a_young_generation_are_not_called_for_an_old_one() {
        for (part, hecs, threads) in [(0.0, false, 1), (0.4, false, 2), (0.0, true, 2)] {
            let mut model = ThreadCostModel::new();
            let c = Measured {
                generation: 0,
                hecs,
                threads: 2,
                from: 1 << 24,
                work: 1 << 22,
                gc_ns: 1e7,
                delay: Some(1e4),
                helped: Some(part),
            };
            let helpers = Helpers { max_threads: 2, hecs, awake: 0 };
            model.record(&Measured { threads: 1, delay: None, helped: None, ..c });
            model.record(&c);
            assert_eq!(model.choose(1, 1 << 28, helpers), threads);
            // The measurement of a generation itself counts more.
            model.record(&Measured { generation: 1, helped: Some(0.4), ..c });
            model.record(&c);
            assert_eq!(model.choose(1, 1 << 28, helpers), 2);
        }
    }

    #[test]
    fn helpers_useless_to_one_hec_are_tried_by_several() {
        let mut model = ThreadCostModel::new();
        let helpers = |hecs| Helpers { max_threads: 2, hecs, awake: 0 };
        let c = Measured {
            generation: 0,
            hecs: false,
            threads: 2,
            from: 1 << 24,
            work: 1 << 22,
            gc_ns: 1e7,
            delay: Some(1e4),
            helped: Some(0.0),
        };
        model.record(&Measured { threads: 1, delay: None, helped: None, ..c });
        model.record(&c);
        assert_eq!((model.choose(0, c.from, helpers(false)), model.choose(0, c.from, helpers(true))), (1, 2));
    }

    #[test]
    fn the_number_of_threads_follows_the_work() {
        let mut model = ThreadCostModel::new();
        for _ in 0..2 {
            model.record(&Measured {
                generation: 1,
                hecs: false,
                threads: 1,
                from: 1 << 20,
                work: 1 << 19,
                gc_ns: (1 << 19) as f64,
                delay: None,
                helped: None,
            });
        }
        let up_to = |max_threads| Helpers { max_threads, hecs: false, awake: 0 };
        assert_eq!(model.choose(1, 1 << 20, up_to(16)), 6);
        assert_eq!(model.choose(1, 1 << 20, up_to(3)), 3);
        // Nothing is known of this generation.
        assert_eq!(model.choose(0, 1 << 20, up_to(3)), 3);
        assert_eq!(model.choose(0, 1 << 18, up_to(3)), 1);
    }
}
