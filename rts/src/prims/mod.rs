//! Primitive operations on data: what `cmm/Prim*.cmm` calls, and the C functions around it.
//!
//! One concept a file. Everything here runs with the HEC held, but for the tables that foreign
//! code may use at any time (stable pointers, file locks, callbacks), which have their own lock.
pub mod alloc;
pub mod float;
pub mod lock;
pub mod stable_ptr;
