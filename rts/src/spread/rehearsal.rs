//! Rehearsal of travel within one process, for tests of compiled programs (`tests/commands/pack.sh`).
//!
//! A value is packed, and its copies are evicted. Each comes back by itself, with nothing but its companions, when it
//! is entered. So every reference is cut that may be cut, and a program that computes with the value shows whether its
//! code can bear that.
use crate::abi::{Closure, Tso};
use crate::base::poison::unpoisoned;
use crate::hec::Hec;
use crate::info;
use crate::prims::stable_ptr;
use crate::sched;
use crate::spread::cell::is_absent;
use crate::spread::collect::keep_blocks;
use crate::spread::export;
use crate::spread::graph::Graph;
use crate::spread::install::install_as;
use crate::spread::memo::Memo;
use crate::spread::pack::pack;
use crate::sync::absent::{set_fetcher, Fetcher};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

const PLENTY: usize = 1 << 30;

/// What comes back, by address.
static EVICTED: LazyLock<Mutex<HashMap<usize, Graph>>> = LazyLock::new(Mutex::default);

/// A stable pointer to an absent object: the value of another stable pointer, evicted. Null if the value may not
/// travel; the value itself if there is nothing to evict.
/// # Safety
/// Called from Haskell, by an unsafe call, in a program with one HEC.
#[no_mangle]
pub unsafe extern "C" fn hec_rehearse_travel(value: usize) -> usize {
    let hec = sched::hec();
    let Ok(graph) = pack(hec, &[stable_ptr::deRefStablePtr(value)], PLENTY) else { return 0 };
    let root = graph.roots()[0];
    let objects = graph.objects();
    keep_blocks(graph.blocks());
    let mut evicted = unpoisoned(EVICTED.lock());
    for &object in &objects {
        if let Ok(alone) = pack(hec, &[object], 0) {
            keep_blocks(alone.blocks());
            evicted.insert(object.0, alone);
        }
    }
    graph.evict();
    // Otherwise the originals would become their copies, as if these were present.
    export::lock().memo = Memo::default();
    set_fetcher(Fetcher { park, leave: |_, _| {}, cancel: |_, _| {}, demand: |_, _| {} });
    let is_evicted = evicted.contains_key(&root.untag().0);
    drop(evicted);
    if !is_evicted {
        return stable_ptr::getStablePtr(root);
    }
    root.untag().set_info(info!(hec_ABSENT_info));
    stable_ptr::getStablePtr(root.untag())
}

/// How many times an object has come back.
static RETURNS: AtomicUsize = AtomicUsize::new(0);

#[no_mangle]
pub extern "C" fn hec_rehearsed_returns() -> usize {
    RETURNS.load(Ordering::Relaxed)
}

/// Brings an absent object back. Its thread need not wait.
unsafe fn park(hec: &mut Hec, _: Tso, address: Closure) -> bool {
    let evicted = unpoisoned(EVICTED.lock());
    if let (true, Some(graph)) = (is_absent(address), evicted.get(&address.0)) {
        install_as(hec, graph, false);
        RETURNS.fetch_add(1, Ordering::Relaxed);
    }
    false
}
