//! What this processing element (PE) has sent to the others, and received from them.
use crate::cluster::ids::Pe;
use crate::cluster::message::Message;
use crate::observe::eventlog::hooks;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What messages are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Actions that other PEs perform.
    Calls,
    /// Thunks that other PEs evaluate, and the search for them.
    Loans,
    Fetches,
    /// Counts of references.
    Weights,
    /// All else: who takes part, and what is reported.
    Control,
}

/// Logs a message that is sent to a PE, or received from it. Those that report something are left out.
pub fn log<G>(way: &str, pe: Pe, message: &Message<G>, bytes: usize) {
    hooks::message_passed(|| {
        let (purpose, name) = describe(message);
        (purpose != Purpose::Control).then(|| format!("{name} {way} PE {}, {bytes} bytes", pe.0))
    });
}

/// What the message is for, and its name in event logs.
fn describe<G>(message: &Message<G>) -> (Purpose, &'static str) {
    match message {
        Message::Call { .. } => (Purpose::Calls, "CALL"),
        Message::Returned { .. } => (Purpose::Calls, "RETURNED"),
        Message::Cancel(_) => (Purpose::Calls, "CANCEL"),
        Message::Steal => (Purpose::Loans, "STEAL"),
        Message::NothingToSteal => (Purpose::Loans, "NOTHING_TO_STEAL"),
        Message::Lend { .. } => (Purpose::Loans, "LEND"),
        Message::Result { .. } => (Purpose::Loans, "RESULT"),
        Message::Failed { .. } => (Purpose::Loans, "FAILED"),
        Message::Fetch(_) => (Purpose::Fetches, "FETCH"),
        Message::Value { .. } => (Purpose::Fetches, "VALUE"),
        Message::Unavailable { .. } => (Purpose::Fetches, "UNAVAILABLE"),
        Message::MoreCredit(_) => (Purpose::Weights, "MORE_CREDIT"),
        Message::Credit(_) => (Purpose::Weights, "CREDIT"),
        Message::ReturnCredits(_) => (Purpose::Weights, "RETURN_CREDITS"),
        _ => (Purpose::Control, "control"),
    }
}

/// Messages of one direction. Counters, which order nothing.
pub struct Traffic {
    pub messages: AtomicU64,
    pub bytes: AtomicU64,
    pub steals: AtomicU64,
    pub refusals: AtomicU64,
    pub loans: AtomicU64,
    pub fetches: AtomicU64,
    /// Bytes, in the order of [`Purpose`].
    pub by_purpose: [AtomicU64; PURPOSES],
}

const PURPOSES: usize = Purpose::Control as usize + 1;

pub static SENT: Traffic = Traffic::new();
pub static RECEIVED: Traffic = Traffic::new();

impl Traffic {
    const fn new() -> Traffic {
        Traffic {
            messages: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            steals: AtomicU64::new(0),
            refusals: AtomicU64::new(0),
            loans: AtomicU64::new(0),
            fetches: AtomicU64::new(0),
            by_purpose: [const { AtomicU64::new(0) }; PURPOSES],
        }
    }

    /// Counts a message.
    pub fn add<G>(&self, message: &Message<G>, bytes: usize) {
        self.messages.fetch_add(1, Relaxed);
        self.bytes.fetch_add(bytes as u64, Relaxed);
        let (purpose, _) = describe(message);
        self.by_purpose[purpose as usize].fetch_add(bytes as u64, Relaxed);
        let of_kind = match message {
            Message::Steal => &self.steals,
            Message::NothingToSteal => &self.refusals,
            Message::Lend { .. } => &self.loans,
            Message::Fetch(_) => &self.fetches,
            _ => return,
        };
        of_kind.fetch_add(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_counted_by_kind() {
        let traffic = Traffic::new();
        for message in [Message::Steal, Message::Steal, Message::NothingToSteal, Message::<()>::Heartbeat] {
            traffic.add(&message, 10);
        }
        let counted = [&traffic.messages, &traffic.bytes, &traffic.steals, &traffic.refusals, &traffic.loans];
        assert_eq!(counted.map(|count| count.load(Relaxed)), [4, 40, 2, 1, 0]);
        assert_eq!(traffic.by_purpose.map(AtomicU64::into_inner), [0, 30, 0, 0, 10]);
    }
}
