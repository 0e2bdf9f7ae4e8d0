//! The run queue of a HEC: a list of threads, linked through the TSOs.
//!
//! Interactive threads come first, in the order of their arrival. Batch threads follow, in the order in which their
//! bursts began (`priority.rs`). When interactive threads have used up a time slice, the first batch thread runs next,
//! so no thread waits for ever.
//!
//! `+RTS --scheduler` names another order (`run_order.rs`). FIFO is the one above without levels. LIFO uses the same
//! list. The threads of a queue with a random order are not linked (`unlinked.rs`).
//!
//! *Named queues*: a program may put threads on queues of its own, each with an order. The first such thread that comes
//! to a HEC divides its run queue into parts: the built-in queue as described above, and one for each named queue. The
//! parts are served in turns, a time slice each (`turns.rs`). To callers this is one queue, whose first thread is that
//! of the part whose turn it is.
//!
//! *Invariants*
//! - The ends of the queue are roots of a collection.
//! - A queue that is divided has no links of its own. Its first thread and its length are those of its parts.
//! - A TSO whose link is written may be old, so every write of a link goes through the remembered set.
//!
//! *Checked by*: the unit tests in `rts/src/thread/tests.rs`.
use crate::abi::{Closure, Tso};
use crate::hec::byte_budget::seed_of;
use crate::hec::keyed_queue::KeyedQueue;
use crate::hec::named_queues;
use crate::hec::priority;
use crate::hec::run_order::RunOrder;
use crate::hec::shuffled_queue::ShuffledQueue;
use crate::hec::turns::Turns;
use crate::hec::unlinked::Unlinked;
use crate::memory::remembered_set::RememberedSet;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of yields of interactive threads after which the first batch thread runs next, unless more threads are
/// queued: they all have a turn between two time slices of batch threads. Enough for an event manager that yields once
/// for each event.
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
    Unlinked(Box<dyn Unlinked>),
    Divided(Box<Parts>),
}

/// The parts of a run queue that is divided. Part 0 is the built-in queue, the others have the numbers of named queues.
struct Parts {
    queues: Vec<ThreadQueue>,
    turns: Turns,
    /// The number of the HEC.
    no: u32,
}

