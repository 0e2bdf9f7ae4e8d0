//! Cycle: a global collection, which marks over all PEs \[FN96, §3.3\], as `docs/distribution.md` says in section 7.
//!
//! *States*: `RUNNING → STOPPING → FLUSHING → MARKING 1 → … → MARKING 3 → BALANCING → BALANCED → RUNNING`.
//!
//! | state | message or event | what the PE does |
//! |---|---|---|
//! | RUNNING | REQUEST of a cycle that has not begun | the terminator sends BEGIN to all; others pass it on to it |
//! | RUNNING | BEGIN | stops its world. STOPPING |
//! | STOPPING | the world is stopped | sends FLUSH to all. FLUSHING |
//! | FLUSHING | FLUSH from the last PE | traces its roots. MARKING 1 |
//! | MARKING | MARK | traces what that names, then sends TRACED |
//! | MARKING | a question | as `ring.rs` says. OVER to all, if the phase is over |
//! | MARKING | OVER | the next phase; BALANCING after the last |
//! | BALANCING | its heap is swept | sends HELD to all |
//! | BALANCING | HELD from the last PE | sets its sums, sends BALANCED to the terminator. BALANCED |
//! | BALANCED | BALANCED from all, at the terminator | sends END to all |
//! | BALANCED | END | its world goes on, ENDED to the terminator. RUNNING |
//! | any but RUNNING | a PE of the cycle is lost | the cycle is given up; RUNNING when the heap is whole |
//!
//! *Order*: a message may belong to a later cycle, or a later phase, than its receiver has reached. It waits until the
//! receiver has got there. The terminator begins no cycle before ENDED has come from all.
//!
//! *Checked by*: `rts/tests/simulation/global.rs`.
use super::credit::Credit;
use super::ids::{Address, Pe, COORDINATOR};
use super::message::Step;
use super::ring::{Next, Ring};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Phases of marking: from the roots, from lost threads, from finalizers.
pub const PHASES: u8 = 3;
/// Addresses of a MARK.
const MARK_LENGTH: usize = 4096;
/// Where in a cycle's number there is how many PEs had been lost.
const LOSSES_SHIFT: u32 = 32;

/// To whom, the number of the cycle, and a step.
pub type Sent = (Pe, u64, Step);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum State {
    Running,
    Stopping,
    Flushing,
    Marking(u8),
    Balancing,
    Balanced,
    /// END has come: the world may go on.
    Over,
    GivenUp,
}

/// What a PE that marks does next.
#[derive(Debug, PartialEq)]
pub enum Task {
    Trace(Vec<Address>),
    Wait,
    /// All PEs have finished this phase.
    PhaseOver,
    GivenUp,
}

/// What a PE knows of the cycle that it is in, or was in last.
#[derive(Default)]
struct Course {
    members: Vec<Pe>,
    flushed: BTreeSet<Pe>,
    /// What is still to be traced, and for whom.
    work: VecDeque<(Pe, Vec<Address>)>,
    /// For whom something is being traced.
    traced_for: Option<Pe>,
    is_tracing: bool,
    is_phase_over: bool,
    held: BTreeMap<Pe, Vec<Credit>>,
    balanced: BTreeSet<Pe>,
}

pub struct Cycles {
    me: Pe,
    count: u16,
    lost: BTreeSet<Pe>,
    state: State,
    /// The number of the last cycle that has begun here.
    begun: u64,
    ended: u64,
    /// How many have not been given up.
    completed: u64,
    /// The newest cycle that somebody here has asked for.
    wanted: u64,
    /// Who has ended the last cycle, or ends this one.
    terminator: Pe,
    /// At the terminator: who has not gone on after the last cycle.
    ending: BTreeSet<Pe>,
    course: Course,
    ring: Ring,
    /// What belongs to a later state.
    early: Vec<(Pe, u64, Step)>,
}

impl Cycles {
    pub fn new(me: Pe, count: u16) -> Cycles {
        Cycles {
            me,
            count,
            lost: BTreeSet::new(),
            state: State::Running,
            begun: 0,
            ended: 0,
            completed: 0,
            wanted: 0,
            terminator: COORDINATOR,
            ending: BTreeSet::new(),
            course: Course::default(),
            ring: Ring::new(me, false),
            early: Vec::new(),
        }
    }

    /// The number of the last cycle that has ended here.
    pub fn ended(&self) -> u64 {
        self.ended
    }

    /// How many cycles have come to their end.
    pub fn completed(&self) -> u64 {
        self.completed
    }

    pub fn is_lost(&self, pe: Pe) -> bool {
        self.lost.contains(&pe)
    }

    /// From BEGIN to the end.
    pub fn is_under_way(&self) -> bool {
        self.state != State::Running
    }

    /// Has BEGIN come, and is the world to be stopped?
    pub fn is_stopping(&self) -> bool {
        self.state == State::Stopping
    }

    pub fn has_flushed(&self) -> bool {
        self.course.flushed.len() == self.course.members.len() || self.is_given_up()
    }

