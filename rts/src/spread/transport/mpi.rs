//! Transport between processing elements (PEs) that an MPI launcher has started, by the functions of MPI.
//!
//! *Protocol*
//! 1. A message is divided into packets ([`Outgoing`]). The tag of a packet is its queue.
//! 2. A packet under way is done when the receiver has taken it. For each peer and queue at most [`WINDOW`] packets are
//!    under way: the others wait here. So a receiver that takes nothing fills no memory but that of the senders.
//! 3. For each queue [`POSTED`] buffers wait for packets of any peer. They are filled, and looked at, in order.
//! 4. Nothing tells that a packet has come, and what waits within MPI spins. So the network task looks, and sleeps
//!    between two looks: [`SHORTEST`] after something has moved, then longer each time, up to [`LONGEST`].
//!    Senders end its sleep. It alone sends and receives.
//! 5. *End*. PE 0 leaves when its process ends, and sends [`END`] to all. A PE that receives it counts PE 0 as lost,
//!    and leaves when its own process ends. To leave is to take whatever comes until one's own packets are done, to
//!    enter a barrier, to take whatever comes until all have entered, and then to end MPI: nothing is under way then.
//!    A process that ends without leaving has failed; the launcher ends all others.
//!
//! *Locking*: a lock for what waits to be sent, and one under which MPI is called. The first may be taken under the
//! second.
use super::incoming::Incoming;
use super::mpi_library::Library;
use super::outgoing::{Outgoing, MAX_PAYLOAD, MORE};
use super::{owned, Queue, Transport};
use crate::base::poison::unpoisoned;
use crate::cluster::ids::{Pe, COORDINATOR};
use std::collections::VecDeque;
use std::io;
use std::mem::{size_of, take};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

const SHORTEST: Duration = Duration::from_micros(20);
const LONGEST: Duration = Duration::from_millis(1);
/// Packets to one peer by one queue that are under way: half a megabyte.
const WINDOW: usize = 8;
/// Buffers for packets that come by one queue.
const POSTED: usize = 8;
/// Packets that are received before what they have brought is handled.
const AT_ONCE: usize = 256;
/// The only byte of the packet that says that PE 0 ends. Others begin with the number of a queue.
const END: u8 = 0x7f;
/// How long PE 0 waits for the others when it ends.
const LEAVE_LIMIT: Duration = Duration::from_secs(5);
/// How long a PE waits for the launcher to end it, when it fails because PE 0 has failed.
const FAILURE_LIMIT: Duration = Duration::from_secs(1);

type Bytes = Box<[u8]>;

/// A packet under way.
struct Sent<H> {
    queue: Queue,
    request: H,
    _bytes: Bytes,
}

/// What MPI is called under.
struct Engine<L: Library> {
    library: L,
    /// By PE.
    sent: Vec<Vec<Sent<L::Request>>>,
    /// By queue.
    posted: [VecDeque<(L::Request, Bytes)>; Queue::COUNT],
    incoming: Vec<Incoming>,
    arrived: Vec<(Pe, Vec<u8>)>,
    lost: Vec<Pe>,
    /// How long the next sleep is if nothing moves.
    pause: Duration,
    /// PE 0 has said that it ends.
    is_ending: bool,
    /// MPI is called no more.
    is_over: bool,
}

#[derive(Default)]
struct Waiting {
    /// By PE.
    outgoing: Vec<Outgoing>,
    /// A message was added after the network task has looked.
    is_new: bool,
    is_asleep: bool,
    /// The wait that is going on must end, or else the next one.
    is_woken: bool,
}

pub struct Mpi<L: Library> {
    me: Pe,
    /// Children of this process have nothing to do with MPI.
    process: u32,
    engine: Mutex<Engine<L>>,
    waiting: Mutex<Waiting>,
    receives: AtomicBool,
    alarm: OwnedFd,
}

