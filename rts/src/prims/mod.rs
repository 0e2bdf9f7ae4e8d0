//! Primitive operations on data: what `cmm/Prim*.cmm` calls, and the C functions around it.
//!
//! One concept a file. Everything here runs with the HEC held, but for the tables that foreign
//! code may use at any time (stable pointers, file locks, callbacks), which have their own lock.
pub mod absent;
pub mod alloc;
pub mod array;
pub mod callback;
pub mod compact;
pub mod exec_page;
pub mod file_lock;
pub mod float;
pub mod foreign_export;
pub mod globals;
pub mod hpc;
pub mod inspect;
pub mod linker;
pub mod lock;
pub mod stable_name;
pub mod stable_ptr;
pub mod static_ptr;
pub mod terminal;
pub mod thread_info;
pub mod trace;
pub mod weak;
