//! One program over many processing elements (PEs): processes, each with its own heap, after `docs/distribution.md`.
//!
//! | file | what it does |
//! |---|---|
//! | `membership.rs` | which PE of how many this process is |
//! | `transport/` | messages between two PEs |
//! | `start.rs` | the handshake before any Haskell runs |
//! | `build_id.rs` | what tells one executable from another |
//! | `network_task.rs` | the OS thread that receives messages |
//! | `inbox.rs` | messages that wait for a HEC |
//! | `run.rs` | the protocols of this PE, with their lock |
//! | `heap.rs` | the heap as the protocols see it |
//! | `steals.rs` | when an idle PE asks others for work |
//! | `steal_timer.rs` | when it may ask again |
//! | `ping.rs` | answers to pings |
pub mod build_id;
pub mod heap;
pub mod inbox;
pub mod membership;
pub mod network_task;
pub mod ping;
pub mod run;
pub mod start;
pub mod steal_timer;
pub mod steals;
pub mod transport;
