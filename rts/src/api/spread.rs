//! This process as one of several processing elements (PEs), which `hecaton spread` or an MPI launcher has started.
//!
//! *Protocol*
//!
//! 1. [`take_membership`], before options are read. What they demand (`+RTS -?`, an error) is done by PE 0 alone.
//! 2. [`reserve_range`] reserves the slices of all PEs and meets the others (`spread/start.rs`). A program that runs
//!    by itself reserves its range, and nothing else is different.
//! 3. [`join_run`], at the end of `hs_init`, begins to serve messages. In PE 0, `hs_init` then returns as usual. In the
//!    others the calling OS thread sleeps there until PE 0 has ended, flushes Haskell's handles, and ends the process.
use crate::abi::rts_flags::EventLogWriter;
use crate::abi::Ways;
use crate::api::exit_code::{EXIT_FAILURE, EXIT_HEAP_OVERFLOW};
use crate::base::fatal;
use crate::base::poison::unpoisoned;
use crate::cluster::build::Build;
use crate::cluster::ids::COORDINATOR;
use crate::hec;
use crate::memory::{address_space, slices};
use crate::spread::build_id;
use crate::spread::event_log;
use crate::spread::membership::{self, Membership};
use crate::spread::network_task;
use crate::spread::start::{self, NotStarted, Started};
use crate::thread::create;
use crate::{info, static_closure};
use std::sync::{Mutex, OnceLock};

/// Bits of a thread's number below that of its PE.
const THREAD_NUMBER_BITS: u32 = 48;

/// Its channels are closed when the process ends. That tells the other PEs.
static MEMBERSHIP: OnceLock<Membership> = OnceLock::new();
/// What the handshake has left for [`join_run`].
static STARTED: Mutex<Option<Started>> = Mutex::new(None);

/// Takes this process's membership out of the environment, if it has one.
/// # Safety
/// Called once, at the start of `hs_init`.
pub unsafe fn take_membership() {
    match membership::take() {
        Ok(Some(membership)) => {
            MEMBERSHIP.get_or_init(|| membership);
        }
        Ok(None) => {}
        Err(why) => fatal::exit_with(EXIT_FAILURE, &why),
    }
}

/// Is this PE 0, or a program by itself? Only that runs `main`, writes files, and speaks for the run.
pub fn runs_main() -> bool {
    MEMBERSHIP.get().is_none_or(|membership| membership.pe == COORDINATOR)
}

/// Are there other PEs?
pub fn has_others() -> bool {
    MEMBERSHIP.get().is_some()
}

/// The writer of this process's event log: of several PEs, PE 0 writes the log of all.
/// # Safety
/// Called once, at start. The program's writer stays valid.
pub unsafe fn event_log_writer(of_program: *const EventLogWriter) -> *const EventLogWriter {
    MEMBERSHIP.get().map_or(of_program, |membership| event_log::writer(membership.pe, membership.count, of_program))
}

/// Reserves the heap's range, and waits until all PEs are ready. Ends the process if one cannot take part.
/// # Safety
/// Called once, before any other use of the heap.
pub unsafe fn reserve_range(generations: usize) {
    let Some(membership) = MEMBERSHIP.get() else {
        return address_space::reserve().unwrap_or_else(|why| fatal::exit_with(EXIT_HEAP_OVERFLOW, &why));
    };
    let (me, build) = (membership.pe, build(membership, generations));
    match start::meet(membership.transport, me, membership.count, build, start::TIME_TO_GREET) {
        Ok(started) => *unpoisoned(STARTED.lock()) = Some(started),
        Err(NotStarted::Refused(why)) => fatal::exit_with(EXIT_FAILURE, &why),
        Err(NotStarted::Over) => libc::exit(0),
    }
    hec::receive_messages();
    // Numbers of threads differ on all PEs.
    create::number_from((u64::from(me.0) << THREAD_NUMBER_BITS) + 1);
}

/// Begins to serve messages of other PEs. In PE 0 and in a program by itself it returns at once, in the others when
/// PE 0 has ended: then they end.
/// # Safety
/// Called once, at the end of `hs_init`, outside Haskell.
pub unsafe fn join_run() {
    let (Some(membership), Some(started)) = (MEMBERSHIP.get(), unpoisoned(STARTED.lock()).take()) else { return };
    network_task::start(membership, started);
    if membership.pe != COORDINATOR {
        network_task::wait_for_end();
    }
}

/// What must be equal on all PEs; or why this one cannot take part, to be read after its name.
unsafe fn build(membership: &Membership, generations: usize) -> Result<Build, String> {
    let ways = Ways::linked();
    if ways.dynamic {
        return Err("is linked with -dynamic, but several PEs need a static program".to_owned());
    }
    if !ways.threaded {
        return Err("is linked without -threaded, which several PEs need".to_owned());
    }
    let slices = slices::reserve(membership.pe.0.into(), membership.count.into())?;
    Ok(Build::new(&[
        ("build id", build_id::of_executable()),
        ("heap addresses", slices),
        ("address of stg_upd_frame_info", format!("{:#x}", info!(stg_upd_frame_info).0)),
        ("address of base", format!("{:#x}", static_closure!(base_GHCziTopHandler_runIO_closure).0)),
        ("number of generations", generations.to_string()),
    ]))
}

/// Ends this PE, which is not PE 0 and has not met the others, when PE 0 has ended.
pub fn end_with_pe_0() -> ! {
    if let Some(membership) = MEMBERSHIP.get() {
        start::wait_for_end(membership.transport);
    }
    // SAFETY: this OS thread is in C, and no Haskell has run here.
    unsafe { libc::exit(0) }
}

/// The number of this PE.
#[no_mangle]
pub extern "C" fn hec_own_pe() -> i32 {
    MEMBERSHIP.get().map_or(0, |membership| membership.pe.0.into())
}

/// The number of PEs.
#[no_mangle]
pub extern "C" fn hec_pe_count() -> i32 {
    MEMBERSHIP.get().map_or(1, |membership| membership.count.into())
}
