//! The contract with compiled code: layouts, info tables, registers.
//!
//! *Invariants*
//!
//! - Every number comes from the installed headers: `build.rs` compiles `abi/layout.c` against them. Assertions at
//!   compile time compare the structures here with them.
//! - This folder knows nothing about the management of memory and threads.
pub mod c_struct;
pub mod closure;
pub mod info_table;
pub mod layout;
pub mod registers;
pub mod rts_flags;
pub mod rts_stats;
pub mod symbols;
pub mod tso;
pub mod ways;
mod word;

pub use crate::abi::closure::{Closure, Info};
pub use crate::abi::registers::{BlockDesc, FunTable, RegTable};
pub use crate::abi::tso::{Stack, Tso};
pub use crate::abi::ways::Ways;
pub use crate::abi::word::{words, TAG_MASK, WORD};
