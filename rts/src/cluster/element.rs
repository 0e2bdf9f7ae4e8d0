//! The protocols of one PE put together: what each message does to them, and to the heap behind [`Heap`].
//!
//! *Order of handling*: the runtime handles one message at a time, each as one step that holds the protocols' lock and
//! neither blocks nor evaluates. What the heap has to tell in return ([`HeapEvent`]) is a step of its own.
//!
//! *Loss of a PE* is such a step, too ([`Element::on_lost`]). It ends, in this order: waits for its objects, its waits
//! for ours, loans to it (which are evaluated here), loans from it (which are killed), calls to it, calls from it
//! (whose threads are killed), a steal under way, and what is held of its blocks. Weights that it has held are missing
//! from then on, so a global collection is due.
//!
//! *Checked by*: `rts/tests/simulation`.
use super::calls::Calls;
use super::credit::{Given, Held};
use super::fetch::{Fetches, Readers};
use super::ids::{Address, Block, Call, Micros, Pe, Thread, COORDINATOR};
use super::loan::{Debt, Debts, Loans, Recall};
use super::members::{Event, Members, Outbox};
use super::message::{Message, Reason, Unavailable};
use super::steal::{Next, Steal};
use super::waiting::Waiting;

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
    /// Takes the oldest spark that is still to be evaluated and may travel, to be lent for this reason.
    fn take_spark(&mut self) -> Option<(Address, Reason)>;
    fn give_back_spark(&mut self, thunk: Address);
    /// An own object that another PE needs: if it is a thunk that may travel, and this PE is busy, that is to be lent.
    fn take_wanted(&mut self, address: Address) -> Option<Address>;
    /// The blocks that a thunk refers to, each once.
    fn blocks_of_thunk(&self, thunk: Address) -> Vec<Block>;
    /// The blocks that a graph has objects of or refers to, each once.
    fn blocks(&self, graph: &Self::Graph) -> Vec<Block>;
    /// Claims a thunk for the network, and packs its words. `None` if a thread was faster.
    fn claim(&mut self, thunk: Address) -> Option<Self::Graph>;
    /// Gives a claimed thunk its words again, and makes a thread that evaluates it.
    fn evaluate_clone(&mut self, thunk: Address, clone: Self::Graph);
    /// Makes a thunk of words that came from another PE, and a thread that evaluates it: at once, or if it was placed
    /// here, when there is nothing else to run, or leniently.
    fn evaluate_borrowed(&mut self, graph: Self::Graph, reason: Reason) -> Address;
    /// A thread of the lender's waits for a borrowed thunk: it is not to be evaluated leniently any more.
    fn demand(&mut self, thunk: Address);
    /// Kills the thread that evaluates a borrowed thunk, if it has not ended.
    fn kill(&mut self, thunk: Address);

    fn look(&self, address: Address) -> Object<Self::Graph>;
    /// Makes a thread that evaluates an own object for others.
    fn serve(&mut self, address: Address);
    /// Updates a claimed thunk with the value that another PE has found.
    fn update(&mut self, thunk: Address, value: Self::Graph);
    /// Makes an object of another PE present.
    fn install(&mut self, address: Address, value: Self::Graph);
    /// Gives an absent object the value of an own thunk.
    fn fill(&mut self, address: Address, thunk: Address);
    /// Drops what is cached of another PE's block.
    fn drop_block(&mut self, block: Block);
    /// Does the value of a lent thunk, which has just been updated, refer to nothing that is absent here? If so, its
    /// clone is dropped.
    fn is_complete(&self, thunk: Address, value: &Self::Graph) -> bool;
    /// Lent thunks whose values refer to nothing any more that is absent here.
    fn take_complete(&mut self) -> Vec<Address>;
    /// A part of another PE's may not leave it, or is lost. If the value of a lent thunk has this part, the part
    /// becomes a thunk that evaluates the clone and is the same part of that. False if none has.
    fn recover<'a>(&mut self, part: Address, lent: impl Iterator<Item = (Address, &'a Self::Graph)>) -> bool
    where
        Self::Graph: 'a;
    fn wake(&mut self, thread: Thread);
    /// Raises an exception in a thread that waits for an absent object.
    fn raise(&mut self, thread: Thread, why: &Unavailable);

    /// Makes a thread that performs an action of another PE.
    fn perform(&mut self, caller: Pe, call: Call, action: Self::Graph);
    /// An action has ended elsewhere, with this value or exception.
    fn on_returned(&mut self, call: Call, result: Self::Graph);
    fn on_call_lost(&mut self, call: Call, pe: Pe);
    /// Throws to the threads that perform actions of a lost PE.
    fn cancel_all(&mut self, caller: Pe);
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
    /// The lenient evaluation of a borrowed thunk was frozen.
    Stopped(Address),
    /// A thread waits for a thunk that was lent for lenient evaluation.
    Demanded(Address),
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

