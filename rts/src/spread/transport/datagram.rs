//! Transport between processing elements (PEs) of different hosts: reliable packets ([`crate::cluster::rpp`]) over UDP.
//!
//! *Protocol*
//! 1. Each PE has a socket. A message is divided into packets of [`MAX_PACKET`] bytes at most ([`super::sealed`]).
//! 2. Each queue of each peer has a [`Link`] of its own, so that urgent messages neither wait for a window that others
//!    have filled, nor for a message that has lost a packet.
//! 3. The sender sends what the window takes. What the system does not take is as good as lost: a timer has it sent
//!    again. The timer is a descriptor, so a sender sets it without waking the network task.
//! 4. The network task receives packets, and drops those whose tag is not right. It answers DATA, and sends what an ACK
//!    has made room for. Several ACKs to a peer that say the same are sent as one, when all that had come is received.
//! 5. While this PE does not receive, the window for computation is empty: DATA is dropped, and sent again later. The
//!    other queues go on.
//! 6. A peer that does not answer is no concern of this file: heartbeats find it out.
//!
//! *Locking*: a lock for the links of each peer, under which packets are sent, and one for what the network task alone
//! uses. The second is taken before the first; nothing is taken under the first but the timer's lock.
use super::incoming::Incoming;
use super::outgoing::MORE;
use super::sealed::{self, Contents, Key, RunKey, MAX_CONTENTS, MAX_PACKET};
use super::timer::Timer;
use super::Queue;
use crate::base::poison::unpoisoned;
use crate::cluster::ids::Pe;
use crate::cluster::rpp::{Link, Packet};
use crate::spread::start::now;
use std::io::{self, IoSlice};
use std::mem::{size_of, take, zeroed};
use std::net::{SocketAddrV4, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Packets that are received before what they have brought is handled.
const AT_ONCE: usize = 256;
/// Packets that wait for a peer before nothing new should be begun with it: 4 MB.
const FULL: usize = (4 << 20) / MAX_CONTENTS;
/// What the socket's buffer should hold, if the system's limit allows it. What it has no room for is lost.
const BUFFER: i32 = 4 << 20;

type Links = [Link<Contents>; Queue::COUNT];

struct Peer {
    address: libc::sockaddr_in,
    send: Key,
    receive: Key,
    links: Mutex<Links>,
}

/// What the network task uses.
struct Receiver {
    incoming: Vec<Incoming>,
    lost: Vec<Pe>,
    buffer: Box<[u8]>,
}

pub struct Datagrams {
    me: Pe,
    socket: UdpSocket,
    /// By number. The PEs of this host are `None`.
    peers: Vec<Option<Peer>>,
    timer: Timer,
    receives: AtomicBool,
    receiver: Mutex<Receiver>,
}

impl Datagrams {
    /// The transport of PE `me` to those that have an address.
    /// # Errors
    /// If the system refuses descriptors.
    pub fn new(me: Pe, socket: UdpSocket, run: &RunKey, addresses: &[Option<SocketAddrV4>]) -> io::Result<Datagrams> {
        let peer = |(pe, address): (u16, &Option<SocketAddrV4>)| {
            address.map(|address| Peer {
                address: system_address(address),
                send: Key::new(run, me, Pe(pe)),
                receive: Key::new(run, Pe(pe), me),
                links: Mutex::new(std::array::from_fn(|_| Link::new())),
            })
        };
        for option in [libc::SO_RCVBUF, libc::SO_SNDBUF] {
            let (bytes, length) = (BUFFER, size_of::<i32>() as libc::socklen_t);
            // SAFETY: the value is a live local of that size. If the system refuses it, its own choice remains.
            unsafe {
                libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, (&raw const bytes).cast(), length)
            };
        }
        let incoming = addresses.iter().map(|_| Incoming::default()).collect();
        let receiver = Receiver { incoming, lost: vec![], buffer: vec![0; MAX_PACKET + 1].into() };
        let peers = (0..).zip(addresses).map(peer).collect();
        let (timer, receives, receiver) = (Timer::new()?, AtomicBool::new(true), Mutex::new(receiver));
        Ok(Datagrams { me, socket, peers, timer, receives, receiver })
    }

    /// What is readable when there is something to receive.
    pub fn socket(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// What is readable when [`Datagrams::on_time`] is due.
    pub fn timer(&self) -> RawFd {
        self.timer.descriptor()
    }

    fn peer(&self, pe: Pe) -> Option<&Peer> {
        self.peers.get(usize::from(pe.0))?.as_ref()
    }

    fn receiver(&self) -> MutexGuard<'_, Receiver> {
        unpoisoned(self.receiver.lock())
    }

    pub fn reaches(&self, to: Pe) -> bool {
        self.peer(to).is_some()
    }

    pub fn send(&self, to: Pe, queue: Queue, message: &[u8]) {
        let Some(peer) = self.peer(to) else { return };
        let mut links = peer.links();
        let link = &mut links[queue as usize];
        let (now, mut out) = (now(), vec![]);
        for contents in divided(queue, message) {
            link.send(contents, now, &mut out);
            self.transmit(to, peer, queue, &mut out);
        }
        self.set_timer(link);
    }

    pub fn is_full(&self, to: Pe) -> bool {
        self.pending(to) > FULL
    }

    /// Packets that wait to be sent to a PE, or to be acknowledged.
    pub fn pending(&self, to: Pe) -> usize {
        self.peer(to).map_or(0, |peer| peer.links().iter().map(Link::pending).sum())
    }

    pub fn set_receiving(&self, receiving: bool) {
        self.receives.store(receiving, Ordering::Relaxed);
    }

    pub fn lost(&self) -> Vec<Pe> {
        take(&mut self.receiver().lost)
    }

    /// Sends again what is due.
    pub fn on_time(&self) {
        if !self.timer.take() {
            return;
        }
        let (now, mut out) = (now(), vec![]);
        for (pe, peer) in (0..).map(Pe).zip(&self.peers) {
            let Some(peer) = peer else { continue };
            let mut links = peer.links();
            for queue in Queue::ALL {
                let link = &mut links[queue as usize];
                link.tick(now, &mut out);
                self.transmit(pe, peer, queue, &mut out);
                self.set_timer(link);
            }
        }
    }

    /// Messages that have arrived. It does not wait.
    pub fn receive(&self) -> Vec<(Pe, Vec<u8>)> {
        let receiver = &mut *self.receiver();
        let (mut messages, mut acks) = (vec![], Acks::default());
        for _ in 0..AT_ONCE {
            let Some(length) = received(&self.socket, &mut receiver.buffer) else { break };
            self.on_datagram(length, receiver, &mut acks, |from, message| messages.push((from, message)));
        }
        for (pe, queue, ack) in acks.0 {
            if let Some(peer) = self.peer(pe) {
                self.transmit(pe, peer, queue, &mut vec![ack]);
            }
        }
        messages
    }

    /// A datagram of that length is in the buffer.
    fn on_datagram(
        &self,
        length: usize,
        receiver: &mut Receiver,
        acks: &mut Acks,
        mut deliver: impl FnMut(Pe, Vec<u8>),
    ) {
        let bytes = &receiver.buffer[..length];
        let Some((from, peer)) = sealed::sender(self.me, bytes).and_then(|pe| Some((pe, self.peer(pe)?))) else {
            return;
        };
        let Some((queue, packet)) = sealed::open(&peer.receive, bytes) else { return };
        let has_room = queue != Queue::Computation || self.receives.load(Ordering::Relaxed);
        let is_data = matches!(packet, Packet::Data { .. });
        let mut out = vec![];
        let arrived = {
            let mut links = peer.links();
            let link = &mut links[queue as usize];
            let arrived = link.on_packet(packet, has_room, now(), &mut out);
            if !is_data {
                self.transmit(from, peer, queue, &mut out);
                self.set_timer(link);
            }
            arrived
        };
        out.into_iter().for_each(|ack| acks.add(from, queue, ack));
        for contents in arrived {
            match receiver.incoming[usize::from(from.0)].on_packet(&contents) {
                Ok(message) => message.into_iter().for_each(|message| deliver(from, message)),
                Err(()) => receiver.lost.push(from),
            }
        }
    }

    /// Called under the lock of the link, or after it.
    fn set_timer(&self, link: &Link<Contents>) {
        if let Some(deadline) = link.deadline() {
            self.timer.end_by(deadline);
        }
    }

    /// Sends packets, and empties `out`.
    fn transmit(&self, to: Pe, peer: &Peer, queue: Queue, out: &mut Vec<Packet<Contents>>) {
        for packet in out.drain(..) {
            let sealed = sealed::seal(&peer.send, self.me, to, queue, &packet);
            let parts = sealed.parts().map(IoSlice::new);
            // SAFETY: all-zero bytes are a valid header; the system only reads the parts and the address, which live
            // until the call returns. What it does not take is lost.
            unsafe {
                let mut message: libc::msghdr = zeroed();
                message.msg_name = (&raw const peer.address).cast_mut().cast();
                message.msg_namelen = size_of::<libc::sockaddr_in>() as libc::socklen_t;
                message.msg_iov = parts.as_ptr().cast_mut().cast();
                message.msg_iovlen = parts.len() as _;
                libc::sendmsg(self.socket.as_raw_fd(), &message, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT);
            }
        }
    }
}

