//! Policy: how large nurseries and generations are, when objects are promoted, and how many threads collect.
pub(super) mod aging;
pub(super) mod doubling;
pub(super) mod gc_cost_model;
pub(super) mod gc_sample;
pub mod gc_threads;
pub mod heap_limits;
pub(super) mod hec_activity;
pub(super) mod live_size_probe;
pub mod max_heap;
pub(super) mod nursery_budget;
pub(super) mod nursery_trial;
pub(super) mod premature_promotion;
pub(super) mod static_estimate;
pub(super) mod survival_rate;