impl<L: Library> Mpi<L> {
    /// The transport of PE `me` of `count`.
    /// # Errors
    /// If the system refuses a descriptor.
    pub fn new(library: L, me: Pe, count: u16) -> io::Result<Mpi<L>> {
        // SAFETY: the descriptor is new.
        let alarm = unsafe { owned(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK))? };
        let mut engine = Engine {
            library,
            sent: (0..count).map(|_| vec![]).collect(),
            posted: Default::default(),
            incoming: (0..count).map(|_| Incoming::default()).collect(),
            arrived: vec![],
            lost: vec![],
            pause: SHORTEST,
            is_ending: false,
            is_over: false,
        };
        for queue in Queue::ALL {
            (0..POSTED).for_each(|_| engine.post(queue, vec![0; MAX_PAYLOAD + 1].into()));
        }
        let waiting = Waiting { outgoing: (0..count).map(|_| Outgoing::default()).collect(), ..Waiting::default() };
        let (engine, waiting, receives) = (Mutex::new(engine), Mutex::new(waiting), AtomicBool::new(true));
        Ok(Mpi { me, process: std::process::id(), engine, waiting, receives, alarm })
    }

    fn engine(&self) -> MutexGuard<'_, Engine<L>> {
        unpoisoned(self.engine.lock())
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        unpoisoned(self.waiting.lock())
    }

    /// Receives and sends what can be. True if there is anything.
    fn advance(&self, engine: &mut Engine<L>) -> bool {
        let mut has_moved = false;
        if !engine.is_over {
            has_moved = engine.receive(self.receives.load(Ordering::Relaxed));
            has_moved |= engine.drop_done();
            let waiting = &mut *self.waiting();
            waiting.is_new = false;
            let others = waiting.outgoing.iter_mut().enumerate();
            others.for_each(|(pe, outgoing)| has_moved |= engine.send(pe, outgoing));
        }
        has_moved
    }

    /// Sleeps, unless there is a reason not to.
    fn sleep(&self, time: Duration) {
        {
            let mut waiting = self.waiting();
            if waiting.is_new || waiting.is_woken {
                return;
            }
            waiting.is_asleep = true;
        }
        let time = libc::timespec { tv_sec: time.as_secs() as _, tv_nsec: time.subsec_nanos().into() };
        let mut alarm = libc::pollfd { fd: self.alarm.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let mut count = 0u64;
        // SAFETY: all pointers are to live locals of those sizes. As a rule the system prolongs sleeps by up to 50 µs.
        unsafe {
            libc::prctl(libc::PR_SET_TIMERSLACK, 1);
            libc::ppoll(&mut alarm, 1, &time, std::ptr::null());
            libc::prctl(libc::PR_SET_TIMERSLACK, 0);
            if alarm.revents != 0 {
                libc::read(alarm.fd, (&raw mut count).cast(), size_of::<u64>());
            }
        }
        self.waiting().is_asleep = false;
    }

    /// Called after the lock is released. `was_asleep` was taken from under it.
    fn end_sleep(&self, was_asleep: bool) {
        if was_asleep {
            let one = 1u64;
            // SAFETY: the number is a live local of that size.
            unsafe { libc::write(self.alarm.as_raw_fd(), (&raw const one).cast(), size_of::<u64>()) };
        }
    }
}

/// The next sleep when nothing has moved. It grows little, so that an answer that is late is not found much later.
fn longer(pause: Duration) -> Duration {
    (pause * 5 / 4).min(LONGEST)
}

impl<L: Library> Engine<L> {
    fn post(&mut self, queue: Queue, mut buffer: Bytes) {
        // SAFETY: the buffer stays until the request is done or withdrawn.
        let request = unsafe { self.library.receive(queue as i32, &mut buffer) };
        self.posted[queue as usize].push_back((request, buffer));
    }

    /// Takes what has come. True if anything has.
    fn receive(&mut self, computation: bool) -> bool {
        let mut left = AT_ONCE;
        for queue in Queue::ALL {
            while left > 0 && (computation || queue != Queue::Computation) {
                let Some((request, _)) = self.posted[queue as usize].front() else { break };
                let Some((from, length)) = self.library.done(request) else { break };
                let Some((_, buffer)) = self.posted[queue as usize].pop_front() else { break };
                self.on_packet(from, &buffer[..length]);
                self.post(queue, buffer);
                left -= 1;
            }
        }
        left < AT_ONCE
    }

    fn on_packet(&mut self, from: usize, packet: &[u8]) {
        let pe = Pe(from as u16);
        if packet == [END] && pe == COORDINATOR {
            self.is_ending = true;
            self.lost.push(pe);
            return;
        }
        match self.incoming[from].on_packet(packet) {
            Ok(message) => self.arrived.extend(message.map(|message| (pe, message))),
            Err(()) => self.lost.push(pe),
        }
    }

