//! Messages that wait for weights before they can be sent (`passing_on.rs`).
use super::ids::Pe;
use super::message::Message;
use std::collections::{BTreeMap, VecDeque};

/// By receiver, in the order in which they are to be sent.
pub struct Waiting<G> {
    pub(super) queues: BTreeMap<Pe, VecDeque<Message<G>>>,
}

impl<G> Waiting<G> {
    pub fn new() -> Waiting<G> {
        Waiting { queues: BTreeMap::new() }
    }

    pub fn graphs(&self) -> impl Iterator<Item = &G> {
        self.queues.values().flatten().filter_map(Message::parcel).map(|parcel| &parcel.graph)
    }

    pub fn on_lost(&mut self, pe: Pe) {
        self.queues.remove(&pe);
    }
}
