//! What unwinding a stack needs from the floors above: it meets transactions and queues that
//! it does not understand. Given once, by `sync::init`.
use crate::abi::Tso;
use crate::hec::Hec;

#[derive(Clone, Copy)]
pub struct Hooks {
    /// Forgets the thread's transaction, as if it had not been tried.
    pub abort_transaction: unsafe fn(&mut Hec, Tso),
    /// Has the thread's transaction seen a consistent state that still holds?
    pub transaction_valid: unsafe fn(Tso) -> bool,
    /// Undoes what the transaction wrote since the nested one that began at a mark (see
    /// `sync::stm::record`), and ends that: (thread, begin, what enclosed it).
    pub roll_back: unsafe fn(&mut Hec, Tso, usize, usize),
    /// Takes a blocked thread off whatever it waits on. It stays marked as blocked.
    pub leave_queues: unsafe fn(&mut Hec, Tso),
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
