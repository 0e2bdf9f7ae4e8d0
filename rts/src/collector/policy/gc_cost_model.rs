//! What collections have cost so far, and so whether the next one is worth several threads.
//!
//! The work of a collection is what it copies, and what it scans of large objects, which stay where they are. It is expected to be the part of
//! from-space that was work when the generation was last collected. For every order of magnitude of work we
//! keep what it has cost alone and together. Helpers take some time to arrive: work that
//! would be done by then is not offered to them. Where both ways are known, for this order of
//! magnitude or the nearest, the faster one is taken. Where helpers come from outside, to share must be
//! clearly faster, since it costs processor time that others may want; HECs that are stopped have
//! nothing else to do, and share unless that is clearly slower, which is known when they have done so twice. What is little, those of them that
//! stand by share in any case, unless it is next to nothing. Where helpers have found hardly
//! anything to do, as in one long list, that is said for all magnitudes, for a heap that grows is
//! of another one each time, and for older generations of which it is not known yet. Now and then the other way is tried again, less often each time that
//! it loses: the load of the machine changes, and so does the shape of the heap.
use crate::base::config::MAX_GENERATIONS;

/// A collection shared must take at most this part of the time that it takes alone: with HECs that are stopped
/// anyway, and with other helpers. Stopped HECs have nothing else to do, and by themselves what two ways have cost lately differs by more
/// than that; where they share, each also copies what lies in its own core's cache.
const GAIN_OF_HECS: f64 = 1.15;
const GAIN: f64 = 0.85;
/// The part of from-space that is work, before it is known.
const UNKNOWN_PART: f64 = 0.25;
/// So many measurements of a way are remembered, and HECs have shared so often before it may count that it is slower.
const REMEMBERED: usize = 3;
const SURE: usize = 2;
/// Weight of how late the helpers came last.
const NEWEST: f64 = 0.5;
/// Helpers that do less than this part of the work are no help.
const LITTLE_HELP: f64 = 0.1;
/// Before it is known: how long a helper takes to arrive, in nanoseconds. HECs stand by.
const LATE: f64 = 50_000.0;
const LATE_OF_HECS: f64 = 5_000.0;
/// Each helper must find this many times the work that is done before it arrives.
const WORTH_A_HELPER: f64 = 2.0;
/// After how many collections the slower way is tried again: at first, where HECs share, and at most.
const FIRST_RETRY: u32 = 4;
const FIRST_RETRY_OF_HECS: u32 = 8;
const LAST_RETRY: u32 = 1024;
const MAGNITUDES: usize = 48;
/// So much work is shared unless what is known about work of this magnitude, or of one that differs by
/// no more than so much, speaks against it.
const LARGE_BYTES: f64 = (4 << 20) as f64;
const ALIKE: usize = 1;
/// What is no more than this is shared with those who stand by, whatever it has cost: that tells little of such a short time,
/// and each has in its own core's cache then what it goes on with.
const LITTLE_BYTES: f64 = (256 << 10) as f64;
/// What is no more than this is done by the time that two have agreed on who does what.
const NEXT_TO_NOTHING: f64 = (16 << 10) as f64;

/// What collections that were done in one way have cost: nanoseconds for a byte of work.
#[derive(Clone, Copy)]
struct Cost {
    last: [f64; REMEMBERED],
    times: usize,
}

impl Cost {
    const UNKNOWN: Cost = Cost { last: [f64::INFINITY; REMEMBERED], times: 0 };

    fn learn(&mut self, new: f64) {
        self.last[self.times % REMEMBERED] = new;
        self.times += 1;
    }

