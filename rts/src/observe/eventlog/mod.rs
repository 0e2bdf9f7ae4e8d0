//! The event log: what happened when, for tools such as ThreadScope or as text (`+RTS -l`, `-v`).
//!
//! *Protocol*
//!
//! 1. Other folders call the one-line functions of [`hooks`]. Each of them asks [`on`] for its class of events: one
//!    load and one branch while there is no log.
//! 2. An event goes to the buffer of its HEC, or to the common buffer if it belongs to none.
//! 3. The thread that finds a buffer full writes it as a block. Blocks of different HECs come in any order; readers
//!    sort them by time.
//! 4. [`end`] first clears the classes and then writes the buffers, each under its lock. A thread that adds an event
//!    reads the classes again under that lock. So no event is added to a buffer after it was written for the last time.
//!
//! *Locking*
//!
//! - Each buffer has a lock. The holder of its HEC takes it without contention. The thread that ends the log, or
//!   flushes it after an error, may be any OS thread.
//! - Order: `LOG`, then buffers, then the lock of a writer.
//!
//! *Checked by* `tests.rs` and `bytes_tests.rs`, for the format.
mod buffer;
#[cfg(test)]
mod bytes_tests;
pub mod classes;
mod control;
mod event;
mod header;
pub mod hooks;
pub mod merge;
#[cfg(test)]
mod merge_tests;
mod post;
#[cfg(test)]
mod tests;
mod text;
pub mod waits;
mod writer;

pub use classes::{class, on};
pub use control::{after_fork, configure, end, flush, with_locked};
pub use event::{GcStats, HeapShape, SparkCounts};
pub use post::{now, start_clock};
pub use writer::FileEventLogWriter;
