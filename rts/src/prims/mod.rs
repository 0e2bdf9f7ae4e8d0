//! Primitive operations on data: what `cmm/Prim*.cmm` calls, and the C functions around it. One concept a file.
//!
//! *Locking*: the caller holds a HEC. Tables that foreign code may use at any time (stable pointers, file locks,
//! callbacks) have their own lock.
pub mod adjustor;
pub mod alloc;
pub mod array;
pub mod compact;
pub mod exec_page;
pub mod ffi_mutex;
pub mod file_lock;
pub mod float;
pub mod foreign_export;
pub mod globals;
pub mod hpc;
pub mod linker;
pub mod stable_name;
pub mod stable_ptr;
pub mod static_ptr_table;
pub mod terminal;
pub mod thread_info;
pub mod trace;
pub mod unpack_closure;
pub mod unsupported;
pub mod weak;
