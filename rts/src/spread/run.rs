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
use crate::abi::Closure;
use crate::base::fatal::broken;
use crate::base::poison::unpoisoned;
use crate::cluster::credit::{Credit, Given, NEW_WEIGHT};
use crate::cluster::element::{Element, Heap, HeapEvent};
use crate::cluster::ids::{Address, Block, Micros, Pe, COORDINATOR};
use crate::cluster::members::{Event, Members, Outbox};
use crate::cluster::message::{Message, Reason, Step as CycleStep};
use crate::cluster::steal::Steal;
use crate::cluster::wire;
use crate::hec::Hec;
use crate::observe::eventlog::hooks;
use crate::sched::{lenient, packets, spark};
use crate::spread::global_gc::shared::Shared;
use crate::spread::graph::Graph;
use crate::spread::heap::{owner_of, owner_of_block, RealHeap};
use crate::spread::inbox::Inbox;
use crate::spread::membership::Membership;
use crate::spread::start::now;
use crate::spread::steal_timer::StealTimer;
use crate::spread::traffic::{self, SENT};
use crate::spread::transport::{Queue, Transport};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, OnceLock};

/// Messages that a HEC handles before it runs threads again. Another HEC goes on, or the same one after a thread.
const AT_ONCE: usize = 64;

pub struct Run {
    membership: &'static Membership,
    element: Mutex<Element<RealHeap>>,
    pub(super) inbox: Inbox,
    pub(super) cycle: Shared,
    pub(super) steals: StealTimer,
}

static RUN: OnceLock<Run> = OnceLock::new();

/// The run that this PE has joined.
pub fn joined() -> &'static Run {
    current().unwrap_or_else(|| broken("an object of another PE, but there is none"))
}

/// The run that this PE has joined, if there is one.
pub fn current() -> Option<&'static Run> {
    RUN.get()
}

impl Run {
    /// Joins the run.
    pub(super) fn join(membership: &'static Membership, members: Members) -> &'static Run {
        let others = (0..membership.count).filter(|&pe| pe != membership.pe.0);
        let others = others.map(|pe| (Pe(pe), membership.neighbours.contains(&pe)));
        let steal = Steal::new(others, now() ^ u64::from(membership.pe.0) << 48);
        let element = Mutex::new(Element::new(membership.pe, members, steal, Given::new(NEW_WEIGHT)));
        let (inbox, steals) = (Inbox::default(), StealTimer::default());
        let cycle = Shared::new(membership.pe, membership.count);
        RUN.get_or_init(|| Run { membership, element, inbox, cycle, steals })
    }

    pub fn is_lost(&self, pe: Pe) -> bool {
        self.element().members.is_lost(pe)
    }

    pub fn me(&self) -> Pe {
        self.membership.pe
    }

    /// Are thunks lent, whose values have not come?
    pub(super) fn has_loans(&self) -> bool {
        self.element().loans.lent().next().is_some()
    }

    /// The PE that owns an address of the heap.
    pub fn owner(&self, address: Address) -> Pe {
        owner_of(address, self.count())
    }

    pub(super) fn owner_of_block(&self, block: Block) -> Pe {
        owner_of_block(block, self.count())
    }

    /// The number of PEs.
    pub fn count(&self) -> usize {
        self.membership.count.into()
    }

    pub(super) fn transport(&self) -> &'static dyn Transport {
        self.membership.transport
    }

    /// The element. See the head of this file for when its lock may be taken.
    pub(super) fn element(&self) -> MutexGuard<'_, Element<RealHeap>> {
        unpoisoned(self.element.lock())
    }

    pub fn send(&self, to: Pe, message: &Message<Graph>) {
        let bytes = wire::encode(message);
        SENT.add(message, bytes.len());
        traffic::log("to", to, message, bytes.len());
        self.transport().send(to, queue_of(message), bytes);
    }

    /// Does a step of the protocols.
    /// # Safety
    /// The caller holds the HEC. If messages are handled, no thread runs on it.
    pub unsafe fn step<R>(&self, hec: &mut Hec, act: impl FnOnce(&mut Step) -> R) -> R {
        self.step_with(RealHeap::of(Some(hec), self.count()), act)
    }

    /// Does a step that needs no heap.
    pub fn step_without_hec<R>(&self, act: impl FnOnce(&mut Step) -> R) -> R {
        // SAFETY: without a HEC the heap is not used.
        unsafe { self.step_with(RealHeap::of(None, self.count()), act) }
    }

    unsafe fn step_with<R>(&self, heap: RealHeap, act: impl FnOnce(&mut Step) -> R) -> R {
        let mut step = Step { element: self.element(), heap, out: Outbox::new() };
        step.heap.has_loans = step.element.loans.lent().next().is_some();
        let result = act(&mut step);
        while let Some(address) = step.heap.next_arrived() {
            let threads = step.element.fetches.on_answer(address);
            threads.into_iter().for_each(|thread| step.heap.wake(thread));
        }
        let Step { element, heap, out } = step;
        for (to, message) in out {
            self.send(to, &message);
        }
        drop(element);
        heap.finish();
        result
    }
}

/// A step of the protocols: the element, whose lock is held, and what it needs.
pub struct Step<'a> {
    element: MutexGuard<'a, Element<RealHeap>>,
    heap: RealHeap,
    out: Outbox<Graph>,
}

