//! Synchronisation: MVars and I/O ports, asynchronous exceptions between threads, deadlock,
//! new threads, and transactional memory.
//!
//! For the scheduler: `eval::pause::thread_paused` when a thread stops;
//! [`queues::park`] when it waits, [`throwto::deliver_after_call`] when a foreign
//! call has returned, [`throwto::thread_finished`] when it has finished; [`stm::validate`] when it is preempted; [`deadlock::resurrect`] after a collection
//! that found threads unreachable; `eval::freeze::raise_async` to stop one from outside.
pub mod deadlock;
pub mod fork;
pub mod header;
pub mod mvar;
pub mod pursuit;
pub mod queues;
pub mod stm;
#[cfg(test)]
mod tests;
pub mod throwto;

/// Connects the floor below to this one.
/// # Safety
/// Called once, before any Haskell runs.
pub unsafe fn init() {
    crate::eval::hooks::set(crate::eval::hooks::Hooks {
        abort_transaction: stm::abort,
        transaction_valid: |t| stm::validate(t),
        roll_back: stm::roll_back,
        leave_queues: queues::leave_queues,
    });
}
