//! The global allocator: C's heap, for the runtime's own tables.
//!
//! *Invariants*
//!
//! - When C's heap is exhausted, the program ends as it does without memory for the Haskell heap: with a message and
//!   exit code 251. Rust would abort.
use crate::base::fatal::out_of_memory;
use std::alloc::{GlobalAlloc, Layout, System};

struct ExitOnFailure;

#[global_allocator]
static ALLOCATOR: ExitOnFailure = ExitOnFailure;

/// The address that the system returned. Ends the program if there is none.
#[inline]
fn checked(at: *mut u8, bytes: usize) -> *mut u8 {
    if at.is_null() {
        out_of_memory(bytes);
    }
    at
}

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for ExitOnFailure {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        checked(System.alloc(layout), layout.size())
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        checked(System.alloc_zeroed(layout), layout.size())
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        checked(System.realloc(at, layout, bytes), bytes)
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        System.dealloc(at, layout)
    }
}
