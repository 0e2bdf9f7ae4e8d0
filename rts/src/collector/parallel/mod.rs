//! Parallel collection: the pool of helper threads, work sharing, and termination detection.
pub mod helper_pool;
pub mod termination;
pub(super) mod work;
pub(super) mod work_sharing;
