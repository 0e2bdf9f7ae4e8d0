//! Decides whether survivors of their first collection must survive a second one to be promoted.
//!
//! Aging pays if many of the survivors die meanwhile: a promoted object that dies stays until the old generation is
//! collected. It is a wasted copy if nearly all survive again, as when a program builds up its data.
//!
//! *Protocol*
//! 1. While survivors age, each collection measures the fraction of them that survives again.
//! 2. Where that fraction is large, a number of following collections promote at once.
//! 3. Then one collection ages again and measures. The number of collections that promote at once doubles each time
//!    that the measurement confirms it.
//! 4. A much larger nursery resets all of this, since other objects survive it.
//!
//! *Waste*: surviving again does not prove a long life. A thunk that was promoted too early is evaluated and dies.
//! Until the next full collection, it still holds what its value leads to, as a member of the remembered set. That data
//! survives again, so a program that searches a lazily built tree would promote all that it has visited. A full
//! collection detects this: if much of what was promoted at once since the last one is dead, survivors age until a full
//! collection finds less.
//!
//! *Checked by*: the unit tests below, and the mutants `aging_never_resumes` and `aging_ignores_dead_promotions`.
use crate::base::poison::unpoisoned;
use std::sync::{Mutex, MutexGuard};

/// Survivors are promoted at once if at least this fraction of them survives again.
const SURVIVAL_THRESHOLD: f64 = 0.85;
/// Promotion at once is a waste if more than this fraction of the bytes promoted between two full collections is dead.
/// It is below one half in programs that build up hash tables and mutable stores, and nine tenths in lazy searches.
const WASTE_THRESHOLD: f64 = 0.6;
/// Weight of the newest measurement in the average, so that one odd collection decides nothing.
const NEWEST_WEIGHT: f64 = 0.5;
/// Fewer bytes than this are ignored: they tell little and cost little.
const MIN_SAMPLE_BYTES: usize = 64 << 10;
/// The number of collections that promote at once before one ages again, at first.
const MIN_RUN: u32 = 4;
/// The same, at most.
const MAX_RUN: u32 = 32;
/// A nursery that allocates more than this many times as much as before resets the measurement.
const RESET_RATIO: usize = 2;

pub struct Aging {
    /// The average fraction of the survivors that survived again.
    survival: f64,
    /// Collections that will still promote at once; 0 while survivors age.
    direct_left: u32,
    /// The number of collections that will promote at once next time.
    next_run: u32,
    /// Bytes allocated before the first collection of this nursery size.
    allocated: usize,
    /// Bytes that survived the last collection.
    copied: usize,
    /// Bytes of old small objects that the last full collection left.
    old_bytes: usize,
    /// Has a collection promoted at once since the last full collection?
    has_promoted_at_once: bool,
    /// Full collections find that promotion at once is a waste.
    wasted: bool,
}

impl Aging {
    pub const fn new() -> Aging {
        Aging {
            survival: 0.0,
            direct_left: 0,
            next_run: MIN_RUN,
            allocated: 0,
            copied: 0,
            old_bytes: 0,
            has_promoted_at_once: false,
            wasted: false,
        }
    }

    /// Does the next collection promote all survivors?
    pub fn promote_at_once(&self) -> bool {
        self.direct_left > 0
    }

    /// Returns how many bytes the next collection may promote straight from nurseries: as many as the last one has.
    pub fn expected_promotion(&self) -> usize {
        if self.promote_at_once() {
            self.copied
        } else {
            0
        }
    }

    /// Records a minor or full collection after `allocated` bytes. It copied `copied` bytes. It found `survivors` bytes
    /// that had survived one collection before, of which `survived_again` bytes survived this one.
    pub fn record(&mut self, allocated: usize, copied: usize, survivors: usize, survived_again: usize) {
        self.copied = copied;
        if allocated > RESET_RATIO * self.allocated {
            (self.direct_left, self.next_run, self.allocated) = (0, MIN_RUN, allocated);
            return;
        }
        if self.direct_left > 0 {
            self.direct_left -= 1;
            self.has_promoted_at_once = true;
            return;
        }
        if self.wasted || survivors < MIN_SAMPLE_BYTES {
            return;
        }
        let now = survived_again as f64 / survivors as f64;
        self.survival += (now - self.survival) * NEWEST_WEIGHT;
        if self.survival < SURVIVAL_THRESHOLD {
            self.next_run = MIN_RUN;
        } else if now >= SURVIVAL_THRESHOLD {
            self.direct_left = self.next_run;
            self.next_run = (self.next_run * 2).min(MAX_RUN);
        }
    }

