//! The run queue of a HEC: a list of threads, linked through the TSOs.
//!
//! Interactive threads come first, in the order of their arrival. Batch threads follow, in the order in which their
//! bursts began (`priority.rs`). When interactive threads have used up a time slice, the first batch thread runs next,
//! so no thread waits for ever.
//!
//! `+RTS --scheduler` names another order (`run_order.rs`). FIFO is the one above without levels. LIFO uses the same
//! list. The threads of a queue with a random order are not linked (`shuffled_queue.rs`).
//!
//! *Invariants*
//! - The ends of the queue are roots of a collection.
//! - A TSO whose link is written may be old, so every write of a link goes through the remembered set.
//!
//! *Checked by*: the unit tests in `rts/src/thread/tests.rs`.
use crate::abi::{Closure, Tso};
use crate::hec::byte_budget::seed_of;
use crate::hec::priority;
use crate::hec::run_order::RunOrder;
use crate::hec::shuffled_queue::ShuffledQueue;
use crate::memory::remembered_set::RememberedSet;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of yields of interactive threads after which the first batch thread runs next. Enough for an event
/// manager that yields once for each event.
const MAX_YIELDS: u32 = 32;
/// The most batch threads that are searched for the position of one whose burst began earlier. Beyond them the exact
/// order matters little, and a search costs cache misses.
const MAX_ORDER_SEARCH: usize = 32;

/// Where threads are queued.
enum Order {
    /// Interactive threads ahead of batch threads, or all in the order of their arrival while `priority.rs` has no
    /// batch threads.
    Levels,
    Lifo,
    Random(ShuffledQueue),
}

pub struct ThreadQueue {
    order: Order,
    /// The thread that runs next, or null.
    head: Tso,
    /// The last thread of the list.
    tail: Tso,
    /// The last thread ahead of the batch threads in burst order, or null.
    last_ahead: Tso,
    /// How often threads ahead have yielded since a batch thread ran for that reason.
    yields: u32,
    /// Written by the owner only; other HECs may read it.
    len: AtomicUsize,
}

