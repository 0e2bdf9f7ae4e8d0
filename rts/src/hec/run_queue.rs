//! A queue of threads, linked through the TSOs: first those that run for moments, in the order in which they come, then those that compute,
//! in the order in which their turns began (`priority.rs`). When those that run for
//! moments have used up a time slice the first of the others is next, so that nobody waits for ever.
//!
//! Queues are roots: the collector visits the ends. A TSO whose link is written may be
//! old, so every write is remembered.
use crate::abi::{Closure, Tso};
use crate::hec::priority;
use crate::memory::remembered_set::RememberedSet;
use std::sync::atomic::{AtomicUsize, Ordering};

/// So often those that run for moments may yield before the first of the others is next.
const MOST_YIELDS: u32 = 32;
/// Among so many of those that compute the order is kept when one comes back that had begun before others that wait.
const MOST_PASSED: usize = 32;

pub struct ThreadQueue {
    pub head: Tso,
    pub tail: Tso,
    /// The last one ahead of those that compute, or null.
    last_ahead: Tso,
    /// How often those ahead have yielded since one of the others was next for that.
    yields: u32,
    /// Written by the owner only; others may look.
    len: AtomicUsize,
}

impl ThreadQueue {
    pub const fn new() -> ThreadQueue {
        ThreadQueue { head: Tso::NULL, tail: Tso::NULL, last_ahead: Tso::NULL, yields: 0, len: AtomicUsize::new(0) }
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
    /// Behind those that come before it.
    /// # Safety
    /// `t` is live and on no queue.
    #[inline]
    pub unsafe fn push_back(&mut self, rs: &mut RememberedSet, t: Tso) {
        let computes = priority::is_cpu_bound(t);
        if computes {
            priority::enqueue(t);
        }
        if self.is_empty() {
            // As it mostly is where threads hand each other what they wait for.
            return self.push_only(t, computes);
        }
        let before = if computes { self.before_in_turn(t) } else { self.last_ahead };
        self.insert_behind(rs, before, t);
    }
    /// A thread that has run: as [`ThreadQueue::push_back`], but first of those that compute if its turn goes on.
    /// # Safety
    /// As there.
    pub unsafe fn push_again(&mut self, rs: &mut RememberedSet, t: Tso) {
        if self.is_empty() || !priority::turn_goes_on(t) {
            return self.push_back(rs, t);
        }
        self.insert_behind(rs, self.last_ahead, t);
    }
    /// Behind whom a thread that computes belongs. The first one that computes may have just run: nobody comes before it.
    unsafe fn before_in_turn(&self, t: Tso) -> Tso {
        if self.tail == self.last_ahead || !priority::is_before(t, self.tail) {
            return self.tail;
        }
        let mut before = if self.last_ahead.is_null() { self.head } else { self.last_ahead.obj().link };
        for _ in 1..MOST_PASSED {
            let next = before.obj().link;
            if next.is_end() || priority::is_before(t, next) {
                break;
            }
            before = next;
        }
        before
    }
    /// To the empty queue.
    unsafe fn push_only(&mut self, t: Tso, computes: bool) {
        t.obj().link = Tso::end();
        self.head = t;
        self.tail = t;
        if !computes {
            self.last_ahead = t;
        }
        self.set_len(1);
    }
    /// To the very front.
    /// # Safety
    /// `t` is live and on no queue.
    pub unsafe fn push_front(&mut self, rs: &mut RememberedSet, t: Tso) {
        if self.is_empty() {
            return self.push_only(t, priority::is_cpu_bound(t));
        }
        self.insert_behind(rs, Tso::NULL, t);
    }
    /// Behind `before`, or in front if that is null. There is somebody on the queue.
    unsafe fn insert_behind(&mut self, rs: &mut RememberedSet, before: Tso, t: Tso) {
        let next = if before.is_null() { self.head } else { before.obj().link };
        if next.is_end() {
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
        if before == self.last_ahead && !priority::is_cpu_bound(t) {
            self.last_ahead = t;
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
        if self.last_ahead == t {
            self.last_ahead = Tso::NULL;
        }
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
    /// Those that run for moments have used up a time slice: the first of the others is next.
    /// # Safety
    /// The threads on the queue are live.
    pub unsafe fn others_next(&mut self, rs: &mut RememberedSet) {
        if self.last_ahead.is_null() {
            // It is the first, and stays that.
            self.last_ahead = self.head;
        } else if self.last_ahead != self.tail {
            self.move_to_front(rs, self.last_ahead);
        }
    }
    /// One of those that run for moments yields: who does nothing else waits for one that computes, perhaps. (The event manager yields
    /// once for each event.)
    /// # Safety
    /// As for [`ThreadQueue::others_next`].
    pub unsafe fn one_yields(&mut self, rs: &mut RememberedSet) {
        self.yields += 1;
        if self.yields == MOST_YIELDS {
            self.yields = 0;
            self.others_next(rs);
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
                self.move_to_front(rs, before);
                return true;
            }
            before = next;
        }
        false
    }
    /// Moves the one behind `before`.
    unsafe fn move_to_front(&mut self, rs: &mut RememberedSet, before: Tso) {
        let t = before.obj().link;
        set_link(rs, before, t.obj().link);
        if self.tail == t {
            self.tail = before;
        }
        if self.last_ahead == t {
            self.last_ahead = before;
        }
        self.set_len(self.len() - 1);
        self.push_front(rs, t);
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
