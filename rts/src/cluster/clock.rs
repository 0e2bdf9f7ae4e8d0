//! Clock: how far another PE's clock is from that of PE 0, for times that are to be compared.
//!
//! *Protocol*
//! 1. After START, PE 0 sends ASK_CLOCK, which is answered with CLOCK: the time there.
//! 2. That is taken for the time here halfway between question and answer. The error is half the round trip at most.
//! 3. PE 0 asks [`ROUNDS`] times, one after the other. The fastest round trip counts. Then the offset stays, so that
//!    times of one PE keep their order.
//!
//! *Not corrected*: clocks that drift apart during the run. Those of computers do so by microseconds in a second.
//!
//! *Checked by*: the unit tests below.

/// A time in nanoseconds.
pub type Nanos = u64;

/// Questions to a PE. Its HECs start at the same time, so some of the answers are late.
pub const ROUNDS: u32 = 8;

/// What PE 0 knows of another PE's clock.
#[derive(Default)]
pub struct Clock {
    asked: Nanos,
    rounds: u32,
    /// The fastest round trip, and the offset that it says.
    best: Option<(Nanos, i64)>,
}

impl Clock {
    /// A question is sent now.
    pub fn on_asked(&mut self, now: Nanos) {
        self.asked = now;
    }

    /// The answer has come. What is to be added to times there, if it is known now; otherwise PE 0 asks again.
    pub fn on_answer(&mut self, theirs: Nanos, now: Nanos) -> Option<i64> {
        let trip = now.saturating_sub(self.asked);
        let here = self.asked + trip / 2;
        let offset = here.wrapping_sub(theirs) as i64;
        if self.best.is_none_or(|(fastest, _)| trip < fastest) {
            self.best = Some((trip, offset));
        }
        self.rounds += 1;
        self.best.filter(|_| self.rounds >= ROUNDS).map(|(_, offset)| offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The offset that is measured with a clock that is `ahead` nanoseconds ahead, when messages take this long.
    fn measured(ahead: i64, trips: &[(Nanos, Nanos)]) -> Option<i64> {
        let mut clock = Clock::default();
        let (mut now, mut found) = (1_000_000, None);
        for (to, back) in trips {
            assert_eq!(found, None);
            clock.on_asked(now);
            let theirs = (now + to).wrapping_add_signed(ahead);
            now += to + back;
            found = clock.on_answer(theirs, now);
        }
        found
    }

    #[test]
    fn the_fastest_round_trip_says_the_offset() {
        let mut trips = [(900, 100); ROUNDS as usize];
        trips[3] = (20, 20);
        for ahead in [0, 500, -500, 1 << 40] {
            assert_eq!(measured(ahead, &trips), Some(-ahead));
        }
        trips[5] = (20, 18);
        assert_eq!(measured(0, &trips), Some(-1));
        assert_eq!(measured(0, &trips[1..]), None);
    }
}
