//! The protocols of one PE put together: what each message does to them, and to the heap behind [`Heap`].
//!
//! *Order of handling*: the runtime handles one message at a time, each as one step that holds the protocols' lock and
//! neither blocks nor evaluates. What the heap has to tell in return ([`HeapEvent`]) is a step of its own.
//!
//! *Loss of a PE* is such a step, too ([`Element::on_lost`]). It ends, in this order: waits for its objects, its waits
//! for ours, loans to it (which are evaluated here), loans from it (which are killed), a steal under way, and what is
//! held of its blocks.
//!
//! *Checked by*: `rts/tests/simulation`.
use super::calls::Calls;
use super::credit::{Credit, Given, Held};
use super::fetch::{Fetches, Readers};
use super::ids::{Address, Block, Call, Micros, Pe, Thread, COORDINATOR};
use super::loan::{Debt, Debts, Loans, Recall};
use super::members::{Event, Members, Outbox};
use super::message::{Message, Unavailable};
use super::steal::{Next, Steal};
use std::collections::BTreeMap;

/// The state of an own object that somebody asks for.
pub enum Object<G> {
    Evaluated(G),
    Unevaluated,
    /// A thread evaluates it, or another PE.
    Claimed,
    /// It may not leave this PE.
    Stays(String),
}

/// The heap of this PE, and the scheduler's threads.
pub trait Heap {
    /// A packed graph: a value, or the words of a thunk.
    type Graph: Clone;

    fn owner(&self, address: Address) -> Pe;
    fn owner_of_block(&self, block: Block) -> Pe;
    fn block(&self, address: Address) -> Block;

    /// Takes the oldest spark that is still to be evaluated and may travel.
    fn take_spark(&mut self) -> Option<Address>;
    fn give_back_spark(&mut self, thunk: Address);
    /// What a thunk refers to.
    fn references(&self, thunk: Address) -> Vec<Address>;
    /// Claims a thunk for the network, and packs its words. `None` if a thread was faster.
    fn claim(&mut self, thunk: Address) -> Option<Self::Graph>;
    /// Gives a claimed thunk its words again, and makes a thread that evaluates it.
    fn evaluate_clone(&mut self, thunk: Address, clone: Self::Graph);
    /// Makes a thunk of words that came from another PE, and a thread that evaluates it: at once, or for one that was
    /// placed here, when there is nothing else to run.
    fn evaluate_borrowed(&mut self, graph: Self::Graph, is_placed: bool) -> Address;
    /// Kills the thread that evaluates a borrowed thunk, if it has not ended.
    fn kill(&mut self, thunk: Address);

    fn look(&self, address: Address) -> Object<Self::Graph>;
    /// Makes a thread that evaluates an own object for others.
    fn serve(&mut self, address: Address);
    /// Updates a claimed thunk with the value that another PE has found.
    fn update(&mut self, thunk: Address, value: Self::Graph);
    /// Makes an object of another PE present.
    fn install(&mut self, address: Address, value: Self::Graph);
    /// Drops what is cached of another PE's block.
    fn drop_block(&mut self, block: Block);
    fn wake(&mut self, thread: Thread);
    /// Raises an exception in a thread that waits for an absent object.
    fn raise(&mut self, thread: Thread, why: &Unavailable);

    /// Makes a thread that performs an action of another PE.
    fn perform(&mut self, caller: Pe, call: Call, action: Self::Graph);
    /// An action has ended elsewhere, with this value or exception.
    fn on_returned(&mut self, call: Call, result: Self::Graph);
    fn on_call_lost(&mut self, call: Call, pe: Pe);
    /// Throws to the thread that performs an action, if it has not ended.
    fn cancel(&mut self, caller: Pe, call: Call);
    /// An own ping has come back.
    fn on_pong(&mut self, number: u64);
}

/// What happens in the heap and concerns other PEs.
pub enum HeapEvent<G> {
    /// A thread waits for an absent object.
    Wanted(Address, Thread),
    /// An own thunk has its value.
    Evaluated(Address, G),
    /// A thread was killed. Its thunk is unevaluated again.
    Frozen(Address),
    /// The evaluation of a thunk was given up, because of something that is not its value. The thunk is unevaluated
    /// again, or may not leave this PE.
    GivenUp(Address, Unavailable),
    /// A thread that waited for an absent object was killed.
    Withdrawn(Thread),
    /// Another PE is to evaluate a thunk, which may travel.
    Places(Pe, Address),
    /// Another PE is to perform an action.
    Calls(Pe, Call, G),
    /// An action of another PE has ended.
    Returns(Pe, Call, G),
    /// The result of an action is not wanted any more.
    Cancels(Call),
}

