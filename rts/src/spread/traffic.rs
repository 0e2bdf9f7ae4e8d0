//! What this processing element (PE) has sent to the others, and received from them.
use crate::cluster::message::Message;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Messages of one direction. Counters, which order nothing.
pub struct Traffic {
    pub messages: AtomicU64,
    pub bytes: AtomicU64,
    pub steals: AtomicU64,
    pub refusals: AtomicU64,
    pub loans: AtomicU64,
    pub fetches: AtomicU64,
}

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
        }
    }

    /// Counts a message of so many bytes.
    pub fn add<G>(&self, message: &Message<G>, bytes: usize) {
        self.messages.fetch_add(1, Relaxed);
        self.bytes.fetch_add(bytes as u64, Relaxed);
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
    }
}
