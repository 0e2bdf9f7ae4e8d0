//! Tracing: evacuating and scavenging what is reachable, by kind of object.
//!
//! [`worker::Worker`] is one GC thread. Its methods are spread over the files of this folder: one kind of object a
//! file.
pub mod arrays;
pub mod evacuate;
pub(super) mod forwarding;
pub mod header;
pub(super) mod list_cells;
pub mod prefetch;
pub(super) mod prescanned;
pub mod scavenge;
pub mod selector;
pub(super) mod small_objects;
pub mod stacks;
pub mod static_objects;
pub(super) mod static_queue;
pub mod weak;
pub mod worker;
