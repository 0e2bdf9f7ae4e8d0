//! Members: which PEs take part in a run.
//!
//! *States of a PE*: `GREETING → RUNNING → ENDED`. PE 0 also keeps the state of each other one:
//! `AWAITED → RUNNING → LOST`.
//!
//! *Protocol*
//! 1. Each PE sends HELLO with its build to PE 0, or UNABLE with the reason why it cannot take part. A build that
//!    differs from PE 0's is answered with REFUSED. Either ends the run. When all have greeted that are not lost, START
//!    goes to them. A PE that has not greeted within the time for greeting is lost.
//! 2. From then on each PE sends PE 0 a heartbeat every [`HEARTBEAT`], and PE 0 sends one to each.
//! 3. PE 0 declares a PE lost that it has not heard for [`SILENCE`], or that another PE or the launcher reports
//!    (SUSPECT). It sends LOST to all, the lost one included.
//! 4. A PE that hears of its own loss, or nothing from PE 0 for [`SILENCE`], ends itself; before START, it gives PE 0
//!    twice the time for greeting. So a PE on the far side of a partition does not go on for ever.
//! 5. Nothing that a lost PE has sent is looked at any more ([`Members::is_lost`]).
//!
//! *Invariant*: only PE 0 decides, and a PE that is lost stays lost. So all PEs that go on agree in the end.
//!
//! *Checked by*: the unit tests below and `rts/tests/simulation`.
use super::build::Build;
use super::ids::{Micros, Pe, COORDINATOR};
use super::message::Message;
use std::collections::BTreeSet;

/// The time between two heartbeats.
pub const HEARTBEAT: Micros = 1_000_000;
/// A PE that is silent for this long is lost: ten heartbeats.
pub const SILENCE: Micros = 10 * HEARTBEAT;

/// What the rest of the PE has to know.
#[derive(Debug, PartialEq)]
pub enum Event {
    Started,
    Lost(Pe),
    /// A PE cannot take part, for a reason that is to be read after its name. The run ends.
    Refused(Pe, String),
    /// This PE ends: it has been refused or declared lost, or PE 0 is gone.
    Ended,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Greeting,
    Running,
    Ended,
}

pub struct Members {
    me: Pe,
    build: Build,
    /// How long PE 0 waits for greetings.
    time_to_greet: Micros,
    /// How long a PE may be silent.
    silence: Micros,
    state: State,
    /// When each PE was last heard: at PE 0 of all, elsewhere of PE 0 only.
    heard: Vec<Micros>,
    greeted: BTreeSet<Pe>,
    lost: BTreeSet<Pe>,
    /// When heartbeats are due, or the time for greeting is over.
    next_tick: Micros,
}

/// Messages to be sent.
pub type Outbox<G> = Vec<(Pe, Message<G>)>;

impl Members {
    pub fn new(me: Pe, number: u16, build: Build, time_to_greet: Micros, silence: Micros) -> Members {
        let (greeted, lost) = (BTreeSet::new(), BTreeSet::new());
        let heard = vec![0; number.into()];
        let state = State::Greeting;
        Members { me, build, time_to_greet, silence, state, heard, greeted, lost, next_tick: 0 }
    }

    pub fn greet<G>(&mut self, now: Micros, out: &mut Outbox<G>) -> Option<Event> {
        self.next_tick = now + self.time_to_greet;
        if self.me != COORDINATOR {
            self.next_tick += self.time_to_greet;
            out.push((COORDINATOR, Message::Hello(self.build.clone())));
        }
        self.start_if_complete(now, out)
    }

    fn start_if_complete<G>(&mut self, now: Micros, out: &mut Outbox<G>) -> Option<Event> {
        if self.me != COORDINATOR || self.state != State::Greeting || self.others().any(|pe| !self.has_greeted(pe)) {
            return None;
        }
        out.extend(self.others().map(|pe| (pe, Message::Start)));
        Some(self.run(now))
    }

    fn has_greeted(&self, pe: Pe) -> bool {
        self.greeted.contains(&pe)
    }

    fn run(&mut self, now: Micros) -> Event {
        self.state = State::Running;
        self.heard.fill(now);
        self.next_tick = now;
        Event::Started
    }

