//! Which HECs have lenient work, and which may do it (`sched/lenient.rs` has the protocol).
use crate::hec::lenient_pool::{is_paused, is_used, LenientPool};
use crate::hec::{self, Hec};

/// The pool of HEC `no`.
pub fn pool_of(no: usize) -> &'static LenientPool {
    // SAFETY: HECs are never freed. Others than the holder use what is atomic.
    unsafe { &(*hec::address(no)).lenient }
}

/// May an idle HEC evaluate leniently? Not while a thread waits on another one, which may be given to it.
pub fn may_run(own: usize) -> bool {
    if !is_used() || is_paused() {
        return false;
    }
    // SAFETY: reads words of HECs that exist. What another HEC runs is only a hint.
    let waiting = |no: usize| unsafe {
        let h = hec::address(no);
        let running = std::ptr::read_volatile(std::ptr::addr_of!((*h).r.current_tso)) != 0;
        (*h).run_queue.len() + running as usize > 1
    };
    own < hec::enabled() && !(0..hec::count()).any(|no| no != own && waiting(no))
}

/// Is there lenient work for a HEC that has nothing else to do?
/// # Safety
/// The caller holds the HEC, or the lock of its slot while it is idle.
pub unsafe fn has_work(hec: &Hec) -> bool {
    may_run(hec.no as usize) && (!hec.lenient.at_rest.is_empty() || (0..hec::count()).any(|no| !pool_of(no).is_empty()))
}
