//! Ring: finds out when all PEs have finished marking, in a global collection \[FN96, §3.3\].
//!
//! A PE is *inactive* when it has nothing to mark, and each MARK that it has sent is acknowledged. The receiver
//! acknowledges a MARK once it has traced what that asks for, as far as its own heap. A MARK makes a PE active again.
//!
//! One PE is the *terminator*.
//!
//! 1. When the terminator is inactive, it sends INACTIVE? around the ring of PEs.
//! 2. An inactive PE passes it on. An active one keeps it and becomes the terminator, and goes on with 1.
//! 3. When INACTIVE? has come back, the terminator sends STILL? around the ring.
//! 4. A PE that has not been active since INACTIVE? passes it on. Another one becomes the terminator.
//! 5. When STILL? has come back, marking is over.
//!
//! *Why*: each PE was inactive from the first question to the second. So all were, at the moment between the rounds.
//! A MARK under way would have had an active sender. One round is not enough: a PE that has been asked may get a MARK
//! from one that has not been asked yet.
//!
//! *Invariant*: there is one terminator, or one question under way from the last one.
//!
//! *Loss*: a cycle in which a PE is lost is given up, and its ring with it.
//!
//! *Checked by*: `rts/tests/simulation/marking.rs`.
use super::ids::Pe;

/// A question on its way around the ring, and the terminator that asks it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Question {
    Inactive { asker: Pe },
    Still { asker: Pe },
}

/// What a PE does next.
#[derive(Debug, PartialEq)]
pub enum Next {
    Nothing,
    /// Send the question to the next PE of the ring.
    PassOn(Question),
    /// All PEs have finished.
    Over,
}

pub struct Ring {
    me: Pe,
    has_work: bool,
    unacknowledged: usize,
    is_terminator: bool,
    /// Since INACTIVE? was here.
    was_active: bool,
}

impl Ring {
    /// At the begin of a cycle each PE has its roots to mark.
    pub fn new(me: Pe, is_terminator: bool) -> Ring {
        Ring { me, has_work: true, unacknowledged: 0, is_terminator, was_active: true }
    }

    fn is_active(&self) -> bool {
        self.has_work || self.unacknowledged > 0
    }

    /// MARK has come.
    pub fn on_work(&mut self) {
        self.has_work = true;
        self.was_active = true;
    }

    /// A MARK is sent, by a PE that works.
    pub fn on_mark_sent(&mut self) {
        self.unacknowledged += 1;
    }

    pub fn on_acknowledged(&mut self) -> Next {
        self.unacknowledged -= 1;
        self.ask()
    }

    /// There is nothing more to mark.
    pub fn on_work_done(&mut self) -> Next {
        self.has_work = false;
        self.ask()
    }

    fn ask(&mut self) -> Next {
        if !self.is_terminator || self.is_active() {
            return Next::Nothing;
        }
        self.is_terminator = false;
        self.was_active = false;
        Next::PassOn(Question::Inactive { asker: self.me })
    }

    pub fn on_question(&mut self, question: Question) -> Next {
        match question {
            Question::Inactive { .. } if self.is_active() => self.become_terminator(),
            Question::Inactive { asker } if asker == self.me => Next::PassOn(Question::Still { asker }),
            Question::Inactive { .. } => {
                self.was_active = false;
                Next::PassOn(question)
            }
            Question::Still { .. } if self.was_active => self.become_terminator(),
            Question::Still { asker } if asker == self.me => Next::Over,
            Question::Still { .. } => Next::PassOn(question),
        }
    }

    fn become_terminator(&mut self) -> Next {
        self.is_terminator = true;
        self.ask()
    }
}
