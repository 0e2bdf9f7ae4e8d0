//! The number of HECs: at start, and while the program runs.
//!
//! *Locking*: HECs are created and disabled with the world stopped.
use crate::abi::Ways;
use crate::api::exit_code::EXIT_HEAP_OVERFLOW;
use crate::base::{config, fatal};
use crate::collector::policy::heap_limits;
use crate::events::{selection, shared_watcher};
use crate::hec;
use crate::hec::byte_budget::virtual_time;
use crate::hec::{Hec, MAX_HECS};
use crate::observe::eventlog::hooks as eventlog;
use crate::sched::task::TaskRef;
use crate::sched::{balance, handoff, hec, in_call, settings, stop_world, task_table};
use crate::thread::create::new_io_thread;
use crate::{memory, static_closure};

/// Processors that may run Haskell: one in the non-threaded way.
#[no_mangle]
pub extern "C" fn getNumberOfProcessors() -> u32 {
    if settings().threaded {
        config::processors() as u32
    } else {
        1
    }
}

/// Creates HECs until there are `n`. `holder`, which has stopped the world, holds the new ones. Without a holder they
/// are idle.
/// # Safety
/// The world is stopped, or no Haskell runs yet.
pub unsafe fn make(n: usize, holder: Option<TaskRef>) {
    while hec::count() < n {
        let nursery_bytes = heap_limits::settings().nursery_bytes;
        let h = Box::leak(Box::new(Hec::new(hec::count() as u32)));
        h.fun_table.eager_blackhole_info = static_closure!(__stg_EAGER_BLACKHOLE_info).0;
        h.fun_table.gc_enter_1 = static_closure!(__stg_gc_enter_1).0;
        h.fun_table.gc_fun = static_closure!(__stg_gc_fun).0;
        h.remembered.init(memory::heap().gens.len());
        let chunk = heap_limits::chunk_bytes(n, nursery_bytes);
        if !memory::nursery_distribution::distribute(&mut [&mut h.alloc], nursery_bytes, chunk) {
            fatal::exit_with(EXIT_HEAP_OVERFLOW, "out of memory for the allocation area");
        }
        h.alloc.large_limit = heap_limits::large_limit(nursery_bytes);
        h.r.current_nursery = h.alloc.run;
        eventlog::hec_created(h.no);
        handoff::add(h, holder);
    }
    hec::enable(n);
}

/// Sets the number of enabled HECs to `n`. HECs beyond that are disabled, unless a user scheduler uses one of them.
/// Waiting threads of a disabled HEC move at once, running ones when they next stop.
/// # Safety
/// Called by a safe foreign call, or from outside Haskell.
#[no_mangle]
pub unsafe extern "C" fn setNumCapabilities(n: u32) {
    if n == 0 {
        fatal::print_message("setNumCapabilities: there must be one capability at least");
        return;
    }
    if n > 1 && !Ways::linked().threaded {
        fatal::print_message("setNumCapabilities: not supported in the non-threaded RTS");
        return;
    }
    // On several HECs, a seed does not stand for a schedule.
    let most = if virtual_time::now().is_some() { 1 } else { MAX_HECS };
    let n = (n as usize).min(most);
    let me = task_table::current();
    handoff::acquire(me);
    while !stop_world::stop(me) {}
    let (before, existing) = (hec::enabled(), hec::count());
    let used = stop_world::hecs().iter().rposition(|h| h.user_slot.is_used()).map_or(0, |last| last + 1);
    if used > n {
        fatal::print_message(&format!("setNumCapabilities: a user scheduler keeps {used} capabilities"));
    }
    let n = n.max(used);
    make(n, Some(me));
    for no in before.min(n)..before.max(n).min(existing) {
        eventlog::hec_enabled(no as u32, no < n);
    }
    for h in stop_world::hecs().into_iter().skip(n) {
        balance::move_all(h);
    }
    stop_world::resume(me);
    if settings().threaded && !selection::uses_base() {
        shared_watcher::make_pollers();
    }
    if n != before {
        // `base` has an event manager for each HEC.
        let changed = static_closure!(base_GHCziConcziIO_ioManagerCapabilitiesChanged_closure);
        let t = new_io_thread(hec(), changed, &settings().stack);
        in_call::run_to_end(me, t);
    }
    handoff::release_to_c(me);
}
