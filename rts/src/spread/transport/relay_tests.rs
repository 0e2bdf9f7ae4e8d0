//! Tests of datagrams over a relay, which loses, duplicates, holds back and changes packets by a seed.
use super::datagram::Datagrams;
use super::sealed::RunKey;
use super::Queue;
use crate::base::random::Random;
use crate::cluster::ids::Pe;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const KEY: RunKey = [5; 32];
const LIMIT: Duration = Duration::from_secs(30);

fn bound() -> UdpSocket {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    socket
}

fn address(socket: &UdpSocket) -> SocketAddrV4 {
    match socket.local_addr().unwrap() {
        SocketAddr::V4(address) => address,
        SocketAddr::V6(_) => unreachable!(),
    }
}

/// What happens to packets, in percent.
#[derive(Clone, Copy, Default)]
struct Faults {
    lost: u64,
    twice: u64,
    late: u64,
    /// Something like it comes as well, with another bit.
    forged: u64,
}

const MANY: Faults = Faults { lost: 10, twice: 10, late: 20, forged: 10 };

/// Two PEs, and the sockets that each takes for the other.
struct Pair {
    ends: [Datagrams; 2],
    addresses: [SocketAddrV4; 2],
    relays: [UdpSocket; 2],
    is_over: AtomicBool,
    relayed: AtomicU64,
}

impl Pair {
    fn new() -> Pair {
        let (sockets, relays) = ([bound(), bound()], [bound(), bound()]);
        let addresses = [address(&sockets[0]), address(&sockets[1])];
        let [zero, one] = sockets;
        let ends = [
            Datagrams::new(Pe(0), zero, &KEY, &[None, Some(address(&relays[1]))]).unwrap(),
            Datagrams::new(Pe(1), one, &KEY, &[Some(address(&relays[0])), None]).unwrap(),
        ];
        Pair { ends, addresses, relays, is_over: AtomicBool::new(false), relayed: AtomicU64::new(0) }
    }

    /// Passes on what is sent to one of the two.
    fn relay(&self, to: usize, faults: Faults, seed: u64) {
        let (mut random, mut held) = (Random(seed), Vec::<Vec<u8>>::new());
        let send = |bytes: &[u8]| assert!(self.relays[1 - to].send_to(bytes, self.addresses[to]).is_ok());
        let (mut buffer, begun) = ([0; 2_000], Instant::now());
        // A test that fails does not say that it is over.
        while !self.is_over.load(Ordering::Relaxed) && begun.elapsed() < 2 * LIMIT {
            let Ok((length, _)) = self.relays[to].recv_from(&mut buffer) else {
                held.drain(..).for_each(|packet| send(&packet));
                continue;
            };
            let mut happens = |percent| random.below(100) < percent;
            let packet = &mut buffer[..length];
            self.relayed.fetch_add(1, Ordering::Relaxed);
            if happens(faults.late) {
                held.push(packet.to_vec());
            } else if !happens(faults.lost) {
                send(packet);
            }
            if happens(faults.twice) {
                held.push(packet.to_vec());
            }
            if happens(faults.forged) {
                let bit = random.below(8 * length as u64) as usize;
                packet[bit / 8] ^= 1 << (bit % 8);
                send(packet);
            }
            if held.len() > 8 {
                let at = random.below(held.len() as u64) as usize;
                send(&held.swap_remove(at));
            }
        }
    }

    /// Runs both with a relay between them until `act` has returned.
    fn with_relay<R>(&self, faults: Faults, act: impl FnOnce() -> R) -> R {
        thread::scope(|scope| {
            scope.spawn(|| self.relay(0, faults, 1));
            scope.spawn(|| self.relay(1, faults, 2));
            let result = act();
            self.is_over.store(true, Ordering::Relaxed);
            result
        })
    }
}