pub struct Element<H: Heap> {
    me: Pe,
    pub members: Members,
    pub steal: Steal,
    pub loans: Loans<H::Graph>,
    pub debts: Debts,
    pub fetches: Fetches,
    pub readers: Readers,
    pub calls: Calls,
    pub given: Given,
    pub held: Held,
}

impl<H: Heap> Element<H> {
    pub fn new(me: Pe, members: Members, steal: Steal, given: Given) -> Element<H> {
        let (loans, debts) = (Loans::new(), Debts::new());
        let (fetches, readers) = (Fetches::new(), Readers::new());
        let (calls, held) = (Calls::default(), Held::new());
        Element { me, members, steal, loans, debts, fetches, readers, calls, given, held }
    }

    pub fn on_message(
        &mut self,
        heap: &mut H,
        from: Pe,
        message: Message<H::Graph>,
        now: Micros,
        out: &mut Outbox<H::Graph>,
    ) {
        if self.members.is_lost(from) || self.members.has_ended() {
            return;
        }
        match message {
            Message::Hello(build) => {
                self.members.on_hello(from, build, now, out);
            }
            Message::Unable(why) => {
                self.members.on_unable(from, why);
            }
            Message::Start => {
                self.members.on_start(now);
            }
            Message::Refused => {
                self.members.end();
            }
            Message::Heartbeat => self.members.on_heartbeat(from, now),
            Message::Suspect(pe) => {
                let events = self.members.on_suspect(pe, now, out);
                self.on_events(heap, events);
            }
            Message::Lost(pe) => {
                let event = self.members.on_lost(pe);
                self.on_events(heap, vec![event]);
            }
            Message::Steal => self.on_steal(heap, from, out),
            Message::NothingToSteal => self.steal.on_refused(from, now),
            Message::Lend { loan, is_placed, graph, credits } => {
                if !is_placed {
                    self.steal.on_lent(from);
                }
                credits.into_iter().for_each(|credit| self.held.add(credit));
                let thunk = heap.evaluate_borrowed(graph, is_placed);
                self.debts.begin(thunk, Debt { lender: from, loan });
            }
            Message::Result { loan, graph } => {
                if let Some(thunk) = self.loans.on_result(from, loan) {
                    heap.update(thunk, graph.clone());
                    self.on_evaluated(thunk, graph, out);
                }
            }
            Message::Failed { loan } => {
                if let Some(Recall { thunk, clone }) = self.loans.on_failed(from, loan) {
                    heap.evaluate_clone(thunk, clone);
                }
            }
            Message::Fetch(address) => self.on_fetch(heap, from, address, out),
            Message::Value { address, graph } => {
                if self.held.holds(heap.block(address)) {
                    heap.install(address, graph);
                }
                self.fetches.on_answer(address).into_iter().for_each(|thread| heap.wake(thread));
            }
            Message::Unavailable { address, why } => {
                self.fetches.on_answer(address).into_iter().for_each(|thread| heap.raise(thread, &why));
            }
            Message::Call { call, graph } => heap.perform(from, call, graph),
            Message::Returned { call, graph } => {
                if self.calls.end(from, call) {
                    heap.on_returned(call, graph);
                }
            }
            Message::Cancel(call) => heap.cancel(from, call),
            Message::MoreCredit(block) => out.push((from, Message::Credit(self.given.give(block)))),
            Message::Credit(credit) => self.held.add(credit),
            Message::ReturnCredits(credits) => {
                credits.into_iter().for_each(|credit| {
                    self.given.on_returned(credit);
                });
            }
            Message::Ping(ping) => out.push((from, Message::Pong(ping))),
            Message::Pong(ping) => heap.on_pong(ping.number),
            // These concern no protocol.
            Message::AskCounts | Message::Counts(_) => {}
        }
    }

