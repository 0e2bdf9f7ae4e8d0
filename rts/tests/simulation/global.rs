//! Simulated global collections: programs that make objects, cycles of references over several PEs among them, pass
//! references on, and forget them, while PEs collect by themselves and together.
//!
//! *Checked*: nothing that a program can still reach is freed, and no thread or key of a weak pointer that it can reach
//! counts as lost or dead. After a last cycle nothing else is left, and sums are what is held. Each cycle that is asked
//! for ends. So it is, too, if a PE is lost: what the others can reach among each other stays, and nothing else.
//! *Shipped code*: `cluster/cycle.rs`, `cluster/ring.rs`, `cluster/credit.rs`, `cluster/wire.rs`.
mod process;

use crate::base::random::Random;
use crate::cluster::cycle::Sent;
use crate::cluster::ids::{Address, Micros, Pe, COORDINATOR};
use crate::cluster::message::{Message, Step};
use crate::cluster::wire;
use crate::graph::{owner, Graph};
use crate::network::{Faults, Network};
use crate::simulations::seeds;
use process::{references, Process, Sending, Stage, Verdict};
use std::collections::{BTreeMap, BTreeSet};

enum Happening {
    Arrival { to: Pe, from: Pe, bytes: Vec<u8> },
    Work(Pe),
    Collection(Pe),
    Cycle(Pe),
    Stopped(Pe),
    Traced(Pe),
    Kill(Pe),
}

struct World {
    processes: Vec<Process>,
    /// Of the computation, and of cycles, whose messages may overtake others.
    networks: [Network; 2],
    random: Random,
    queue: BTreeMap<(Micros, u64), Happening>,
    last_number: u64,
    now: Micros,
    is_working: bool,
    /// What was reachable when a phase of a cycle was over, before that revived anything.
    judged: BTreeMap<u8, BTreeSet<Address>>,
}

impl World {
    fn new(seed: u64) -> World {
        let mut random = Random(seed);
        let count = 2 + random.below(5) as u16;
        let new_weight = if random.below(2) == 0 { 1 << 32 } else { 1 + random.below(8) };
        let faults = Faults { is_datagram: false, lost: 0, duplicated: 0, partitions: vec![] };
        let networks = [0, 1].map(|_| Network::new(random.number(), faults.clone()));
        let mut world = World {
            processes: (0..count).map(|n| Process::new(Pe(n), count, new_weight)).collect(),
            networks,
            random,
            queue: BTreeMap::new(),
            last_number: 0,
            now: 0,
            is_working: true,
            judged: BTreeMap::new(),
        };
        for pe in (0..count).map(Pe) {
            world.plan(0, Happening::Work(pe));
            world.plan(5_000, Happening::Collection(pe));
            world.plan(20_000, Happening::Cycle(pe));
        }
        world
    }

    fn plan(&mut self, mean: Micros, happening: Happening) {
        let time = self.now + 1 + self.random.below(2 * mean + 1);
        self.plan_at(time, happening);
    }

    fn plan_at(&mut self, time: Micros, happening: Happening) {
        self.last_number += 1;
        self.queue.insert((time, self.last_number), happening);
    }

    fn process(&mut self, pe: Pe) -> &mut Process {
        &mut self.processes[usize::from(pe.0)]
    }

    fn send(&mut self, from: Pe, sendings: Vec<Sending>) {
        for (to, message) in sendings {
            let is_urgent = match message {
                Message::Cycle(_, Step::Flush) => false,
                Message::Cycle(..) | Message::Lost(_) => true,
                _ => false,
            };
            for time in self.networks[usize::from(is_urgent)].arrivals(from, to, self.now) {
                let bytes = wire::encode(&message);
                self.plan_at(time, Happening::Arrival { to, from, bytes });
            }
        }
    }

    /// Does a step of the cycle, and what follows from it.
    fn step(&mut self, pe: Pe, act: &mut dyn FnMut(&mut Process, &mut Vec<Sent>)) {
        let mut out = vec![];
        let process = self.process(pe);
        act(process, &mut out);
        let (mut traces, mut stops) = (false, false);
        match process.stage {
            Stage::Running if process.cycles.is_stopping() => (process.stage, stops) = (Stage::Stopping, true),
            Stage::Flushing if process.cycles.has_flushed() => {
                process.begin_marking(&mut out);
                traces = true;
            }
            Stage::Marking(_) => traces = true,
            Stage::Swept => process.balance(&mut out),
            _ => {}
        }
        let goes_on = process.stage == Stage::Swept && process.cycles.is_over();
        if goes_on {
            process.stage = Stage::Running;
        }
        self.send(pe, out.into_iter().map(|(to, number, step)| (to, Message::Cycle(number, step))).collect());
        if stops {
            self.plan(500, Happening::Stopped(pe));
        }
        if traces {
            self.plan(200, Happening::Traced(pe));
        }
        if goes_on {
            self.judged.clear();
            while let Some((from, message)) = self.process(pe).inbox.pop_front() {
                let sendings = self.process(pe).handle(from, message);
                self.send(pe, sendings);
            }
            self.step(pe, &mut |process, out| process.cycles.on_resumed(out));
        }
    }

