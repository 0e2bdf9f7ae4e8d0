//! Messages that have been received and wait for a HEC.
//!
//! *Protocol*
//! 1. The network task adds messages. If no HEC has been asked, it asks one ([`Inbox::add`] says so).
//! 2. That HEC takes messages until there are none, or it has taken enough; then it asks another one to go on. Whoever
//!    finds none says so under the lock: a message that is added later has a HEC asked.
//! 3. A PE that collects, or whose HECs do not come, takes in up to [`FULL`] bytes. Then it receives no more until half
//!    of them have been handled. The rest stays in the sockets, and with the senders.
//!
//! *Order*: the element's lock is held from taking a message to the end of its handling. So messages of one PE are
//! handled in order, although several HECs may take them.
use crate::base::poison::unpoisoned;
use crate::cluster::ids::Pe;
use crate::cluster::message::Message;
use crate::spread::graph::Graph;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

type Received = Message<Graph>;

/// Bytes that are taken in while no HEC comes.
const FULL: usize = 32 << 20;

#[derive(Default)]
struct State {
    messages: VecDeque<(Pe, Received, usize)>,
    bytes: usize,
    /// A HEC has been asked, and has not found the end yet.
    is_requested: bool,
    taken: u64,
}

#[derive(Default)]
pub struct Inbox(Mutex<State>);

impl Inbox {
    fn state(&self) -> MutexGuard<'_, State> {
        unpoisoned(self.0.lock())
    }

    /// Adds a message of `bytes` bytes. True if a HEC must be asked to handle it.
    #[must_use]
    pub fn add(&self, from: Pe, message: Received, bytes: usize) -> bool {
        let mut state = self.state();
        state.messages.push_back((from, message, bytes));
        state.bytes += bytes;
        !std::mem::replace(&mut state.is_requested, true)
    }

    /// Takes the oldest message.
    pub fn take(&self) -> Option<(Pe, Received)> {
        let mut state = self.state();
        let Some((from, message, bytes)) = state.messages.pop_front() else {
            state.is_requested = false;
            return None;
        };
        state.bytes -= bytes;
        state.taken += 1;
        Some((from, message))
    }

    pub fn is_full(&self) -> bool {
        self.state().bytes > FULL
    }

    pub fn is_half_empty(&self) -> bool {
        self.state().bytes <= FULL / 2
    }

    /// Does a message of that PE wait?
    pub fn has_from(&self, pe: Pe) -> bool {
        self.state().messages.iter().any(|(from, ..)| *from == pe)
    }

    /// Shows all messages that wait.
    pub fn each(&self, mut show: impl FnMut(&Received)) {
        self.state().messages.iter().for_each(|(_, message, _)| show(message));
    }

    /// While messages wait: how many have been taken so far.
    pub fn progress(&self) -> Option<u64> {
        let state = self.state();
        (!state.messages.is_empty()).then_some(state.taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hec_is_asked_until_one_has_found_the_end() {
        let inbox = Inbox::default();
        assert_eq!(inbox.progress(), None);
        assert!(inbox.add(Pe(1), Message::Steal, 1));
        assert!(!inbox.add(Pe(2), Message::Steal, 1));
        assert!(inbox.has_from(Pe(2)) && !inbox.has_from(Pe(3)));
        assert_eq!(inbox.take(), Some((Pe(1), Message::Steal)));
        assert_eq!(inbox.progress(), Some(1));
        assert_eq!(inbox.take(), Some((Pe(2), Message::Steal)));
        // It has not looked yet whether there is more.
        assert!(!inbox.add(Pe(3), Message::Steal, FULL + 1));
        assert!(inbox.is_full() && !inbox.is_half_empty());
        assert_eq!(inbox.take(), Some((Pe(3), Message::Steal)));
        assert!(!inbox.is_full() && inbox.is_half_empty());
        assert_eq!(inbox.take(), None);
        assert!(inbox.add(Pe(1), Message::Steal, 1));
    }
}