    pub fn is_given_up(&self) -> bool {
        self.state == State::GivenUp
    }

    /// Is marking over, and has the cycle not been given up?
    pub fn is_marked(&self) -> bool {
        self.state == State::Balancing
    }

    /// May the world go on?
    pub fn is_over(&self) -> bool {
        matches!(self.state, State::Over | State::GivenUp)
    }

    /// A cycle is wanted that begins from now on. The answer is its number.
    pub fn request(&mut self, out: &mut Vec<Sent>) -> u64 {
        let number = self.next_number();
        if self.wanted < number {
            self.wanted = number;
            self.pursue(out);
        }
        number
    }

    /// After a loss, cycles have numbers that no cycle with the lost PE can have.
    fn next_number(&self) -> u64 {
        (self.begun + 1).max((self.lost.len() as u64) << LOSSES_SHIFT)
    }

    /// Begins a cycle that is wanted, or asks the terminator for it.
    fn pursue(&mut self, out: &mut Vec<Sent>) {
        if self.wanted <= self.begun || self.state != State::Running {
            return;
        }
        let number = self.next_number();
        if self.terminator != self.me {
            out.push((self.terminator, number, Step::Request));
        } else if self.ending.is_empty() {
            let members: Vec<Pe> = (0..self.count).map(Pe).filter(|pe| !self.lost.contains(pe)).collect();
            self.tell_others(&members, number, &Step::Begin(members.clone()), out);
            self.begin(number, members, out);
        }
    }

    fn tell_others(&self, members: &[Pe], number: u64, step: &Step, out: &mut Vec<Sent>) {
        let others = members.iter().filter(|&&pe| pe != self.me);
        out.extend(others.map(|&pe| (pe, number, step.clone())));
    }

    fn tell_all(&self, step: &Step, out: &mut Vec<Sent>) {
        self.tell_others(&self.course.members, self.begun, step, out);
    }

    fn begin(&mut self, number: u64, members: Vec<Pe>, out: &mut Vec<Sent>) {
        self.begun = number;
        if members.iter().any(|pe| self.lost.contains(pe)) {
            self.ended = number;
            return;
        }
        self.course = Course { members, flushed: BTreeSet::from([self.me]), ..Course::default() };
        self.state = State::Stopping;
        self.take_early(out);
    }

    /// The world is stopped. From now on no computation message is handled.
    pub fn on_stopped(&mut self, out: &mut Vec<Sent>) {
        if self.state == State::Stopping {
            self.state = State::Flushing;
            self.tell_all(&Step::Flush, out);
        }
    }

    /// The PE marks from its roots.
    pub fn on_flushed(&mut self, out: &mut Vec<Sent>) {
        if self.state == State::Flushing {
            let is_terminator = self.terminator == self.me;
            self.begin_phase(1, is_terminator, out);
        }
    }

    fn begin_phase(&mut self, phase: u8, is_terminator: bool, out: &mut Vec<Sent>) {
        self.state = State::Marking(phase);
        self.ring = Ring::new(self.me, is_terminator);
        (self.course.is_tracing, self.course.is_phase_over) = (true, false);
        self.take_early(out);
    }

    fn take_early(&mut self, out: &mut Vec<Sent>) {
        for (from, number, step) in std::mem::take(&mut self.early) {
            self.on_step(from, number, step, out);
        }
    }

    pub fn on_step(&mut self, from: Pe, number: u64, step: Step, out: &mut Vec<Sent>) {
        if self.lost.contains(&from) {
            return;
        }
        match &step {
            Step::Request => {
                self.wanted = self.wanted.max(number);
                return self.pursue(out);
            }
            Step::Ended => {
                if number == self.begun {
                    self.ending.remove(&from);
                }
                return self.pursue(out);
            }
            _ if number < self.begun || number == self.ended => return,
            Step::Begin(members) if self.state == State::Running => return self.begin(number, members.clone(), out),
            _ if number > self.begun => return self.early.push((from, number, step)),
            _ => {}
        }
        if self.is_given_up() {
            return;
        }
        let is_now = |phase: u8| self.state == State::Marking(phase);
        match step {
            Step::Flush => {
                self.course.flushed.insert(from);
            }
            Step::Mark { phase, addresses } if is_now(phase) => {
                self.ring.on_work();
                self.course.work.push_back((from, addresses));
            }
            Step::Traced => {
                let next = self.ring.on_acknowledged();
                self.follow(next, out);
            }
            Step::Asked { phase, question } if is_now(phase) => {
                let next = self.ring.on_question(question);
                self.follow(next, out);
            }
            Step::Over { phase } if is_now(phase) => {
                self.course.is_phase_over = true;
                self.terminator = from;
            }
            Step::Held(credits) => {
                self.course.held.insert(from, credits);
            }
            Step::Balanced => {
                self.course.balanced.insert(from);
                self.end_if_balanced(out);
            }
            Step::End => self.state = State::Over,
            Step::Mark { .. } | Step::Asked { .. } | Step::Over { .. } => self.early.push((from, number, step)),
            Step::Request | Step::Begin(_) | Step::Ended => {}
        }
    }

