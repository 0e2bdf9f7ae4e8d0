//! A simulated PE: its objects, what it refers to, and its part of collections.
use crate::base::random::Random;
use crate::cluster::credit::{Credit, Given, Held};
use crate::cluster::cycle::{Cycles, Sent, Task, PHASES};
use crate::cluster::ids::{Address, Block, Call, Pe};
use crate::cluster::message::{Message, Parcel};
use crate::graph::{block, blocks, owner, owner_of_block, Graph, SLICE};
use crate::program;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub type Sending = (Pe, Message<Graph>);

/// What a PE does with a cycle.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Stage {
    Running,
    Stopping,
    Flushing,
    /// In which phase.
    Marking(u8),
    Swept,
}

/// The marks of a collection.
#[derive(Default)]
struct Marks {
    marked: BTreeSet<Address>,
    work: Vec<Address>,
    /// Objects of others, marked since the last message to their owners.
    found: BTreeMap<Pe, Vec<Address>>,
}

impl Marks {
    fn of(roots: impl IntoIterator<Item = Address>) -> Marks {
        Marks { work: roots.into_iter().collect(), ..Marks::default() }
    }
}

pub struct Process {
    pub me: Pe,
    /// Own objects, and what they refer to.
    pub objects: BTreeMap<Address, Vec<Address>>,
    pub roots: Vec<Address>,
    /// Own objects that are threads: they hear of it when nothing refers to them.
    pub threads: BTreeSet<Address>,
    /// Weak pointers: a key, which is an own object, and a value.
    pub weaks: Vec<(Address, Address)>,
    pub held: Held,
    pub given: Given,
    pub cycles: Cycles,
    pub stage: Stage,
    marks: Marks,
    pub inbox: VecDeque<(Pe, Message<Graph>)>,
    last_address: u64,
    pub is_lost: bool,
}

/// A decision of a collection: what nothing refers to any more.
#[derive(Debug)]
pub enum Verdict {
    Freed(Address),
    LostThread(Address),
    DeadKey(Address),
}

impl Process {
    pub fn new(me: Pe, count: u16, new_weight: u64) -> Process {
        Process {
            me,
            objects: BTreeMap::new(),
            roots: vec![],
            threads: BTreeSet::new(),
            weaks: vec![],
            held: Held::new(),
            given: Given::new(new_weight),
            cycles: Cycles::new(me, count),
            stage: Stage::Running,
            marks: Marks::default(),
            inbox: VecDeque::new(),
            last_address: u64::from(me.0) * SLICE,
            is_lost: false,
        }
    }

    /// What the program can reach here: own objects, and addresses of others.
    fn reachable(&self) -> Vec<Address> {
        let (mut seen, mut work) = (BTreeSet::new(), self.roots.clone());
        while let Some(address) = work.pop() {
            if seen.insert(address) && owner(address) == self.me {
                work.extend(self.objects.get(&address).unwrap_or_else(|| panic!("{address:?} was freed, and is used")));
            }
        }
        seen.into_iter().collect()
    }

    /// The program does something.
    pub fn work(&mut self, random: &mut Random, count: u16) -> Vec<Sending> {
        let reachable = self.reachable();
        let own: Vec<Address> = reachable.iter().copied().filter(|&a| owner(a) == self.me).collect();
        let some = |random: &mut Random| -> Vec<Address> {
            let number = random.below(3).min(reachable.len() as u64);
            (0..number).map(|_| random.pick(&reachable)).collect()
        };
        match random.below(9) {
            0 | 1 => {
                self.last_address += 1;
                let new = Address(self.last_address);
                self.objects.insert(new, some(random));
                match random.below(4) {
                    0 => _ = self.threads.insert(new),
                    1 if !reachable.is_empty() => self.weaks.push((new, random.pick(&reachable))),
                    _ => {}
                }
                self.roots.push(new);
            }
            2..=4 if !self.roots.is_empty() => {
                self.roots.swap_remove(random.below(self.roots.len() as u64) as usize);
            }
            5 | 6 if !own.is_empty() => {
                let references = some(random);
                self.objects.insert(random.pick(&own), references);
            }
            7 | 8 if count > 1 => {
                let to = Pe((self.me.0 + 1 + random.below(u64::from(count) - 1) as u16) % count);
                return self.pass_on(to, some(random));
            }
            _ => {}
        }
        vec![]
    }