    /// Forgets packets that have been taken. True if there are any.
    fn drop_done(&mut self) -> bool {
        let Engine { library, sent, .. } = self;
        let under_way = |sent: &[Vec<_>]| sent.iter().map(Vec::len).sum::<usize>();
        let before = under_way(sent);
        sent.iter_mut().for_each(|sent| sent.retain(|one| library.done(&one.request).is_none()));
        before != under_way(sent)
    }

    /// Sends packets to a peer, as many as may be under way. True if there are any.
    fn send(&mut self, to: usize, outgoing: &mut Outgoing) -> bool {
        let mut has_moved = false;
        while let Some((first, part)) = outgoing.first() {
            let queue = Queue::ALL[usize::from(first & !MORE)];
            if self.sent[to].iter().filter(|one| one.queue == queue).count() >= WINDOW {
                break;
            }
            self.transmit(to, queue, [&[first], part].concat().into());
            outgoing.on_sent();
            has_moved = true;
        }
        has_moved
    }

    fn transmit(&mut self, to: usize, queue: Queue, bytes: Bytes) {
        // SAFETY: the bytes stay until the request is done.
        let request = unsafe { self.library.send(to, queue as i32, &bytes) };
        self.sent[to].push(Sent { queue, request, _bytes: bytes });
    }

    /// Step 5 of the protocol. The others leave, too; if they do not in time, this process just ends.
    fn leave(&mut self) {
        self.is_over = true;
        let limit = Instant::now() + LEAVE_LIMIT;
        let (mut barrier, mut pause) = (None, SHORTEST);
        loop {
            let has_moved = self.receive(true) | self.drop_done();
            self.arrived.clear();
            match &barrier {
                None if self.sent.iter().all(Vec::is_empty) => barrier = Some(self.library.barrier()),
                Some(request) if self.library.done(request).is_some() => break,
                _ if Instant::now() > limit => return,
                _ => {
                    pause = if has_moved { SHORTEST } else { longer(pause) };
                    thread::sleep(pause);
                }
            }
        }
        for (request, _) in take(&mut self.posted).into_iter().flatten() {
            self.library.withdraw(request);
        }
        self.library.finish();
    }
}

impl<L: Library> Transport for Mpi<L> {
    fn send(&self, to: Pe, queue: Queue, message: Vec<u8>) {
        let was_asleep = {
            let mut waiting = self.waiting();
            waiting.outgoing[usize::from(to.0)].add(queue, message);
            waiting.is_new = true;
            take(&mut waiting.is_asleep)
        };
        self.end_sleep(was_asleep);
    }

    fn is_full(&self, to: Pe) -> bool {
        self.waiting().outgoing[usize::from(to.0)].is_full()
    }

    fn wait(&self, deadline: Option<Instant>) {
        loop {
            let pause = {
                let engine = &mut *self.engine();
                let has_moved = self.advance(engine);
                if !(engine.arrived.is_empty() && engine.lost.is_empty()) {
                    engine.pause = SHORTEST;
                    return;
                }
                let pause = if has_moved { SHORTEST } else { engine.pause };
                engine.pause = longer(pause);
                pause
            };
            let left = deadline.map_or(LONGEST, |deadline| deadline.saturating_duration_since(Instant::now()));
            if take(&mut self.waiting().is_woken) || left.is_zero() {
                return;
            }
            self.sleep(pause.min(left));
        }
    }

    fn wake(&self) {
        let was_asleep = {
            let mut waiting = self.waiting();
            waiting.is_woken = true;
            take(&mut waiting.is_asleep)
        };
        self.end_sleep(was_asleep);
    }

    fn receive(&self) -> Vec<(Pe, Vec<u8>)> {
        take(&mut self.engine().arrived)
    }

    fn set_receiving(&self, receiving: bool) {
        self.receives.store(receiving, Ordering::Relaxed);
    }

    fn lost(&self) -> Vec<Pe> {
        take(&mut self.engine().lost)
    }

    fn leave(&self) {
        if self.process != std::process::id() {
            return;
        }
        let mut engine = self.engine();
        if engine.is_over {
            return;
        }
        if self.me == COORDINATOR {
            (1..engine.sent.len()).for_each(|pe| engine.transmit(pe, Queue::Control, [END].into()));
        } else if !engine.is_ending {
            drop(engine);
            return thread::sleep(FAILURE_LIMIT);
        }
        engine.leave();
    }
}