impl ThreadQueue {
    pub const fn new() -> ThreadQueue {
        let (head, tail, last_ahead) = (Tso::NULL, Tso::NULL, Tso::NULL);
        ThreadQueue { order: Order::Levels, head, tail, last_ahead, yields: 0, len: AtomicUsize::new(0) }
    }
    /// An empty queue of HEC `no` with this order.
    pub fn with_order(no: u32, order: RunOrder) -> ThreadQueue {
        let order = match order {
            RunOrder::Levels | RunOrder::Fifo => Order::Levels,
            RunOrder::Lifo => Order::Lifo,
            RunOrder::Random { seed } => Order::Random(ShuffledQueue::new(seed_of(seed, no))),
        };
        ThreadQueue { order, ..ThreadQueue::new() }
    }
    /// The thread that runs next, or null.
    #[inline]
    pub fn first(&self) -> Tso {
        self.head
    }
    /// The number of threads on the queue. Any OS thread may ask.
    pub fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }
    fn set_len(&mut self, n: usize) {
        self.len.store(n, Ordering::Relaxed);
    }
    pub fn is_empty(&self) -> bool {
        self.head.is_null()
    }
    /// Queues a thread behind those that run before it.
    /// # Safety
    /// `t` is live and on no queue.
    #[inline]
    pub unsafe fn push_back(&mut self, rs: &mut RememberedSet, t: Tso) {
        match &self.order {
            Order::Levels => {}
            Order::Lifo => return self.push_front(rs, t),
            Order::Random(_) => return self.shuffle(|q| q.insert(t)),
        }
        let cpu_bound = priority::is_cpu_bound(t);
        if cpu_bound {
            priority::enqueue(t);
        }
        if self.is_empty() {
            // The usual case where threads hand each other what they wait for.
            return self.push_only(t, cpu_bound);
        }
        let before = if cpu_bound { self.find_predecessor(t) } else { self.last_ahead };
        self.insert_behind(rs, before, t);
    }
    /// Has a random order, changed by `change`.
    #[cold]
    fn shuffle(&mut self, change: impl FnOnce(&mut ShuffledQueue)) {
        if let Order::Random(queue) = &mut self.order {
            change(queue);
            self.head = queue.first();
            let len = queue.threads.len();
            self.set_len(len);
        }
    }
    /// Queues a thread that has run: as [`ThreadQueue::push_back`], but ahead of other batch threads if its burst goes
    /// on, and behind the first thread if the last one is served first.
    /// # Safety
    /// As for [`ThreadQueue::push_back`].
    pub unsafe fn push_again(&mut self, rs: &mut RememberedSet, t: Tso) {
        if matches!(self.order, Order::Lifo) && !self.is_empty() {
            return self.insert_behind(rs, self.head, t);
        }
        if self.is_empty() || !priority::is_in_burst(t) {
            return self.push_back(rs, t);
        }
        self.insert_behind(rs, self.last_ahead, t);
    }
    /// The thread behind which a batch thread is queued. The first batch thread may have just run, so none is queued
    /// before it.
    unsafe fn find_predecessor(&self, t: Tso) -> Tso {
        if self.tail == self.last_ahead || !priority::is_before(t, self.tail) {
            return self.tail;
        }
        let mut before = if self.last_ahead.is_null() { self.head } else { self.last_ahead.obj().link };
        for _ in 1..MAX_ORDER_SEARCH {
            let next = before.obj().link;
            if next.is_end() || priority::is_before(t, next) {
                break;
            }
            before = next;
        }
        before
    }
    /// Adds a thread to the empty queue.
    unsafe fn push_only(&mut self, t: Tso, cpu_bound: bool) {
        t.obj().link = Tso::end();
        self.head = t;
        self.tail = t;
        if !cpu_bound {
            self.last_ahead = t;
        }
        self.set_len(1);
    }
    /// Adds a thread at the front.
    /// # Safety
    /// `t` is live and on no queue.
    pub unsafe fn push_front(&mut self, rs: &mut RememberedSet, t: Tso) {
        if let Order::Random(_) = self.order {
            return self.shuffle(|q| q.threads.push(t));
        }
        if self.is_empty() {
            return self.push_only(t, priority::is_cpu_bound(t));
        }
        self.insert_behind(rs, Tso::NULL, t);
    }
    /// Inserts a thread behind `before`, or at the front if that is null. The queue is not empty.
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
        if let Order::Random(_) = self.order {
            self.shuffle(|q| {
                q.threads.pop();
            });
            return Some(t);
        }
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
    /// Interactive threads have used up a time slice: makes the first batch thread the next to run.
    /// # Safety
    /// The threads on the queue are live.
    pub unsafe fn promote_batch(&mut self, rs: &mut RememberedSet) {
        if let Order::Random(_) = self.order {
            return;
        }
        if self.last_ahead.is_null() {
            // The batch thread is the first already, and stays that.
            self.last_ahead = self.head;
        } else if self.last_ahead != self.tail {
            self.move_to_front(rs, self.last_ahead);
        }
    }
    /// An interactive thread yields. One that only yields may wait for a batch thread.
    /// # Safety
    /// As for [`ThreadQueue::promote_batch`].
    pub unsafe fn on_yield(&mut self, rs: &mut RememberedSet) {
        self.yields += 1;
        if self.yields == MAX_YIELDS {
            self.yields = 0;
            self.promote_batch(rs);
        }
    }
    /// Is `t` among the first `limit` threads?
    /// # Safety
    /// The threads on the queue are live.
    pub unsafe fn is_among_first(&self, t: Tso, limit: usize) -> bool {
        if let Order::Random(queue) = &self.order {
            return queue.is_among_first(t, limit);
        }
        let next = |&at: &Tso| Some(at.obj().link).filter(|next| !next.is_end());
        let first = (!self.head.is_null()).then_some(self.head);
        std::iter::successors(first, next).take(limit).any(|at| at == t)
    }
    /// Moves `t` to the front, if it is among the first `limit` threads. Returns false if it is not.
    /// # Safety
    /// The threads on the queue are live.
    pub unsafe fn bring_forward(&mut self, rs: &mut RememberedSet, t: Tso, limit: usize) -> bool {
        if let Order::Random(queue) = &mut self.order {
            let found = queue.bring_forward(t, limit);
            self.head = queue.first();
            return found;
        }
        let mut before = self.head;
        if before == t || before.is_null() {
            return before == t;
        }
        for _ in 1..limit {
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
    /// Moves the thread behind `before` to the front.
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
    /// The threads, from front to back.
    /// # Safety
    /// They are live.
    #[cfg(test)]
    pub unsafe fn contents(&self) -> Vec<Tso> {
        let next = |&at: &Tso| Some(at.obj().link).filter(|next| !next.is_end());
        let all = match &self.order {
            Order::Random(queue) => queue.threads.iter().rev().copied().collect(),
            _ => std::iter::successors((!self.head.is_null()).then_some(self.head), next).collect::<Vec<_>>(),
        };
        assert_eq!(all.len(), self.len());
        assert_eq!(all.first().copied().unwrap_or(Tso::NULL), self.first());
        if !matches!(self.order, Order::Random(_)) {
            assert_eq!(all.last().copied().unwrap_or(Tso::NULL), self.tail);
        }
        all
    }
    /// Visits the roots: both ends of the list, the last thread ahead, and threads that are not linked.
    pub fn roots(&mut self, visit: &mut dyn FnMut(&mut Closure)) {
        let unlinked: &mut [Tso] = match &mut self.order {
            Order::Random(queue) => &mut queue.threads,
            _ => &mut [],
        };
        let ends = [&mut self.head, &mut self.tail, &mut self.last_ahead];
        for t in ends.into_iter().chain(unlinked).filter(|t| !t.is_null()) {
            let mut c = t.closure();
            visit(&mut c);
            *t = Tso(c.0);
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

/// Adds a TSO to the remembered set if it is old and not there yet. Call this before writing a pointer into it.
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
