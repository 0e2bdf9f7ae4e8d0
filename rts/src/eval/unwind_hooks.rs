//! Functions of `sync` that unwinding a stack, or stealing a thunk, calls for transactions, wait queues and passive
//! threads. `sync::init` sets them once.
use crate::abi::Tso;
use crate::hec::Hec;

#[derive(Clone, Copy)]
pub struct Hooks {
    /// Drops the thread's transaction, as if it had not been tried.
    pub abort_transaction: unsafe fn(&mut Hec, Tso),
    /// Has the thread's transaction seen a consistent state that still holds?
    pub transaction_valid: unsafe fn(Tso) -> bool,
    /// Undoes the transaction's writes since a nested one began, and ends the nested one (see `sync::stm::trec`).
    /// Arguments: thread, number of notes at its beginning, number of the enclosing one.
    pub roll_back: unsafe fn(&mut Hec, Tso, usize, usize),
    /// Takes a blocked thread off the queue it waits on. It stays marked as blocked.
    pub leave_queues: unsafe fn(&mut Hec, Tso),
    /// An ordinary thread waits for a thunk of this one, which is lenient and waits for another process.
    pub demand_elsewhere: unsafe fn(&mut Hec, Tso),
    /// Takes work from a thread that is passive, by the function given (`sync/substrate.rs`).
    pub take_from_passive: unsafe fn(&mut Hec, Tso, &mut dyn FnMut(&mut Hec) -> bool) -> Option<bool>,
}

static mut HOOKS: Option<Hooks> = None;

/// # Safety
/// Called once, before any Haskell runs.
pub unsafe fn set(hooks: Hooks) {
    HOOKS = Some(hooks);
}

/// # Safety
/// After [`set`].
pub(super) unsafe fn get() -> Hooks {
    match HOOKS {
        Some(h) => h,
        None => crate::base::fatal::broken("stack unwound before sync::init"),
    }
}