    /// Passes references on, if there are weights; otherwise asks for some.
    fn pass_on(&mut self, to: Pe, references: Vec<Address>) -> Vec<Sending> {
        let mut needed = blocks(&references);
        needed.retain(|&block| owner_of_block(block) != to);
        let is_own = |block: Block| owner_of_block(block) == self.me;
        let lacking: Vec<Block> =
            needed.iter().copied().filter(|&block| !is_own(block) && !self.held.can_split(block)).collect();
        if !lacking.is_empty() {
            let asked = lacking.into_iter().filter(|&block| self.held.holds(block) && self.held.asks_for_more(block));
            return asked.map(|block| (owner_of_block(block), Message::MoreCredit(block))).collect();
        }
        let credit = |block| if is_own(block) { self.given.give(block) } else { self.held.split(block) };
        let credits = needed.into_iter().map(credit).collect();
        let graph = Graph::Thunk(program::Task { id: 0, depth: 0 }, references);
        vec![(to, Message::Call { call: Call(0), parcel: Parcel { graph, credits } })]
    }

    /// A message of the computation.
    pub fn handle(&mut self, from: Pe, message: Message<Graph>) -> Vec<Sending> {
        match message {
            Message::Call { parcel, .. } => {
                parcel.credits.iter().for_each(|&credit| self.held.add(credit));
                self.roots.extend(references(&parcel.graph));
            }
            Message::MoreCredit(block) => return vec![(from, Message::Credit(self.given.give(block)))],
            Message::Credit(credit) => self.held.add(credit),
            Message::ReturnCredits(credits) => {
                credits.into_iter().for_each(|credit| {
                    self.given.on_returned(credit);
                });
            }
            other => panic!("{other:?} has come"),
        }
        vec![]
    }

    /// A full collection of this PE alone.
    pub fn collect(&mut self) -> (Vec<Verdict>, Vec<Sending>) {
        self.marks = Marks::of(self.roots.iter().copied());
        self.finish_alone()
    }

    /// Ends a collection as one of this PE alone.
    fn finish_alone(&mut self) -> (Vec<Verdict>, Vec<Sending>) {
        let referenced = self.objects.keys().filter(|&&a| self.given.is_referenced(block(a)));
        self.marks.work.extend(referenced);
        self.trace();
        let mut verdicts = self.decide(1);
        self.trace();
        verdicts.extend(self.decide(2));
        self.trace();
        verdicts.extend(self.sweep());
        let mut returned: BTreeMap<Pe, Vec<Credit>> = BTreeMap::new();
        for credit in self.release() {
            returned.entry(owner_of_block(credit.block)).or_default().push(credit);
        }
        (verdicts, returned.into_iter().map(|(pe, credits)| (pe, Message::ReturnCredits(credits))).collect())
    }

    fn trace(&mut self) {
        loop {
            while let Some(address) = self.marks.work.pop() {
                if !self.marks.marked.insert(address) {
                    continue;
                }
                if owner(address) == self.me {
                    let object = self.objects.get(&address);
                    self.marks.work.extend(object.unwrap_or_else(|| panic!("{address:?} was freed, and is marked")));
                } else {
                    self.marks.found.entry(owner(address)).or_default().push(address);
                }
            }
            let Marks { marked, work, .. } = &mut self.marks;
            let values = self.weaks.iter().filter(|(key, _)| marked.contains(key)).map(|(_, value)| *value);
            work.extend(values.filter(|value| !marked.contains(value)));
            if work.is_empty() {
                return;
            }
        }
    }

    /// What is decided when a phase is over. What that revives is a root from now on.
    fn decide(&mut self, phase: u8) -> Vec<Verdict> {
        let is_dead = |address: &Address| !self.marks.marked.contains(address);
        let (verdicts, revived): (Vec<Verdict>, Vec<Address>) = match phase {
            1 => {
                let lost: Vec<Address> = self.threads.iter().copied().filter(is_dead).collect();
                self.threads.retain(|t| !lost.contains(t));
                (lost.iter().map(|&t| Verdict::LostThread(t)).collect(), lost)
            }
            2 => {
                let (dead, alive) = self.weaks.iter().partition(|(key, _)| is_dead(key));
                self.weaks = alive;
                let dead: Vec<(Address, Address)> = dead;
                (dead.iter().map(|(key, _)| Verdict::DeadKey(*key)).collect(), dead.iter().map(|w| w.1).collect())
            }
            _ => (vec![], vec![]),
        };
        self.roots.extend(&revived);
        self.marks.work.extend(revived);
        verdicts
    }

