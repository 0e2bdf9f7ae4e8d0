//! Steal: an idle PE asks others for a spark, one at a time \[FN96, §3.1.4\].
//!
//! *States of the thief*: `IDLE → ASKED(victim) → IDLE`. The thief alone moves them.
//!
//! *Protocol*
//! 1. A PE with nothing to run draws a random victim among those whose back-off has passed, those of its own host
//!    first, and sends STEAL.
//! 2. The victim answers LEND, with its oldest spark, or NOTHING_TO_STEAL. It keeps no state.
//! 3. A refusal makes the back-off of that victim longer by [`BACK_OFF_STEP`], up to [`MAX_BACK_OFF`]. A loan resets
//!    it.
//! 4. After [`TRIES`] refusals in a row the PE asks nobody for a time, which grows likewise until a loan comes.
//!    Otherwise an idle PE among many would always find one whose back-off has passed, and idle PEs would send little
//!    else. From then on hosts do not matter: those of the own host would be ready again before others had their turn.
//! 5. If all victims are in back-off, the PE sleeps until the first one is not.
//!
//! *Loss*: a steal from a lost PE ends as refused, and the PE is not asked again.
//!
//! *Checked by*: the unit tests below and `rts/tests/simulation`.
use super::ids::{Micros, Pe};
use crate::base::random::Random;

/// How much longer each refusal makes the back-off: about ten round trips between hosts.
pub const BACK_OFF_STEP: Micros = 1_000;
/// An idle PE finds new work at a victim within this time.
pub const MAX_BACK_OFF: Micros = 20_000;

/// Refusals in a row before the PE pauses. With 4, simulated runs were fastest on 16 to 256 PEs; 8 and 16 cost more
/// messages as well.
pub const TRIES: u64 = 4;

struct Victim {
    pe: Pe,
    on_same_host: bool,
    refusals: u64,
    not_before: Micros,
}

/// What an idle PE does next.
#[derive(Debug, PartialEq)]
pub enum Next {
    Ask(Pe),
    /// There is nothing to do until an answer comes.
    Asked,
    Sleep {
        until: Micros,
    },
    /// There is no other PE.
    Alone,
}

pub struct Steal {
    victims: Vec<Victim>,
    asked: Option<Pe>,
    /// How many have refused since the last loan, and when the next one may be asked.
    refusals: u64,
    not_before: Micros,
    random: Random,
}

impl Steal {
    /// The PEs other than this one, and whether they are on its host.
    pub fn new(others: impl Iterator<Item = (Pe, bool)>, seed: u64) -> Steal {
        let victim = |(pe, on_same_host)| Victim { pe, on_same_host, refusals: 0, not_before: 0 };
        Steal { victims: others.map(victim).collect(), asked: None, refusals: 0, not_before: 0, random: Random(seed) }
    }

    /// The PE has nothing to run.
    pub fn seek(&mut self, now: Micros) -> Next {
        if self.asked.is_some() {
            return Next::Asked;
        }
        let Some(first) = self.victims.iter().map(|v| v.not_before).min() else { return Next::Alone };
        let first = first.max(self.not_before);
        if now < first {
            return Next::Sleep { until: first };
        }
        let ready = || self.victims.iter().filter(|v| v.not_before <= now);
        let pauses = self.refusals >= TRIES;
        let near = if pauses { 0 } else { ready().filter(|v| v.on_same_host).count() };
        let candidates = if near > 0 { near } else { ready().count() };
        let drawn = self.random.below(candidates as u64) as usize;
        let victim = ready().filter(|v| near == 0 || v.on_same_host).nth(drawn).expect("one of the candidates").pe;
        self.asked = Some(victim);
        Next::Ask(victim)
    }

    pub fn on_refused(&mut self, from: Pe, now: Micros) {
        if self.end_request(from) {
            self.refusals += 1;
            let too_many = self.refusals.saturating_sub(TRIES);
            self.not_before = now + (too_many * BACK_OFF_STEP).min(MAX_BACK_OFF);
            if let Some(victim) = self.victims.iter_mut().find(|v| v.pe == from) {
                victim.refusals += 1;
                victim.not_before = now + (victim.refusals * BACK_OFF_STEP).min(MAX_BACK_OFF);
            }
        }
    }

    pub fn on_lent(&mut self, from: Pe) {
        if self.end_request(from) {
            (self.refusals, self.not_before) = (0, 0);
            if let Some(victim) = self.victims.iter_mut().find(|v| v.pe == from) {
                victim.refusals = 0;
                victim.not_before = 0;
            }
        }
    }

    pub fn on_lost(&mut self, pe: Pe) {
        self.end_request(pe);
        self.victims.retain(|v| v.pe != pe);
    }

    fn end_request(&mut self, from: Pe) -> bool {
        self.asked.take_if(|victim| *victim == from).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thief() -> Steal {
        Steal::new([(Pe(1), false), (Pe(2), true)].into_iter(), 1)
    }

    #[test]
    fn the_own_host_is_asked_first() {
        let mut steal = thief();
        assert_eq!(steal.seek(0), Next::Ask(Pe(2)));
        assert_eq!(steal.seek(0), Next::Asked);
        steal.on_refused(Pe(2), 0);
        assert_eq!(steal.seek(0), Next::Ask(Pe(1)));
    }

    #[test]
    fn the_back_off_grows_with_each_refusal_and_ends_with_a_loan() {
        let mut steal = thief();
        steal.on_lost(Pe(1));
        let mut now = 0;
        for refusals in 1..40 {
            assert_eq!(steal.seek(now), Next::Ask(Pe(2)));
            steal.on_refused(Pe(2), now);
            let until = now + (refusals * BACK_OFF_STEP).min(MAX_BACK_OFF);
            assert_eq!(steal.seek(now), Next::Sleep { until });
            now = until;
        }
        assert_eq!(steal.seek(now), Next::Ask(Pe(2)));
        steal.on_lent(Pe(2));
        assert_eq!(steal.seek(now), Next::Ask(Pe(2)));
    }

    #[test]
    fn many_victims_that_refuse_are_not_all_asked_at_once() {
        let mut steal = Steal::new((1..100).map(|pe| (Pe(pe), true)), 1);
        let mut refuse = |now| {
            let Next::Ask(victim) = steal.seek(now) else { return false };
            steal.on_refused(victim, now);
            true
        };
        let asked = |times: u64, refuse: &mut dyn FnMut(Micros) -> bool| (0..times).filter(|&now| refuse(now)).count();
        assert_eq!(asked(BACK_OFF_STEP, &mut refuse), 1 + TRIES as usize);
        assert!(asked(100 * BACK_OFF_STEP, &mut refuse) < 20);
        let Next::Ask(victim) = steal.seek(1_000_000) else { panic!("the back-off has passed") };
        steal.on_lent(victim);
        assert!(matches!(steal.seek(0), Next::Ask(_)));
    }

    #[test]
    fn a_lost_victim_is_not_waited_for() {
        let mut steal = thief();
        assert_eq!(steal.seek(0), Next::Ask(Pe(2)));
        steal.on_lost(Pe(2));
        assert_eq!(steal.seek(0), Next::Ask(Pe(1)));
        steal.on_lost(Pe(1));
        assert_eq!(steal.seek(0), Next::Alone);
    }
}