    /// What the programs can reach, over all PEs that are left, and messages under way between them.
    fn reachable(&self) -> BTreeSet<Address> {
        let is_left = |pe: Pe| !self.processes[usize::from(pe.0)].is_lost;
        let left: Vec<&Process> = self.processes.iter().filter(|p| is_left(p.me)).collect();
        let mut work: Vec<Address> = left.iter().flat_map(|p| &p.roots).copied().collect();
        let waiting = left.iter().flat_map(|p| &p.inbox).filter_map(|(_, m)| m.parcel());
        work.extend(waiting.flat_map(|parcel| references(&parcel.graph)));
        for happening in self.queue.values() {
            if let Happening::Arrival { to, from, bytes } = happening {
                let message: Message<Graph> = wire::decode(bytes).expect("what was sent");
                let parcel = message.parcel().filter(|_| is_left(*to) && is_left(*from));
                work.extend(parcel.into_iter().flat_map(|parcel| references(&parcel.graph)));
            }
        }
        let mut reached = BTreeSet::new();
        loop {
            while let Some(address) = work.pop() {
                if is_left(owner(address)) && reached.insert(address) {
                    let object = self.processes[usize::from(owner(address).0)].objects.get(&address);
                    work.extend(object.unwrap_or_else(|| panic!("{address:?} was freed, and is reachable")));
                }
            }
            let weaks = left.iter().flat_map(|p| &p.weaks).filter(|(key, _)| reached.contains(key));
            work.extend(weaks.map(|(_, value)| *value).filter(|v| is_left(owner(*v)) && !reached.contains(v)));
            if work.is_empty() {
                return reached;
            }
        }
    }

    /// Nothing that is reachable may be freed, lost or dead.
    fn judge(&mut self, phase: u8, verdicts: &[Verdict]) {
        if verdicts.is_empty() {
            return;
        }
        if phase == 0 {
            self.judged.remove(&0);
        }
        // Those who have decided before have revived what others are about to judge.
        let reachable = match self.judged.remove(&phase) {
            Some(reachable) => reachable,
            None => self.reachable(),
        };
        for verdict in verdicts {
            let (Verdict::Freed(address) | Verdict::LostThread(address) | Verdict::DeadKey(address)) = verdict;
            assert!(!reachable.contains(address), "{verdict:?}, and it is reachable");
        }
        self.judged.insert(phase, reachable);
    }

    fn happen(&mut self) {
        let Some(((time, _), happening)) = self.queue.pop_first() else { panic!("nothing happens any more") };
        self.now = time;
        match happening {
            Happening::Arrival { to, from, bytes } => self.arrive(to, from, &bytes),
            Happening::Work(pe) if self.is_working && !self.process(pe).is_lost => {
                if self.process(pe).stage == Stage::Running || self.process(pe).stage == Stage::Stopping {
                    let count = self.processes.len() as u16;
                    let sendings = self.processes[usize::from(pe.0)].work(&mut self.random, count);
                    self.send(pe, sendings);
                }
                self.plan(200, Happening::Work(pe));
            }
            Happening::Collection(pe) if self.is_working && !self.process(pe).is_lost => {
                if self.process(pe).stage == Stage::Running {
                    let (verdicts, sendings) = self.process(pe).collect();
                    self.judge_alone(&verdicts);
                    self.send(pe, sendings);
                }
                self.plan(5_000, Happening::Collection(pe));
            }
            Happening::Cycle(pe) if self.is_working && !self.process(pe).is_lost => {
                self.step(pe, &mut |process, out| _ = process.cycles.request(out));
                self.plan(20_000, Happening::Cycle(pe));
            }
            Happening::Work(_) | Happening::Collection(_) | Happening::Cycle(_) => {}
            Happening::Stopped(pe) if !self.process(pe).is_lost => self.step(pe, &mut |process, out| {
                process.stage = Stage::Flushing;
                process.cycles.on_stopped(out);
            }),
            Happening::Traced(pe) if !self.process(pe).is_lost => self.trace(pe),
            Happening::Stopped(_) | Happening::Traced(_) => {}
            Happening::Kill(pe) => {
                self.process(pe).is_lost = true;
                let others = (1..self.processes.len() as u16).map(Pe).filter(|&other| other != pe);
                self.send(COORDINATOR, others.map(|other| (other, Message::Lost(pe))).collect());
                self.on_lost(COORDINATOR, pe);
            }
        }
    }