    fn sweep(&mut self) -> Vec<Verdict> {
        let freed: Vec<Address> = self.objects.keys().copied().filter(|a| !self.marks.marked.contains(a)).collect();
        freed.iter().for_each(|address| _ = self.objects.remove(address));
        freed.into_iter().map(Verdict::Freed).collect()
    }

    fn release(&mut self) -> Vec<Credit> {
        let marks = std::mem::take(&mut self.marks);
        let reached: BTreeSet<Block> = marks.marked.iter().map(|&address| block(address)).collect();
        self.held.release_unreached(|block| reached.contains(&block))
    }

    /// The world is stopped, and FLUSH has come from all: marks from roots, and from messages that wait.
    pub fn begin_marking(&mut self, out: &mut Vec<Sent>) {
        let waiting = self.inbox.iter().filter_map(|(_, message)| message.parcel());
        let references = waiting.flat_map(|parcel| references(&parcel.graph));
        self.marks = Marks::of(self.roots.iter().copied().chain(references));
        self.stage = Stage::Marking(1);
        self.cycles.on_flushed(out);
    }

    /// Traces all that is known, and goes on with the cycle. True if there is more to trace.
    pub fn mark(&mut self, out: &mut Vec<Sent>) -> (bool, Vec<Verdict>, Vec<Sending>) {
        let Stage::Marking(phase) = self.stage else { return (false, vec![], vec![]) };
        self.trace();
        self.cycles.on_found(std::mem::take(&mut self.marks.found), out);
        match self.cycles.next(out) {
            Task::Wait => (false, vec![], vec![]),
            Task::Trace(addresses) => {
                self.marks.work.extend(addresses);
                (true, vec![], vec![])
            }
            Task::PhaseOver if phase < PHASES => {
                let verdicts = self.decide(phase);
                self.stage = Stage::Marking(phase + 1);
                self.cycles.on_phase_over(out);
                (true, verdicts, vec![])
            }
            Task::PhaseOver => {
                self.cycles.on_phase_over(out);
                assert!(self.cycles.is_marked());
                let verdicts = self.sweep();
                self.release();
                self.stage = Stage::Swept;
                let mut held: BTreeMap<Pe, Vec<Credit>> = BTreeMap::new();
                for credit in self.weights() {
                    held.entry(owner_of_block(credit.block)).or_default().push(credit);
                }
                self.cycles.on_swept(held, out);
                (false, verdicts, vec![])
            }
            Task::GivenUp => {
                self.stage = Stage::Swept;
                let (verdicts, sendings) = self.finish_alone();
                (false, verdicts, sendings)
            }
        }
    }

    /// All weights that are here: held, and in messages that wait.
    pub fn weights(&self) -> Vec<Credit> {
        let waiting = self.inbox.iter().flat_map(|(_, message)| weights(message));
        self.held.credits().chain(waiting).collect()
    }

    /// Sets the sums, if all have told what they hold.
    pub fn balance(&mut self, out: &mut Vec<Sent>) {
        let Some(others) = self.cycles.held_by_others() else { return };
        let own = self.weights().into_iter().filter(|credit| owner_of_block(credit.block) == self.me);
        let all: Vec<Credit> = others.copied().chain(own).collect();
        self.given.set(all.into_iter());
        self.cycles.on_balanced(out);
    }
}

/// The weights in a message.
pub fn weights(message: &Message<Graph>) -> Vec<Credit> {
    match message {
        Message::Call { parcel, .. } => parcel.credits.clone(),
        Message::Credit(credit) => vec![*credit],
        Message::ReturnCredits(credits) => credits.clone(),
        _ => vec![],
    }
}

pub fn references(graph: &Graph) -> Vec<Address> {
    match graph {
        Graph::Thunk(_, references) => references.clone(),
        _ => vec![],
    }
}
