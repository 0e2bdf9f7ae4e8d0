//! Transport between the processing elements (PEs) of one host: a pair of sockets for each two of them, which keep
//! packets apart (`SOCK_SEQPACKET`).
//!
//! *Protocol*
//! 1. A sender adds its message to what waits for the peer ([`Outgoing`]), and sends as much of that as the socket
//!    takes. If some is left, the network task is told by epoll when the socket takes more, and goes on.
//! 2. The network task sleeps in epoll, and reads from each socket that has something until it has nothing, or
//!    [`AT_ONCE`] packets. The sockets report levels, so the rest is reported again.
//! 3. A process that ends, however it does, closes its sockets. Its peers receive what it had sent, then the end.
//!
//! *Locking*: a lock for what waits for each peer, and one for what the network task alone uses. No lock is taken
//! under either.
use super::incoming::Incoming;
use super::outgoing::{Outgoing, MAX_PAYLOAD};
use super::{milliseconds_until, owned, Queue, Transport};
use crate::base::poison::unpoisoned;
use crate::cluster::ids::Pe;
use std::io;
use std::mem::{size_of, take, zeroed};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

/// Packets that are received from one peer before the others have their turn.
const AT_ONCE: usize = 32;
/// What epoll says of the wake-up, instead of a peer's number.
const WAKE: u64 = u64::MAX;

struct Peer {
    socket: OwnedFd,
    outgoing: Mutex<Outgoing>,
}

/// What the network task uses.
struct Receiver {
    incoming: Vec<Incoming>,
    ready: Vec<usize>,
    lost: Vec<Pe>,
    buffer: Box<[u8]>,
}

pub struct Sockets {
    /// This PE among those of the host.
    me: usize,
    first: Pe,
    /// The others of the host in order, without this PE.
    peers: Vec<Peer>,
    epoll: OwnedFd,
    wake: OwnedFd,
    /// Does the network task receive? It writes this, and then watches each socket anew.
    receives: AtomicBool,
    receiver: Mutex<Receiver>,
}

/// The socket on an inherited descriptor, which this process's children will not inherit. `None` if it is not an open
/// socket of this kind (`SOCK_SEQPACKET`, `SOCK_DGRAM`).
/// # Safety
/// The caller gives the descriptor away.
pub unsafe fn inherited(fd: RawFd, kind: i32) -> Option<OwnedFd> {
    let (mut own_kind, mut length) = (0i32, size_of::<i32>() as libc::socklen_t);
    let asked = libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_TYPE, (&raw mut own_kind).cast(), &mut length);
    if asked != 0 || own_kind != kind {
        return None;
    }
    (libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) == 0).then(|| OwnedFd::from_raw_fd(fd))
}

impl Sockets {
    /// The transport of PE `me`, with a socket for each other PE of this host, in order. `first` is the first of them.
    /// # Errors
    /// If the system refuses descriptors.
    pub fn new(me: Pe, first: Pe, sockets: Vec<OwnedFd>) -> io::Result<Sockets> {
        // SAFETY: the descriptors are new.
        let (epoll, wake) = unsafe {
            let flags = libc::EFD_CLOEXEC | libc::EFD_NONBLOCK;
            (owned(libc::epoll_create1(libc::EPOLL_CLOEXEC))?, owned(libc::eventfd(0, flags))?)
        };
        let peer = |socket| Peer { socket, outgoing: Mutex::default() };
        let receiver = Receiver {
            incoming: sockets.iter().map(|_| Incoming::default()).collect(),
            ready: vec![],
            lost: vec![],
            buffer: vec![0; MAX_PAYLOAD + 2].into(),
        };
        let peers = sockets.into_iter().map(peer).collect();
        let (receives, receiver) = (AtomicBool::new(true), Mutex::new(receiver));
        let me = usize::from(me.0 - first.0);
        let sockets = Sockets { me, first, peers, epoll, wake, receives, receiver };
        sockets.control(libc::EPOLL_CTL_ADD, sockets.wake.as_raw_fd(), libc::EPOLLIN, WAKE)?;
        for (no, peer) in sockets.peers.iter().enumerate() {
            sockets.control(libc::EPOLL_CTL_ADD, peer.socket.as_raw_fd(), libc::EPOLLIN, no as u64)?;
        }
        Ok(sockets)
    }

