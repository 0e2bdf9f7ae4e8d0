//! Measures packing and installing within one process (`bench/spread/packing.hs`).
use crate::prims::stable_ptr;
use crate::sched;
use crate::spread::export;
use crate::spread::install::install_as;
use crate::spread::memo::Memo;
use crate::spread::pack::pack;
use std::hint::black_box;
use std::time::Instant;

/// Packs the value of a stable pointer within this budget of bytes, evicts it and installs it again. Stores the bytes
/// of the packet, the nanoseconds that packing took, and those that installing took. Returns whether the value may
/// travel.
/// # Safety
/// Called from Haskell, by an unsafe call, in a program with one HEC. `figures` has room for three words.
#[no_mangle]
pub unsafe extern "C" fn hec_measure_packing(value: usize, budget: usize, figures: *mut u64) -> bool {
    let hec = sched::hec();
    let begun = Instant::now();
    let Ok(graph) = pack(hec, &[stable_ptr::deRefStablePtr(value)], budget) else { return false };
    let packed = begun.elapsed();
    graph.evict();
    let evicted = Instant::now();
    black_box(install_as(hec, &graph, false));
    let installed = evicted.elapsed();
    let figures = std::slice::from_raw_parts_mut(figures, 3);
    figures.copy_from_slice(&[graph.as_bytes().len() as u64, packed.as_nanos() as u64, installed.as_nanos() as u64]);
    // The next measurement is of new copies.
    export::lock().memo = Memo::default();
    true
}