    pub fn on_hello<G>(&mut self, from: Pe, theirs: Build, now: Micros, out: &mut Outbox<G>) -> Option<Event> {
        if let Some(why) = self.build.difference(&theirs) {
            out.push((from, Message::Refused));
            return Some(self.on_unable(from, why));
        }
        self.greeted.insert(from);
        self.start_if_complete(now, out)
    }

    /// A PE has said why it cannot take part.
    pub fn on_unable(&mut self, from: Pe, why: String) -> Event {
        self.end();
        Event::Refused(from, why)
    }

    pub fn on_start(&mut self, now: Micros) -> Event {
        self.run(now)
    }

    pub fn on_heartbeat(&mut self, from: Pe, now: Micros) {
        self.heard[usize::from(from.0)] = now;
    }

    /// This PE was stopped for a while, or has not listened: it cannot tell who was silent.
    pub fn on_resumed(&mut self, now: Micros) {
        self.heard.fill(now);
    }

    /// PE 0 hears that a PE does not answer, or is gone.
    pub fn on_suspect<G>(&mut self, pe: Pe, now: Micros, out: &mut Outbox<G>) -> Vec<Event> {
        if self.me != COORDINATOR || pe == COORDINATOR || !self.lost.insert(pe) {
            return vec![];
        }
        out.push((pe, Message::Lost(pe)));
        out.extend(self.others().map(|other| (other, Message::Lost(pe))));
        // It may be the last one that had not greeted.
        [Some(Event::Lost(pe)), self.start_if_complete(now, out)].into_iter().flatten().collect()
    }

    /// PE 0 says who is lost.
    pub fn on_lost(&mut self, pe: Pe) -> Event {
        self.lost.insert(pe);
        if pe == self.me {
            return self.end();
        }
        Event::Lost(pe)
    }

    pub fn end(&mut self) -> Event {
        self.state = State::Ended;
        Event::Ended
    }

    /// Sends heartbeats that are due, and looks for PEs that are silent.
    pub fn tick<G>(&mut self, now: Micros, out: &mut Outbox<G>) -> Vec<Event> {
        let is_over = now >= self.next_tick;
        match self.state {
            State::Greeting if is_over && self.me == COORDINATOR => self.end_greeting(now, out),
            State::Greeting if is_over => vec![self.end()],
            State::Greeting | State::Ended => vec![],
            State::Running => {
                if is_over {
                    self.next_tick = now + HEARTBEAT;
                    self.send_heartbeats(out);
                }
                self.look_for_silence(now, out)
            }
        }
    }

    fn end_greeting<G>(&mut self, now: Micros, out: &mut Outbox<G>) -> Vec<Event> {
        let missing: Vec<Pe> = self.others().filter(|&pe| !self.has_greeted(pe)).collect();
        missing.into_iter().flat_map(|pe| self.on_suspect(pe, now, out)).collect()
    }

    fn send_heartbeats<G>(&self, out: &mut Outbox<G>) {
        if self.me == COORDINATOR {
            out.extend(self.others().map(|pe| (pe, Message::Heartbeat)));
        } else {
            out.push((COORDINATOR, Message::Heartbeat));
        }
    }

    fn look_for_silence<G>(&mut self, now: Micros, out: &mut Outbox<G>) -> Vec<Event> {
        let is_silent = |pe: &Pe| self.heard[usize::from(pe.0)] + self.silence <= now;
        if self.me != COORDINATOR {
            return if is_silent(&COORDINATOR) { vec![self.end()] } else { vec![] };
        }
        let silent: Vec<Pe> = self.others().filter(is_silent).collect();
        silent.into_iter().flat_map(|pe| self.on_suspect(pe, now, out)).collect()
    }

    /// When to tick next.
    pub fn deadline(&self) -> Option<Micros> {
        (self.state != State::Ended).then_some(self.next_tick)
    }

    pub fn is_running(&self) -> bool {
        self.state == State::Running
    }

    pub fn has_ended(&self) -> bool {
        self.state == State::Ended
    }

    pub fn is_lost(&self, pe: Pe) -> bool {
        self.lost.contains(&pe)
    }

