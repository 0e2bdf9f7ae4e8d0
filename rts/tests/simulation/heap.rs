//! A model of a PE's heap and threads: thunks are tasks, values are numbers.
//!
//! [`requests`] has what the protocols ask of it.
mod requests;

use crate::calls::{Calls, Outcome};
use crate::cluster::element::{Heap, HeapEvent};
use crate::cluster::ids::{Address, Block, Pe, Thread};
use crate::cluster::message::Unavailable;
use crate::graph::{block, owner, Graph, Value, SLICE};
use crate::program::{Program, Reference, Task};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const STAYS_TEXT: &str = "Value";

fn stays() -> Unavailable {
    Unavailable::Stays(STAYS_TEXT.to_owned())
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Unevaluated,
    Claimed,
    Value(Value),
}

struct Node {
    task: Task,
    references: Vec<Address>,
    state: State,
    /// What was done for it before its evaluation was given up.
    frozen: Option<Frame>,
    waiters: Vec<Thread>,
}

impl Node {
    /// Itself and its references may go to another PE.
    fn may_travel(&self) -> bool {
        self.state == State::Unevaluated && self.frozen.is_none()
    }

    fn all_references(&self) -> impl Iterator<Item = &Address> + '_ {
        self.references.iter().chain(self.frozen.iter().flat_map(|frame| &frame.demands))
    }
}

/// An evaluation under way.
struct Frame {
    thunk: Address,
    /// What its value is made of, and how much of that is known.
    demands: Vec<Address>,
    values: Vec<u64>,
    /// What its value will refer to.
    part: Option<Address>,
    entered: Entered,
}

/// What a frame waits for.
enum Entered {
    Demand,
    /// The part of a demand with this number.
    Part(u64),
    /// The same, and first the clone that has the part.
    CloneOfPart(u64),
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
    pes: u16,
    program: Program,
    nodes: BTreeMap<Address, Node>,
    /// What `main` of this PE evaluates, if it has one.
    main: Option<Address>,
    cache: BTreeMap<Address, Value>,
    /// Parts that stay where they are, and the clones that have them, too.
    recovered: BTreeMap<Address, Address>,
    /// Thunks whose values have parts that have come.
    complete: Vec<Address>,
    threads: BTreeMap<Thread, Evaluator>,
    runnable: VecDeque<Thread>,
    sparks: VecDeque<Address>,
    last_address: u64,
    last_thread: u64,
    pub events: Vec<HeapEvent<Graph>>,
    /// Thunks to be evaluated leniently, when they are needed or `main` has its value. `None` from then on.
    lenient: Option<Vec<Address>>,
    /// Tasks whose evaluation has ended here.
    pub evaluated: Vec<Task>,
    pub calls: Calls,
    /// How many threads were told that there is no value, because it stays where it is.
    pub met_staying: u64,
    /// How many lenient evaluations were frozen.
    pub frozen: u64,
}