    /// The least of the last ones. Single collections are slower for what is not theirs: a core that is taken away for a moment, caches that are cold.
    fn least(&self) -> f64 {
        self.last.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

/// When the slower way is to be tried again.
#[derive(Clone, Copy)]
struct Retry {
    /// Collections since it was last tried, and how often it has been in vain.
    waited: u32,
    vain: u32,
}

impl Retry {
    const NEW: Retry = Retry { waited: 0, vain: 0 };

    /// Another collection is to be: is it time, if one waits for `first` at first?
    fn is_due(&mut self, first: u32) -> bool {
        self.waited += 1;
        let due = self.waited >= first.saturating_mul(1 << self.vain).min(LAST_RETRY);
        if due {
            *self = Retry { waited: 0, vain: (self.vain + 1).min(LAST_RETRY.ilog2()) };
        }
        due
    }
}

/// What is known about collections of one order of magnitude.
#[derive(Clone, Copy)]
struct SizeClass {
    alone: Cost,
    together: Cost,
    retry: Retry,
}

impl SizeClass {
    const NONE: SizeClass = SizeClass { alone: Cost::UNKNOWN, together: Cost::UNKNOWN, retry: Retry::NEW };
}

/// Is it worth sharing, if that may take such a part of the time? `None`: not both ways are known.
fn shares(together: Cost, alone: Cost, gain: f64) -> Option<bool> {
    (alone.times > 0 && together.times > 0).then(|| together.least() < gain * alone.least())
}

/// What part of the time a collection that is shared may take.
fn gain(hecs: bool) -> f64 {
    if hecs {
        GAIN_OF_HECS
    } else {
        GAIN
    }
}

pub struct ThreadCostModel {
    /// The part of from-space that was work, by generation; `None` while unknown.
    part_worked: [Option<f64>; MAX_GENERATIONS],
    /// Of a HEC that works alone and of several in company, whose nurseries are other ones: what a core has in its cache of them, and what it
    /// has to fetch from others.
    by_magnitude: [[SizeClass; MAGNITUDES]; 2],
    /// For others and for HECs: how many collections of a generation are to be done alone, and how many that were last time, since helpers were
    /// no help (none, if they were); `None` while it is unknown.
    no_help: [[Option<(u32, u32)>; MAX_GENERATIONS]; 2],
    /// For others, and for HECs.
    late: [f64; 2],
    /// The collection under way tries the way that has been the slower one.
    trial: bool,
}

/// Who could collect beside the calling thread.
#[derive(Clone, Copy)]
pub struct Helpers {
    /// GC threads that there may be, the caller included.
    pub most: usize,
    /// HECs work in company (`hec_activity.rs`): those that help are tasks that have stopped with theirs.
    pub hecs: bool,
    /// So many stand by already.
    pub here: usize,
}

/// What a collection was like.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    pub generation: usize,
    /// As in [`Helpers`].
    pub hecs: bool,
    /// GC threads that were to take part.
    pub threads: usize,
    /// Bytes in from-space, and what was work: bytes copied out of it, or scanned in it.
    pub from: usize,
    pub work: usize,
    pub nanoseconds: f64,
    /// How long after the call the first helper was there, if one came.
    pub late: Option<f64>,
    /// The part of the work that helpers did, if any were called.
    pub helped: Option<f64>,
}

fn magnitude(bytes: usize) -> usize {
    ((usize::BITS - bytes.leading_zeros()) as usize).min(MAGNITUDES - 1)
}

impl ThreadCostModel {
    pub const fn new() -> ThreadCostModel {
        ThreadCostModel {
            part_worked: [None; MAX_GENERATIONS],
            by_magnitude: [[SizeClass::NONE; MAGNITUDES]; 2],
            no_help: [[None; MAX_GENERATIONS]; 2],
            late: [LATE, LATE_OF_HECS],
            trial: false,
        }
    }

