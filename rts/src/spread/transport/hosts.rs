//! Transport of a run over several hosts: sockets to the processing elements (PEs) of this host, and datagrams to the
//! others.
//!
//! *Protocol*
//! 1. The network task sleeps until the sockets, the datagrams, their timer or the agent has something.
//! 2. The *agent* is the process that has started the PEs of this host. It keeps a channel to each, on which nothing
//!    comes any more. That it is closed says that PE 0 has ended, or that this host is cut off from the launcher.
use super::datagram::Datagrams;
use super::sockets::Sockets;
use super::{milliseconds_until, Queue, Transport};
use crate::cluster::ids::{Pe, COORDINATOR};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

pub struct Hosts {
    sockets: Sockets,
    datagrams: Datagrams,
    agent: OwnedFd,
    /// The agent's channel is closed, and that has not been said yet; or it has. The network task alone uses these.
    is_cut_off: AtomicBool,
    is_said: AtomicBool,
}

impl Hosts {
    pub fn new(sockets: Sockets, datagrams: Datagrams, agent: OwnedFd) -> Hosts {
        Hosts { sockets, datagrams, agent, is_cut_off: AtomicBool::new(false), is_said: AtomicBool::new(false) }
    }
}

impl Transport for Hosts {
    fn send(&self, to: Pe, queue: Queue, message: Vec<u8>) {
        if self.datagrams.reaches(to) {
            self.datagrams.send(to, queue, &message);
        } else {
            self.sockets.send(to, queue, message);
        }
    }

    fn is_full(&self, to: Pe) -> bool {
        if self.datagrams.reaches(to) {
            self.datagrams.is_full(to)
        } else {
            self.sockets.is_full(to)
        }
    }

    fn wait(&self, deadline: Option<Instant>) {
        let agent = if self.is_cut_off.load(Ordering::Relaxed) { -1 } else { self.agent.as_raw_fd() };
        let all = [self.sockets.descriptor(), self.datagrams.socket(), self.datagrams.timer(), agent];
        let mut all = all.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
        // SAFETY: the array has that length. Descriptors below 0 are passed over.
        let ready = unsafe { libc::poll(all.as_mut_ptr(), all.len() as libc::nfds_t, milliseconds_until(deadline)) };
        if ready <= 0 {
            return;
        }
        let [sockets, _, timer, agent] = all.map(|one| one.revents != 0);
        if sockets {
            self.sockets.wait(Some(Instant::now()));
        }
        if timer {
            self.datagrams.on_time();
        }
        if agent {
            self.is_cut_off.store(true, Ordering::Relaxed);
        }
    }

    fn wake(&self) {
        self.sockets.wake();
    }

    fn receive(&self) -> Vec<(Pe, Vec<u8>)> {
        let mut messages = self.sockets.receive();
        messages.extend(self.datagrams.receive());
        messages
    }

    fn set_receiving(&self, receiving: bool) {
        self.sockets.set_receiving(receiving);
        self.datagrams.set_receiving(receiving);
    }

    fn lost(&self) -> Vec<Pe> {
        let mut lost = self.sockets.lost();
        lost.extend(self.datagrams.lost());
        if self.is_cut_off.load(Ordering::Relaxed) && !self.is_said.swap(true, Ordering::Relaxed) {
            lost.push(COORDINATOR);
        }
        lost
    }
}
