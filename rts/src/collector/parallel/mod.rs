//! Parallel collection: the pool of helper threads, sharing of work, and termination detection.
pub mod helper_pool;
pub mod termination;
pub(super) mod work_sharing;
