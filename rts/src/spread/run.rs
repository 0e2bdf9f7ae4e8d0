//! This processing element (PE) in a run: its element, its transport, and what connects them with HECs.
//!
//! *Protocol*
//! 1. The network task receives messages. It handles those that need no heap, unless earlier ones of the same PE wait;
//!    all others go to the [`Inbox`].
//! 2. A HEC handles those ([`handle`], by `sched/packets.rs`).
//! 3. Answers are sent at once, by whoever handles a message. Sending never waits.
//!
//! *Locking*: [`Element`] has one lock, the first of its row in ARCHITECTURE's table. A step of the protocols, with all
//! that it does to the heap and all that it sends, is done under it. So messages to one PE leave in the order of the
//! steps. The lock is taken by holders of HECs between two threads, and by the network task, which holds no HEC. It is
//! never held while its holder waits for a HEC, for a collection, or for the network.
use crate::base::poison::unpoisoned;
use crate::cluster::credit::{Given, NEW_WEIGHT};
use crate::cluster::element::{Element, HeapEvent};
use crate::cluster::ids::Pe;
use crate::cluster::members::{Members, Outbox};
use crate::cluster::message::Message;
use crate::cluster::steal::Steal;
use crate::cluster::wire;
use crate::hec::Hec;
use crate::sched::{packets, spark};
use crate::spread::heap::{PackedGraph, RealHeap};
use crate::spread::inbox::Inbox;
use crate::spread::membership::Membership;
use crate::spread::start::now;
use crate::spread::steal_timer::StealTimer;
use crate::spread::transport::{Queue, Transport};
use std::sync::{Mutex, MutexGuard, OnceLock};

/// Messages that a HEC handles before it runs threads again. Another HEC goes on, or the same one after a thread.
const AT_ONCE: usize = 64;

pub struct Run {
    membership: &'static Membership,
    element: Mutex<Element<RealHeap>>,
    pub(super) inbox: Inbox,
    pub(super) steals: StealTimer,
}

static RUN: OnceLock<Run> = OnceLock::new();

/// The run that this PE has joined, if there is one.
pub fn current() -> Option<&'static Run> {
    RUN.get()
}

impl Run {
    /// Joins the run.
    pub(super) fn join(membership: &'static Membership, members: Members) -> &'static Run {
        let others = (0..membership.count).map(Pe).filter(|&pe| pe != membership.pe).map(|pe| (pe, true));
        let steal = Steal::new(others, now() ^ u64::from(membership.pe.0) << 48);
        let element = Mutex::new(Element::new(membership.pe, members, steal, Given::new(NEW_WEIGHT)));
        RUN.get_or_init(|| Run { membership, element, inbox: Inbox::default(), steals: StealTimer::default() })
    }

    pub fn me(&self) -> Pe {
        self.membership.pe
    }

    /// The number of PEs.
    pub fn count(&self) -> usize {
        self.membership.count.into()
    }

    pub(super) fn transport(&self) -> &'static dyn Transport {
        &self.membership.transport
    }

    /// The element. See the head of this file for when its lock may be taken.
    pub(super) fn element(&self) -> MutexGuard<'_, Element<RealHeap>> {
        unpoisoned(self.element.lock())
    }

    /// Sends what a step of the protocols has to say.
    pub(super) fn send_all(&self, out: Outbox<PackedGraph>) {
        for (to, message) in out {
            self.send(to, &message);
        }
    }

    pub fn send(&self, to: Pe, message: &Message<PackedGraph>) {
        self.transport().send(to, queue_of(message), wire::encode(message));
    }

    /// Something happens in the heap that concerns other PEs.
    /// # Safety
    /// The caller holds the HEC, and no thread runs on it.
    pub unsafe fn on_heap_event(&self, hec: &mut Hec, event: HeapEvent<PackedGraph>) {
        let mut out = vec![];
        let mut element = self.element();
        element.on_heap_event(&mut RealHeap::of(hec, self.count()), event, &mut out);
        self.send_all(out);
    }

    /// Handles a message that needs no heap.
    pub(super) fn handle_without_heap(&self, from: Pe, message: Message<PackedGraph>) {
        let mut out = vec![];
        let mut element = self.element();
        element.on_message(&mut RealHeap::without_hec(self.count()), from, message, now(), &mut out);
        self.send_all(out);
    }
}

/// Handles messages of other PEs.
/// # Safety
/// The caller holds the HEC, and no thread runs on it.
pub(super) unsafe fn handle(hec: &mut Hec) {
    let Some(run) = current() else { return };
    for _ in 0..AT_ONCE {
        let mut element = run.element();
        let Some((from, message)) = run.inbox.take() else { return };
        let mut out = vec![];
        let is_loan = matches!(message, Message::Lend { .. });
        element.on_message(&mut RealHeap::of(hec, run.count()), from, message, now(), &mut out);
        run.send_all(out);
        if is_loan {
            // The next HEC with nothing to run asks again.
            run.steals.set_next(0);
        }
    }
    packets::request_handling(false);
}

/// Must a HEC handle the message?
pub(super) fn needs_heap(message: &Message<PackedGraph>) -> bool {
    match message {
        Message::Steal => spark::any(),
        Message::NothingToSteal | Message::MoreCredit(_) | Message::Credit(_) | Message::ReturnCredits(_) => false,
        _ => true,
    }
}

fn queue_of(message: &Message<PackedGraph>) -> Queue {
    match message {
        Message::Hello(_) | Message::Unable(_) | Message::Start | Message::Refused => Queue::Control,
        Message::Heartbeat | Message::Suspect(_) | Message::Lost(_) => Queue::Control,
        _ => Queue::Computation,
    }
}