/// Sparks that are examined for a thief, of which none can be passed on: then weights have been asked for.
const MAX_KEPT: usize = 16;

pub struct Element<H: Heap> {
    pub(super) me: Pe,
    pub members: Members,
    pub steal: Steal,
    pub loans: Loans<H::Graph>,
    pub debts: Debts,
    pub fetches: Fetches,
    pub readers: Readers,
    pub calls: Calls,
    pub given: Given,
    pub held: Held,
    pub(super) waiting: Waiting<H::Graph>,
}

impl<H: Heap> Element<H> {
    pub fn new(me: Pe, members: Members, steal: Steal, given: Given) -> Element<H> {
        let (loans, debts) = (Loans::new(), Debts::new());
        let (fetches, readers) = (Fetches::new(), Readers::new());
        let (calls, held, waiting) = (Calls::default(), Held::new(), Waiting::new());
        Element { me, members, steal, loans, debts, fetches, readers, calls, given, held, waiting }
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
        // What a graph refers to is held from now on, also if it is not wanted any more.
        message.parcel().into_iter().flat_map(|parcel| &parcel.credits).for_each(|&credit| self.held.add(credit));
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
            Message::Lend { loan, reason, parcel } => {
                if matches!(reason, Reason::Stolen | Reason::Lenient(_)) {
                    self.steal.on_lent(from);
                }
                let thunk = heap.evaluate_borrowed(parcel.graph, reason);
                let wanted = if let Reason::Wanted(address) = reason { Some(address) } else { None };
                self.debts.begin(thunk, Debt { lender: from, loan, wanted });
            }
            Message::Result { loan, parcel } => {
                if let Some(Recall { thunk, clone }) = self.loans.on_result(from, loan) {
                    heap.update(thunk, parcel.graph.clone());
                    if !heap.is_complete(thunk, &parcel.graph) {
                        self.loans.keep(thunk, clone);
                    }
                    self.on_evaluated(heap, thunk, parcel.graph, out);
                }
            }
            Message::Failed { loan } => {
                if let Some(Recall { thunk, clone }) = self.loans.on_failed(from, loan) {
                    heap.evaluate_clone(thunk, clone);
                }
            }
            Message::Demand { loan } => self.debts.thunk(from, loan).into_iter().for_each(|thunk| heap.demand(thunk)),
            Message::Fetch(address) => self.on_fetch(heap, from, address, out),
            Message::Value { address, parcel } => {
                if self.held.holds(heap.block(address)) {
                    heap.install(address, parcel.graph);
                }
                self.fetches.on_answer(address).into_iter().for_each(|thread| heap.wake(thread));
            }
            Message::Unavailable { address, why } => {
                let threads = self.fetches.on_answer(address);
                self.on_unavailable(heap, address, threads, &why);
            }
            Message::Call { call, parcel } => heap.perform(from, call, parcel.graph),
            Message::Returned { call, parcel } => {
                if self.calls.end(from, call) {
                    heap.on_returned(call, parcel.graph);
                }
            }
            Message::Cancel(call) => heap.cancel(from, call),
            Message::MoreCredit(block) => out.push((from, Message::Credit(self.given.give(block)))),
            Message::Credit(credit) => self.on_credit(heap, credit, out),
            Message::ReturnCredits(credits) => {
                credits.into_iter().for_each(|credit| {
                    self.given.on_returned(credit);
                });
            }
            Message::Ping(ping) => out.push((from, Message::Pong(ping))),
            Message::Pong(ping) => heap.on_pong(ping.number),
            // These concern none of these protocols.
            Message::Cycle(..) | Message::AskCounts | Message::Counts(_) => {}
            Message::AskClock | Message::Clock { .. } => {}
            Message::Events(_) | Message::EndEvents | Message::EventsEnded => {}
        }
        heap.take_complete().into_iter().for_each(|thunk| self.loans.drop_clone(thunk));
    }

    /// An absent object will not come. If it is part of a result, it is evaluated here; if not, those who wait fail.
    fn on_unavailable(&mut self, heap: &mut H, address: Address, threads: Vec<Thread>, why: &Unavailable) {
        let is_recovered = heap.recover(address, self.loans.partial());
        for thread in threads {
            if is_recovered {
                heap.wake(thread);
            } else {
                heap.raise(thread, why);
            }
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
        for (address, threads) in self.fetches.on_lost(|address| heap.owner(address) == pe) {
            self.on_unavailable(heap, address, threads, &Unavailable::PeLost);
        }
        self.readers.on_lost(pe);
        for Recall { thunk, clone } in self.loans.on_lost(pe) {
            heap.evaluate_clone(thunk, clone);
        }
        self.debts.on_lost(pe).into_iter().for_each(|thunk| heap.kill(thunk));
        self.calls.on_lost(pe).into_iter().for_each(|call| heap.on_call_lost(call, pe));
        heap.cancel_all(pe);
        self.steal.on_lost(pe);
        self.waiting.on_lost(pe);
        self.held.on_lost(|block| heap.owner_of_block(block) == pe);
    }

    /// Lends the oldest spark whose references can all be passed on.
    fn on_steal(&mut self, heap: &mut H, thief: Pe, out: &mut Outbox<H::Graph>) {
        let mut kept = vec![];
        let spark = loop {
            let next = if kept.len() < MAX_KEPT { heap.take_spark() } else { None };
            let Some((thunk, reason)) = next else { break None };
            if !self.can_pass_on(heap, &heap.blocks_of_thunk(thunk), thief, out) {
                kept.push(thunk);
            } else if let Some(graph) = heap.claim(thunk) {
                break Some((thunk, graph, reason));
            }
        };
        kept.into_iter().rev().for_each(|thunk| heap.give_back_spark(thunk));
        let Some((thunk, graph, reason)) = spark else {
            out.push((thief, Message::NothingToSteal));
            return;
        };
        self.lend(heap, thief, thunk, graph, reason, out);
    }

    /// Lends a thunk that has been claimed.
    fn lend(
        &mut self,
        heap: &mut H,
        to: Pe,
        thunk: Address,
        graph: H::Graph,
        reason: Reason,
        out: &mut Outbox<H::Graph>,
    ) {
        let loan = self.loans.lend(to, thunk, graph.clone());
        self.pass_on(heap, to, Message::Lend { loan, reason, parcel: graph.into() }, out);
    }

    fn on_fetch(&mut self, heap: &mut H, from: Pe, address: Address, out: &mut Outbox<H::Graph>) {
        match heap.look(address) {
            Object::Evaluated(graph) => {
                self.pass_on(heap, from, Message::Value { address, parcel: graph.into() }, out);
            }
            Object::Unevaluated => {
                // If others wait already, it is being evaluated for them.
                let is_served = self.readers.has_readers(address);
                if !is_served && self.lend_wanted(heap, from, address, out) {
                    return;
                }
                self.readers.note(address, from);
                if !is_served {
                    heap.serve(address);
                }
            }
            Object::Claimed => {
                self.readers.note(address, from);
                self.demand(heap, address, out);
            }
            Object::Stays(why) => {
                out.push((from, Message::Unavailable { address, why: Unavailable::Stays(why) }));
            }
        }
    }

    /// Lends a thunk to a PE that needs its value. False if it is to be evaluated here.
    fn lend_wanted(&mut self, heap: &mut H, to: Pe, address: Address, out: &mut Outbox<H::Graph>) -> bool {
        let Some(thunk) = heap.take_wanted(address) else { return false };
        let graph =
            if self.can_pass_on(heap, &heap.blocks_of_thunk(thunk), to, out) { heap.claim(thunk) } else { None };
        if let Some(graph) = graph {
            self.lend(heap, to, thunk, graph, Reason::Wanted(address), out);
            return true;
        }
        false
    }

    fn on_evaluated(&mut self, heap: &mut H, address: Address, graph: H::Graph, out: &mut Outbox<H::Graph>) {
        if let Some(debt) = self.debts.end(address) {
            if let Some(wanted) = debt.wanted {
                heap.fill(wanted, address);
                self.fetches.on_answer(wanted).into_iter().for_each(|thread| heap.wake(thread));
            }
            let result = Message::Result { loan: debt.loan, parcel: graph.clone().into() };
            self.pass_on(heap, debt.lender, result, out);
        }
        for reader in self.readers.take(address) {
            self.pass_on(heap, reader, Message::Value { address, parcel: graph.clone().into() }, out);
        }
    }

    /// The value of a thunk is needed, which may have been lent for lenient evaluation.
    fn demand(&mut self, heap: &H, thunk: Address, out: &mut Outbox<H::Graph>) {
        if let Some((borrower, loan)) = self.loans.of(thunk) {
            self.pass_on(heap, borrower, Message::Demand { loan }, out);
        }
    }

    /// A thunk is not evaluated here. If it was borrowed, its lender does so.
    fn fail(&mut self, thunk: Address, out: &mut Outbox<H::Graph>) {
        if let Some(debt) = self.debts.end(thunk) {
            out.push((debt.lender, Message::Failed { loan: debt.loan }));
            // Those here who want it ask again.
            let asks = debt.wanted.filter(|&wanted| self.fetches.is_asked(wanted));
            out.extend(asks.map(|wanted| (debt.lender, Message::Fetch(wanted))));
        }
    }

    pub fn on_heap_event(&mut self, heap: &mut H, event: HeapEvent<H::Graph>, out: &mut Outbox<H::Graph>) {
        match event {
            HeapEvent::Wanted(address, thread) => {
                let owner = heap.owner(address);
                if self.members.is_lost(owner) {
                    self.on_unavailable(heap, address, vec![thread], &Unavailable::PeLost);
                } else if self.fetches.want(address, thread) {
                    out.push((owner, Message::Fetch(address)));
                }
            }
            HeapEvent::Evaluated(address, graph) => self.on_evaluated(heap, address, graph, out),
            HeapEvent::Frozen(address) => {
                if self.readers.has_readers(address) {
                    heap.serve(address);
                }
            }
            HeapEvent::GivenUp(address, why) => {
                self.fail(address, out);
                let readers = self.readers.take(address);
                out.extend(readers.into_iter().map(|pe| (pe, Message::Unavailable { address, why: why.clone() })));
            }
            HeapEvent::Stopped(thunk) => self.fail(thunk, out),
            HeapEvent::Demanded(thunk) => self.demand(heap, thunk, out),
            HeapEvent::Withdrawn(thread) => self.fetches.withdraw(thread),
            HeapEvent::Places(pe, thunk) => {
                if self.members.is_lost(pe) || !self.can_pass_on(heap, &heap.blocks_of_thunk(thunk), pe, out) {
                    return;
                }
                if let Some(graph) = heap.claim(thunk) {
                    self.lend(heap, pe, thunk, graph, Reason::Placed, out);
                }
            }
            HeapEvent::Calls(pe, call, graph) => {
                if self.members.is_lost(pe) {
                    heap.on_call_lost(call, pe);
                } else {
                    self.calls.begin(pe, call);
                    self.pass_on(heap, pe, Message::Call { call, parcel: graph.into() }, out);
                }
            }
            HeapEvent::Returns(pe, call, graph) => {
                self.pass_on(heap, pe, Message::Returned { call, parcel: graph.into() }, out);
            }
            HeapEvent::Cancels(call) => {
                if let Some(pe) = self.calls.place(call) {
                    self.pass_on(heap, pe, Message::Cancel(call), out);
                }
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
}
