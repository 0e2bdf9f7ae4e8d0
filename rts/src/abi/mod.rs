//! The contract with compiled code: layouts, info tables, registers.
//!
//! *Invariants*
//!
//! - Every number comes from the installed headers: `build.rs` compiles `abi/layout.c` against them. Assertions at
//!   compile time compare the structures here with them.
//! - This folder knows nothing about the management of memory and threads.
pub mod closure;
pub mod info_table;
pub mod registers;
pub mod rts_flags;
pub mod rts_stats;
pub mod symbols;
pub mod tso;
pub mod ways;

/// Constants generated from the installed headers.
pub mod layout {
    include!(concat!(env!("OUT_DIR"), "/abi.rs"));
}

pub use crate::abi::closure::Closure;
pub use crate::abi::info_table::Info;
pub use crate::abi::registers::{BlockDesc, FunTable, RegTable};
pub use crate::abi::tso::{Stack, Tso};
pub use crate::abi::ways::Ways;

/// Bytes in a word.
pub const WORD: usize = 8;
/// Low bits of a closure pointer that hold its tag.
pub const TAG_MASK: usize = 7;

/// Words needed to hold `bytes`.
#[inline(always)]
#[expect(clippy::manual_div_ceil, reason = "this compiles to fewer instructions")]
pub const fn words(bytes: usize) -> usize {
    (bytes + WORD - 1) / WORD
}
