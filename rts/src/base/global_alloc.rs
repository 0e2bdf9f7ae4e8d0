//! Where the runtime's own tables get their memory: C's heap. When that is exhausted the program
//! ends as it does for want of a Haskell heap, with a line and exit code 251; Rust would abort.
use crate::base::fatal::out_of_memory;
use std::alloc::{GlobalAlloc, Layout, System};

struct OrEnd;

#[global_allocator]
static ALLOCATOR: OrEnd = OrEnd;

/// What the system gave, if it gave something.
#[inline]
fn given(at: *mut u8, bytes: usize) -> *mut u8 {
    if at.is_null() {
        out_of_memory(bytes);
    }
    at
}

// SAFETY: all is left to the system's allocator.
unsafe impl GlobalAlloc for OrEnd {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        given(System.alloc(layout), layout.size())
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        given(System.alloc_zeroed(layout), layout.size())
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        given(System.realloc(at, layout, bytes), bytes)
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        System.dealloc(at, layout)
    }
}
