//! Whether what survives its first collection must survive a second one to be promoted.
//!
//! To wait (*aging*) pays if much of it dies meanwhile: what is promoted and then dies stays
//! until the old generation is collected. It is a copy for nothing if nearly all of it survives
//! again, as when a program builds up its data. So we watch what part of the survivors does;
//! where it is large, the following collections promote at once, and now and then some of them
//! age again, less often each time that it was in vain. All of that holds for nurseries of about one size: what survives a much larger
//! one is other data.
//!
//! To survive again is no proof of a long life, though. A thunk that was promoted too early is evaluated and dies, but until the next full
//! collection it holds what its value leads to, as a member of the remembered set. That survives again then, and to promote at once what the
//! program works on makes more such thunks: a search over a tree that is built lazily promotes all that it has visited. Full collections tell:
//! where one finds that much of what has been promoted at once since the one before is dead, survivors age, whatever part of them survives
//! again, until one finds less.
use crate::base::poison::unpoisoned;
use std::sync::{Mutex, MutexGuard};

/// Survivors are promoted at once if such a part of them survives again.
const ENOUGH: f64 = 0.85;
/// So much of what was promoted between two full collections is much if it has died. Of programs that build up hash tables and mutable stores
/// less than half has, of lazy searches that promote at once nine tenths.
const MUCH: f64 = 0.6;
/// Weight of the newest measurement: one odd collection decides nothing.
const NEWEST: f64 = 0.5;
/// Fewer bytes say little and cost little.
const WORTH_BYTES: usize = 64 << 10;
/// How many collections promote at once before some age again, at first and at most.
const FIRST_RUN: u32 = 4;
const LAST_RUN: u32 = 32;
/// A nursery of so many times the size is another one.
const LARGER: usize = 2;

pub struct Aging {
    /// The part of the survivors that survived again.
    survival: f64,
    /// Collections that will promote at once; 0 while survivors age.
    direct: u32,
    /// How many that will be next time.
    run: u32,
    /// Bytes that had been allocated before the first collection of this size.
    allocated: usize,
    /// Bytes that survived the last collection.
    copied: usize,
    /// Bytes of old small objects that the last full collection left, and whether others have promoted at once since.
    old: usize,
    tried: bool,
    /// Full collections find that to promote at once is a waste.
    wasted: bool,
}

impl Aging {
    pub const fn new() -> Aging {
        Aging { survival: 0.0, direct: 0, run: FIRST_RUN, allocated: 0, copied: 0, old: 0, tried: false, wasted: false }
    }

    /// Does the next collection promote what survives it?
    pub fn promote_at_once(&self) -> bool {
        self.direct > 0
    }

    /// How many bytes the next collection may promote straight from nurseries: as many as the last
    /// one has.
    pub fn expected_promotion(&self) -> usize {
        if self.promote_at_once() {
            self.copied
        } else {
            0
        }
    }

    /// A collection has been, after `allocated` bytes, that copied `copied` bytes, and found `survivors` bytes that had
    /// survived one before, of which `again` bytes survived this one.
    pub fn record(&mut self, allocated: usize, copied: usize, survivors: usize, again: usize) {
        self.copied = copied;
        if allocated > LARGER * self.allocated {
            (self.direct, self.run, self.allocated) = (0, FIRST_RUN, allocated);
            return;
        }
        if self.direct > 0 {
            self.direct -= 1;
            self.tried = true;
            return;
        }
        if self.wasted || survivors < WORTH_BYTES {
            return;
        }
        let now = again as f64 / survivors as f64;
        self.survival += (now - self.survival) * NEWEST;
        if self.survival < ENOUGH {
            self.run = FIRST_RUN;
        } else if now >= ENOUGH {
            self.direct = self.run;
            self.run = (self.run * 2).min(LAST_RUN);
        }
    }

    /// A full collection has been. It found `held` bytes in small objects of old generations, of which `alive` bytes were alive, and left `old`
    /// bytes in them. All that has died counts as promoted since the one before: what was alive then is mostly alive still.
    pub fn record_full(&mut self, held: usize, alive: usize, old: usize) {
        let promoted = held.saturating_sub(self.old);
        let dead = held.saturating_sub(alive);
        self.old = old;
        let tried = std::mem::take(&mut self.tried);
        if promoted < WORTH_BYTES {
            return;
        }
        if (dead as f64) <= MUCH * promoted as f64 {
            self.wasted = false;
        } else if tried {
            (self.wasted, self.survival, self.direct, self.run) = (true, 0.0, 0, FIRST_RUN);
        }
    }
}

static AGING: Mutex<Aging> = Mutex::new(Aging::new());

/// What is known, for the thread that collects.
pub(in crate::collector) fn aging() -> MutexGuard<'static, Aging> {
    unpoisoned(AGING.lock())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NURSERY: usize = 4 << 20;

    /// How many of `n` collections promoted at once, where `part` of the survivors survives again.
    fn run(t: &mut Aging, n: usize, part: f64) -> usize {
        let mut direct = 0;
        for _ in 0..n {
            let now = t.promote_at_once();
            direct += now as usize;
            let survivors = if now { 0 } else { 1 << 20 };
            t.record(NURSERY, survivors, survivors, (survivors as f64 * part) as usize);
        }
        direct
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
        assert!(run(&mut t, 1000, 0.3) <= LAST_RUN as usize);
        assert!(run(&mut t, 1000, 0.95) > 900);
    }

    #[test]
    fn a_larger_nursery_resets_aging() {
        let mut t = Aging::new();
        assert!(run(&mut t, 1000, 0.95) > 900 && t.run == LAST_RUN);
        while !t.promote_at_once() {
            t.record(NURSERY, 1 << 20, 1 << 20, 1 << 20);
        }
        t.record(LARGER * NURSERY, 1 << 20, 0, 0);
        assert!(t.promote_at_once());
        t.record(LARGER * NURSERY + 1, 1 << 20, 0, 0);
        assert!(!t.promote_at_once() && t.run == FIRST_RUN);
    }

    /// Full collections that find such parts of 10 MB dead that have been promoted since the one before.
    fn find(t: &mut Aging, parts: &[f64]) {
        for part in parts {
            let (promoted, old) = (10 << 20, t.old);
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
        // Nor does what dies where hardly anything has been promoted.
        find(&mut t, &[0.4]);
        t.record_full(t.old + WORTH_BYTES - 1, 0, t.old);
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
            t.record(NURSERY, WORTH_BYTES, WORTH_BYTES - 1, WORTH_BYTES - 1);
        }
        assert!(!t.promote_at_once());
    }
}
