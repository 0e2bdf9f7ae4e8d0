//! The event that the running thread of a HEC is about to wait for (`thread/park.rs`).
use crate::abi::layout::NotBlocked;

/// What a thread that leaves with `ThreadBlocked` is about to wait for.
#[derive(Clone, Copy)]
pub struct Wait {
    /// The reason, as in `why_blocked`.
    pub why: usize,
    /// A closure, or a number (a descriptor or microseconds).
    pub on: usize,
}

impl Wait {
    pub const NONE: Wait = Wait { why: NotBlocked, on: 0 };
}