pub struct ThreadQueue {
    order: Order,
    /// The number of the HEC.
    no: u32,
    /// It is a part of another one, and not to be divided.
    is_part: bool,
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
        let len = AtomicUsize::new(0);
        ThreadQueue { order: Order::Levels, no: 0, is_part: false, head, tail, last_ahead, yields: 0, len }
    }
    /// An empty queue of HEC `no` with this order.
    pub fn with_order(no: u32, order: RunOrder) -> ThreadQueue {
        let order = match order {
            RunOrder::Levels | RunOrder::Fifo => Order::Levels,
            RunOrder::Lifo => Order::Lifo,
            RunOrder::Random { seed } => Order::Unlinked(Box::new(ShuffledQueue::new(seed_of(seed, no)))),
            RunOrder::Priority => Order::Unlinked(Box::<KeyedQueue>::default()),
        };
        ThreadQueue { order, no, ..ThreadQueue::new() }
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
        if !matches!(self.order, Order::Levels) || !priority::is_interactive(t) {
            return self.push_by_order(rs, t);
        }
        if self.is_empty() {
            // The usual case where threads hand each other what they wait for.
            return self.push_only(t, false);
        }
        self.insert_behind(rs, self.last_ahead, t);
    }
    /// [`ThreadQueue::push_back`] of a thread that is not interactive, or to a queue without levels.
    #[inline(never)]
    unsafe fn push_by_order(&mut self, rs: &mut RememberedSet, t: Tso) {
        self.divide_for(t);
        match &mut self.order {
            Order::Levels => {
                let cpu_bound = priority::is_cpu_bound(t);
                if cpu_bound {
                    priority::enqueue(t);
                }
                if self.is_empty() {
                    return self.push_only(t, cpu_bound);
                }
                let before = if cpu_bound { self.find_predecessor(t) } else { self.last_ahead };
                self.insert_behind(rs, before, t);
            }
            Order::Lifo => self.push_front(rs, t),
            Order::Unlinked(queue) => {
                queue.insert(t);
                self.note_unlinked();
            }
            Order::Divided(parts) => {
                parts.push(t, |part| part.push_back(rs, t));
                self.note_parts();
            }
        }
    }
    /// The threads that are not linked have changed.
    fn note_unlinked(&mut self) {
        if let Order::Unlinked(queue) = &self.order {
            self.head = queue.first();
            self.len.store(queue.len(), Ordering::Relaxed);
        }
    }
    /// The parts have changed.
    fn note_parts(&mut self) {
        if let Order::Divided(parts) = &self.order {
            self.head = parts.first();
            self.len.store(parts.len(), Ordering::Relaxed);
        }
    }
    /// Divides the queue, unless it is, if the thread belongs to a named one.
    unsafe fn divide_for(&mut self, t: Tso) {
        if self.is_part || matches!(self.order, Order::Divided(_)) || priority::named_queue(t).is_none() {
            return;
        }
        let no = self.no;
        let built_in = std::mem::replace(self, ThreadQueue { no, ..ThreadQueue::new() });
        self.order = Order::Divided(Box::new(Parts {
            queues: vec![ThreadQueue { is_part: true, ..built_in }],
            turns: Turns::default(),
            no,
        }));
        self.note_parts();
    }
    /// Queues a thread that has run: as [`ThreadQueue::push_back`], but ahead of other batch threads if its burst goes
    /// on, and behind the first thread if the last one is served first.
    /// # Safety
    /// As for [`ThreadQueue::push_back`].
    pub unsafe fn push_again(&mut self, rs: &mut RememberedSet, t: Tso) {
        if !matches!(self.order, Order::Levels) {
            self.divide_for(t);
            if matches!(self.order, Order::Lifo) && !self.is_empty() {
                return self.insert_behind(rs, self.head, t);
            }
            if let Order::Divided(parts) = &mut self.order {
                parts.push(t, |part| part.push_again(rs, t));
                return self.note_parts();
            }
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
    /// Adds a thread at the front. In a named queue with priorities it comes before those with the same key. This does
    /// not divide the queue, so one of a named queue may be the first of the built-in queue for once.
    /// # Safety
    /// `t` is live and on no queue.
    pub unsafe fn push_front(&mut self, rs: &mut RememberedSet, t: Tso) {
        match &mut self.order {
            Order::Levels | Order::Lifo => {}
            Order::Unlinked(queue) => {
                queue.put_back(t);
                return self.note_unlinked();
            }
            Order::Divided(parts) => {
                let part = parts.push(t, |part| part.push_front(rs, t));
                parts.give_turn(part);
                return self.note_parts();
            }
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
        match &mut self.order {
            Order::Levels | Order::Lifo => {}
            Order::Unlinked(queue) => {
                queue.remove_first();
                self.note_unlinked();
                return Some(t);
            }
            Order::Divided(parts) => {
                let t = parts.pop();
                self.note_parts();
                return t;
            }
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
    /// A time slice has ended, or what stands for one under a random order: the next part has its turn. `promotes`:
    /// interactive threads have used up the slice.
    /// # Safety
    /// The threads on the queue are live.
    pub unsafe fn end_slice(&mut self, rs: &mut RememberedSet, promotes: bool) {
        if let Order::Divided(parts) = &mut self.order {
            if parts.turns.current() == BUILT_IN {
                parts.queues[BUILT_IN].end_slice(rs, promotes);
            }
            parts.end_turn();
            self.note_parts();
        } else if promotes {
            self.promote_batch(rs);
        }
    }
    /// The next thread to be taken is one of another part, if there is one.
    pub fn end_turn(&mut self) {
        if let Order::Divided(parts) = &mut self.order {
            parts.end_turn();
            self.note_parts();
        }
    }
    /// Makes the first batch thread the next to run.
    unsafe fn promote_batch(&mut self, rs: &mut RememberedSet) {
        if !matches!(self.order, Order::Levels | Order::Lifo) {
            return;
        }
        if self.last_ahead.is_null() {
            // The batch thread is the first already, and stays that.
            self.last_ahead = self.head;
        } else if self.last_ahead != self.tail {
            self.move_to_front(rs, self.last_ahead);
        }
    }
    /// An interactive thread yields, or one of a named queue. One that only yields may wait for a batch thread, or for
    /// one of another part.
    /// # Safety
    /// As for [`ThreadQueue::end_slice`].
    pub unsafe fn on_yield(&mut self, rs: &mut RememberedSet) {
        self.yields += 1;
        if self.yields.is_multiple_of(MAX_YIELDS) {
            let all_had_turns = self.yields as usize >= self.len();
            if all_had_turns {
                self.yields = 0;
            }
            self.end_slice(rs, all_had_turns);
        }
    }
    /// Is `t` among the first `limit` threads?
    /// # Safety
    /// The threads on the queue are live.
    pub unsafe fn is_among_first(&self, t: Tso, limit: usize) -> bool {
        match &self.order {
            Order::Levels | Order::Lifo => {}
            Order::Unlinked(queue) => return queue.is_among_first(t, limit),
            Order::Divided(parts) => return parts.used().any(|part| parts.queues[part].is_among_first(t, limit)),
        }
        let next = |&at: &Tso| Some(at.obj().link).filter(|next| !next.is_end());
        let first = (!self.head.is_null()).then_some(self.head);
        std::iter::successors(first, next).take(limit).any(|at| at == t)
    }
    /// Moves `t` to the front, if it is among the first `limit` threads. Returns false if it is not.
    /// # Safety
    /// The threads on the queue are live.
    pub unsafe fn bring_forward(&mut self, rs: &mut RememberedSet, t: Tso, limit: usize) -> bool {
        match &mut self.order {
            Order::Levels | Order::Lifo => {}
            Order::Unlinked(queue) => {
                let found = queue.bring_forward(t, limit);
                self.note_unlinked();
                return found;
            }
            Order::Divided(parts) => {
                let found = parts.bring_forward(rs, t, limit);
                self.note_parts();
                return found;
            }
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
    /// The threads of a list, from front to back.
    /// # Safety
    /// They are live.
    #[cfg(test)]
    pub unsafe fn contents(&self) -> Vec<Tso> {
        let next = |&at: &Tso| Some(at.obj().link).filter(|next| !next.is_end());
        let all = std::iter::successors((!self.head.is_null()).then_some(self.head), next).collect::<Vec<_>>();
        assert_eq!(all.len(), self.len());
        assert_eq!(all.first().copied().unwrap_or(Tso::NULL), self.first());
        assert_eq!(all.last().copied().unwrap_or(Tso::NULL), self.tail);
        all
    }
    /// Visits the roots: both ends of the list, the last thread ahead, and threads that are not linked.
    pub fn roots(&mut self, visit: &mut dyn FnMut(&mut Closure)) {
        let mut visit_thread = |t: &mut Tso| {
            let mut c = t.closure();
            visit(&mut c);
            *t = Tso(c.0);
        };
        match &mut self.order {
            Order::Levels | Order::Lifo => {
                let ends = [&mut self.head, &mut self.tail, &mut self.last_ahead];
                ends.into_iter().filter(|t| !t.is_null()).for_each(visit_thread);
            }
            Order::Unlinked(queue) => queue.each(&mut visit_thread),
            Order::Divided(parts) => parts.roots(visit),
        }
        self.note_unlinked();
        self.note_parts();
    }
}

/// The part that is the built-in queue.
const BUILT_IN: usize = 0;

/// # Safety
/// For all methods: the threads on the queue are live.
impl Parts {
    fn is_turn_empty(&self) -> bool {
        self.queues[self.turns.current()].is_empty()
    }
    fn first(&self) -> Tso {
        self.queues[self.turns.next(self.is_turn_empty())].first()
    }
    /// The numbers of the parts that may have threads.
    fn used(&self) -> impl Iterator<Item = usize> + '_ {
        self.turns.parts()
    }
    fn len(&self) -> usize {
        self.used().map(|part| self.queues[part].len()).sum()
    }
    /// Adds `t` by `push` to the part that it belongs to, and returns that. A part is made when it is first used.
    unsafe fn push(&mut self, t: Tso, push: impl FnOnce(&mut ThreadQueue)) -> usize {
        let part = priority::named_queue(t).unwrap_or(BUILT_IN);
        for number in self.queues.len()..=part {
            let queue = ThreadQueue::with_order(self.no, named_queues::order(number));
            self.queues.push(ThreadQueue { is_part: true, ..queue });
        }
        if self.queues[part].is_empty() {
            self.turns.fill(part);
        }
        push(&mut self.queues[part]);
        part
    }
    unsafe fn pop(&mut self) -> Option<Tso> {
        let part = self.turns.take(self.is_turn_empty());
        self.queues[part].pop_front()
    }
    fn end_turn(&mut self) {
        self.turns.end(self.is_turn_empty());
    }
    fn give_turn(&mut self, part: usize) {
        self.turns.give_to(part, self.is_turn_empty());
    }
    /// Makes `t` the next to run, if it is among the first `limit` threads of its part.
    unsafe fn bring_forward(&mut self, rs: &mut RememberedSet, t: Tso, limit: usize) -> bool {
        let mut used = self.turns.parts();
        let found = used.find(|&part| self.queues[part].bring_forward(rs, t, limit));
        drop(used);
        if let Some(part) = found {
            self.give_turn(part);
        }
        found.is_some()
    }
    fn roots(&mut self, visit: &mut dyn FnMut(&mut Closure)) {
        self.turns.parts().for_each(|part| self.queues[part].roots(visit));
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