    fn follow(&mut self, next: Next, out: &mut Vec<Sent>) {
        let State::Marking(phase) = self.state else { return };
        match next {
            Next::Nothing => {}
            Next::PassOn(question) => {
                let at = self.course.members.iter().position(|&pe| pe == self.me).unwrap_or(0);
                let successor = self.course.members[(at + 1) % self.course.members.len()];
                if successor == self.me {
                    let next = self.ring.on_question(question);
                    return self.follow(next, out);
                }
                out.push((successor, self.begun, Step::Asked { phase, question }));
            }
            Next::Over => {
                self.terminator = self.me;
                self.course.is_phase_over = true;
                self.tell_all(&Step::Over { phase }, out);
            }
        }
    }

    /// Objects of others that have been marked here. Those of a lost PE are nobody's.
    pub fn on_found(&mut self, found: BTreeMap<Pe, Vec<Address>>, out: &mut Vec<Sent>) {
        let State::Marking(phase) = self.state else { return };
        for (owner, addresses) in found.into_iter().filter(|(owner, _)| self.course.members.contains(owner)) {
            for addresses in addresses.chunks(MARK_LENGTH) {
                self.ring.on_mark_sent();
                out.push((owner, self.begun, Step::Mark { phase, addresses: addresses.to_vec() }));
            }
        }
    }

    /// All is traced that was to be.
    pub fn next(&mut self, out: &mut Vec<Sent>) -> Task {
        let State::Marking(_) = self.state else { return Task::GivenUp };
        if let Some(pe) = self.course.traced_for.take() {
            out.push((pe, self.begun, Step::Traced));
        }
        if let Some((from, addresses)) = self.course.work.pop_front() {
            (self.course.traced_for, self.course.is_tracing) = (Some(from), true);
            return Task::Trace(addresses);
        }
        if std::mem::replace(&mut self.course.is_tracing, false) {
            let next = self.ring.on_work_done();
            self.follow(next, out);
        }
        if self.course.is_phase_over {
            Task::PhaseOver
        } else {
            Task::Wait
        }
    }

    /// The next phase begins, or marking has ended.
    pub fn on_phase_over(&mut self, out: &mut Vec<Sent>) {
        match self.state {
            State::Marking(PHASES) => self.state = State::Balancing,
            State::Marking(phase) => self.begin_phase(phase + 1, self.terminator == self.me, out),
            _ => {}
        }
    }

    /// The heap is swept: what this PE has of others' blocks.
    pub fn on_swept(&mut self, mut held: BTreeMap<Pe, Vec<Credit>>, out: &mut Vec<Sent>) {
        if self.state != State::Balancing {
            return;
        }
        for &pe in self.course.members.iter().filter(|&&pe| pe != self.me) {
            out.push((pe, self.begun, Step::Held(held.remove(&pe).unwrap_or_default())));
        }
        self.course.held.insert(self.me, Vec::new());
    }

    /// All weights that others have on blocks of this PE, when all have told.
    pub fn held_by_others(&self) -> Option<impl Iterator<Item = &Credit>> {
        let have_told = self.state == State::Balancing && self.course.held.len() == self.course.members.len();
        have_told.then(|| self.course.held.values().flatten())
    }

    /// The sums are set.
    pub fn on_balanced(&mut self, out: &mut Vec<Sent>) {
        if self.state != State::Balancing {
            return;
        }
        self.state = State::Balanced;
        if self.terminator == self.me {
            self.course.balanced.insert(self.me);
            self.end_if_balanced(out);
        } else {
            out.push((self.terminator, self.begun, Step::Balanced));
        }
    }

    fn end_if_balanced(&mut self, out: &mut Vec<Sent>) {
        if self.state == State::Balanced
            && self.terminator == self.me
            && self.course.balanced.len() == self.course.members.len()
        {
            self.state = State::Over;
            self.ending = self.course.members.iter().copied().filter(|&pe| pe != self.me).collect();
            self.tell_all(&Step::End, out);
        }
    }

    /// The world goes on.
    pub fn on_resumed(&mut self, out: &mut Vec<Sent>) {
        if self.is_given_up() {
            self.wanted = self.next_number();
        } else {
            self.completed += 1;
        }
        if !self.is_given_up() && self.terminator != self.me {
            out.push((self.terminator, self.begun, Step::Ended));
        }
        self.state = State::Running;
        self.ended = self.begun;
        self.take_early(out);
        self.pursue(out);
    }

    /// A PE is lost, and with it the weights that it had. A cycle that it took part in is given up.
    pub fn on_lost(&mut self, pe: Pe, out: &mut Vec<Sent>) {
        self.lost.insert(pe);
        let took_part = self.state != State::Running && self.course.members.contains(&pe);
        if took_part {
            self.state = State::GivenUp;
        }
        if took_part || self.state == State::Running {
            self.terminator = COORDINATOR;
            self.ending.clear();
        }
        self.wanted = self.wanted.max(self.next_number());
        self.pursue(out);
    }
}
