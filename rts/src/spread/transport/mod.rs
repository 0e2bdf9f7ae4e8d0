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
mod incoming;
mod outgoing;
pub mod sockets;

use crate::cluster::ids::Pe;
use std::time::Instant;

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
}

pub trait Transport {
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
}
