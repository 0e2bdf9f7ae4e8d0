//! The contract between compiled code and its runtime: layouts, info tables, registers.
//!
//! Every number comes from the installed headers (`build.rs` compiles `contract/layout.c`
//! against them); this floor knows nothing of how memory or threads are managed.
pub mod closure;
pub mod flags;
pub mod info;
pub mod regs;
pub mod stats;
pub mod symbols;
#[cfg(test)]
pub mod test_symbols;
pub mod thread;
pub mod ways;

/// Constants generated from the installed headers.
pub mod layout {
    include!(concat!(env!("OUT_DIR"), "/contract.rs"));
}

pub use closure::Closure;
pub use info::Info;
pub use regs::{BlockDesc, FunTable, RegTable};
pub use thread::{Stack, Tso};
pub use ways::Ways;

/// Bytes in a word.
pub const WORD: usize = 8;
/// Low bits of a closure pointer that hold its tag.
pub const TAG_MASK: usize = 7;

/// Words needed to hold `bytes`.
#[inline(always)]
pub const fn words(bytes: usize) -> usize {
    (bytes + WORD - 1) / WORD
}
