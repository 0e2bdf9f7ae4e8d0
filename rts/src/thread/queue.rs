//! A first-in first-out queue of threads, linked through the TSOs.
//!
//! Queues are roots: the collector visits head and tail. A TSO whose link is written may be
//! old, so every write is remembered.
use crate::contract::{Closure, Tso};
use crate::memory::remember::RememberedSet;
use std::sync::atomic::{AtomicUsize, Ordering};

pub struct ThreadQueue {
    pub head: Tso,
    pub tail: Tso,
    /// Written by the owner only; others may look.
    len: AtomicUsize,
}

impl ThreadQueue {
    pub const fn new() -> ThreadQueue {
        ThreadQueue { head: Tso::NULL, tail: Tso::NULL, len: AtomicUsize::new(0) }
    }
    /// How many threads are on the queue. Any OS thread may ask.
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }
    fn set_len(&mut self, n: usize) {
        self.len.store(n, Ordering::Relaxed);
    }
    pub fn is_empty(&self) -> bool {
        self.head.is_null()
    }
    /// # Safety
    /// `t` is live and on no queue.
    pub unsafe fn push_back(&mut self, rs: &mut RememberedSet, t: Tso) {
        t.obj().link = Tso::end();
        if self.tail.is_null() {
            self.head = t;
        } else {
            set_link(rs, self.tail, t);
        }
        self.tail = t;
        self.set_len(self.len() + 1);
    }
    /// # Safety
    /// `t` is live and on no queue.
    pub unsafe fn push_front(&mut self, rs: &mut RememberedSet, t: Tso) {
        if self.head.is_null() {
            t.obj().link = Tso::end();
            self.tail = t;
        } else {
            set_link(rs, t, self.head);
        }
        self.head = t;
        self.set_len(self.len() + 1);
    }
    /// # Safety
    /// The threads on the queue are live.
    pub unsafe fn pop_front(&mut self) -> Option<Tso> {
        if self.head.is_null() {
            return None;
        }
        let t = self.head;
        let next = t.obj().link;
        if next.is_end() {
            self.head = Tso::NULL;
            self.tail = Tso::NULL;
        } else {
            self.head = next;
        }
        t.obj().link = Tso::end();
        self.set_len(self.len() - 1);
        Some(t)
    }
    /// Moves `t` to the front, if it is among the first `most`.
    /// # Safety
    /// The threads on the queue are live.
    pub unsafe fn bring_forward(&mut self, rs: &mut RememberedSet, t: Tso, most: usize) -> bool {
        let mut before = self.head;
        if before == t || before.is_null() {
            return before == t;
        }
        for _ in 1..most {
            let next = before.obj().link;
            if next.is_end() {
                return false;
            }
            if next == t {
                set_link(rs, before, t.obj().link);
                if self.tail == t {
                    self.tail = before;
                }
                self.set_len(self.len() - 1);
                self.push_front(rs, t);
                return true;
            }
            before = next;
        }
        false
    }
    /// Shows the collector both ends.
    pub fn roots(&mut self, visit: &mut dyn FnMut(&mut Closure)) {
        for end in [&mut self.head, &mut self.tail] {
            if !end.is_null() {
                let mut c = end.closure();
                visit(&mut c);
                *end = Tso(c.0);
            }
        }
    }
}

/// Writes a TSO's link, which may make an old object point to a young one.
/// # Safety
/// Both are live.
pub unsafe fn set_link(rs: &mut RememberedSet, t: Tso, next: Tso) {
    dirty_tso(rs, t);
    t.obj().link = next;
}

/// Puts a TSO on the remembered set if it is old and not there yet. Call before writing a
/// pointer into it.
/// # Safety
/// `t` is live.
#[inline]
pub unsafe fn dirty_tso(rs: &mut RememberedSet, t: Tso) {
    let o = t.obj();
    if o.dirty == 0 {
        o.dirty = 1;
        rs.remember(t.closure());
    }
}