impl ModelHeap {
    pub fn new(me: Pe, pes: u16, program: Program) -> ModelHeap {
        ModelHeap {
            me,
            pes,
            program,
            nodes: BTreeMap::new(),
            main: None,
            cache: BTreeMap::new(),
            recovered: BTreeMap::new(),
            complete: vec![],
            threads: BTreeMap::new(),
            runnable: VecDeque::new(),
            sparks: VecDeque::new(),
            last_address: u64::from(me.0) * SLICE,
            last_thread: 0,
            events: vec![],
            lenient: Some(vec![]),
            evaluated: vec![],
            calls: Calls::default(),
            met_staying: 0,
            frozen: 0,
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

    fn allocate(&mut self, task: Task, references: Vec<Address>) -> Address {
        self.last_address += 1;
        let address = Address(self.last_address);
        self.nodes.insert(address, Node { task, references, state: State::Unevaluated, frozen: None, waiters: vec![] });
        address
    }

    pub fn run_main(&mut self) -> Address {
        let main = self.allocate(self.program.main(), vec![]);
        self.main = Some(main);
        self.new_thread(main);
        main
    }

    /// `main` has its value: this PE has nothing better to do from now on than to evaluate leniently.
    pub fn end_waiting(&mut self) {
        for thunk in self.lenient.take().into_iter().flatten() {
            if self.nodes.get(&thunk).is_some_and(|node| node.state == State::Unevaluated) {
                self.new_thread(thunk);
            }
        }
    }

    fn new_thread(&mut self, root: Address) -> Thread {
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
                        self.events.push(HeapEvent::Demanded(address));
                        break Step::Blocked;
                    }
                    State::Unevaluated => {
                        evaluator.entering = None;
                        if let Some(frame) = self.thaw(address) {
                            evaluator.frames.push(frame);
                            continue;
                        }
                        let (demands, part) = self.begin(address);
                        let entered = Entered::Demand;
                        evaluator.frames.push(Frame { thunk: address, demands, values: vec![], part, entered });
                        break Step::Works(self.program.work(self.node(address).task));
                    }
                }
            } else if let Some(&value) = self.cache.get(&address) {
                value
            } else if let Some(&clone) = self.recovered.get(&address) {
                match evaluator.frames.last_mut() {
                    Some(Frame { entered: entered @ Entered::Part(_), .. }) => {
                        let Entered::Part(number) = *entered else { unreachable!() };
                        *entered = Entered::CloneOfPart(number);
                    }
                    _ => panic!("a part is entered that is none"),
                }
                evaluator.entering = Some(clone);
                continue;
            } else {
                self.events.push(HeapEvent::Wanted(address, thread));
                break Step::Blocked;
            };
            evaluator.entering = None;
            match evaluator.frames.last_mut() {
                Some(frame) => match frame.entered {
                    Entered::Demand if value.part.is_some() => {
                        frame.entered = Entered::Part(value.number);
                        evaluator.entering = value.part;
                    }
                    Entered::Demand => frame.values.push(value.number),
                    Entered::Part(number) => {
                        frame.entered = Entered::Demand;
                        frame.values.push(Program::with_part(number, value.number));
                    }
                    Entered::CloneOfPart(number) => {
                        frame.entered = Entered::Part(number);
                        evaluator.entering = value.part;
                    }
                },
                None => {
                    self.end_guest(thread, evaluator.root, value);
                    return Step::Finished;
                }
            }
        };
        self.threads.insert(thread, evaluator);
        step
    }

    /// A thread has ended, which may have performed an action of another PE.
    fn end_guest(&mut self, thread: Thread, root: Address, value: Value) {
        let Some((caller, call)) = self.calls.end(thread) else { return };
        let stays = self.program.stays(self.node(root).task);
        let result = if stays { Graph::Ended(Outcome::Stays) } else { Graph::Value(value) };
        self.events.push(HeapEvent::Returns(caller, call, result));
    }

    /// Claims a thunk whose evaluation was given up, and takes the work that was done.
    fn thaw(&mut self, thunk: Address) -> Option<Frame> {
        let node = self.node_mut(thunk);
        let frame = node.frozen.take()?;
        node.state = State::Claimed;
        Some(frame)
    }

    /// Claims a thunk, makes the children of its task, sparks or places them, and says what its value is made of.
    fn begin(&mut self, thunk: Address) -> (Vec<Address>, Option<Address>) {
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
        for &child in &children {
            match self.program.place(self.node(child).task, self.me, self.pes) {
                Some(pe) => self.events.push(HeapEvent::Places(pe, child)),
                None => self.sparks.push_back(child),
            }
        }
        let first = children.first().copied().into_iter().collect();
        let part = self.program.part(task).map(|part| self.allocate(part, first));
        (self.program.demands(task, &references, &children), part)
    }

    fn finish(&mut self, frame: &Frame) {
        let task = self.node(frame.thunk).task;
        let value = Value { number: self.program.value(task, &frame.values), part: frame.part };
        self.evaluated.push(task);
        self.set_value(frame.thunk, value);
        self.events.push(if self.program.stays(task) {
            HeapEvent::GivenUp(frame.thunk, stays())
        } else {
            HeapEvent::Evaluated(frame.thunk, Graph::Value(value))
        });
    }

    fn set_value(&mut self, thunk: Address, value: Value) {
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
            State::Value(value) => Some(value.number),
            _ => None,
        }
    }

    /// Ends a thread, and freezes its work: its thunks are unevaluated again.
    fn unwind(&mut self, thread: Thread, event: impl Fn(Address) -> HeapEvent<Graph>) {
        let Some(evaluator) = self.threads.remove(&thread) else { return };
        self.events.push(HeapEvent::Withdrawn(thread));
        self.nodes.values_mut().for_each(|node| node.waiters.retain(|t| *t != thread));
        for frame in evaluator.frames {
            let frame = Frame { entered: Entered::Demand, ..frame };
            let thunk = frame.thunk;
            let node = self.node_mut(thunk);
            (node.state, node.frozen) = (State::Unevaluated, Some(frame));
            self.wake_waiters(thunk);
            self.events.push(event(thunk));
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
                work.extend(self.node(address).all_references());
            }
        }
        self.nodes.retain(|address, _| marked.contains(address));
        self.sparks.retain(|address| marked.contains(address));
        reached
    }

    /// All references of all objects and threads.
    pub fn all_references(&self) -> impl Iterator<Item = Address> + '_ {
        let of_threads = self.threads.values().flat_map(|t| t.frames.iter().flat_map(|f| &f.demands));
        self.nodes.values().flat_map(Node::all_references).chain(of_threads).copied()
    }

    pub fn number_of_objects(&self) -> usize {
        self.nodes.len()
    }

    pub fn cached_blocks(&self) -> impl Iterator<Item = Block> + '_ {
        self.cache.keys().map(|&address| self.block(address))
    }
}