    /// How many threads should collect `generation`, when from-space has `from` bytes.
    pub fn choose(&mut self, generation: usize, from: usize, helpers: Helpers) -> usize {
        let Helpers { most, hecs, here } = helpers;
        let bytes = self.part_worked[generation].unwrap_or(UNKNOWN_PART) * from as f64;
        let m = magnitude(bytes as usize);
        // What it would cost alone, at least.
        let alone = self
            .nearest(hecs, m, MAGNITUDES, |e| e.alone)
            .or_else(|| self.nearest(hecs, m, MAGNITUDES, |e| e.together))
            .or_else(|| self.nearest(!hecs, m, MAGNITUDES, |e| e.alone));
        let useful = bytes * alone.map_or(0.0, |cost| cost.least()) / (self.late[hecs as usize] * WORTH_A_HELPER);
        let threads = most.min(here.max(useful as usize) + 1);
        if threads < 2 || bytes < NEXT_TO_NOTHING {
            return 1;
        }
        if here > 0 && bytes < LITTLE_BYTES {
            return most.min(here + 1);
        }
        if self.nobody_helps(generation, hecs) {
            return 1;
        }
        let alike = if bytes >= LARGE_BYTES { ALIKE } else { MAGNITUDES };
        let (alone, together) =
            (self.nearest(hecs, m, alike, |e| e.alone), self.nearest(hecs, m, alike, |e| e.together));
        let Some(together) = together else { return threads };
        let alone = alone.unwrap_or(Cost::UNKNOWN);
        let unsure = hecs && together.times < SURE;
        let share = unsure || shares(together, alone, gain(hecs)).unwrap_or(true);
        self.trial =
            self.by_magnitude[hecs as usize][m].retry.is_due(if hecs { FIRST_RETRY_OF_HECS } else { FIRST_RETRY });
        if share != self.trial {
            threads
        } else {
            1
        }
    }

    /// Would helpers find nothing to do? What one generation holds was in the younger ones before. (HECs that are stopped may as well look.)
    fn nobody_helps(&mut self, generation: usize, hecs: bool) -> bool {
        match &mut self.no_help[hecs as usize][generation] {
            Some((left, _)) => {
                let any = *left > 0;
                *left -= any as u32;
                any
            }
            None => !hecs && self.no_help[0][..generation].iter().flatten().any(|&(_, last)| last > 0),
        }
    }

    /// What a byte costs, for work of this magnitude or the nearest one of which it is
    /// known, no further than `most` away.
    fn nearest(&self, hecs: bool, m: usize, most: usize, cost: impl Fn(&SizeClass) -> Cost) -> Option<Cost> {
        (0..=most)
            .flat_map(|d| [m.checked_sub(d), Some(m + d)])
            .flatten()
            .filter_map(|i| self.by_magnitude[hecs as usize].get(i))
            .map(cost)
            .find(|cost| cost.times > 0)
    }

