//! Predicts which foreign calls compute for a short time, from the code that makes them.
//!
//! While a call computes, it needs a core as much as the task that is asked to take its HEC. When the call returns, its
//! thread needs the HEC. So where no other core is free, it is better to wait for a short call, such as reading a file
//! that is cached in memory. Waiting for a call that sleeps would be wrong.
//!
//! *Protocol*
//! 1. A piece of code usually makes calls of the same kind. The frame to which a call returns identifies the code.
//! 2. The runtime times calls ([`Call::start_timing`], [`Call::finish`]).
//! 3. Like a branch predictor, it predicts a short call if the last two timed calls of the code were short.
//!
//! *Checked by*: the unit tests below.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The longest call that is short. Longer calls waste more of the HEC's time than a hand-off costs.
pub const MAX_SHORT_CALL: Duration = Duration::from_millis(1);
/// The number of code addresses that are remembered, for all HECs together. A power of two.
const SITES: usize = 64;
/// The mask of the counter in an entry: code addresses are multiples of eight, so their low bits are free.
const COUNT_MASK: usize = 7;
/// The number of short calls in a row that predicts another one. Further ones are not counted.
const CONFIRMATIONS: usize = 2;

struct CallPredictor([AtomicUsize; SITES]);

static CALL_PREDICTOR: CallPredictor = CallPredictor::new();

impl CallPredictor {
    const fn new() -> CallPredictor {
        CallPredictor([const { AtomicUsize::new(0) }; SITES])
    }

    /// Will a call made by the code at `site` be short? False if nothing is known.
    fn predicted_short(&self, site: usize) -> bool {
        let known = self.entry(site).load(Ordering::Relaxed);
        known & !COUNT_MASK == site & !COUNT_MASK && known & COUNT_MASK == CONFIRMATIONS
    }

    /// Records whether a call made by the code at `site` was short. If another HEC records at the same time, one record
    /// is lost.
    fn record(&self, site: usize, short: bool) {
        let (entry, site) = (self.entry(site), site & !COUNT_MASK);
        let known = entry.load(Ordering::Relaxed);
        let count = if known & !COUNT_MASK == site { known & COUNT_MASK } else { 0 };
        let count = if short { (count + 1).min(CONFIRMATIONS) } else { 0 };
        if known != site | count {
            entry.store(site | count, Ordering::Relaxed);
        }
    }

    fn entry(&self, site: usize) -> &AtomicUsize {
        &self.0[(site >> 3) % SITES]
    }
}

/// A foreign call that an OS thread makes.
#[derive(Clone, Copy)]
pub struct Call {
    site: usize,
    /// When it began, if it is timed.
    began: Option<Moment>,
}

impl Call {
    pub const NONE: Call = Call::from(0);

    /// A call that the code at `site` makes.
    pub const fn from(site: usize) -> Call {
        Call { site, began: None }
    }

    /// The call begins, and is timed. Called by its OS thread, like [`Call::finish`].
    pub fn start_timing(self) -> Call {
        Call { began: Some(Moment::now()), ..self }
    }

    /// Is the call predicted to be short?
    pub fn predicted_short(self) -> bool {
        CALL_PREDICTOR.predicted_short(self.site)
    }

    /// The call is over: if it was timed, the predictor learns from it.
    pub fn finish(self) {
        let Some(began) = self.began else { return };
        if let Some(short) = Moment::now().ends_short_call(began) {
            CALL_PREDICTOR.record(self.site, short);
        }
    }
}

/// A point in time, and how often the calling OS thread had slept and been preempted by then.
#[derive(Clone, Copy)]
struct Moment {
    time: Instant,
    slept: i64,
    interrupted: i64,
}

impl Moment {
    fn now() -> Moment {
        // SAFETY: the structure consists of numbers, and the kernel writes them.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
            usage
        };
        Moment { time: Instant::now(), slept: usage.ru_nvcsw, interrupted: usage.ru_nivcsw }
    }

    /// Was the call that began then and ends now a short one? `None` if that is unclear: it did not sleep, but other OS
    /// threads had its core meanwhile.
    fn ends_short_call(self, began: Moment) -> Option<bool> {
        let (computed, lasted) = (self.slept == began.slept, self.time - began.time);
        let unclear = computed && lasted >= MAX_SHORT_CALL && self.interrupted != began.interrupted;
        (!unclear).then_some(computed && lasted < MAX_SHORT_CALL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: usize = 0x400_018;

    #[test]
    fn two_short_calls_predict_another_and_a_long_one_does_not() {
        let f = CallPredictor::new();
        let mut seen = |short| {
            f.record(SITE, short);
            f.predicted_short(SITE)
        };
        assert_eq!([true, true, true].map(&mut seen), [false, true, true]);
        assert_eq!([false, true, true].map(&mut seen), [false, false, true]);
        // Other code, and code that shares its entry.
        let same_place = SITE + 8 * SITES;
        assert!(!f.predicted_short(SITE + 8) && !f.predicted_short(same_place));
        f.record(same_place, true);
        assert!(!f.predicted_short(SITE) && !f.predicted_short(same_place));
    }

    /// Makes two timed calls. Is the third one predicted to be short?
    fn third_is_short(site: usize, call: impl Fn()) -> bool {
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
        let short = MAX_SHORT_CALL / 2;
        assert_eq!([after(short, 0, 0), after(short, 0, 1), after(short, 1, 0)], [Some(true), Some(true), Some(false)]);
        assert_eq!(
            [after(MAX_SHORT_CALL, 0, 0), after(MAX_SHORT_CALL, 0, 1), after(MAX_SHORT_CALL, 1, 1)],
            [Some(false), None, Some(false)]
        );
    }

    #[test]
    fn calls_that_sleep_or_last_are_not_predicted_short() {
        let busy = |time: Duration| {
            let since = Instant::now();
            while since.elapsed() < time {}
        };
        assert!(!third_is_short(0x18, || busy(MAX_SHORT_CALL)));
        assert!(!third_is_short(0x20, || std::thread::sleep(MAX_SHORT_CALL / 20)));
        assert!(!Call::NONE.predicted_short());
    }
}
