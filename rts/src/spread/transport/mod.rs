//! Transport: how messages reach the other processing elements (PEs).
//!
//! *Protocol*
//! 1. A message belongs to a [`Queue`]. Messages to one PE by one queue arrive in the order in which they were sent,
//!    whole and once, as long as both PEs live. Those of an urgent queue may overtake others.
//! 2. [`Transport::send`] may be called by any OS thread, holds no OS thread up, and loses nothing: what the network
//!    does not take now is kept and sent later. So who answers a message may always send. Who begins something new
//!    first asks [`Transport::is_full`], and waits. If those that answer waited as well, two PEs could wait for each
//!    other.
//! 3. One OS thread, the network task, calls [`Transport::wait`] and [`Transport::receive`] in turn.
//! 4. A PE whose channel is closed is among [`Transport::lost`] once all that it had sent has been received.
//!
//! | file | what it does |
//! |---|---|
//! | `sockets.rs` | the transport within a host |
//! | `outgoing.rs`, `incoming.rs` | messages divided into packets, and put together |
//! | `datagram.rs` | the transport between hosts |
//! | `sealed.rs` | its packets as bytes, with their tags |
//! | `timer.rs` | when it sends again |
//! | `hosts.rs` | both together |
//! | `mpi.rs` | the transport of PEs that an MPI launcher has started |
//! | `mpi_library.rs` | what it needs of MPI, loaded when it is used |
pub mod datagram;
pub mod hosts;
mod incoming;
pub mod mpi;
pub mod mpi_library;
#[cfg(test)]
mod mpi_tests;
mod outgoing;
#[cfg(test)]
mod relay_tests;
pub mod sealed;
pub mod sockets;
mod timer;

use crate::cluster::ids::Pe;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

/// Queues of messages, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// Who takes part. These need nothing that was sent before them.
    Control,
    /// Global collections.
    Collection,
    /// All else.
    Computation,
}

impl Queue {
    const COUNT: usize = 3;
    const ALL: [Queue; Queue::COUNT] = [Queue::Control, Queue::Collection, Queue::Computation];
}

pub trait Transport: Sync {
    fn send(&self, to: Pe, queue: Queue, message: Vec<u8>);
    /// Does so much wait to be sent to a PE that nothing new should be begun with it?
    fn is_full(&self, to: Pe) -> bool;
    /// Sleeps until there is something to receive, or until the deadline, and sends what can be sent meanwhile. May
    /// return early.
    fn wait(&self, deadline: Option<Instant>);
    /// Ends the wait that is going on, or the next one. Any OS thread may call this.
    fn wake(&self);
    /// Messages that have arrived. It does not wait.
    fn receive(&self) -> Vec<(Pe, Vec<u8>)>;
    /// Stops and begins receiving. What others send meanwhile stays with them.
    fn set_receiving(&self, receiving: bool);
    /// PEs whose channels have been closed since the last call, or that have sent what is no message.
    fn lost(&self) -> Vec<Pe>;
    /// This PE ends. Any OS thread may call this, several times. Nothing is sent or received after it. Only a transport
    /// whose channels do not close by themselves has something to do.
    fn leave(&self) {}
}

/// The milliseconds that are left, rounded up, so that a wait does not spin in the last one; or -1.
fn milliseconds_until(deadline: Option<Instant>) -> i32 {
    let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
    left.map_or(-1, |l| (l + Duration::from_micros(999)).as_millis().min(i32::MAX as u128) as i32)
}

/// A new descriptor, or the system's error.
unsafe fn owned(fd: RawFd) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(OwnedFd::from_raw_fd(fd))
}