    /// Records a full collection. It found `held` bytes in small objects of old generations, of which `alive` bytes
    /// were alive, and left `old` bytes in them. All that has died counts as promoted since the last full collection:
    /// what was alive then is mostly still alive.
    pub fn record_full(&mut self, held: usize, alive: usize, old: usize) {
        let promoted = held.saturating_sub(self.old_bytes);
        let dead = held.saturating_sub(alive);
        self.old_bytes = old;
        let has_promoted_at_once = std::mem::take(&mut self.has_promoted_at_once);
        if promoted < MIN_SAMPLE_BYTES {
            return;
        }
        if (dead as f64) <= WASTE_THRESHOLD * promoted as f64 {
            self.wasted = false;
        } else if has_promoted_at_once {
            (self.wasted, self.survival, self.direct_left, self.next_run) = (true, 0.0, 0, MIN_RUN);
        }
    }
}

static AGING: Mutex<Aging> = Mutex::new(Aging::new());

/// Locks the state, for the collecting thread.
pub(in crate::collector) fn aging() -> MutexGuard<'static, Aging> {
    unpoisoned(AGING.lock())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NURSERY: usize = 4 << 20;

    /// Returns how many of `n` collections promoted at once, where `part` of the survivors survives again.
    fn run(t: &mut Aging, n: usize, part: f64) -> usize {
        let mut direct_left = 0;
        for _ in 0..n {
            let now = t.promote_at_once();
            direct_left += now as usize;
            let survivors = if now { 0 } else { 1 << 20 };
            t.record(NURSERY, survivors, survivors, (survivors as f64 * part) as usize);
        }
        direct_left
    }

    #[test]
    fn long_lived_survivors_are_promoted_at_once() {
        assert!(run(&mut Aging::new(), 1000, 0.95) > 900);
    }

    #[test]
    fn short_lived_survivors_age() {
        assert_eq!(run(&mut Aging::new(), 1000, 0.7), 0);
    }

    #[test]
    fn a_change_in_survival_is_noticed() {
        let mut t = Aging::new();
        run(&mut t, 1000, 0.95);
        assert!(run(&mut t, 1000, 0.3) <= MAX_RUN as usize);
        assert!(run(&mut t, 1000, 0.95) > 900);
    }

    #[test]
    fn a_larger_nursery_resets_aging() {
        let mut t = Aging::new();
        assert!(run(&mut t, 1000, 0.95) > 900 && t.next_run == MAX_RUN);
        while !t.promote_at_once() {
            t.record(NURSERY, 1 << 20, 1 << 20, 1 << 20);
        }
        t.record(RESET_RATIO * NURSERY, 1 << 20, 0, 0);
        assert!(t.promote_at_once());
        t.record(RESET_RATIO * NURSERY + 1, 1 << 20, 0, 0);
        assert!(!t.promote_at_once() && t.next_run == MIN_RUN);
    }

    /// Records full collections that each find this fraction of 10 MB dead, which was promoted since the last one.
    fn find(t: &mut Aging, parts: &[f64]) {
        for part in parts {
            let (promoted, old) = (10 << 20, t.old_bytes);
            let alive = old + promoted - (promoted as f64 * part) as usize;
            t.record_full(old + promoted, alive, alive);
        }
    }

    #[test]
    fn promotion_at_once_stops_while_full_collections_find_it_wasted() {
        let mut t = Aging::new();
        assert!(run(&mut t, 100, 0.95) > 80);
        find(&mut t, &[0.9]);
        assert_eq!(run(&mut t, 100, 1.0), 0);
        find(&mut t, &[0.9, 0.7]);
        assert_eq!(run(&mut t, 100, 1.0), 0);
        find(&mut t, &[0.4]);
        assert!(run(&mut t, 100, 0.95) > 80);
    }

    #[test]
    fn aged_objects_that_die_are_not_counted_as_waste() {
        let mut t = Aging::new();
        run(&mut t, 100, 0.5);
        find(&mut t, &[0.9, 0.9]);
        assert!(run(&mut t, 100, 0.95) > 80);
        // The same holds if hardly anything has been promoted.
        find(&mut t, &[0.4]);
        t.record_full(t.old_bytes + MIN_SAMPLE_BYTES - 1, 0, t.old_bytes);
        assert!(run(&mut t, 100, 0.95) > 80);
    }

    #[test]
    fn programs_that_build_up_mutable_stores_promote_at_once() {
        let mut t = Aging::new();
        for _ in 0..10 {
            assert!(run(&mut t, 200, 0.95) > 150);
            find(&mut t, &[0.45]);
        }
    }

    #[test]
    fn few_survivors_are_ignored() {
        let mut t = Aging::new();
        for _ in 0..100 {
            t.record(NURSERY, MIN_SAMPLE_BYTES, MIN_SAMPLE_BYTES - 1, MIN_SAMPLE_BYTES - 1);
        }
        assert!(!t.promote_at_once());
    }
}
