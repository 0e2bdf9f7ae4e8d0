//! Which foreign calls compute for a short while, foreseen from the code that makes them.
//!
//! While a call computes it needs the core as much as whoever is sent for to take its HEC, and when it is over its thread waits for the HEC.
//! So where no other core is free it is better to wait for such a call (as the reading of a file that is in memory), and wrong to wait
//! for one that sleeps. The calls of a piece of code are mostly alike. As a processor foresees branches, what was seen to compute
//! twice, and has not slept since, is expected to do so again. Code is known by the frame to which its call returns.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A call that computes for longer is not a short one.
pub const SHORT: Duration = Duration::from_millis(1);
/// Pieces of code that are remembered, by all HECs together.
const SITES: usize = 64;
/// The places of code are multiples of eight; what is known of it is counted below.
const COUNT: usize = 7;
/// So many short calls in a row are enough, and no more are counted.
const ENOUGH: usize = 2;

struct CallPredictor([AtomicUsize; SITES]);

static CALL_PREDICTOR: CallPredictor = CallPredictor::new();

impl CallPredictor {
    const fn new() -> CallPredictor {
        CallPredictor([const { AtomicUsize::new(0) }; SITES])
    }

    /// Will a call made by the code at `site` compute for a short while? False if nothing is known.
    fn predicted_short(&self, site: usize) -> bool {
        let known = self.entry(site).load(Ordering::Relaxed);
        known & !COUNT == site & !COUNT && known & COUNT == ENOUGH
    }

    /// A call made by the code at `site` was a short one, or not. Others may do the same: then one of the two is forgotten.
    fn has_seen(&self, site: usize, short: bool) {
        let (entry, site) = (self.entry(site), site & !COUNT);
        let known = entry.load(Ordering::Relaxed);
        let count = if known & !COUNT == site { known & COUNT } else { 0 };
        let count = if short { (count + 1).min(ENOUGH) } else { 0 };
        if known != site | count {
            entry.store(site | count, Ordering::Relaxed);
        }
    }

    fn entry(&self, site: usize) -> &AtomicUsize {
        &self.0[(site >> 3) % SITES]
    }
}

/// A foreign call of an OS thread.
#[derive(Clone, Copy)]
pub struct Call {
    site: usize,
    /// For one that is observed.
    began: Option<Moment>,
}

impl Call {
    pub const NONE: Call = Call::from(0);

    /// One that the code at `site` makes.
    pub const fn from(site: usize) -> Call {
        Call { site, began: None }
    }

    /// It begins, and is observed. For its OS thread, like [`Call::finish`].
    pub fn start_timing(self) -> Call {
        Call { began: Some(Moment::now()), ..self }
    }

    /// Is it expected to compute for a short while?
    pub fn predicted_short(self) -> bool {
        CALL_PREDICTOR.predicted_short(self.site)
    }

    /// It is over: learns from it what is to be expected of others, if it was observed.
    pub fn finish(self) {
        let Some(began) = self.began else { return };
        if let Some(short) = Moment::now().ends_short_call(began) {
            CALL_PREDICTOR.has_seen(self.site, short);
        }
    }
}

/// When it was, and how often the calling OS thread had slept and been interrupted by then.
#[derive(Clone, Copy)]
struct Moment {
    time: Instant,
    slept: i64,
    interrupted: i64,
}

impl Moment {
    fn now() -> Moment {
        // SAFETY: it is all numbers, and the kernel writes them.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
            usage
        };
        Moment { time: Instant::now(), slept: usage.ru_nvcsw, interrupted: usage.ru_nivcsw }
    }

    /// Was what began then and ends now a short call? `None` if that cannot be told: it did not sleep, but others had its core meanwhile.
    fn ends_short_call(self, began: Moment) -> Option<bool> {
        let (computed, lasted) = (self.slept == began.slept, self.time - began.time);
        let unclear = computed && lasted >= SHORT && self.interrupted != began.interrupted;
        (!unclear).then_some(computed && lasted < SHORT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: usize = 0x400_018;

    #[test]
    fn what_has_computed_twice_is_expected_to_and_what_has_slept_is_not() {
        let f = CallPredictor::new();
        let mut seen = |short| {
            f.has_seen(SITE, short);
            f.predicted_short(SITE)
        };
        assert_eq!([true, true, true].map(&mut seen), [false, true, true]);
        assert_eq!([false, true, true].map(&mut seen), [false, false, true]);
        // Other code, and code that shares its place.
        let same_place = SITE + 8 * SITES;
        assert!(!f.predicted_short(SITE + 8) && !f.predicted_short(same_place));
        f.has_seen(same_place, true);
        assert!(!f.predicted_short(SITE) && !f.predicted_short(same_place));
    }

    /// Is a call that does this a short one, the third time?
    fn third(site: usize, call: impl Fn()) -> bool {
        for _ in 0..2 {
            let observed = Call::from(site).start_timing();
            call();
            observed.finish();
        }
        Call::from(site).predicted_short()
    }

    #[test]
    fn a_call_is_short_unless_it_sleeps_or_lasts() {
        let began = Moment { time: Instant::now(), slept: 7, interrupted: 3 };
        let after = |time, slept: i64, interrupted: i64| {
            Moment { time: began.time + time, slept: 7 + slept, interrupted: 3 + interrupted }.ends_short_call(began)
        };
        let brief = SHORT / 2;
        assert_eq!([after(brief, 0, 0), after(brief, 0, 1), after(brief, 1, 0)], [Some(true), Some(true), Some(false)]);
        assert_eq!([after(SHORT, 0, 0), after(SHORT, 0, 1), after(SHORT, 1, 1)], [Some(false), None, Some(false)]);
    }

    #[test]
    fn calls_that_sleep_or_last_are_not_expected_to_be_short() {
        let busy = |time: Duration| {
            let since = Instant::now();
            while since.elapsed() < time {}
        };
        assert!(!third(0x18, || busy(SHORT)));
        assert!(!third(0x20, || std::thread::sleep(SHORT / 20)));
        assert!(!Call::NONE.predicted_short());
    }
}
