//! Reliable packets over datagrams, which the network may lose, duplicate and reorder \[FN96, §4: RPP\].
//!
//! One [`Link`] for each peer has a sender and a receiver. To the protocols above it is a channel: first in, first out,
//! each message once.
//!
//! *Protocol*
//! 1. DATA has a sequence number. The sender keeps it until it is acknowledged.
//! 2. The receiver delivers in order, keeps what came early, and answers each DATA with ACK: the next number that it
//!    misses, the number that has just come (selective repeat), and the number up to which it takes more (the window).
//! 3. DATA that is not acknowledged within a timeout is sent again. The timeout follows the measured round trip, and
//!    doubles with each try.
//! 4. A receiver without room drops DATA and says that its window is empty. The sender then keeps one packet under way,
//!    whose repetition finds out when there is room again.
//! 5. A sender that waits for an ACK and hears nothing for [`GIVE_UP`] reports its peer.
//!
//! *Checked by*: the unit tests below, `rts/tests/simulation` and `rts/src/spread/transport/relay_tests.rs`.
use super::ids::Micros;
use std::collections::{BTreeMap, VecDeque};

/// Packets that may be under way to one peer.
const WINDOW: u64 = 64;
/// The timeout before a round trip has been measured.
const FIRST_TIMEOUT: Micros = 20_000;
const MIN_TIMEOUT: Micros = 1_000;
const MAX_TIMEOUT: Micros = 1_000_000;
/// After this long without a packet, a peer is reported: half of the silence after which PE 0 declares it lost.
pub const GIVE_UP: Micros = 5_000_000;

#[derive(Clone, Debug, PartialEq)]
pub enum Packet<P> {
    Data { sequence: u64, payload: P },
    Ack { next: u64, got: Option<u64>, limit: u64 },
}

struct Flight<P> {
    payload: P,
    sent: Micros,
    timeout: Micros,
    is_repeated: bool,
}

pub struct Link<P> {
    // The sender.
    next_to_send: u64,
    waiting: VecDeque<P>,
    flights: BTreeMap<u64, Flight<P>>,
    limit: u64,
    round_trip: Option<Micros>,
    variation: Micros,
    /// When the peer was last heard, or the first of the packets under way was sent.
    heard: Micros,
    is_reported: bool,
    // The receiver.
    next_to_deliver: u64,
    early: BTreeMap<u64, P>,
}

impl<P: Clone> Link<P> {
    pub fn new() -> Link<P> {
        Link {
            next_to_send: 0,
            waiting: VecDeque::new(),
            flights: BTreeMap::new(),
            limit: WINDOW,
            round_trip: None,
            variation: 0,
            heard: 0,
            is_reported: false,
            next_to_deliver: 0,
            early: BTreeMap::new(),
        }
    }

    pub fn send(&mut self, payload: P, now: Micros, out: &mut Vec<Packet<P>>) {
        self.waiting.push_back(payload);
        self.fill_window(now, out);
    }

    /// Packets that wait to be sent, or to be acknowledged.
    pub fn pending(&self) -> usize {
        self.waiting.len() + self.flights.len()
    }

    fn fill_window(&mut self, now: Micros, out: &mut Vec<Packet<P>>) {
        while self.next_to_send < self.limit || self.flights.is_empty() {
            let Some(payload) = self.waiting.pop_front() else { break };
            if self.flights.is_empty() {
                self.heard = now;
            }
            let sequence = self.next_to_send;
            self.next_to_send += 1;
            out.push(Packet::Data { sequence, payload: payload.clone() });
            let timeout = self.timeout();
            self.flights.insert(sequence, Flight { payload, sent: now, timeout, is_repeated: false });
        }
    }

