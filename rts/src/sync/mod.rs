//! Synchronisation: MVars and I/O ports, asynchronous exceptions between threads, deadlock detection, thread creation,
//! transactional memory, and the substrate of schedulers written in Haskell.
//!
//! The scheduler calls this folder at these moments:
//!
//! | moment | function |
//! |---|---|
//! | a thread waits | [`park_thread::park`] |
//! | a foreign call has returned | [`throwto::deliver_after_call`] |
//! | a thread has finished | [`throwto::thread_finished`] |
//! | a thread is preempted | [`stm::validate`] |
//! | a collection has found threads unreachable | [`deadlock::resurrect`] |
pub mod absent;
pub mod deadlock;
pub mod faults;
pub mod fork;
pub mod header_lock;
pub mod mvar;
pub mod park_thread;
pub mod stm;
pub mod substrate;
#[cfg(test)]
mod substrate_tests;
#[cfg(test)]
mod tests;
pub mod thread_ops;
pub mod throwto;
pub mod throwto_protocol;
pub mod upcall;
#[cfg(test)]
mod upcall_tests;
pub mod wait_queues;

/// Connects [`crate::eval`], which is below this folder, to it.
/// # Safety
/// Called once, before any Haskell runs.
pub unsafe fn init() {
    crate::eval::unwind_hooks::set(crate::eval::unwind_hooks::Hooks {
        abort_transaction: stm::abort,
        transaction_valid: |t| stm::validate(t),
        roll_back: stm::roll_back,
        leave_queues: wait_queues::leave_queues,
        demand_elsewhere: absent::demand,
        take_from_passive: substrate::take_from_passive,
    });
}