/// What a network task does, for a moment.
fn work(end: &Datagrams) -> Vec<Vec<u8>> {
    let mut all = [end.socket(), end.timer()].map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    // SAFETY: the array has that length.
    unsafe { libc::poll(all.as_mut_ptr(), 2, 5) };
    end.on_time();
    end.receive().into_iter().map(|(_, message)| message).collect()
}

fn message(random: &mut Random, queue: Queue) -> Vec<u8> {
    let length = random.pick(&[0, 1, 100, 1_370, 1_371, 1_372, 5_000, 100_000]);
    let mut bytes: Vec<u8> = (0..length).map(|n| (n as u8).wrapping_mul(31) ^ random.0 as u8).collect();
    bytes.push(queue as u8);
    bytes
}

#[test]
fn messages_come_whole_once_and_in_order_over_a_bad_network() {
    const COUNT: usize = 120;
    let pair = Pair::new();
    let all = |from: u64| {
        let mut random = Random(from);
        let one = |no: usize| {
            let queue = Queue::ALL[no % Queue::COUNT];
            (queue, message(&mut random, queue))
        };
        (0..COUNT).map(one).collect::<Vec<_>>()
    };
    let run = |me: usize| {
        let (end, begun) = (&pair.ends[me], Instant::now());
        let (mut to_send, expected) = (all(me as u64).into_iter(), all(1 - me as u64));
        let mut got: [Vec<Vec<u8>>; Queue::COUNT] = Default::default();
        let is_done = |got: &[Vec<Vec<u8>>; Queue::COUNT]| got.iter().map(Vec::len).sum::<usize>() >= COUNT;
        // The other one may wait for what is sent again.
        while to_send.len() > 0 || !is_done(&got) || end.pending(Pe(1 - me as u16)) > 0 {
            for (queue, message) in to_send.by_ref().take(2) {
                end.send(Pe(1 - me as u16), queue, &message);
            }
            for message in work(end) {
                got[usize::from(*message.last().unwrap())].push(message);
            }
            assert!(begun.elapsed() < LIMIT);
        }
        for queue in Queue::ALL {
            let sent = expected.iter().filter(|(of, _)| *of == queue).map(|(_, message)| message);
            assert!(sent.eq(&got[queue as usize]), "{queue:?}");
        }
        // Until the other one is done as well.
        while !pair.is_over.load(Ordering::Relaxed) {
            assert!(work(end).is_empty() && begun.elapsed() < 2 * LIMIT);
        }
    };
    pair.with_relay(MANY, || {
        thread::scope(|scope| {
            let both = [0, 1].map(|me| scope.spawn(move || run(me)));
            while both.iter().any(|one| !one.is_finished()) {
                let is_idle = [0, 1].into_iter().all(|me| pair.ends[me].pending(Pe(1 - me as u16)) == 0);
                let before = pair.relayed.load(Ordering::Relaxed);
                thread::sleep(Duration::from_millis(200));
                if is_idle && before > 100 && pair.relayed.load(Ordering::Relaxed) == before {
                    pair.is_over.store(true, Ordering::Relaxed);
                }
            }
            both.into_iter().for_each(|one| one.join().unwrap());
        });
    });
}

#[test]
fn a_lost_packet_is_sent_again_although_nothing_else_happens() {
    let pair = Pair::new();
    pair.ends[0].send(Pe(1), Queue::Computation, &[1, 2]);
    // Nobody relays yet: the first packet waits here, and is thrown away.
    let mut buffer = [0; 2_000];
    let begun = Instant::now();
    while pair.relays[1].recv_from(&mut buffer).is_err() {
        assert!(begun.elapsed() < LIMIT);
    }
    pair.with_relay(Faults::default(), || {
        let mut got = vec![];
        while pair.ends[0].pending(Pe(1)) > 0 || got.is_empty() {
            got.extend(work(&pair.ends[0]));
            got.extend(work(&pair.ends[1]));
            assert!(begun.elapsed() < LIMIT);
        }
        assert_eq!(got, [[1, 2]]);
    });
}

