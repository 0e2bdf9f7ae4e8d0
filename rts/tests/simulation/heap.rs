//! A model of a PE's heap and threads: thunks are tasks, values are numbers.
use crate::cluster::element::{Heap, HeapEvent, Object};
use crate::cluster::ids::{Address, Block, Call, Pe, Thread};
use crate::cluster::message::Unavailable;
use crate::cluster::wire::{put_number, Payload, Reader};
use crate::program::{Program, Reference, Task};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Objects of a block. Few, so that blocks become free.
const BLOCK_OBJECTS: u64 = 8;
const SLICE: u64 = 1 << 40;

pub fn owner(address: Address) -> Pe {
    Pe((address.0 / SLICE) as u16)
}

pub fn owner_of_block(block: Block) -> Pe {
    owner(Address(block.0 * BLOCK_OBJECTS))
}

pub fn block(address: Address) -> Block {
    Block(address.0 / BLOCK_OBJECTS)
}

#[derive(Clone, Debug, PartialEq)]
pub enum Graph {
    Thunk(Task, Vec<Address>),
    Value(u64),
}

impl Payload for Graph {
    fn write(&self, to: &mut Vec<u8>) {
        match self {
            Graph::Value(value) => [0, *value].into_iter().for_each(|number| put_number(to, number)),
            Graph::Thunk(task, references) => {
                [1, task.id, task.depth.into(), references.len() as u64].into_iter().for_each(|n| put_number(to, n));
                references.iter().for_each(|address| put_number(to, address.0));
            }
        }
    }

    fn read(from: &mut Reader) -> Option<Graph> {
        if from.number()? == 0 {
            return from.number().map(Graph::Value);
        }
        let task = Task { id: from.number()?, depth: from.number()?.try_into().ok()? };
        Some(Graph::Thunk(task, from.list(|from| from.number().map(Address))?))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Unevaluated,
    Claimed,
    Value(u64),
}

struct Node {
    task: Task,
    references: Vec<Address>,
    state: State,
    waiters: Vec<Thread>,
}

/// An evaluation under way.
struct Frame {
    thunk: Address,
    /// What its value is made of, and how much of that is known.
    demands: Vec<Address>,
    values: Vec<u64>,
}

/// A thread that evaluates `root`. It is about to enter `entering`, or goes on with its last frame.
struct Evaluator {
    root: Address,
    frames: Vec<Frame>,
    entering: Option<Address>,
}

/// What a thread's step came to.
pub enum Step {
    Works(u64),
    Blocked,
    Finished,
}

pub struct ModelHeap {
    me: Pe,
    program: Program,
    nodes: BTreeMap<Address, Node>,
    cache: BTreeMap<Address, u64>,
    threads: BTreeMap<Thread, Evaluator>,
    runnable: VecDeque<Thread>,
    sparks: VecDeque<Address>,
    last_address: u64,
    last_thread: u64,
    pub events: Vec<HeapEvent<Graph>>,
    /// Tasks whose evaluation has ended here.
    pub evaluated: Vec<Task>,
    pub lost_in: Vec<Thread>,
}

impl ModelHeap {
    pub fn new(me: Pe, program: Program) -> ModelHeap {
        ModelHeap {
            me,
            program,
            nodes: BTreeMap::new(),
            cache: BTreeMap::new(),
            threads: BTreeMap::new(),
            runnable: VecDeque::new(),
            sparks: VecDeque::new(),
            last_address: u64::from(me.0) * SLICE,
            last_thread: 0,
            events: vec![],
            evaluated: vec![],
            lost_in: vec![],
        }
    }

    fn node(&self, address: Address) -> &Node {
        self.nodes.get(&address).unwrap_or_else(|| panic!("{address:?} was freed, and is used"))
    }

    fn node_mut(&mut self, address: Address) -> &mut Node {
        self.nodes.get_mut(&address).unwrap_or_else(|| panic!("{address:?} was freed, and is used"))
    }

    pub fn has(&self, address: Address) -> bool {
        self.nodes.contains_key(&address)
    }

    pub fn allocate(&mut self, task: Task, references: Vec<Address>) -> Address {
        self.last_address += 1;
        let address = Address(self.last_address);
        self.nodes.insert(address, Node { task, references, state: State::Unevaluated, waiters: vec![] });
        address
    }

    pub fn new_thread(&mut self, root: Address) -> Thread {
        self.last_thread += 1;
        let thread = Thread(self.last_thread);
        self.threads.insert(thread, Evaluator { root, frames: vec![], entering: Some(root) });
        self.runnable.push_back(thread);
        thread
    }

