//! A simulated run: PEs with their protocols as shipped, a model of the heap, the network, and time.
//!
//! All is decided by the seed. A queue has what is to happen, in the order of time. Each PE has one HEC, which is busy
//! for as long as a task works; messages are handled meanwhile, as by another HEC.
use crate::base::random::Random;
use crate::calls::PlannedCall;
use crate::cluster::build::Build;
use crate::cluster::credit::{Credit, Given, NEW_WEIGHT};
use crate::cluster::element::{Element, HeapEvent};
use crate::cluster::ids::{Address, Call, Micros, Pe, COORDINATOR};
use crate::cluster::members::{Members, SILENCE};
use crate::cluster::message::{Message, Parcel, Reason};
use crate::cluster::rpp::{Link, Packet};
use crate::cluster::steal::Steal;
use crate::cluster::wire;
use crate::graph::{block, Graph, SLICE};
use crate::heap::{ModelHeap, Step};
use crate::network::Network;
use crate::plan::{Figures, Plan};
use crate::program::Task;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

type Sent = Message<Graph>;

/// The time between a PE's full collections, on average: while the program runs, and afterwards.
const COLLECTION: Micros = 3_000;
const LATE_COLLECTION: Micros = 1_000_000;
/// After `main` has ended, PEs go on for so long: until those cut off have noticed, and all weights are back.
const AFTERMATH: Micros = 30_000_000;
/// A run that takes longer has stopped for ever.
const MAX_TIME: Micros = 60_000_000;

enum Happening {
    Arrival { to: Pe, from: Pe, packet: Packet<Vec<u8>> },
    Worked(Pe),
    Tick(Pe),
    Collection(Pe),
    Kill(Pe),
    Call(Call),
    Cancel(Call),
}

pub struct Process {
    pub element: Element<ModelHeap>,
    pub heap: ModelHeap,
    links: BTreeMap<Pe, Link<Vec<u8>>>,
    is_busy: bool,
    running: Option<crate::cluster::ids::Thread>,
    is_killed: bool,
    tick: Option<Micros>,
    steal: Option<Micros>,
}

impl Process {
    pub fn is_alive(&self) -> bool {
        !self.is_killed && !self.element.members.has_ended()
    }
}

pub struct World {
    pub processes: Vec<Process>,
    network: Network,
    random: Random,
    queue: BinaryHeap<Reverse<(Micros, u64)>>,
    happenings: BTreeMap<u64, Happening>,
    last_number: u64,
    now: Micros,
    main: Address,
    /// References in values are not counted yet. So nothing is freed where there are some.
    is_kept: bool,
    calls: Vec<PlannedCall>,
    /// Tasks that have been placed, and where.
    pub placed: Vec<(Pe, Task)>,
    is_over: bool,
    collections: usize,
    pub figures: Figures,
}

impl World {
    pub fn new(plan: &Plan) -> World {
        let mut random = Random(plan.seed);
        let program = plan.program;
        let hosts = 1 + random.below(4) as u16;
        let process = |n| {
            let me = Pe(n);
            let others = (0..plan.pes).filter(|&other| other != n).map(|other| (Pe(other), other % hosts == n % hosts));
            let steal = Steal::new(others, plan.seed ^ u64::from(n) << 32);
            let members = Members::new(me, plan.pes, Build::new(&[]), SILENCE, SILENCE);
            Process {
                element: Element::new(me, members, steal, Given::new(plan.new_weight)),
                heap: ModelHeap::new(me, plan.pes, program),
                links: BTreeMap::new(),
                is_busy: false,
                running: None,
                is_killed: false,
                tick: None,
                steal: None,
            }
        };
        let mut processes: Vec<Process> = (0..plan.pes).map(process).collect();
        let main = processes[0].heap.run_main();
        let mut world = World {
            processes,
            network: Network::new(random.number(), plan.faults.clone()),
            random,
            queue: BinaryHeap::new(),
            happenings: BTreeMap::new(),
            last_number: 0,
            now: 0,
            main,
            is_kept: program.partial > 0,
            calls: plan.calls.clone(),
            placed: vec![],
            is_over: false,
            collections: 0,
            figures: Figures::default(),
        };
        for n in 0..plan.pes {
            let mut out = vec![];
            world.processes[usize::from(n)].element.members.greet(0, &mut out);
            world.send(Pe(n), out);
            for other in (0..plan.pes).filter(|&other| world.is_kept && other != n) {
                let block = block(Address(u64::from(other) * SLICE));
                world.processes[usize::from(n)].element.held.add(Credit { block, weight: NEW_WEIGHT });
            }
            world.proceed(Pe(n));
            world.plan_collection(Pe(n));
        }
        for &(pe, time) in &plan.kills {
            world.plan(time, Happening::Kill(pe));
        }
        for (n, call) in plan.calls.iter().enumerate() {
            world.plan(call.time, Happening::Call(Call(n as u64)));
        }
        world
    }