#[test]
fn forged_packets_are_dropped_unread_and_replayed_ones_bring_nothing() {
    let pair = Pair::new();
    let begun = Instant::now();
    let mut seen = vec![];
    // This is the relay, and the attacker.
    let pass_on = |seen: &mut Vec<(usize, Vec<u8>)>| {
        let mut buffer = [0; 2_000];
        let mut passed = 0;
        for to in [0, 1] {
            while let Ok((length, _)) = pair.relays[to].recv_from(&mut buffer) {
                pair.relays[1 - to].send_to(&buffer[..length], pair.addresses[to]).unwrap();
                seen.push((to, buffer[..length].to_vec()));
                passed += 1;
            }
        }
        passed
    };
    let mut got = vec![];
    for number in 0..20 {
        pair.ends[0].send(Pe(1), Queue::Computation, &[number]);
        while got.len() <= usize::from(number) || pair.ends[0].pending(Pe(1)) > 0 {
            pass_on(&mut seen);
            got.extend(work(&pair.ends[1]));
            work(&pair.ends[0]);
            assert!(begun.elapsed() < LIMIT);
        }
    }
    assert!(got.iter().map(|message| message[0]).eq(0..20));
    // What was sent twice, and its answers, may still be on the way.
    while pass_on(&mut vec![]) + work(&pair.ends[0]).len() + work(&pair.ends[1]).len() > 0 {}
    // Forged ones are not answered. Nor are those that are sent back to where they came from.
    let mut random = Random(3);
    for (to, packet) in &seen {
        let mut wrong = packet.clone();
        let bit = random.below(8 * wrong.len() as u64) as usize;
        wrong[bit / 8] ^= 1 << (bit % 8);
        pair.relays[1 - to].send_to(&wrong, pair.addresses[*to]).unwrap();
        pair.relays[*to].send_to(packet, pair.addresses[1 - to]).unwrap();
        let noise: Vec<u8> = (0..random.below(1_500)).map(|_| random.number() as u8).collect();
        pair.relays[1 - to].send_to(&noise, pair.addresses[*to]).unwrap();
        assert!(work(&pair.ends[0]).is_empty() && work(&pair.ends[1]).is_empty());
    }
    assert_eq!(pass_on(&mut vec![]), 0);
    // Replayed ones are duplicates: they bring no message, and harm none that is sent later.
    for (to, packet) in &seen {
        pair.relays[1 - to].send_to(packet, pair.addresses[*to]).unwrap();
        assert!(work(&pair.ends[0]).is_empty() && work(&pair.ends[1]).is_empty());
    }
    pair.ends[0].send(Pe(1), Queue::Computation, b"later");
    let mut got = vec![];
    while got.is_empty() {
        pass_on(&mut vec![]);
        got.extend(work(&pair.ends[1]));
        work(&pair.ends[0]);
        assert!(begun.elapsed() < LIMIT);
    }
    assert_eq!(got, [b"later"]);
}

#[test]
fn a_pe_that_does_not_receive_gets_urgent_messages_only() {
    let pair = Pair::new();
    let begun = Instant::now();
    pair.with_relay(Faults::default(), || {
        let [zero, one] = &pair.ends;
        one.set_receiving(false);
        let long = vec![9; 1_000_000];
        (0..5).for_each(|_| zero.send(Pe(1), Queue::Computation, &long));
        zero.send(Pe(1), Queue::Control, b"urgent");
        let mut got = vec![];
        while got.is_empty() || begun.elapsed() < Duration::from_millis(100) {
            got.extend(work(one));
            work(zero);
            assert!(begun.elapsed() < LIMIT);
        }
        assert!(got == [b"urgent"] && zero.is_full(Pe(1)));
        one.set_receiving(true);
        let mut got = vec![];
        while got.len() < 5 {
            got.extend(work(one));
            work(zero);
            assert!(begun.elapsed() < LIMIT);
        }
        assert!(got.iter().all(|message| *message == long) && !zero.is_full(Pe(1)));
    });
}