    fn control(&self, operation: i32, fd: RawFd, events: i32, data: u64) -> io::Result<()> {
        let mut event = libc::epoll_event { events: events as u32, u64: data };
        // SAFETY: the event is a live local.
        match unsafe { libc::epoll_ctl(self.epoll.as_raw_fd(), operation, fd, &mut event) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn number(&self, pe: Pe) -> usize {
        let pe = usize::from(pe.0 - self.first.0);
        debug_assert!(pe != self.me);
        pe - usize::from(pe > self.me)
    }

    fn pe(&self, number: usize) -> Pe {
        Pe(self.first.0 + (number + usize::from(number >= self.me)) as u16)
    }

    /// What is readable when [`Transport::wait`] returns at once.
    pub fn descriptor(&self) -> RawFd {
        self.epoll.as_raw_fd()
    }

    fn receiver(&self) -> MutexGuard<'_, Receiver> {
        unpoisoned(self.receiver.lock())
    }

    /// Waits for more from a peer, and for room if something is to be sent. Called under the peer's lock.
    fn watch(&self, number: usize, sending: bool) {
        let receives = self.receives.load(Ordering::Relaxed);
        let events = if receives { libc::EPOLLIN } else { 0 } | if sending { libc::EPOLLOUT } else { 0 };
        // It fails if the peer's end has been seen.
        let _ = self.control(libc::EPOLL_CTL_MOD, self.peers[number].socket.as_raw_fd(), events, number as u64);
    }

    /// Sends what the socket takes. True if something is left.
    fn flush(&self, number: usize, outgoing: &mut Outgoing) -> bool {
        while let Some((first, part)) = outgoing.first() {
            match send(&self.peers[number].socket, first, part) {
                Ok(()) => outgoing.on_sent(),
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock => return true,
                    _ if error.raw_os_error() == Some(libc::ENOBUFS) => return true,
                    // The peer has ended, and the receiver will see that.
                    _ => *outgoing = Outgoing::default(),
                },
            }
        }
        false
    }
}

fn send(socket: &OwnedFd, first: u8, part: &[u8]) -> io::Result<()> {
    let (first, part) = ([first], part);
    let mut parts = [
        libc::iovec { iov_base: first.as_ptr().cast_mut().cast(), iov_len: 1 },
        libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() },
    ];
    // SAFETY: all-zero bytes are a valid header; the system only reads the parts, which live until the call returns.
    let sent = unsafe {
        let mut message: libc::msghdr = zeroed();
        message.msg_iov = parts.as_mut_ptr();
        message.msg_iovlen = parts.len() as _;
        libc::sendmsg(socket.as_raw_fd(), &message, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT)
    };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

impl Receiver {
    /// Receives packets of peer `number`. Returns true at its end.
    fn receive(&mut self, number: usize, socket: &OwnedFd, mut deliver: impl FnMut(Vec<u8>)) -> bool {
        for _ in 0..AT_ONCE {
            let buffer = &mut self.buffer;
            // SAFETY: the buffer has that length.
            let got =
                unsafe { libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), libc::MSG_DONTWAIT) };
            match got {
                n if n > 0 => match self.incoming[number].on_packet(&buffer[..n as usize]) {
                    Ok(message) => message.into_iter().for_each(&mut deliver),
                    Err(()) => return true,
                },
                0 => return true,
                _ => match io::Error::last_os_error().kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock => return false,
                    _ => return true,
                },
            }
        }
        false
    }
}

impl Transport for Sockets {
    fn send(&self, to: Pe, queue: Queue, message: Vec<u8>) {
        let number = self.number(to);
        let mut outgoing = unpoisoned(self.peers[number].outgoing.lock());
        let was_watched = !outgoing.is_empty();
        outgoing.add(queue, message);
        if !was_watched && self.flush(number, &mut outgoing) {
            self.watch(number, true);
        }
    }

