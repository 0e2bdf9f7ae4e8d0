//! Exit codes of programs: those of the stock runtime.

pub const EXIT_FAILURE: i32 = 1;
pub const EXIT_KILLED: i32 = 250;
pub const EXIT_HEAP_OVERFLOW: i32 = 251;
pub const EXIT_INTERRUPTED: i32 = 252;
pub const EXIT_INTERNAL_ERROR: i32 = 254;