    fn on_events(&mut self, heap: &mut H, events: Vec<Event>) {
        for event in events {
            if let Event::Lost(pe) = event {
                self.on_lost(heap, pe);
            }
        }
    }

    fn on_lost(&mut self, heap: &mut H, pe: Pe) {
        let threads = self.fetches.on_lost(|address| heap.owner(address) == pe);
        threads.into_iter().for_each(|thread| heap.raise(thread, &Unavailable::PeLost));
        self.readers.on_lost(pe);
        for Recall { thunk, clone } in self.loans.on_lost(pe) {
            heap.evaluate_clone(thunk, clone);
        }
        self.debts.on_lost(pe).into_iter().for_each(|thunk| heap.kill(thunk));
        self.calls.on_lost(pe).into_iter().for_each(|call| heap.on_call_lost(call, pe));
        self.steal.on_lost(pe);
        self.held.on_lost(|block| heap.owner_of_block(block) == pe);
    }

    /// Lends the oldest spark whose references can all be passed on.
    fn on_steal(&mut self, heap: &mut H, thief: Pe, out: &mut Outbox<H::Graph>) {
        let mut kept = vec![];
        let spark = loop {
            let Some(thunk) = heap.take_spark() else { break None };
            if !self.can_pass_on(heap, thunk, out) {
                kept.push(thunk);
            } else if let Some(graph) = heap.claim(thunk) {
                break Some((thunk, graph));
            }
        };
        kept.into_iter().rev().for_each(|thunk| heap.give_back_spark(thunk));
        let Some((thunk, graph)) = spark else {
            out.push((thief, Message::NothingToSteal));
            return;
        };
        self.lend(heap, thief, thunk, graph, false, out);
    }

    /// Lends a thunk that has been claimed.
    fn lend(
        &mut self,
        heap: &mut H,
        to: Pe,
        thunk: Address,
        graph: H::Graph,
        is_placed: bool,
        out: &mut Outbox<H::Graph>,
    ) {
        let credits = self.credits(heap, thunk, to);
        let loan = self.loans.lend(to, thunk, graph.clone());
        out.push((to, Message::Lend { loan, is_placed, graph, credits }));
    }

    /// The blocks that a thunk refers to.
    fn blocks(heap: &H, thunk: Address) -> Vec<Block> {
        let mut blocks: Vec<Block> = heap.references(thunk).into_iter().map(|a| heap.block(a)).collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks
    }

    /// Can the weights of all that a thunk refers to be split? If not, more is asked for.
    fn can_pass_on(&mut self, heap: &H, thunk: Address, out: &mut Outbox<H::Graph>) -> bool {
        let mut can = true;
        for block in Self::blocks(heap, thunk) {
            let owner = heap.owner_of_block(block);
            if owner == self.me || self.held.can_split(block) {
                continue;
            }
            can = false;
            // A lost owner would not answer, and the block would be kept for the answer.
            let is_asked = !self.members.is_lost(owner) && self.held.holds(block);
            if is_asked && self.held.asks_for_more(block) {
                out.push((owner, Message::MoreCredit(block)));
            }
        }
        can
    }

    /// The credits that go with a thunk's references. A PE needs none for its own blocks.
    fn credits(&mut self, heap: &H, thunk: Address, receiver: Pe) -> Vec<Credit> {
        let mut blocks = Self::blocks(heap, thunk);
        blocks.retain(|&block| heap.owner_of_block(block) != receiver);
        let is_own = |block: Block| heap.owner_of_block(block) == self.me;
        let credit = |block| if is_own(block) { self.given.give(block) } else { self.held.split(block) };
        blocks.into_iter().map(credit).collect()
    }

    fn on_fetch(&mut self, heap: &mut H, from: Pe, address: Address, out: &mut Outbox<H::Graph>) {
        match heap.look(address) {
            Object::Evaluated(graph) => out.push((from, Message::Value { address, graph })),
            Object::Unevaluated => {
                // If others wait already, it is being evaluated for them.
                let is_served = self.readers.has_readers(address);
                self.readers.note(address, from);
                if !is_served {
                    heap.serve(address);
                }
            }
            Object::Claimed => self.readers.note(address, from),
            Object::Stays(why) => {
                out.push((from, Message::Unavailable { address, why: Unavailable::Stays(why) }));
            }
        }
    }

