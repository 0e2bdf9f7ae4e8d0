//! The MPI transport over a [`Library`] within one process, which delivers packets in random order of processes and
//! queues.
use super::mpi::Mpi;
use super::mpi_library::Library;
use super::{Queue, Transport};
use crate::base::random::Random;
use crate::cluster::ids::{Pe, COORDINATOR};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

enum Request {
    /// Number among all that were sent.
    Send(usize),
    /// Number among those that this process has posted with this tag.
    Receive(i32, usize),
    Barrier,
}

#[derive(Default)]
struct Network {
    random: Option<Random>,
    /// From, to, tag and number.
    under_way: Vec<(usize, usize, i32, usize, Vec<u8>)>,
    taken: Vec<bool>,
    /// By process and tag: buffers that are to be filled, and how many have been posted.
    posted: Vec<[(VecDeque<(usize, *mut u8, usize)>, usize); Queue::COUNT]>,
    /// By process: what was received by which request.
    received: Vec<Vec<(i32, usize, usize, usize)>>,
    entered: usize,
    finished: usize,
}

// SAFETY: the buffers stay.
unsafe impl Send for Network {}

impl Network {
    /// Delivers a packet that nothing of its sender, receiver and queue is ahead of, seldom when one waits for all.
    fn deliver(&mut self) {
        let random = self.random.as_mut().unwrap();
        if self.entered > 0 && random.below(64) > 0 {
            return;
        }
        let no = random.below(self.under_way.len() as u64) as usize;
        let (from, to, tag, ..) = self.under_way[no];
        let no = self.under_way.iter().position(|one| (one.0, one.1, one.2) == (from, to, tag)).unwrap();
        let Some((request, buffer, room)) = self.posted[to][tag as usize].0.pop_front() else { return };
        let (_, _, _, number, bytes) = self.under_way.remove(no);
        assert!(bytes.len() <= room);
        // SAFETY: the buffer stays until this request is done.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer, bytes.len()) };
        self.received[to].push((tag, request, from, bytes.len()));
        self.taken[number] = true;
    }
}

struct Process {
    me: usize,
    network: Arc<Mutex<Network>>,
}

impl Library for Process {
    type Request = Request;

    unsafe fn send(&mut self, to: usize, tag: i32, bytes: &[u8]) -> Request {
        let mut network = self.network.lock().unwrap();
        let number = network.taken.len();
        network.taken.push(false);
        network.under_way.push((self.me, to, tag, number, bytes.to_vec()));
        Request::Send(number)
    }

    unsafe fn receive(&mut self, tag: i32, buffer: &mut [u8]) -> Request {
        let (posted, count) = &mut self.network.lock().unwrap().posted[self.me][tag as usize];
        *count += 1;
        posted.push_back((*count, buffer.as_mut_ptr(), buffer.len()));
        Request::Receive(tag, *count)
    }

    fn barrier(&mut self) -> Request {
        self.network.lock().unwrap().entered += 1;
        Request::Barrier
    }

    fn done(&mut self, request: &Request) -> Option<(usize, usize)> {
        let mut network = self.network.lock().unwrap();
        if !network.under_way.is_empty() {
            network.deliver();
        }
        match *request {
            Request::Send(number) => network.taken[number].then_some((0, 0)),
            Request::Barrier => (network.entered == network.posted.len()).then_some((0, 0)),
            Request::Receive(tag, number) => {
                let received = &mut network.received[self.me];
                let no = received.iter().position(|one| (one.0, one.1) == (tag, number))?;
                let (_, _, from, length) = received.remove(no);
                Some((from, length))
            }
        }
    }

    fn withdraw(&mut self, request: Request) {
        let Request::Receive(tag, number) = request else { panic!("not to receive") };
        self.network.lock().unwrap().posted[self.me][tag as usize].0.retain(|one| one.0 != number);
    }

    fn finish(&mut self) {
        let mut network = self.network.lock().unwrap();
        assert!(network.under_way.is_empty() && network.entered == network.posted.len());
        assert!(network.posted[self.me].iter().all(|(posted, _)| posted.is_empty()));
        network.finished += 1;
    }
}

fn connected(count: usize) -> (Vec<Mpi<Process>>, Arc<Mutex<Network>>) {
    let network = Network {
        random: Some(Random(7)),
        posted: (0..count).map(|_| Default::default()).collect(),
        received: vec![vec![]; count],
        ..Network::default()
    };
    let network = Arc::new(Mutex::new(network));
    let process = |me| Process { me, network: network.clone() };
    ((0..count).map(|me| Mpi::new(process(me), Pe(me as u16), count as u16).unwrap()).collect(), network)
}