    /// The other PEs that are not lost.
    pub fn others(&self) -> impl Iterator<Item = Pe> + '_ {
        let all = (0..self.heard.len()).map(|n| Pe(n as u16));
        all.filter(|pe| *pe != self.me && !self.lost.contains(pe))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Out = Outbox<()>;

    fn build(id: &str) -> Build {
        Build::new(&[("build id", id.to_owned())])
    }

    /// PE 0 of two.
    fn started() -> Members {
        let mut out = Out::new();
        let mut zero = Members::new(COORDINATOR, 2, build("a"), SILENCE, SILENCE);
        assert_eq!(zero.greet(0, &mut out), None);
        assert_eq!(zero.on_hello(Pe(1), build("a"), 0, &mut out), Some(Event::Started));
        assert_eq!(out, [(Pe(1), Message::Start)]);
        zero
    }

    #[test]
    fn another_build_is_refused() {
        let mut out = Out::new();
        let mut zero = Members::new(COORDINATOR, 2, build("a"), SILENCE, SILENCE);
        let why = "has build id b, but PE 0 has a".to_owned();
        assert_eq!(zero.on_hello(Pe(1), build("b"), 0, &mut out), Some(Event::Refused(Pe(1), why)));
        assert_eq!(out, [(Pe(1), Message::Refused)]);
        assert!(zero.has_ended());
    }

    #[test]
    fn a_silent_pe_is_lost_once() {
        let mut zero = started();
        let mut out = Out::new();
        zero.on_heartbeat(Pe(1), HEARTBEAT);
        assert_eq!(zero.tick(SILENCE, &mut out), []);
        assert_eq!(zero.tick(SILENCE + HEARTBEAT, &mut out), [Event::Lost(Pe(1))]);
        assert!(out.contains(&(Pe(1), Message::Lost(Pe(1)))));
        assert_eq!(zero.on_suspect(Pe(1), SILENCE, &mut out), []);
        assert!(zero.is_lost(Pe(1)) && zero.others().count() == 0);
    }

    #[test]
    fn a_pe_that_was_stopped_holds_silence_against_nobody() {
        let mut zero = started();
        let mut out = Out::new();
        zero.on_resumed(SILENCE);
        assert_eq!(zero.tick(2 * SILENCE - 1, &mut out), []);
        assert_eq!(zero.tick(2 * SILENCE, &mut out), [Event::Lost(Pe(1))]);
    }

    #[test]
    fn a_pe_that_does_not_greet_is_not_waited_for() {
        let mut out = Out::new();
        let mut zero = Members::new(COORDINATOR, 3, build("a"), SILENCE, SILENCE);
        zero.greet(0, &mut out);
        assert_eq!(zero.on_hello(Pe(1), build("a"), 0, &mut out), None);
        assert_eq!(zero.tick(SILENCE - 1, &mut out), []);
        assert_eq!(zero.tick(SILENCE, &mut out), [Event::Lost(Pe(2)), Event::Started]);
        let mut one = Members::new(Pe(1), 3, build("a"), SILENCE, SILENCE);
        one.greet(0, &mut out);
        assert_eq!(one.tick(2 * SILENCE - 1, &mut out), []);
        assert_eq!(one.tick(2 * SILENCE, &mut out), [Event::Ended]);
    }

    #[test]
    fn a_pe_ends_when_it_is_declared_lost_or_alone() {
        let mut one = Members::new(Pe(1), 2, build("a"), SILENCE, SILENCE);
        let mut out = Out::new();
        one.greet(0, &mut out);
        assert_eq!(out, [(COORDINATOR, Message::Hello(build("a")))]);
        assert_eq!(one.on_start(0), Event::Started);
        assert_eq!(one.tick(SILENCE - 1, &mut out), []);
        assert_eq!(one.tick(SILENCE, &mut out), [Event::Ended]);
        let mut other = Members::new(Pe(1), 3, build("a"), SILENCE, SILENCE);
        other.on_start(0);
        assert_eq!(other.on_lost(Pe(2)), Event::Lost(Pe(2)));
        assert_eq!(other.on_lost(Pe(1)), Event::Ended);
    }
}