    fn is_full(&self, to: Pe) -> bool {
        unpoisoned(self.peers[self.number(to)].outgoing.lock()).is_full()
    }

    fn wait(&self, deadline: Option<Instant>) {
        let left = milliseconds_until(deadline);
        // SAFETY: all-zero bytes are valid events.
        let mut events: [libc::epoll_event; 64] = unsafe { zeroed() };
        // SAFETY: the array has that length.
        let got = unsafe { libc::epoll_wait(self.epoll.as_raw_fd(), events.as_mut_ptr(), events.len() as i32, left) };
        for event in &events[..got.max(0) as usize] {
            let (kinds, data) = (event.events as i32, event.u64);
            if data == WAKE {
                let mut count = 0u64;
                // SAFETY: the count is a live local of that size.
                unsafe { libc::read(self.wake.as_raw_fd(), (&raw mut count).cast(), size_of::<u64>()) };
                continue;
            }
            let number = data as usize;
            if kinds & libc::EPOLLOUT != 0 {
                let mut outgoing = unpoisoned(self.peers[number].outgoing.lock());
                if !self.flush(number, &mut outgoing) {
                    self.watch(number, false);
                }
            }
            if kinds & !libc::EPOLLOUT != 0 {
                self.receiver().ready.push(number);
            }
        }
    }

    fn wake(&self) {
        let one = 1u64;
        // SAFETY: the number is a live local of that size.
        unsafe { libc::write(self.wake.as_raw_fd(), (&raw const one).cast(), size_of::<u64>()) };
    }

    fn receive(&self) -> Vec<(Pe, Vec<u8>)> {
        let receiver = &mut *self.receiver();
        let mut messages = vec![];
        for number in take(&mut receiver.ready) {
            let (pe, socket) = (self.pe(number), &self.peers[number].socket);
            if receiver.receive(number, socket, |message| messages.push((pe, message))) {
                let _ = self.control(libc::EPOLL_CTL_DEL, socket.as_raw_fd(), 0, 0);
                receiver.lost.push(pe);
            }
        }
        messages
    }

    fn set_receiving(&self, receiving: bool) {
        self.receives.store(receiving, Ordering::Relaxed);
        for (number, peer) in self.peers.iter().enumerate() {
            let outgoing = unpoisoned(peer.outgoing.lock());
            self.watch(number, !outgoing.is_empty());
        }
    }

    fn lost(&self) -> Vec<Pe> {
        take(&mut self.receiver().lost)
    }
}