    pub fn record(&mut self, c: &Measured) {
        let trial = std::mem::take(&mut self.trial);
        if c.from == 0 {
            return;
        }
        self.part_worked[c.generation] = Some(c.work as f64 / c.from as f64);
        if let Some(late) = c.late {
            let known = &mut self.late[c.hecs as usize];
            *known = *known * (1.0 - NEWEST) + late * NEWEST;
        }
        // Who has not come, or found that little was there, may yet be a help.
        if let (Some(part), Some(_), true) = (c.helped, c.late, c.work as f64 >= LITTLE_BYTES) {
            let no_help = &mut self.no_help[c.hecs as usize][c.generation];
            let (_, last) = no_help.unwrap_or_default();
            // HECs have nothing else to do, and once may have been chance.
            let first = if c.hecs { 1 } else { FIRST_RETRY };
            let next = if part < LITTLE_HELP { (last * 2).clamp(first, LAST_RETRY) } else { 0 };
            *no_help = Some((next, next));
        }
        if c.work == 0 {
            return;
        }
        let gain = gain(c.hecs);
        let e = &mut self.by_magnitude[c.hecs as usize][magnitude(c.work)];
        let before = shares(e.together, e.alone, gain);
        let known = if c.threads > 1 { &mut e.together } else { &mut e.alone };
        // What was known of a way not taken for long is no longer true.
        if trial {
            *known = Cost::UNKNOWN;
        }
        known.learn(c.nanoseconds / c.work as f64);
        if before.is_some() && before != shares(e.together, e.alone, gain) {
            // Things have changed: look again soon.
            e.retry = Retry::NEW;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Collects `n` times where sharing takes `factor` times as long as not; how often it was
    /// shared.
    fn run(h: &mut ThreadCostModel, n: usize, copied: usize, factor: f64) -> usize {
        run_on(h, n, copied, factor, false)
    }

    fn run_on(h: &mut ThreadCostModel, n: usize, copied: usize, factor: f64, hecs: bool) -> usize {
        let mut shared = 0;
        for _ in 0..n {
            let threads = h.choose(0, 2 * copied, Helpers { most: 2, hecs, here: 0 });
            shared += (threads > 1) as usize;
            let nanoseconds = copied as f64 * if threads > 1 { factor } else { 1.0 };
            let late = (threads > 1).then_some(50_000.0);
            let helped = (threads > 1).then_some(0.5);
            h.record(&Measured {
                generation: 0,
                hecs,
                threads,
                from: 2 * copied,
                work: copied,
                nanoseconds,
                late,
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
        let mut h = ThreadCostModel::new();
        let helpers = Helpers { most: 3, hecs: true, here: 1 };
        for (generation, from, threads) in [(0, 100_000, 2), (1, 1000, 1), (0, 100_000_000, 1)] {
            let copied = from / 2;
            let c = Measured {
                generation,
                hecs: true,
                threads: 1,
                from,
                work: copied,
                nanoseconds: copied as f64,
                late: None,
                helped: None,
            };
            h.record(&c);
            for _ in 0..SURE {
                h.record(&Measured { threads: 2, nanoseconds: 2.0 * copied as f64, ..c });
            }
            let helpers = if generation == 0 { helpers } else { Helpers { here: 0, ..helpers } };
            assert_eq!(h.choose(generation, from, helpers), threads);
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
            let mut h = ThreadCostModel::new();
            run_on(&mut h, 50, 1 << 20, 0.6, hecs);
            for _ in 0..50 {
                assert!(run_on(&mut h, 1, 1 << 20, 3.0, hecs) + run_on(&mut h, 4, 1 << 20, 0.6, hecs) >= 4);
            }
        }
    }

    #[test]
    fn hecs_share_twice_before_they_stop_sharing() {
        for (hecs, threads) in [(false, 1), (true, 2)] {
            let mut h = ThreadCostModel::new();
            let c = Measured {
                generation: 0,
                hecs,
                threads: 1,
                from: 1 << 21,
                work: 1 << 20,
                nanoseconds: 1e6,
                late: Some(1e3),
                helped: Some(0.5),
            };
            h.record(&c);
            h.record(&Measured { threads: 2, nanoseconds: 5e6, ..c });
            assert_eq!(h.choose(0, c.from, Helpers { most: 2, hecs, here: 0 }), threads);
            h.record(&Measured { threads: 2, nanoseconds: 5e6, ..c });
            assert_eq!(h.choose(0, c.from, Helpers { most: 2, hecs, here: 0 }), 1);
        }
    }

    #[test]
    fn costs_of_one_hec_do_not_apply_to_several() {
        let mut h = ThreadCostModel::new();
        assert!(run(&mut h, 100, 1 << 20, 1.5) < 10);
        // Each collection takes three times as long, and is shared where that takes a half.
        let c = Measured {
            generation: 0,
            hecs: true,
            threads: 1,
            from: 1 << 21,
            work: 1 << 20,
            nanoseconds: 3e6,
            late: None,
            helped: None,
        };
        h.record(&c);
        for _ in 0..5 {
            assert_eq!(h.choose(0, c.from, Helpers { most: 2, hecs: true, here: 0 }), 2);
            h.record(&Measured { threads: 2, nanoseconds: 1.5e6, late: Some(1e3), helped: Some(0.5), ..c });
        }
    }

    #[test]
    fn sleeping_helpers_are_called_once_sharing_is_known() {
        let mut h = ThreadCostModel::new();
        let c = Measured {
            generation: 0,
            hecs: true,
            threads: 2,
            from: 1 << 21,
            work: 1 << 20,
            nanoseconds: 1e6,
            late: Some(1e3),
            helped: Some(0.5),
        };
        let helpers = Helpers { most: 2, hecs: true, here: 0 };
        assert_eq!(h.choose(0, c.from, helpers), 1);
        h.record(&c);
        assert_eq!(h.choose(0, c.from, helpers), 2);
    }

    #[test]
    fn a_change_in_cost_is_noticed() {
        let mut h = ThreadCostModel::new();
        run(&mut h, 200, 1 << 20, 0.6);
        assert!(run(&mut h, 1000, 1 << 20, 1.5) < 50);
        run(&mut h, 2000, 1 << 20, 0.6);
        assert!(run(&mut h, 1000, 1 << 20, 0.6) > 900);
    }

    #[test]
    fn the_slower_way_is_not_tried_at_every_size() {
        let mut h = ThreadCostModel::new();
        let mut shared =
            |logs: std::ops::Range<usize>| -> usize { logs.map(|log| run(&mut h, 2, 1 << log, 1.2)).sum() };
        assert_eq!(shared(17..22), 1);
        // The large ones at every other magnitude, and once each.
        assert_eq!(shared(22..26), 2);
    }

    #[test]
    fn costs_of_small_collections_do_not_apply_to_large_ones() {
        let mut h = ThreadCostModel::new();
        run(&mut h, 200, 1 << 20, 1.2);
        assert_eq!(run(&mut h, 3, 1 << 25, 0.6), 3);
        assert!(run(&mut h, 100, 1 << 25, 1.2) < 10);
    }

    #[test]
    fn useless_helpers_are_called_seldom() {
        let mut h = ThreadCostModel::new();
        let mut called = |part: f64| {
            let mut all = 0;
            for n in 0..1000 {
                // A heap that grows.
                let copied = (1 << 21) + (n << 16);
                let threads = h.choose(1, 2 * copied, Helpers { most: 2, hecs: true, here: 0 });
                let helped = (threads > 1).then_some(part);
                all += (threads > 1) as usize;
                let nanoseconds = copied as f64 * if threads > 1 { 1.0 - part } else { 1.0 };
                let late = helped.map(|_| 1000.0);
                h.record(&Measured {
                    generation: 1,
                    hecs: true,
                    threads,
                    from: 2 * copied,
                    work: copied,
                    nanoseconds,
                    late,
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
            let mut h = ThreadCostModel::new();
            let c = Measured {
                generation: 0,
                hecs,
                threads: 2,
                from: 1 << 24,
                work: 1 << 22,
                nanoseconds: 1e7,
                late: Some(1e4),
                helped: Some(part),
            };
            let helpers = Helpers { most: 2, hecs, here: 0 };
            h.record(&Measured { threads: 1, late: None, helped: None, ..c });
            h.record(&c);
            assert_eq!(h.choose(1, 1 << 28, helpers), threads);
            // What is known of a generation itself counts more.
            h.record(&Measured { generation: 1, helped: Some(0.4), ..c });
            h.record(&c);
            assert_eq!(h.choose(1, 1 << 28, helpers), 2);
        }
    }

    #[test]
    fn helpers_useless_to_one_hec_are_tried_by_several() {
        let mut h = ThreadCostModel::new();
        let helpers = |hecs| Helpers { most: 2, hecs, here: 0 };
        let c = Measured {
            generation: 0,
            hecs: false,
            threads: 2,
            from: 1 << 24,
            work: 1 << 22,
            nanoseconds: 1e7,
            late: Some(1e4),
            helped: Some(0.0),
        };
        h.record(&Measured { threads: 1, late: None, helped: None, ..c });
        h.record(&c);
        assert_eq!((h.choose(0, c.from, helpers(false)), h.choose(0, c.from, helpers(true))), (1, 2));
    }

    #[test]
    fn the_number_of_threads_follows_the_work() {
        let mut h = ThreadCostModel::new();
        for _ in 0..2 {
            h.record(&Measured {
                generation: 1,
                hecs: false,
                threads: 1,
                from: 1 << 20,
                work: 1 << 19,
                nanoseconds: (1 << 19) as f64,
                late: None,
                helped: None,
            });
        }
        let up_to = |most| Helpers { most, hecs: false, here: 0 };
        assert_eq!(h.choose(1, 1 << 20, up_to(16)), 6);
        assert_eq!(h.choose(1, 1 << 20, up_to(3)), 3);
        // Nothing is known of this generation.
        assert_eq!(h.choose(0, 1 << 20, up_to(3)), 3);
        assert_eq!(h.choose(0, 1 << 18, up_to(3)), 1);
    }
}
