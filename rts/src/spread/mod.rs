//! One program over many processing elements (PEs): processes, each with its own heap, after `docs/distribution.md`.
//!
//! | file | what it does |
//! |---|---|
//! | `membership.rs` | which PE of how many this process is |
//! | `channel.rs` | messages between two PEs of one host |
//! | `start.rs` | the handshake before any Haskell runs |
//! | `build_id.rs` | what tells one executable from another |
pub mod build_id;
pub mod channel;
pub mod membership;
pub mod start;
