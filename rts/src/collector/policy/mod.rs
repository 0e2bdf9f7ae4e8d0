//! Policy: sizes of nurseries and generations, the time of promotion, and the number of GC workers.
//!
//! *Protocol*
//! 1. Before a collection, [`heap_limits`] chooses the generation and [`gc_threads`] the workers.
//! 2. After it, each policy records a [`gc_sample::GcSample`] or what else it measures.
//! 3. [`heap_limits`] then asks them for the limits and nursery sizes of the next cycle.
//!
//! *Locking*: each policy's state is in a mutex of its own. The collecting thread uses it with the world stopped.
//! [`heap_limits::should_collect_early`] also reads it while the program runs.
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
pub(super) mod settings;
pub(super) mod static_estimate;
pub(super) mod survival_rate;