fn soon() -> Option<Instant> {
    Some(Instant::now() + Duration::from_secs(30))
}

#[test]
fn messages_come_whole_and_in_order() {
    let (pes, _) = connected(3);
    let of = |from: usize, n: u64| vec![n as u8; 1 + Random((from as u64) << 32 | n).magnitude(18) as usize];
    const COUNT: u64 = 200;
    let (pes, done) = (&pes, &AtomicUsize::new(0));
    thread::scope(|scope| {
        for (me, transport) in pes.iter().enumerate() {
            scope.spawn(move || {
                for n in 0..COUNT {
                    let others = (0..3).filter(|&to| to != me);
                    others.for_each(|to| transport.send(Pe(to as u16), Queue::ALL[n as usize % 3], of(me, n)));
                }
            });
            scope.spawn(move || {
                let mut next = [[0, 1, 2]; 3];
                let mut left = 2 * COUNT;
                while left > 0 {
                    transport.wait(soon());
                    for (from, message) in transport.receive() {
                        let from = usize::from(from.0);
                        // Within a queue they come in order.
                        let queue = (0..3).find(|&queue| message == of(from, next[from][queue]));
                        next[from][queue.expect("the next message of a queue")] += 3;
                        left -= 1;
                    }
                }
                // The others may need what still waits here.
                done.fetch_add(1, Ordering::Relaxed);
                while done.load(Ordering::Relaxed) < 3 {
                    transport.wait(Some(Instant::now()));
                }
            });
        }
    });
}

#[test]
fn what_is_not_received_waits_at_the_sender() {
    let (two, network) = connected(2);
    two[1].set_receiving(false);
    for n in 0..200 {
        two[0].send(Pe(1), Queue::Computation, vec![n as u8; 50_000]);
    }
    for _ in 0..50 {
        two[0].wait(Some(Instant::now()));
        two[1].wait(Some(Instant::now()));
    }
    assert!(two[0].is_full(Pe(1)) && two[1].receive().is_empty());
    // What MPI holds is bounded.
    assert!(network.lock().unwrap().taken.len() <= 16);
    // An urgent message is not held up.
    two[0].send(Pe(1), Queue::Control, vec![1]);
    two[0].wait(Some(Instant::now()));
    two[1].wait(soon());
    assert_eq!(two[1].receive(), [(Pe(0), vec![1])]);
    two[1].set_receiving(true);
    let mut got = vec![];
    while got.len() < 200 {
        two.iter().for_each(|pe| pe.wait(Some(Instant::now())));
        got.extend(two[1].receive());
    }
    assert!(got.into_iter().enumerate().all(|(n, message)| message == (Pe(0), vec![n as u8; 50_000])));
    assert!(!two[0].is_full(Pe(1)));
}

#[test]
fn a_wait_ends_by_a_wake_or_the_deadline() {
    let (two, _) = connected(2);
    let begun = Instant::now();
    two[0].wait(Some(begun + Duration::from_millis(20)));
    assert!(begun.elapsed() >= Duration::from_millis(20));
    two[0].wake();
    two[0].wait(soon());
    thread::scope(|scope| {
        scope.spawn(|| two[0].wait(soon()));
        thread::sleep(Duration::from_millis(20));
        two[0].wake();
    });
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn all_leave_together_with_pe_0() {
    let (pes, network) = connected(4);
    // What is on its way, or waits, is dropped.
    for (from, transport) in pes.iter().enumerate() {
        for to in (0..4).filter(|&to| to != from) {
            transport.send(Pe(to as u16), Queue::Computation, vec![0; 3_000_000]);
        }
        transport.wait(Some(Instant::now()));
    }
    thread::scope(|scope| {
        for transport in &pes[1..] {
            scope.spawn(|| {
                while !transport.lost().contains(&COORDINATOR) {
                    transport.wait(None);
                    transport.receive();
                }
                transport.leave();
            });
        }
        pes[0].leave();
    });
    assert_eq!(network.lock().unwrap().finished, 4);
    // Once is enough, and nothing is received any more.
    pes.iter().for_each(|transport| transport.leave());
    pes[0].wait(Some(Instant::now()));
    assert_eq!((pes[0].receive(), network.lock().unwrap().entered), (vec![], 4));
}

#[test]
fn a_pe_that_fails_does_not_leave() {
    let (two, network) = connected(2);
    two[1].leave();
    assert_eq!(network.lock().unwrap().entered, 0);
}
