//! What the protocols ask of the model of a heap.
use super::{stays, ModelHeap, Node, State, STAYS_TEXT};
use crate::calls::Outcome;
use crate::cluster::element::{Heap, HeapEvent, Object};
use crate::cluster::ids::{Address, Block, Call, Pe, Thread};
use crate::cluster::message::{Reason, Unavailable};
use crate::graph::{block, blocks, owner, owner_of_block, Graph, SLICE};
use crate::program::Leniently;

impl Heap for ModelHeap {
    type Graph = Graph;

    fn owner(&self, address: Address) -> Pe {
        owner(address)
    }
    fn owner_of_block(&self, block: Block) -> Pe {
        owner_of_block(block)
    }
    fn block(&self, address: Address) -> Block {
        // References in values are not counted yet: where there are some, each slice is a block that is held for ever.
        let is_kept = self.program.partial > 0;
        block(if is_kept { Address(u64::from(owner(address).0) * SLICE) } else { address })
    }

    fn take_spark(&mut self) -> Option<(Address, Reason)> {
        while let Some(spark) = self.sparks.pop_front() {
            if self.node(spark).may_travel() {
                return Some((spark, self.program.reason_to_lend(self.node(spark).task)));
            }
        }
        None
    }
    fn take_wanted(&mut self, address: Address) -> Option<Address> {
        let node = self.node(address);
        // Some PEs are busy when they are asked.
        (node.may_travel() && self.program.is_lent_when_wanted(node.task)).then_some(address)
    }
    fn give_back_spark(&mut self, thunk: Address) {
        self.sparks.push_front(thunk);
    }
    fn blocks_of_thunk(&self, thunk: Address) -> Vec<Block> {
        blocks(&self.node(thunk).references)
    }
    fn blocks(&self, graph: &Graph) -> Vec<Block> {
        match graph {
            Graph::Thunk(_, references) => blocks(references),
            Graph::Value(_) | Graph::Ended(_) => vec![],
        }
    }
    fn claim(&mut self, thunk: Address) -> Option<Graph> {
        let node = self.node_mut(thunk);
        assert!(node.may_travel(), "{thunk:?} is claimed twice, or has been begun");
        node.state = State::Claimed;
        Some(Graph::Thunk(node.task, node.references.clone()))
    }
    fn evaluate_clone(&mut self, thunk: Address, clone: Graph) {
        let node = self.node_mut(thunk);
        assert!(node.state == State::Claimed && clone == Graph::Thunk(node.task, node.references.clone()));
        node.state = State::Unevaluated;
        self.wake_waiters(thunk);
        self.new_thread(thunk);
    }
    fn evaluate_borrowed(&mut self, graph: Graph, reason: Reason) -> Address {
        let Graph::Thunk(task, references) = graph else { panic!("a value is lent") };
        let thunk = self.allocate(task, references);
        let is_lenient = matches!(reason, Reason::Lenient(_));
        match (self.program.lenient_evaluation(task), &mut self.lenient) {
            (Leniently::Waits, Some(waiting)) if is_lenient => waiting.push(thunk),
            (Leniently::Frozen, _) if is_lenient => {
                self.frozen += 1;
                self.events.push(HeapEvent::Stopped(thunk));
            }
            _ => {
                self.new_thread(thunk);
            }
        }
        thunk
    }
    fn demand(&mut self, thunk: Address) {
        let node = self.node(thunk);
        if node.state == State::Unevaluated && self.program.lenient_evaluation(node.task) == Leniently::Waits {
            self.new_thread(thunk);
        }
    }
    fn kill(&mut self, thunk: Address) {
        let thread = self.threads.iter().find(|(_, t)| t.root == thunk).map(|(&thread, _)| thread);
        thread.into_iter().for_each(|thread| self.unwind(thread, HeapEvent::Frozen));
    }

