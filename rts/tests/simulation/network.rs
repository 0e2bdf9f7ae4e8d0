//! The simulated network: packets with delays, losses and duplicates that a seed decides.
use crate::base::random::Random;
use crate::cluster::ids::{Micros, Pe};
use std::collections::BTreeMap;

/// A time in which a PE cannot talk to some others.
#[derive(Clone, Debug)]
pub struct Partition {
    pub apart: Pe,
    pub without: Vec<Pe>,
    pub from: Micros,
    pub to: Micros,
}

#[derive(Clone, Debug)]
pub struct Faults {
    /// Are packets lost, duplicated and reordered? If not, each channel is first in, first out.
    pub is_datagram: bool,
    /// Of 1,000 packets.
    pub lost: u64,
    pub duplicated: u64,
    pub partitions: Vec<Partition>,
}

pub struct Network {
    random: Random,
    faults: Faults,
    min_delay: Micros,
    more_delay: Micros,
    /// When the last packet of a channel arrives.
    last: BTreeMap<(Pe, Pe), Micros>,
}

impl Network {
    pub fn new(seed: u64, faults: Faults) -> Network {
        let mut random = Random(seed);
        let (min_delay, more_delay) = (1 + random.below(200), 1 + random.below(1_000));
        Network { random, faults, min_delay, more_delay, last: BTreeMap::new() }
    }

    pub fn is_datagram(&self) -> bool {
        self.faults.is_datagram
    }

    /// When a packet that is sent now arrives: never, once, or twice.
    pub fn arrivals(&mut self, from: Pe, to: Pe, now: Micros) -> Vec<Micros> {
        let is_between = |p: &Partition, a, b| p.apart == a && p.without.contains(&b);
        let is_cut =
            |p: &Partition| p.from <= now && now < p.to && (is_between(p, from, to) || is_between(p, to, from));
        if self.faults.partitions.iter().any(is_cut) {
            return vec![];
        }
        if !self.faults.is_datagram {
            let delay = self.delay();
            let last = self.last.entry((from, to)).or_default();
            *last = (*last).max(now + delay);
            return vec![*last];
        }
        let copies = match self.random.below(1_000) {
            n if n < self.faults.lost => 0,
            n if n < self.faults.lost + self.faults.duplicated => 2,
            _ => 1,
        };
        (0..copies).map(|_| now + self.delay()).collect()
    }

    /// One packet in twenty may take far longer than the others.
    fn delay(&mut self) -> Micros {
        let more = if self.random.below(20) == 0 { 20 * self.more_delay } else { self.more_delay };
        self.min_delay + self.random.below(more)
    }
}