    fn plan(&mut self, time: Micros, happening: Happening) {
        self.last_number += 1;
        self.happenings.insert(self.last_number, happening);
        self.queue.push(Reverse((time, self.last_number)));
    }

    fn plan_collection(&mut self, pe: Pe) {
        let mean = if self.is_over { LATE_COLLECTION } else { COLLECTION };
        let time = self.now + 1 + self.random.below(2 * mean);
        self.plan(time, Happening::Collection(pe));
    }

    /// Runs to the end, and answers with the value of `main`.
    pub fn run(&mut self, check: impl Fn(&[Process])) -> u64 {
        while self.value().is_none() {
            if self.happen() {
                check(&self.processes);
            }
            assert!(self.now < MAX_TIME, "main waits for ever");
        }
        self.figures.time = self.now;
        self.is_over = true;
        for n in 0..self.processes.len() {
            self.processes[n].heap.end_waiting();
            self.proceed(Pe(n as u16));
        }
        self.run_until(self.now + AFTERMATH);
        check(&self.processes);
        self.value().expect("a value stays")
    }

    pub fn run_until(&mut self, end: Micros) {
        while self.now < end {
            self.happen();
        }
    }

    fn value(&self) -> Option<u64> {
        self.processes[0].heap.value(self.main)
    }

    /// True if it is time for a check: each PE has collected once, on average, since the last one.
    fn happen(&mut self) -> bool {
        let Some(Reverse((time, number))) = self.queue.pop() else { panic!("nothing happens any more") };
        self.now = time;
        match self.happenings.remove(&number).expect("what was planned") {
            Happening::Arrival { to, from, packet } => self.arrive(to, from, packet),
            Happening::Worked(pe) => {
                self.process(pe).is_busy = false;
                self.proceed(pe);
            }
            Happening::Tick(pe) => self.tick(pe),
            Happening::Collection(pe) => {
                self.collect(pe);
                self.collections += 1;
                return self.collections.is_multiple_of(self.processes.len());
            }
            Happening::Kill(pe) => self.kill(pe),
            Happening::Call(call) => self.call(call),
            Happening::Cancel(call) => {
                let caller = self.calls[call.0 as usize].caller;
                self.process(caller).heap.events.push(HeapEvent::Cancels(call));
                self.proceed(caller);
            }
        }
        false
    }

    fn process(&mut self, pe: Pe) -> &mut Process {
        &mut self.processes[usize::from(pe.0)]
    }

    /// A process ends. Its launcher reports it to PE 0, or nobody does.
    fn kill(&mut self, pe: Pe) {
        self.process(pe).is_killed = true;
        if self.process(COORDINATOR).is_alive() && self.random.below(2) == 0 {
            let (mut out, now) = (vec![], self.now);
            let zero = self.process(COORDINATOR);
            zero.element.on_silent_peer(&mut zero.heap, pe, now, &mut out);
            self.send(COORDINATOR, out);
            self.proceed(COORDINATOR);
        }
    }

    /// A PE calls another one, when it runs.
    fn call(&mut self, call: Call) {
        let now = self.now;
        let PlannedCall { caller, place, action, cancelled_after, .. } = self.calls[call.0 as usize];
        if !self.process(caller).element.members.is_running() {
            if self.process(caller).is_alive() {
                self.plan(now + 1_000, Happening::Call(call));
            }
            return;
        }
        let action = Graph::Thunk(action, vec![]);
        self.process(caller).heap.events.push(HeapEvent::Calls(place, call, action));
        if let Some(time) = cancelled_after {
            self.plan(now + time, Happening::Cancel(call));
        }
        self.proceed(caller);
    }

    fn arrive(&mut self, to: Pe, from: Pe, packet: Packet<Vec<u8>>) {
        if !self.process(to).is_alive() {
            return;
        }
        let (mut answers, now) = (vec![], self.now);
        let delivered = match packet {
            Packet::Data { payload, .. } if !self.network.is_datagram() => vec![payload],
            packet => {
                let has_room = self.random.below(50) > 0;
                let link = self.process(to).links.entry(from).or_insert_with(Link::new);
                link.on_packet(packet, has_room, now, &mut answers)
            }
        };
        self.transmit(to, from, answers);
        for bytes in delivered {
            let message = wire::decode(&bytes).expect("what was sent");
            let mut out = vec![];
            let process = self.process(to);
            process.element.on_message(&mut process.heap, from, message, now, &mut out);
            self.send(to, out);
        }
        self.proceed(to);
    }