    fn on_evaluated(&mut self, address: Address, graph: H::Graph, out: &mut Outbox<H::Graph>) {
        if let Some(debt) = self.debts.end(address) {
            out.push((debt.lender, Message::Result { loan: debt.loan, graph: graph.clone() }));
        }
        let readers = self.readers.take(address);
        out.extend(readers.into_iter().map(|pe| (pe, Message::Value { address, graph: graph.clone() })));
    }

    pub fn on_heap_event(&mut self, heap: &mut H, event: HeapEvent<H::Graph>, out: &mut Outbox<H::Graph>) {
        match event {
            HeapEvent::Wanted(address, thread) => {
                let owner = heap.owner(address);
                if self.members.is_lost(owner) {
                    heap.raise(thread, &Unavailable::PeLost);
                } else if self.fetches.want(address, thread) {
                    out.push((owner, Message::Fetch(address)));
                }
            }
            HeapEvent::Evaluated(address, graph) => self.on_evaluated(address, graph, out),
            HeapEvent::Frozen(address) => {
                if self.readers.has_readers(address) {
                    heap.serve(address);
                }
            }
            HeapEvent::GivenUp(address, why) => {
                if let Some(debt) = self.debts.end(address) {
                    out.push((debt.lender, Message::Failed { loan: debt.loan }));
                }
                let readers = self.readers.take(address);
                out.extend(readers.into_iter().map(|pe| (pe, Message::Unavailable { address, why: why.clone() })));
            }
            HeapEvent::Withdrawn(thread) => self.fetches.withdraw(thread),
            HeapEvent::Places(pe, thunk) => {
                if self.members.is_lost(pe) || !self.can_pass_on(heap, thunk, out) {
                    return;
                }
                if let Some(graph) = heap.claim(thunk) {
                    self.lend(heap, pe, thunk, graph, true, out);
                }
            }
            HeapEvent::Calls(pe, call, graph) => {
                if self.members.is_lost(pe) {
                    heap.on_call_lost(call, pe);
                } else {
                    self.calls.begin(pe, call);
                    out.push((pe, Message::Call { call, graph }));
                }
            }
            HeapEvent::Returns(pe, call, graph) => out.push((pe, Message::Returned { call, graph })),
            HeapEvent::Cancels(call) => {
                out.extend(self.calls.place(call).map(|pe| (pe, Message::Cancel(call))));
            }
        }
    }

    /// Sends what is due, and looks for silent PEs.
    pub fn tick(&mut self, heap: &mut H, now: Micros, out: &mut Outbox<H::Graph>) {
        let events = self.members.tick(now, out);
        self.on_events(heap, events);
    }

    /// `rpp` says that a peer does not answer, or the launcher that it is gone.
    pub fn on_silent_peer(&mut self, heap: &mut H, pe: Pe, now: Micros, out: &mut Outbox<H::Graph>) {
        if self.me != COORDINATOR && !self.members.is_lost(pe) {
            out.push((COORDINATOR, Message::Suspect(pe)));
        }
        let events = self.members.on_suspect(pe, now, out);
        self.on_events(heap, events);
    }

    /// The PE has nothing to run. When to try again, if not when the next message comes.
    pub fn on_idle(&mut self, now: Micros, out: &mut Outbox<H::Graph>) -> Option<Micros> {
        if !self.members.is_running() {
            return None;
        }
        match self.steal.seek(now) {
            Next::Ask(victim) => {
                out.push((victim, Message::Steal));
                None
            }
            Next::Sleep { until } => Some(until),
            Next::Asked | Next::Alone => None,
        }
    }

    /// A full collection has found references to these blocks of others only.
    pub fn on_collected(&mut self, heap: &mut H, is_reached: impl Fn(Block) -> bool, out: &mut Outbox<H::Graph>) {
        let mut by_owner: BTreeMap<Pe, Vec<Credit>> = BTreeMap::new();
        for credit in self.held.release_unreached(is_reached) {
            heap.drop_block(credit.block);
            by_owner.entry(heap.owner_of_block(credit.block)).or_default().push(credit);
        }
        by_owner.retain(|&pe, _| !self.members.is_lost(pe));
        out.extend(by_owner.into_iter().map(|(pe, credits)| (pe, Message::ReturnCredits(credits))));
    }
}
