//! Tracing: evacuates and scavenges what is reachable.
//!
//! [`worker::Worker`] is one GC worker. Its methods are spread over this folder, one kind of object a file.
//!
//! *Protocol*
//! 1. [`evacuate`] copies the object that a slot refers to into to-space and updates the slot.
//! 2. [`scavenge`] evacuates all fields of a copied object, [`stacks`] and [`arrays`] those of special kinds.
//! 3. [`worker`] repeats this until no copied object is left to scavenge.
//! 4. [`weak`] then resolves weak pointers and threads.
//!
//! *Locking*: [`forwarding`] describes how several workers claim objects.
pub mod arrays;
pub mod drain;
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