    fn look(&self, address: Address) -> Object<Graph> {
        match self.node(address).state {
            State::Value(_) if self.program.stays(self.node(address).task) => Object::Stays(STAYS_TEXT.to_owned()),
            State::Value(value) => Object::Evaluated(Graph::Value(value)),
            State::Unevaluated => Object::Unevaluated,
            State::Claimed => Object::Claimed,
        }
    }
    fn serve(&mut self, address: Address) {
        self.new_thread(address);
    }
    fn update(&mut self, thunk: Address, value: Graph) {
        let Graph::Value(value) = value else { panic!("a result is no value") };
        assert!(!self.program.stays(self.node(thunk).task), "the value of {thunk:?} has left a PE");
        self.set_value(thunk, value);
    }
    fn install(&mut self, address: Address, value: Graph) {
        let Graph::Value(value) = value else { panic!("an answer is no value") };
        let known = self.cache.insert(address, value);
        assert!(known.is_none_or(|known| known == value), "{address:?} has two values");
        if self.program.partial > 0 {
            let has_part = |node: &Node| matches!(node.state, State::Value(v) if v.part == Some(address));
            self.complete.extend(self.nodes.iter().filter(|(_, node)| has_part(node)).map(|(&thunk, _)| thunk));
        }
    }
    fn take_complete(&mut self) -> Vec<Address> {
        std::mem::take(&mut self.complete)
    }
    fn fill(&mut self, address: Address, thunk: Address) {
        let State::Value(value) = self.node(thunk).state else { panic!("{thunk:?} has no value") };
        let known = self.cache.insert(address, value);
        assert!(known.is_none_or(|known| known == value), "{address:?} has two values");
    }
    fn drop_block(&mut self, dropped: Block) {
        self.cache.retain(|&address, _| block(address) != dropped);
    }
    fn wake(&mut self, thread: Thread) {
        self.runnable.push_back(thread);
    }
    fn is_complete(&self, _thunk: Address, value: &Graph) -> bool {
        matches!(value, Graph::Value(value) if value.part.is_none())
    }
    fn recover<'a>(&mut self, part: Address, lent: impl Iterator<Item = (Address, &'a Graph)>) -> bool {
        let has_part = |thunk: Address| matches!(self.node(thunk).state, State::Value(v) if v.part == Some(part));
        let clone = lent.filter(|(thunk, _)| has_part(*thunk)).map(|(_, clone)| clone.clone()).next();
        let Some(Graph::Thunk(task, references)) = clone else { return false };
        let clone = self.allocate(task, references);
        self.recovered.insert(part, clone);
        true
    }
    fn raise(&mut self, thread: Thread, why: &Unavailable) {
        assert!(*why == Unavailable::PeLost || *why == stays() && self.program.staying > 0, "{why:?} is raised");
        let Some(evaluator) = self.threads.get(&thread) else { return };
        let is_program = Some(evaluator.root) == self.main || self.calls.is_guest(thread);
        assert!(!is_program, "the program fails with {why:?}, and would not on one PE");
        self.met_staying += u64::from(*why == stays());
        self.unwind(thread, |thunk| HeapEvent::GivenUp(thunk, why.clone()));
    }
    fn perform(&mut self, caller: Pe, call: Call, action: Graph) {
        let Graph::Thunk(task, references) = action else { panic!("an action is no thunk") };
        let root = self.allocate(task, references);
        let guest = self.new_thread(root);
        self.calls.begin(guest, caller, call);
    }
    fn on_returned(&mut self, call: Call, result: Graph) {
        let outcome = match result {
            Graph::Value(value) => Outcome::Value(value.number),
            Graph::Ended(outcome) => outcome,
            Graph::Thunk(..) => panic!("a result is no value"),
        };
        self.calls.close(call, outcome);
    }
    fn on_call_lost(&mut self, call: Call, _pe: Pe) {
        self.calls.close(call, Outcome::Lost);
    }
    fn cancel_all(&mut self, caller: Pe) {
        self.calls.of(caller).into_iter().for_each(|call| self.cancel(caller, call));
    }
    fn cancel(&mut self, caller: Pe, call: Call) {
        let Some(guest) = self.calls.guest(caller, call) else { return };
        self.calls.end(guest);
        self.unwind(guest, HeapEvent::Frozen);
        self.events.push(HeapEvent::Returns(caller, call, Graph::Ended(Outcome::Cancelled)));
    }
    fn on_pong(&mut self, _number: u64) {
        unreachable!("no simulated PE sends pings")
    }
}
