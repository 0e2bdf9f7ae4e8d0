//! Protocols between processing elements (PEs): one program over many processes, each with its own heap, after
//! \[FN96\].
//!
//! Each file is one state machine. It has inputs (a message, the time, a call of the heap's) and says what follows. It
//! does no I/O, reads no clock, and knows the heap only as addresses. So the simulator in `rts/tests/simulation`
//! compiles these files as they are and runs them over a simulated network.
//!
//! | file | protocol |
//! |---|---|
//! | `ids.rs`, `build.rs`, `message.rs` | what PEs and objects are called, and what PEs send each other |
//! | `clock.rs` | how far clocks are apart |
//! | `members.rs` | who takes part: handshake, heartbeats, loss of a PE |
//! | `steal.rs` | whom an idle PE asks for work, and when |
//! | `loan.rs` | a thunk that another PE evaluates |
//! | `fetch.rs` | values of other PEs, and readers of what is not evaluated yet |
//! | `calls.rs` | `IO` actions that another PE performs |
//! | `credit.rs` | weighted counts of references from other PEs |
//! | `passing_on.rs`, `waiting.rs` | the weights that go with a message, and messages that wait for some |
//! | `cycle.rs` | global collections |
//! | `ring.rs` | when marking across PEs is over |
//! | `rpp.rs` | reliable packets over datagrams |
//! | `bytes.rs`, `wire.rs`, `wire_cycle.rs` | messages as bytes |
//! | `element.rs` | the protocols of one PE put together: what each message does |
//!
//! Channels between two PEs are first in, first out, without loss or duplicates: `rpp.rs` makes them so. What
//! `docs/distribution.md` says of the whole is not repeated here.
pub mod build;
pub mod bytes;
pub mod calls;
pub mod clock;
pub mod credit;
pub mod cycle;
pub mod element;
pub mod fetch;
pub mod ids;
pub mod loan;
pub mod members;
pub mod message;
pub mod passing_on;
pub mod ring;
pub mod rpp;
pub mod steal;
pub mod waiting;
pub mod wire;
mod wire_cycle;
#[cfg(test)]
mod wire_tests;