impl Peer {
    fn links(&self) -> MutexGuard<'_, Links> {
        unpoisoned(self.links.lock())
    }
}

/// ACKs that are to be sent when all that has come is received.
#[derive(Default)]
struct Acks(Vec<(Pe, Queue, Packet<Contents>)>);

impl Acks {
    fn add(&mut self, to: Pe, queue: Queue, ack: Packet<Contents>) {
        let covered = |last: &(Pe, Queue, Packet<Contents>)| match (&last.2, &ack) {
            (Packet::Ack { got, .. }, Packet::Ack { next, .. }) => {
                last.0 == to && last.1 == queue && got.is_none_or(|got| got < *next)
            }
            _ => false,
        };
        if self.0.last().is_some_and(covered) {
            self.0.pop();
        }
        self.0.push((to, queue, ack));
    }
}

/// The packets of a message: a first byte as in [`super::outgoing`], and a part of the message.
fn divided(queue: Queue, message: &[u8]) -> impl Iterator<Item = Contents> + '_ {
    let count = message.len().div_ceil(MAX_CONTENTS - 1).max(1);
    (0..count).map(move |no| {
        let from = no * (MAX_CONTENTS - 1);
        let to = message.len().min(from + MAX_CONTENTS - 1);
        let more = if no + 1 < count { MORE } else { 0 };
        [&[queue as u8 | more], &message[from..to]].concat().into()
    })
}

/// Receives a datagram. It does not wait.
fn received(socket: &UdpSocket, buffer: &mut [u8]) -> Option<usize> {
    loop {
        // SAFETY: the buffer has that length.
        let got =
            unsafe { libc::recv(socket.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), libc::MSG_DONTWAIT) };
        if got >= 0 {
            return Some(got as usize);
        }
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return None;
        }
    }
}

fn system_address(address: SocketAddrV4) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(address.ip().octets()) },
        sin_zero: [0; 8],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ack_takes_the_place_of_one_that_says_no_more() {
        let ack = |next, got| Packet::Ack { next, got, limit: 0 };
        let mut acks = Acks::default();
        // What came early stays said, and so does what another queue is told.
        for (queue, next, got) in [(0, 1, Some(0)), (0, 2, Some(1)), (0, 2, Some(5)), (0, 3, Some(2)), (1, 9, Some(8))]
        {
            acks.add(Pe(1), Queue::ALL[queue], ack(next, got));
        }
        let left: Vec<_> = acks.0.into_iter().map(|(_, _, ack)| ack).collect();
        assert!(left == [ack(2, Some(5)), ack(3, Some(2)), ack(9, Some(8))]);
    }
}