/// The transports of `count` PEs in one process.
#[cfg(test)]
pub fn connected(count: usize) -> Vec<Sockets> {
    let mut ends: Vec<Vec<OwnedFd>> = (0..count).map(|_| vec![]).collect();
    for a in 0..count {
        for b in a + 1..count {
            let mut pair = [0; 2];
            // SAFETY: the array has room for two descriptors, which are new.
            unsafe {
                assert_eq!(libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET, 0, pair.as_mut_ptr()), 0);
                ends[a].push(inherited(pair[0], libc::SOCK_SEQPACKET).unwrap());
                ends[b].push(inherited(pair[1], libc::SOCK_SEQPACKET).unwrap());
            }
        }
    }
    ends.into_iter().enumerate().map(|(pe, ends)| Sockets::new(Pe(pe as u16), Pe(0), ends).unwrap()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::random::Random;
    use std::thread;
    use std::time::Duration;

    fn soon() -> Option<Instant> {
        Some(Instant::now() + Duration::from_secs(30))
    }

    /// Receives until `count` messages have come.
    fn receive(transport: &Sockets, count: usize) -> Vec<(Pe, Vec<u8>)> {
        let mut all = vec![];
        while all.len() < count {
            transport.wait(soon());
            all.extend(transport.receive());
        }
        all
    }

    #[test]
    fn messages_come_whole_and_in_order_until_the_end() {
        let mut three = connected(3);
        let two = three.pop().unwrap();
        let [zero, one] = &three[..] else { unreachable!() };
        one.send(Pe(0), Queue::Computation, vec![1]);
        two.send(Pe(0), Queue::Computation, vec![2]);
        one.send(Pe(0), Queue::Computation, vec![3; 1_000_000]);
        let mut got = vec![];
        // The long message does not fit into the socket: its sender has to go on with it.
        while got.len() < 3 {
            one.wait(Some(Instant::now()));
            zero.wait(Some(Instant::now()));
            got.extend(zero.receive());
        }
        let of_one: Vec<_> = got.iter().filter(|(pe, _)| *pe == Pe(1)).map(|(_, message)| message).collect();
        assert!(of_one == [&vec![1], &vec![3; 1_000_000]] && got.contains(&(Pe(2), vec![2])));
        two.send(Pe(0), Queue::Control, vec![4]);
        drop(two);
        zero.send(Pe(2), Queue::Control, vec![5]);
        assert_eq!(receive(zero, 1), [(Pe(2), vec![4])]);
        while zero.lost() != [Pe(2)] {
            zero.wait(soon());
            assert_eq!(zero.receive(), []);
        }
    }

    #[test]
    fn a_wait_ends_by_wake_or_deadline() {
        let two = connected(2);
        let begun = Instant::now();
        two[0].wait(Some(begun + Duration::from_millis(20)));
        assert!(begun.elapsed() >= Duration::from_millis(20));
        two[0].wake();
        two[0].wait(soon());
        assert!(begun.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn what_is_not_received_waits_at_the_sender() {
        let two = connected(2);
        two[1].set_receiving(false);
        let count = 200;
        for n in 0..count {
            two[0].send(Pe(1), Queue::Computation, vec![n as u8; 50_000]);
        }
        assert!(two[0].is_full(Pe(1)));
        two[1].wait(Some(Instant::now()));
        assert_eq!(two[1].receive(), []);
        two[1].set_receiving(true);
        let got = thread::scope(|scope| {
            scope.spawn(|| {
                while two[0].is_full(Pe(1)) || !unpoisoned(two[0].peers[0].outgoing.lock()).is_empty() {
                    two[0].wait(soon());
                }
            });
            receive(&two[1], count)
        });
        assert!(got.into_iter().enumerate().all(|(n, message)| message == (Pe(0), vec![n as u8; 50_000])));
    }

    #[test]
    fn all_send_to_all_at_once() {
        let pes = connected(4);
        let of = |from: usize, n: u64| {
            let mut random = Random((from as u64) << 32 | n);
            vec![n as u8; random.magnitude(18) as usize]
        };
        const COUNT: u64 = 300;
        thread::scope(|scope| {
            for (me, transport) in pes.iter().enumerate() {
                scope.spawn(move || {
                    for n in 0..COUNT {
                        let others = (0..4).filter(|&to| to != me);
                        others.for_each(|to| transport.send(Pe(to as u16), Queue::Computation, of(me, n)));
                    }
                });
                scope.spawn(move || {
                    let mut next = [0; 4];
                    while next.iter().enumerate().any(|(pe, &n)| pe != me && n < COUNT) {
                        transport.wait(Some(Instant::now() + Duration::from_millis(10)));
                        for (from, message) in transport.receive() {
                            let from = usize::from(from.0);
                            assert!(message == of(from, next[from]));
                            next[from] += 1;
                        }
                    }
                    // The others may need what still waits here.
                    while transport.peers.iter().any(|peer| !unpoisoned(peer.outgoing.lock()).is_empty()) {
                        transport.wait(Some(Instant::now() + Duration::from_millis(1)));
                    }
                });
            }
        });
    }

    #[test]
    fn other_descriptors_are_refused() {
        // SAFETY: neither is taken over.
        unsafe {
            assert!(inherited(1 << 20, libc::SOCK_SEQPACKET).is_none());
            assert!(inherited(2, libc::SOCK_SEQPACKET).is_none());
        }
    }
}
