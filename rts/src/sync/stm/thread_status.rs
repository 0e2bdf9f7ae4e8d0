//! The status of a thread ([`Status`]) as the value of a TVar: a Haskell `Word`.
use crate::abi::closure::fields::{INDIRECTEE, TVAR_VALUE};
use crate::abi::layout::*;
use crate::abi::{Closure, Tso};
use crate::hec::Hec;
use crate::info;
use crate::sync::stm::scont_protocol::Status;
use crate::sync::stm::tvar;
use crate::thread::create;
use crate::thread::sched_record::SchedRecord;

/// The constructor that an evaluated value is, untagged.
/// # Safety
/// The value is live, and in weak head normal form.
pub unsafe fn constructor(value: Closure) -> Closure {
    let mut c = value.untag();
    while matches!(c.info().kind(), IND | BLACKHOLE) {
        c = c.field(INDIRECTEE).untag();
    }
    c
}

/// # Safety
/// The value is that of a status TVar.
pub unsafe fn unboxed(value: Closure) -> Status {
    Status(constructor(value).word(1))
}

/// # Safety
/// As for [`Hec::allocate`].
pub unsafe fn boxed(hec: &mut Hec, status: Status) -> Closure {
    create::boxed(hec, info!(ghczmprim_GHCziTypes_Wzh_con_info), status.0)
}

/// The status of a thread. Waits while a commit writes it.
/// # Safety
/// `r` is live.
pub unsafe fn of(r: SchedRecord) -> Status {
    unboxed(tvar::read(r.status()).1)
}

/// Is the thread passive, and waits for what its own switch has arranged?
/// # Safety
/// `t` is a thread.
pub unsafe fn is_waiting(t: Tso) -> bool {
    let status = SchedRecord::of(t).map(|r| of(r));
    status.is_some_and(|status| status == Status::waiting(status.number()))
}

/// The status in a TVar whose lock the caller holds.
/// # Safety
/// `v` is a status TVar.
pub unsafe fn in_locked(v: Closure) -> Status {
    unboxed(v.field(TVAR_VALUE))
}