    /// Takes a packet of the peer's, and delivers what is complete. `has_room`: may more be delivered?
    pub fn on_packet(&mut self, packet: Packet<P>, has_room: bool, now: Micros, out: &mut Vec<Packet<P>>) -> Vec<P> {
        self.heard = now;
        match packet {
            Packet::Ack { next, got, limit } => {
                self.on_ack(next, got, limit, now);
                self.fill_window(now, out);
                vec![]
            }
            Packet::Data { sequence, payload } => {
                let mut delivered = vec![];
                let is_known = sequence < self.next_to_deliver;
                if has_room && !is_known {
                    self.early.insert(sequence, payload);
                    while let Some(payload) = self.early.remove(&self.next_to_deliver) {
                        delivered.push(payload);
                        self.next_to_deliver += 1;
                    }
                }
                let limit = self.next_to_deliver + if has_room { WINDOW } else { 0 };
                let got = (has_room || is_known).then_some(sequence);
                out.push(Packet::Ack { next: self.next_to_deliver, got, limit });
                delivered
            }
        }
    }

    fn on_ack(&mut self, next: u64, got: Option<u64>, limit: u64, now: Micros) {
        self.limit = limit;
        if let Some(flight) = got.and_then(|sequence| self.flights.remove(&sequence)) {
            // Nobody knows which try of a repeated packet an ACK answers.
            if !flight.is_repeated {
                self.measure(now - flight.sent);
            }
        }
        self.flights = self.flights.split_off(&next);
    }

    /// The estimate of TCP (RFC 6298).
    fn measure(&mut self, sample: Micros) {
        match self.round_trip {
            None => (self.round_trip, self.variation) = (Some(sample), sample / 2),
            Some(mean) => {
                self.variation = (3 * self.variation + mean.abs_diff(sample)) / 4;
                self.round_trip = Some((7 * mean + sample) / 8);
            }
        }
    }

    fn timeout(&self) -> Micros {
        let timeout = self.round_trip.map_or(FIRST_TIMEOUT, |mean| mean + 4 * self.variation);
        timeout.clamp(MIN_TIMEOUT, MAX_TIMEOUT)
    }

    /// Sends again what is due. True, once, if the peer does not answer.
    pub fn tick(&mut self, now: Micros, out: &mut Vec<Packet<P>>) -> bool {
        for (&sequence, flight) in &mut self.flights {
            if flight.sent + flight.timeout <= now {
                flight.sent = now;
                flight.timeout = (2 * flight.timeout).min(MAX_TIMEOUT);
                flight.is_repeated = true;
                out.push(Packet::Data { sequence, payload: flight.payload.clone() });
            }
        }
        let is_silent = !self.is_reported && !self.flights.is_empty() && now >= self.heard + GIVE_UP;
        self.is_reported |= is_silent;
        is_silent
    }

    /// When to tick next.
    pub fn deadline(&self) -> Option<Micros> {
        self.flights.values().map(|f| f.sent + f.timeout).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_without_room_is_tried_again() {
        let (mut sender, mut receiver) = (Link::new(), Link::new());
        let (mut data, mut acks) = (vec![], vec![]);
        (0..3).for_each(|n| sender.send(n, 0, &mut data));
        let mut delivered = vec![];
        for packet in data.drain(..) {
            delivered.extend(receiver.on_packet(packet, false, 0, &mut acks));
        }
        assert_eq!((delivered.len(), sender.pending()), (0, 3));
        for ack in acks.drain(..) {
            sender.on_packet(ack, true, 1, &mut data);
        }
        assert!(!sender.tick(FIRST_TIMEOUT - 1, &mut data) && data.is_empty());
        assert!(!sender.tick(FIRST_TIMEOUT, &mut data));
        for packet in data.drain(..).rev() {
            delivered.extend(receiver.on_packet(packet, true, 0, &mut acks));
        }
        assert_eq!(delivered, [0, 1, 2]);
        for ack in acks.drain(..) {
            sender.on_packet(ack, true, FIRST_TIMEOUT, &mut data);
        }
        assert_eq!((sender.deadline(), sender.pending(), data.len()), (None, 0, 0));
    }

    #[test]
    fn a_peer_that_does_not_answer_is_reported() {
        let mut sender = Link::new();
        let mut data = vec![];
        sender.send((), 0, &mut data);
        assert!(!sender.tick(GIVE_UP - 1, &mut data));
        assert!(sender.tick(GIVE_UP, &mut data) && !sender.tick(GIVE_UP + 1, &mut data));
    }
}