    fn tick(&mut self, pe: Pe) {
        let now = self.now;
        let process = self.process(pe);
        process.tick = None;
        if !process.is_alive() {
            return;
        }
        let mut out = vec![];
        process.element.tick(&mut process.heap, now, &mut out);
        let mut packets = vec![];
        let mut silent = vec![];
        for (&peer, link) in &mut process.links {
            let mut repeated = vec![];
            if link.tick(now, &mut repeated) {
                silent.push(peer);
            }
            packets.push((peer, repeated));
        }
        for peer in silent {
            process.element.on_silent_peer(&mut process.heap, peer, now, &mut out);
        }
        packets.into_iter().for_each(|(peer, repeated)| self.transmit(pe, peer, repeated));
        self.send(pe, out);
        self.proceed(pe);
    }

    fn collect(&mut self, pe: Pe) {
        self.plan_collection(pe);
        if self.is_kept {
            return;
        }
        let main = self.main;
        let process = self.process(pe);
        if !process.is_alive() {
            return;
        }
        let element = &mut process.element;
        let mut roots: Vec<Address> = element.readers.addresses().chain(element.loans.roots().map(|l| l.0)).collect();
        roots.extend(element.debts.thunks());
        if pe == COORDINATOR {
            roots.push(main);
        }
        let reached = process.heap.collect(roots, |block| element.given.is_referenced(block));
        let mut out = vec![];
        element.on_collected(&mut process.heap, |block| reached.contains(&block), &mut out);
        self.send(pe, out);
        self.proceed(pe);
    }

    /// Lets a PE go on after anything has happened to it.
    fn proceed(&mut self, pe: Pe) {
        let (now, is_over) = (self.now, self.is_over);
        let process = self.process(pe);
        let mut out = vec![];
        let mut works = None;
        loop {
            for event in std::mem::take(&mut process.heap.events) {
                process.element.on_heap_event(&mut process.heap, event, &mut out);
            }
            if process.is_busy || !process.is_alive() || !process.element.members.is_running() {
                break;
            }
            let Some(thread) = process.running.take().or_else(|| process.heap.next_thread()) else {
                if !is_over && process.steal.is_none_or(|until| until <= now) {
                    process.steal = process.element.on_idle(now, &mut out);
                }
                break;
            };
            if let Step::Works(time) = process.heap.step(thread) {
                process.running = Some(thread);
                process.is_busy = true;
                works = Some(time);
            }
        }
        if let Some(time) = works {
            self.plan(now + time, Happening::Worked(pe));
        }
        self.send(pe, out);
        self.plan_tick(pe);
    }

    fn plan_tick(&mut self, pe: Pe) {
        let now = self.now;
        let process = self.process(pe);
        let deadlines = process.links.values().filter_map(Link::deadline);
        let steal = process.steal.filter(|&until| until > now);
        let Some(next) = deadlines.chain(process.element.members.deadline()).chain(steal).min() else { return };
        let next = next.max(now + 1);
        if process.tick.is_none_or(|tick| next < tick) {
            process.tick = Some(next);
            self.plan(next, Happening::Tick(pe));
        }
    }

    fn send(&mut self, from: Pe, out: Vec<(Pe, Sent)>) {
        let now = self.now;
        for (to, message) in out {
            self.figures.count(&message);
            if let Message::Lend {
                reason: Reason::Placed, parcel: Parcel { graph: Graph::Thunk(task, _), .. }, ..
            } = &message
            {
                self.placed.push((to, *task));
            }
            let bytes = wire::encode(&message);
            let mut packets = vec![];
            if self.network.is_datagram() {
                let link = self.process(from).links.entry(to).or_insert_with(Link::new);
                link.send(bytes, now, &mut packets);
            } else {
                packets.push(Packet::Data { sequence: 0, payload: bytes });
            }
            self.transmit(from, to, packets);
        }
    }

    fn transmit(&mut self, from: Pe, to: Pe, packets: Vec<Packet<Vec<u8>>>) {
        for packet in packets {
            self.figures.packets += 1;
            for time in self.network.arrivals(from, to, self.now) {
                self.plan(time, Happening::Arrival { to, from, packet: packet.clone() });
            }
        }
    }
}