    /// The next thread to run: one that is there, or a new one for the newest spark.
    pub fn next_thread(&mut self) -> Option<Thread> {
        while let Some(thread) = self.runnable.pop_front() {
            if self.threads.contains_key(&thread) {
                return Some(thread);
            }
        }
        while let Some(spark) = self.sparks.pop_back() {
            if self.node(spark).state == State::Unevaluated {
                self.new_thread(spark);
                return self.runnable.pop_front();
            }
        }
        None
    }

    pub fn has_threads(&self) -> bool {
        !self.threads.is_empty()
    }

    /// Runs a thread until it takes time, waits, or ends.
    pub fn step(&mut self, thread: Thread) -> Step {
        // A thread may be killed while it works.
        let Some(mut evaluator) = self.threads.remove(&thread) else { return Step::Finished };
        let step = loop {
            let Some(address) = evaluator.entering else {
                let frame = evaluator.frames.last().expect("a thread that evaluates");
                match frame.demands.get(frame.values.len()) {
                    Some(&address) => evaluator.entering = Some(address),
                    None => {
                        let frame = evaluator.frames.pop().expect("the last one");
                        self.finish(&frame);
                        evaluator.entering = Some(frame.thunk);
                    }
                }
                continue;
            };
            let value = if owner(address) == self.me {
                match self.node(address).state {
                    State::Value(value) => value,
                    State::Claimed => {
                        self.node_mut(address).waiters.push(thread);
                        break Step::Blocked;
                    }
                    State::Unevaluated => {
                        let demands = self.begin(address);
                        evaluator.frames.push(Frame { thunk: address, demands, values: vec![] });
                        evaluator.entering = None;
                        break Step::Works(self.program.work(self.node(address).task));
                    }
                }
            } else if let Some(&value) = self.cache.get(&address) {
                value
            } else {
                self.events.push(HeapEvent::Wanted(address, thread));
                break Step::Blocked;
            };
            evaluator.entering = None;
            match evaluator.frames.last_mut() {
                Some(frame) => frame.values.push(value),
                None => return Step::Finished,
            }
        };
        self.threads.insert(thread, evaluator);
        step
    }

    /// Claims a thunk, makes and sparks the children of its task, and says what its value is made of.
    fn begin(&mut self, thunk: Address) -> Vec<Address> {
        let node = self.node_mut(thunk);
        node.state = State::Claimed;
        let (task, references) = (node.task, node.references.clone());
        let mut children: Vec<Address> = vec![];
        for (child, chosen) in self.program.children(task, references.len()) {
            let of = |reference: &Reference| match *reference {
                Reference::OfParent(n) => references[n],
                Reference::Sibling(n) => children[n],
            };
            let chosen = chosen.iter().map(of).collect();
            children.push(self.allocate(child, chosen));
        }
        self.sparks.extend(&children);
        self.program.demands(task, &references, &children)
    }

    fn finish(&mut self, frame: &Frame) {
        let task = self.node(frame.thunk).task;
        let value = self.program.value(task, &frame.values);
        self.evaluated.push(task);
        self.set_value(frame.thunk, value);
        self.events.push(HeapEvent::Evaluated(frame.thunk, Graph::Value(value)));
    }

    fn set_value(&mut self, thunk: Address, value: u64) {
        let node = self.node_mut(thunk);
        assert!(node.state == State::Claimed, "{thunk:?} is updated twice, or without a claim");
        node.state = State::Value(value);
        node.references.clear();
        self.wake_waiters(thunk);
    }

    fn wake_waiters(&mut self, thunk: Address) {
        let waiters = std::mem::take(&mut self.node_mut(thunk).waiters);
        self.runnable.extend(waiters);
    }

    pub fn value(&self, address: Address) -> Option<u64> {
        match self.node(address).state {
            State::Value(value) => Some(value),
            _ => None,
        }
    }

    /// Ends a thread: its thunks are unevaluated again.
    fn unwind(&mut self, thread: Thread, event: fn(Address) -> HeapEvent<Graph>) {
        let Some(evaluator) = self.threads.remove(&thread) else { return };
        self.events.push(HeapEvent::Withdrawn(thread));
        self.nodes.values_mut().for_each(|node| node.waiters.retain(|t| *t != thread));
        for frame in evaluator.frames {
            self.node_mut(frame.thunk).state = State::Unevaluated;
            self.wake_waiters(frame.thunk);
            self.events.push(event(frame.thunk));
        }
    }

