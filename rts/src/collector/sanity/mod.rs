//! The heap checker: verifies the heap's invariants before and after a collection (`HECATON_CHECK=heap`).
pub(super) mod check_backoff;
pub mod heap_check;
pub mod pointer_fields;
