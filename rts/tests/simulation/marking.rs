//! Simulated marking across PEs: the ring says that it is over when it is, and not before.
//!
//! *Checked*: at the end nobody has anything to mark, and no MARK is under way; the end comes, and once.
//! *Shipped code*: `rts/src/cluster/ring.rs`.
use crate::base::random::Random;
use crate::cluster::ids::{Micros, Pe};
use crate::cluster::ring::{Next, Question, Ring};
use crate::network::{Faults, Network};
use crate::simulations::seeds;
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Happening {
    Mark {
        from: Pe,
    },
    Acknowledged,
    Asked(Question),
    /// A PE has traced what a MARK asked for, or its roots.
    Traced,
}

/// A PE, with the senders of what it has still to mark (its roots have none), the first one being traced.
struct Marker {
    ring: Ring,
    work: VecDeque<Option<Pe>>,
}

struct Marking {
    markers: Vec<Marker>,
    network: Network,
    random: Random,
    queue: BTreeMap<(Micros, u64), (Pe, Happening)>,
    last_number: u64,
    now: Micros,
    /// How many references to other PEs there still are.
    references: u64,
    is_over: bool,
}

impl Marking {
    fn new(seed: u64) -> Marking {
        let mut random = Random(seed);
        let pes = 1 + random.below(12) as u16;
        let terminator = random.below(u64::from(pes)) as u16;
        let marker = |n| Marker { ring: Ring::new(Pe(n), n == terminator), work: VecDeque::from([None]) };
        let faults = Faults { is_datagram: false, lost: 0, duplicated: 0, partitions: vec![] };
        let network = Network::new(random.number(), faults);
        let references = random.below(40 * u64::from(pes));
        let (markers, queue) = ((0..pes).map(marker).collect(), BTreeMap::new());
        let mut marking =
            Marking { markers, network, random, queue, last_number: 0, now: 0, references, is_over: false };
        (0..pes).for_each(|n| marking.trace(Pe(n)));
        marking
    }

    fn plan(&mut self, time: Micros, to: Pe, happening: Happening) {
        self.last_number += 1;
        self.queue.insert((time, self.last_number), (to, happening));
    }

    fn send(&mut self, from: Pe, to: Pe, happening: Happening) {
        for time in self.network.arrivals(from, to, self.now) {
            self.plan(time, to, happening);
        }
    }

    fn trace(&mut self, pe: Pe) {
        let time = self.now + 1 + self.random.below(500);
        self.plan(time, pe, Happening::Traced);
    }

    fn marker(&mut self, pe: Pe) -> &mut Marker {
        &mut self.markers[usize::from(pe.0)]
    }

    fn happen(&mut self, pe: Pe, happening: Happening) {
        let next = match happening {
            Happening::Mark { from } => {
                let marker = self.marker(pe);
                marker.ring.on_work();
                marker.work.push_back(Some(from));
                if marker.work.len() == 1 {
                    self.trace(pe);
                }
                Next::Nothing
            }
            Happening::Acknowledged => self.marker(pe).ring.on_acknowledged(),
            Happening::Asked(question) => self.marker(pe).ring.on_question(question),
            Happening::Traced => self.finish_trace(pe),
        };
        match next {
            Next::Nothing => {}
            Next::PassOn(question) => {
                let successor = Pe((pe.0 + 1) % self.markers.len() as u16);
                self.send(pe, successor, Happening::Asked(question));
            }
            Next::Over => self.end(),
        }
    }

    /// Sends MARKs for what has been found, and acknowledges.
    fn finish_trace(&mut self, pe: Pe) -> Next {
        for _ in 0..self.random.below(3).min(self.references) {
            self.references -= 1;
            let to = Pe(self.random.below(self.markers.len() as u64) as u16);
            self.marker(pe).ring.on_mark_sent();
            self.send(pe, to, Happening::Mark { from: pe });
        }
        if let Some(sender) = self.marker(pe).work.pop_front().expect("what was traced") {
            self.send(pe, sender, Happening::Acknowledged);
        }
        if !self.marker(pe).work.is_empty() {
            self.trace(pe);
            return Next::Nothing;
        }
        self.marker(pe).ring.on_work_done()
    }

    fn end(&mut self) {
        assert!(!self.is_over, "marking ends twice");
        self.is_over = true;
        assert!(self.markers.iter().all(|m| m.work.is_empty()), "marking ends, and a PE still marks");
        let is_mark = |(_, happening): &(Pe, Happening)| matches!(happening, Happening::Mark { .. });
        assert!(!self.queue.values().any(is_mark), "marking ends, and a MARK is under way");
    }
}

#[test]
fn marking_ends_when_all_is_marked() {
    for seed in seeds().flat_map(|seed| 20 * seed..20 * seed + 20) {
        let mut marking = Marking::new(seed);
        while let Some(((time, _), (pe, happening))) = marking.queue.pop_first() {
            marking.now = time;
            marking.happen(pe, happening);
        }
        assert!(marking.is_over, "the ring has stopped, with seed {seed}");
    }
}