    /// A full collection. What else is a root is given: addresses, and blocks that others refer to. The answer is what
    /// blocks of others have been reached.
    pub fn collect(&mut self, roots: Vec<Address>, is_referenced: impl Fn(Block) -> bool) -> BTreeSet<Block> {
        let mut work = roots;
        work.extend(self.nodes.keys().filter(|&&address| is_referenced(block(address))));
        for evaluator in self.threads.values() {
            work.extend(evaluator.entering.iter().chain([&evaluator.root]));
            work.extend(evaluator.frames.iter().flat_map(|f| f.demands.iter().chain([&f.thunk])));
        }
        let (mut marked, mut reached) = (BTreeSet::new(), BTreeSet::new());
        while let Some(address) = work.pop() {
            if owner(address) != self.me {
                reached.insert(block(address));
            } else if marked.insert(address) {
                work.extend(&self.node(address).references);
            }
        }
        self.nodes.retain(|address, _| marked.contains(address));
        self.sparks.retain(|address| marked.contains(address));
        reached
    }

    /// All references of all objects and threads.
    pub fn all_references(&self) -> impl Iterator<Item = Address> + '_ {
        let of_threads = self.threads.values().flat_map(|t| t.frames.iter().flat_map(|f| &f.demands));
        self.nodes.values().flat_map(|n| &n.references).chain(of_threads).copied()
    }

    pub fn number_of_objects(&self) -> usize {
        self.nodes.len()
    }

    pub fn cached_blocks(&self) -> impl Iterator<Item = Block> + '_ {
        self.cache.keys().map(|&address| block(address))
    }
}

impl Heap for ModelHeap {
    type Graph = Graph;

    fn owner(&self, address: Address) -> Pe {
        owner(address)
    }
    fn owner_of_block(&self, block: Block) -> Pe {
        owner_of_block(block)
    }
    fn block(&self, address: Address) -> Block {
        block(address)
    }

    fn take_spark(&mut self) -> Option<Address> {
        while let Some(spark) = self.sparks.pop_front() {
            if self.node(spark).state == State::Unevaluated {
                return Some(spark);
            }
        }
        None
    }
    fn give_back_spark(&mut self, thunk: Address) {
        self.sparks.push_front(thunk);
    }
    fn references(&self, thunk: Address) -> Vec<Address> {
        self.node(thunk).references.clone()
    }
    fn claim(&mut self, thunk: Address) -> Option<Graph> {
        let node = self.node_mut(thunk);
        assert!(node.state == State::Unevaluated, "{thunk:?} is claimed twice");
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
    fn evaluate_borrowed(&mut self, graph: Graph) -> Address {
        let Graph::Thunk(task, references) = graph else { panic!("a value is lent") };
        let thunk = self.allocate(task, references);
        self.new_thread(thunk);
        thunk
    }
    fn kill(&mut self, thunk: Address) {
        let thread = self.threads.iter().find(|(_, t)| t.root == thunk).map(|(&thread, _)| thread);
        thread.into_iter().for_each(|thread| self.unwind(thread, HeapEvent::Frozen));
    }

    fn look(&self, address: Address) -> Object<Graph> {
        match self.node(address).state {
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
        self.set_value(thunk, value);
    }
    fn install(&mut self, address: Address, value: Graph) {
        let Graph::Value(value) = value else { panic!("an answer is no value") };
        let known = self.cache.insert(address, value);
        assert!(known.is_none_or(|known| known == value), "{address:?} has two values");
    }
    fn drop_block(&mut self, dropped: Block) {
        self.cache.retain(|&address, _| block(address) != dropped);
    }
    fn wake(&mut self, thread: Thread) {
        self.runnable.push_back(thread);
    }
    fn raise(&mut self, thread: Thread, why: &Unavailable) {
        assert_eq!(*why, Unavailable::PeLost);
        if self.threads.contains_key(&thread) {
            self.lost_in.push(thread);
        }
        self.unwind(thread, |thunk| HeapEvent::GivenUp(thunk, Unavailable::PeLost));
    }
    fn perform(&mut self, _caller: Pe, _call: Call, _action: Graph) {
        unreachable!("no simulated PE calls another")
    }
    fn on_returned(&mut self, _call: Call, _result: Graph) {
        unreachable!("no simulated PE calls another")
    }
    fn on_call_lost(&mut self, _call: Call, _pe: Pe) {
        unreachable!("no simulated PE calls another")
    }
    fn cancel(&mut self, _caller: Pe, _call: Call) {
        unreachable!("no simulated PE calls another")
    }
    fn on_pong(&mut self, _number: u64) {
        unreachable!("no simulated PE sends pings")
    }
}