    /// As [`World::judge`], of a collection of one PE: its own decisions may revive what it judges next.
    fn judge_alone(&mut self, verdicts: &[Verdict]) {
        let freed: Vec<Verdict> = verdicts
            .iter()
            .filter_map(|v| if let Verdict::Freed(a) = v { Some(Verdict::Freed(*a)) } else { None })
            .collect();
        self.judged.remove(&0);
        self.judge(0, &freed);
        self.judged.remove(&0);
    }

    fn trace(&mut self, pe: Pe) {
        let Stage::Marking(phase) = self.process(pe).stage else { return };
        // What a phase decides is judged by what was reachable before anybody decided.
        let before = if self.judged.contains_key(&phase) { None } else { Some(self.reachable()) };
        let mut out = vec![];
        let is_given_up = self.process(pe).cycles.is_given_up();
        let (more, verdicts, sendings) = self.process(pe).mark(&mut out);
        if is_given_up {
            self.judge_alone(&verdicts);
        } else if !verdicts.is_empty() {
            if let Some(before) = before {
                self.judged.insert(phase, before);
            }
            self.judge(phase, &verdicts);
        }
        self.send(pe, sendings);
        self.send(pe, out.into_iter().map(|(to, number, step)| (to, Message::Cycle(number, step))).collect());
        if more || self.process(pe).stage == Stage::Swept {
            self.step(pe, &mut |_, _| ());
        }
    }

    fn arrive(&mut self, to: Pe, from: Pe, bytes: &[u8]) {
        if self.process(to).is_lost || self.process(to).cycles.is_lost(from) {
            return;
        }
        match wire::decode(bytes).expect("what was sent") {
            Message::Cycle(number, step) => {
                self.step(to, &mut |process, out| process.cycles.on_step(from, number, step.clone(), out));
            }
            Message::Lost(pe) => self.on_lost(to, pe),
            message if self.process(to).stage == Stage::Running || self.process(to).stage == Stage::Stopping => {
                let sendings = self.process(to).handle(from, message);
                self.send(to, sendings);
            }
            message => self.process(to).inbox.push_back((from, message)),
        }
    }

    fn on_lost(&mut self, at: Pe, pe: Pe) {
        let process = self.process(at);
        process.inbox.retain(|(from, _)| *from != pe);
        self.step(at, &mut |process, out| process.cycles.on_lost(pe, out));
    }

    /// Runs for a while, lets all come to rest, and collects once more.
    fn run(&mut self) {
        while self.now < 100_000 {
            self.happen();
        }
        self.is_working = false;
        self.settle();
        for _ in 0..2 {
            // What was lost or dead has been revived once.
            let asker = self.processes.iter().rfind(|p| !p.is_lost).expect("PE 0").me;
            let mut number = 0;
            self.step(asker, &mut |process, out| number = process.cycles.request(out));
            self.settle();
            assert!(self.process(asker).cycles.ended() >= number, "a cycle has not ended");
        }
    }

    fn settle(&mut self) {
        while !self.queue.is_empty() {
            self.happen();
        }
    }

    fn check_end(&self) {
        let reachable = self.reachable();
        let left: Vec<&Process> = self.processes.iter().filter(|p| !p.is_lost).collect();
        let (mut held, mut given) = (BTreeMap::new(), BTreeMap::new());
        for process in &left {
            assert!(!process.cycles.is_under_way(), "{:?} has not gone on", process.me);
            let garbage = process.objects.keys().find(|address| !reachable.contains(address));
            assert_eq!(garbage, None, "garbage is kept");
            process.held.credits().for_each(|c| *held.entry(c.block).or_insert(0) += c.weight);
            given.extend(process.given.blocks().map(|c| (c.block, c.weight)));
        }
        held.retain(|&block, _| left.iter().any(|p| p.me == crate::graph::owner_of_block(block)));
        assert_eq!(given, held, "weights given, and held");
    }
}

fn check(seed: u64, plan: impl Fn(&mut World)) -> u64 {
    let mut world = World::new(seed);
    plan(&mut world);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        world.run();
        world.check_end();
    }));
    if let Err(cause) = result {
        eprintln!("HECATON_SEED={seed} fails");
        std::panic::resume_unwind(cause);
    }
    world.processes[0].cycles.completed()
}

#[test]
fn global_collections_free_what_no_pe_can_reach() {
    let cycles: u64 = seeds().map(|seed| check(seed, |_| ())).sum();
    assert!(cycles >= 2 * seeds().count() as u64);
}

#[test]
fn global_collections_are_given_up_with_a_lost_pe() {
    for seed in seeds() {
        check(seed, |world| {
            let time = world.random.below(100_000);
            let lost = Pe(1 + world.random.below(world.processes.len() as u64 - 1) as u16);
            world.plan_at(time, Happening::Kill(lost));
        });
    }
}
