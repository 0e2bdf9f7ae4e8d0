//! Models of two GC workers that evacuate the same object.
//!
//! *Checked*: in the end both refer to one copy and can read it.
//! *Shipped code*: `collector/trace/header.rs`.
use crate::atomics::AtomicUsize;
use crate::explore;
use crate::shipped::header::{self, FORWARDED};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

const HEADER: usize = 8;
const CLAIMED: usize = 16;
const PAYLOAD: usize = 77;

/// An object, and where each of two workers would copy its payload to.
struct Heap {
    header: AtomicUsize,
    copies: [UnsafeCell<usize>; 2],
}

// SAFETY: loom verifies it.
unsafe impl Sync for Heap {}
unsafe impl Send for Heap {}

impl Heap {
    fn new() -> Arc<Heap> {
        let header = AtomicUsize::new(HEADER);
        Arc::new(Heap { header, copies: [UnsafeCell::new(0), UnsafeCell::new(0)] })
    }

    fn copy(&self, me: usize) -> usize {
        self.copies[me].with_mut(|p| unsafe { *p = PAYLOAD });
        (me << 1) | FORWARDED
    }

    /// Returns the number of the copy that a header names. The copy must be complete.
    fn read(&self, header: usize) -> usize {
        let copy = header >> 1;
        assert_eq!(self.copies[copy].with(|p| unsafe { *p }), PAYLOAD);
        copy
    }

    /// As `Worker::copy_slow`.
    fn save(&self, me: usize) -> usize {
        loop {
            let now = header::load(&self.header);
            if now & FORWARDED != 0 {
                return self.read(now);
            }
            if now == CLAIMED {
                thread::yield_now();
                continue;
            }
            let copy = self.copy(me);
            if header::exchange(&self.header, now, copy) {
                return me;
            }
        }
    }

    /// As `Worker::select` for a selector that has no value.
    fn claim(&self, me: usize) -> Option<usize> {
        if !header::exchange(&self.header, HEADER, CLAIMED) {
            return None;
        }
        let copy = self.copy(me);
        header::release(&self.header, copy);
        Some(me)
    }
}

#[test]
fn one_copy_becomes_the_object() {
    explore(3, || {
        let heap = Heap::new();
        let other = {
            let heap = heap.clone();
            thread::spawn(move || heap.save(1))
        };
        let mine = heap.save(0);
        assert_eq!(mine, other.join().unwrap());
    });
}

#[test]
fn a_claim_is_waited_for() {
    explore(3, || {
        let heap = Heap::new();
        let other = {
            let heap = heap.clone();
            thread::spawn(move || heap.claim(1))
        };
        let mine = heap.save(0);
        assert_eq!(mine, other.join().unwrap().unwrap_or(0));
    });
}