impl Step<'_> {
    /// Something has happened in the heap that concerns other PEs.
    pub fn tell(&mut self, event: HeapEvent<Graph>) {
        self.element.on_heap_event(&mut self.heap, event, &mut self.out);
    }

    /// Own blocks that others refer to, or that graphs refer to which the protocols keep.
    pub(super) fn referenced_blocks(&self) -> BTreeSet<Block> {
        let mut blocks = self.element.kept_blocks(&self.heap);
        blocks.extend(self.element.given.blocks().map(|credit| credit.block));
        blocks
    }

    /// Blocks of others that this PE may refer to.
    pub(super) fn held_blocks(&self) -> Vec<Block> {
        self.element.held.credits().map(|credit| credit.block).collect()
    }

    /// The weights on these.
    pub(super) fn held_credits(&self) -> Vec<Credit> {
        self.element.held.credits().collect()
    }

    /// A global collection has found these weights on own blocks, and no others.
    pub(super) fn set_given(&mut self, credits: &[Credit]) {
        self.element.given.set(credits.iter().copied());
    }

    /// Are weights on own blocks out?
    pub(super) fn has_given(&self) -> bool {
        self.element.given.blocks().next().is_some()
    }

    /// Graphs that the protocols keep.
    pub(super) fn kept_graphs(&self) -> impl Iterator<Item = &Graph> {
        self.element.kept_graphs()
    }

    /// May this PE refer to a block of another one?
    pub(super) fn is_held(&self, block: Block) -> bool {
        self.element.held.holds(block)
    }

    /// Absent objects that have been asked for.
    pub(super) fn asked_addresses(&self) -> Vec<Address> {
        self.element.fetches.addresses().collect()
    }

    /// The first of the thunks that are lent.
    pub(super) fn oldest_loan(&self) -> Option<Address> {
        self.element.loans.lent().min()
    }

    /// What the clones of lent thunks refer to.
    /// # Safety
    /// The world is stopped.
    pub(super) unsafe fn clone_pointers(&self) -> Vec<Closure> {
        self.element.loans.roots().flat_map(|(_, clone)| clone.pointers_of_thunk()).collect()
    }

    /// A full collection has reached these blocks of others. In one over all PEs their owners learn of it otherwise.
    pub(super) fn collected(&mut self, is_global: bool, is_reached: impl Fn(Block) -> bool) {
        if is_global {
            self.element.release_unreached(&mut self.heap, is_reached);
        } else {
            self.element.on_collected(&mut self.heap, is_reached, &mut self.out);
        }
    }

    /// A message has come.
    pub(super) fn receive(&mut self, from: Pe, message: Message<Graph>) {
        self.element.on_message(&mut self.heap, from, message, now(), &mut self.out);
    }

    /// Another PE is to evaluate a thunk, if it may travel.
    /// # Safety
    /// The thunk is live.
    pub unsafe fn place(&mut self, pe: Pe, thunk: Closure) {
        if let Some(name) = self.heap.prepare_loan(thunk) {
            self.tell(HeapEvent::Places(pe, name));
        }
    }

    /// The PE is idle. When to ask for work again, if no request is under way.
    pub(super) fn seek_work(&mut self) -> Option<Micros> {
        self.element.on_idle(now(), &mut self.out)
    }

    /// A PE does not answer, or is gone. PE 0 decides, and the others tell it.
    pub(super) fn suspect(&mut self, pe: Pe) -> Vec<Event> {
        if joined().me() != COORDINATOR && !self.element.members.is_lost(pe) {
            self.out.push((COORDINATOR, Message::Suspect(pe)));
        }
        self.element.members.on_suspect(pe, now(), &mut self.out)
    }

    /// Sends heartbeats, and looks for silent PEs.
    pub(super) fn tick(&mut self) -> Vec<Event> {
        self.element.members.tick(now(), &mut self.out)
    }

    /// The HEC that is held.
    /// # Safety
    /// No other reference to it is used while this one is.
    pub unsafe fn hec(&self) -> &'static mut Hec {
        self.heap.hec()
    }
}

/// Handles messages of other PEs.
/// # Safety
/// The caller holds the HEC, and no thread runs on it.
pub(super) unsafe fn handle(hec: &mut Hec) {
    let Some(run) = current() else { return };
    for _ in 0..AT_ONCE {
        let handled = run.step(hec, |step| {
            let (from, message) = run.inbox.take()?;
            let is_refusal = matches!(message, Message::NothingToSteal);
            let is_loan = matches!(message, Message::Lend { reason: Reason::Stolen | Reason::Lenient(_), .. });
            if is_loan {
                hooks::spark_stolen_elsewhere(step.hec().no, from.0);
            }
            step.receive(from, message);
            Some((is_loan, is_refusal))
        });
        match handled {
            // The next HEC with nothing to run asks again.
            Some((true, _)) => run.steals.set_next(0),
            // It has waited behind another message. The network task goes on.
            Some((_, true)) => {
                run.steals.set_next(now());
                run.transport().wake();
            }
            Some(_) => {}
            None => return,
        }
    }
    packets::request_handling(false);
}

/// Must a HEC handle the message?
pub(super) fn needs_heap(message: &Message<Graph>) -> bool {
    match message {
        Message::Steal => spark::any() || lenient::any(),
        Message::NothingToSteal | Message::MoreCredit(_) | Message::Credit(_) | Message::ReturnCredits(_) => false,
        _ => true,
    }
}

fn queue_of(message: &Message<Graph>) -> Queue {
    match message {
        Message::Hello(_) | Message::Unable(_) | Message::Start | Message::Refused => Queue::Control,
        Message::Heartbeat | Message::Suspect(_) | Message::Lost(_) => Queue::Control,
        // It follows what was sent before.
        Message::Cycle(_, CycleStep::Flush) => Queue::Computation,
        Message::Cycle(..) => Queue::Collection,
        _ => Queue::Computation,
    }
}
