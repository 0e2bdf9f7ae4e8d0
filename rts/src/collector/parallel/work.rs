//! Pieces of work that GC workers take from each other (`work_sharing.rs`).
use crate::abi::Closure;
use crate::memory::Run;

/// A piece of work that any worker can do.
#[derive(Clone, Copy)]
pub(in crate::collector) enum Work {
    /// A run of copies, from its Cheney pointer on \[Che70\].
    Run(Run),
    /// A large object.
    Large(Closure),
    /// Elements `from..to` of a large array: those on dirty cards, or all of them.
    Array { c: Closure, from: usize, to: usize, all: bool },
}

// SAFETY: the worker that takes a piece is the only one to work on it.
unsafe impl Send for Work {}
