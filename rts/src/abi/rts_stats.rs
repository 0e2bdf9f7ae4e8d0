//! The statistics structures that `GHC.Stats` and C programs read (`RTSStats`, `GCDetails`).
use crate::abi::c_struct::{same_layout, Time};
use crate::abi::layout::*;

/// One collection (the headers' `GCDetails`).
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct GcDetails {
    pub gen: u32,
    pub threads: u32,
    pub allocated_bytes: u64,
    pub live_bytes: u64,
    pub large_objects_bytes: u64,
    pub compact_bytes: u64,
    pub slop_bytes: u64,
    pub mem_in_use_bytes: u64,
    pub copied_bytes: u64,
    pub par_max_copied_bytes: u64,
    pub par_balanced_copied_bytes: u64,
    pub sync_elapsed_ns: Time,
    pub cpu_ns: Time,
    pub elapsed_ns: Time,
    pub nonmoving_gc_sync_cpu_ns: Time,
    pub nonmoving_gc_sync_elapsed_ns: Time,
    pub nonmoving_gc_cpu_ns: Time,
    pub nonmoving_gc_elapsed_ns: Time,
}

/// Totals since the program started (the headers' `RTSStats`).
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub struct RtsStats {
    pub gcs: u32,
    pub major_gcs: u32,
    pub allocated_bytes: u64,
    pub max_live_bytes: u64,
    pub max_large_objects_bytes: u64,
    pub max_compact_bytes: u64,
    pub max_slop_bytes: u64,
    pub max_mem_in_use_bytes: u64,
    pub cumulative_live_bytes: u64,
    pub copied_bytes: u64,
    pub par_copied_bytes: u64,
    pub cumulative_par_max_copied_bytes: u64,
    pub cumulative_par_balanced_copied_bytes: u64,
    pub init_cpu_ns: Time,
    pub init_elapsed_ns: Time,
    pub mutator_cpu_ns: Time,
    pub mutator_elapsed_ns: Time,
    pub gc_cpu_ns: Time,
    pub gc_elapsed_ns: Time,
    pub cpu_ns: Time,
    pub elapsed_ns: Time,
    pub gc: GcDetails,
    pub gc_spin_spin: u64,
    pub gc_spin_yield: u64,
    pub mut_spin_spin: u64,
    pub mut_spin_yield: u64,
    pub any_work: u64,
    pub no_work: u64,
    pub scav_find_work: u64,
    pub nonmoving_gc_sync_cpu_ns: Time,
    pub nonmoving_gc_sync_elapsed_ns: Time,
    pub nonmoving_gc_sync_max_elapsed_ns: Time,
    pub nonmoving_gc_cpu_ns: Time,
    pub nonmoving_gc_elapsed_ns: Time,
    pub nonmoving_gc_max_elapsed_ns: Time,
}

same_layout!(GcDetails, LAYOUT_GCDetails,
    gen threads allocated_bytes live_bytes large_objects_bytes compact_bytes slop_bytes
    mem_in_use_bytes copied_bytes par_max_copied_bytes par_balanced_copied_bytes
    sync_elapsed_ns cpu_ns elapsed_ns nonmoving_gc_sync_cpu_ns
    nonmoving_gc_sync_elapsed_ns nonmoving_gc_cpu_ns nonmoving_gc_elapsed_ns);
same_layout!(RtsStats, LAYOUT_RTSStats,
    gcs major_gcs allocated_bytes max_live_bytes max_large_objects_bytes max_compact_bytes
    max_slop_bytes max_mem_in_use_bytes cumulative_live_bytes copied_bytes
    par_copied_bytes cumulative_par_max_copied_bytes cumulative_par_balanced_copied_bytes
    init_cpu_ns init_elapsed_ns mutator_cpu_ns mutator_elapsed_ns gc_cpu_ns gc_elapsed_ns
    cpu_ns elapsed_ns gc gc_spin_spin gc_spin_yield mut_spin_spin mut_spin_yield any_work
    no_work scav_find_work nonmoving_gc_sync_cpu_ns nonmoving_gc_sync_elapsed_ns
    nonmoving_gc_sync_max_elapsed_ns nonmoving_gc_cpu_ns nonmoving_gc_elapsed_ns
    nonmoving_gc_max_elapsed_ns);
