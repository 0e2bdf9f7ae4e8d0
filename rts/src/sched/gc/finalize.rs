//! Finalizers of weak pointers that a collection has found dead: C finalizers run at once, Haskell finalizers in one
//! thread.
use crate::abi::Closure;
use crate::hec::Hec;
use crate::prims::weak::finalize_batch;
use crate::sched::settings;
use crate::thread::create::{apply, boxed, new_io_thread};
use crate::{info, static_closure};

/// Runs or schedules the finalizers of `weaks`, and makes the weak pointers dead.
/// # Safety
/// The caller holds the HEC, and no thread is running. The weak pointers are alive, but not their keys.
pub unsafe fn start(hec: &mut Hec, weaks: &[Closure]) {
    let Some((n, actions)) = finalize_batch(hec, weaks) else { return };
    let count = boxed(hec, info!(ghczmprim_GHCziTypes_Izh_con_info), n);
    let batch = static_closure!(base_GHCziWeak_runFinalizzerBatch_closure);
    let call = apply(hec, batch, &[count, actions]);
    let t = new_io_thread(hec, call, &settings().stack);
    hec.run_queue.push_back(&mut hec.remembered, t);
}
