//! A first-in first-out queue of threads, linked through the TSOs. Those that have their turn come to its front, and those
//! that run for moments before them (`place.rs`). When many of the latter have gone past the others, the
//! first of these counts as one of them, so that nobody waits for ever.
//!
//! Queues are roots: the collector visits the ends. A TSO whose link is written may be
//! old, so every write is remembered.
use super::place::BRIEF_RUNS;
use crate::contract::thread::Place;
use crate::contract::{Closure, Tso};
use crate::memory::remember::RememberedSet;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many go past the others before the first of those counts as one of them.
const MOST_PAST: u32 = 32;

pub struct ThreadQueue {
    pub head: Tso,
    pub tail: Tso,
    /// The last one ahead of all that wait longer, or null; and how many have gone past those.
    last_ahead: Tso,
    past: u32,
    /// A thread that has its turn has been queued since the queue was last empty.
    turns: bool,
    /// Written by the owner only; others may look.
    len: AtomicUsize,
}

impl ThreadQueue {
    pub const fn new() -> ThreadQueue {
        ThreadQueue {
            head: Tso::NULL,
            tail: Tso::NULL,
            last_ahead: Tso::NULL,
            past: 0,
            turns: false,
            len: AtomicUsize::new(0),
        }
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
    /// To the back; but who has its turn comes to the front, and who runs for moments even before those.
    /// # Safety
    /// `t` is live and on no queue.
    pub unsafe fn push_back(&mut self, rs: &mut RememberedSet, t: Tso) {
        match t.obj().place {
            Place::Turn(_) => {
                self.turns = true;
                self.insert_behind(rs, self.last_ahead, t);
            }
            Place::Waits(n) if n >= BRIEF_RUNS && self.turns => {
                self.insert_behind(rs, self.last_ahead, t);
                self.last_ahead = t;
            }
            Place::Waits(_) => self.insert_behind(rs, self.tail, t),
        }
    }
    /// To the very front.
    /// # Safety
    /// `t` is live and on no queue.
    pub unsafe fn push_front(&mut self, rs: &mut RememberedSet, t: Tso) {
        self.insert_behind(rs, Tso::NULL, t);
    }
    /// Behind `before`, or in front if that is null.
    unsafe fn insert_behind(&mut self, rs: &mut RememberedSet, before: Tso, t: Tso) {
        let next = if before.is_null() { self.head } else { before.obj().link };
        if next.is_null() || next.is_end() {
            t.obj().link = Tso::end();
            self.tail = t;
        } else {
            set_link(rs, t, next);
        }
        if before.is_null() {
            self.head = t;
        } else {
            set_link(rs, before, t);
        }
        self.set_len(self.len() + 1);
    }
    /// # Safety
    /// The threads on the queue are live.
    pub unsafe fn pop_front(&mut self) -> Option<Tso> {
        if self.head.is_null() {
            return None;
        }
        let t = self.head;
        self.goes_past(t);
        let next = t.obj().link;
        if next.is_end() {
            self.head = Tso::NULL;
            self.tail = Tso::NULL;
            self.turns = false;
        } else {
            self.head = next;
        }
        t.obj().link = Tso::end();
        self.set_len(self.len() - 1);
        Some(t)
    }
    /// The first, `t`, is about to leave.
    unsafe fn goes_past(&mut self, t: Tso) {
        if self.last_ahead.is_null() {
            self.past = 0;
            return;
        }
        if self.last_ahead != self.tail {
            self.past += 1;
            if self.past >= MOST_PAST {
                self.past = 0;
                self.last_ahead = self.last_ahead.obj().link;
            }
        }
        if self.last_ahead == t {
            self.last_ahead = Tso::NULL;
        }
    }
    /// Is `t` among the first `most`?
    /// # Safety
    /// The threads on the queue are live.
    pub unsafe fn is_near(&self, t: Tso, most: usize) -> bool {
        let next = |&at: &Tso| Some(at.obj().link).filter(|next| !next.is_end());
        let first = (!self.head.is_null()).then_some(self.head);
        std::iter::successors(first, next).take(most).any(|at| at == t)
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
                if self.last_ahead == t {
                    self.last_ahead = before;
                }
                self.set_len(self.len() - 1);
                self.push_front(rs, t);
                return true;
            }
            before = next;
        }
        false
    }
    /// Shows the collector both ends, and the last one ahead.
    pub fn roots(&mut self, visit: &mut dyn FnMut(&mut Closure)) {
        for end in [&mut self.head, &mut self.tail, &mut self.last_ahead] {
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
