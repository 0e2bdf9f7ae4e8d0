//! Synchronisation: MVars and I/O ports, asynchronous exceptions between threads, deadlock,
//! new threads, and transactional memory.
//!
//! For the scheduler: `eval::pause::thread_paused` when a thread stops;
//! [`wait_queues::park`] when it waits, [`throwto::deliver_after_call`] when a foreign
//! call has returned, [`throwto::thread_finished`] when it has finished; [`stm::validate`] when it is preempted; [`deadlock::resurrect`] after a collection
//! that found threads unreachable; `eval::freeze::raise_async` to stop one from outside.
pub mod deadlock;
pub mod header_lock;
pub mod mvar;
pub mod stm;
#[cfg(test)]
mod tests;
pub mod thread_ops;
pub mod throwto;
pub mod throwto_protocol;
pub mod wait_queues;

/// Connects the floor below to this one.
/// # Safety
/// Called once, before any Haskell runs.
pub unsafe fn init() {
    crate::eval::unwind_hooks::set(crate::eval::unwind_hooks::Hooks {
        abort_transaction: stm::abort,
        transaction_valid: |t| stm::validate(t),
        roll_back: stm::roll_back,
        leave_queues: wait_queues::leave_queues,
    });
}
