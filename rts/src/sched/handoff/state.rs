//! The state of a HEC's slot: which task holds the HEC, and which holds it next. `mod.rs` keeps one under a lock for
//! each HEC.
//!
//! *Choice of the next holder*
//! ```text
//!   release_to_next:  stopper  >  returning and work, which alternate  >  none (the HEC is idle)
//!   work:             the task of a bound thread  >  pending checker  >  idle worker  >  new worker
//! ```
//!
//! *Checked by*: the loom models of the hand-off (`rts/tests/models/support/hec_world.rs`), which compile this file.
use std::collections::VecDeque;

/// The most calls for which a HEC is left before it is passed to a returning task. Enough to amortise waking it.
const MAX_LEAVES: usize = 512;

/// `T` names a task.
pub struct SlotState<T> {
    pub holder: Option<T>,
    /// A task that stops the world and waits for this HEC.
    stopper: Option<T>,
    returning: VecDeque<T>,
    /// The last successor came from `returning`.
    returning_was_last: bool,
    /// The task that has been sent to check whether the HEC is free, and has not checked yet.
    checker: Option<T>,
    /// How often the HEC has been left since the first task in `returning` became that.
    leave_count: usize,
    /// Workers that wait for work.
    pub idle: Vec<T>,
}

impl<T: Copy + PartialEq> SlotState<T> {
    pub const fn new(holder: Option<T>) -> SlotState<T> {
        SlotState {
            holder,
            stopper: None,
            returning: VecDeque::new(),
            returning_was_last: false,
            checker: None,
            leave_count: 0,
            idle: Vec::new(),
        }
    }

    /// Does no task hold it or wait for it?
    pub fn is_free(&self) -> bool {
        self.holder.is_none() && self.returning.is_empty()
    }

    /// The number of tasks that wait for it.
    pub fn returning(&self) -> usize {
        self.returning.len()
    }

    /// The task takes it, or waits for it behind the others. Returns true if the task now holds it.
    pub fn take_or_enqueue(&mut self, t: T) -> bool {
        let free = self.holder.is_none();
        if free {
            self.holder = Some(t);
        } else {
            self.returning.push_back(t);
        }
        free
    }

    /// The task, which stops the world, takes it (true) or becomes the next holder.
    pub fn stop(&mut self, t: T) -> bool {
        let free = self.holder.is_none();
        if free {
            self.holder = Some(t);
        } else {
            self.stopper = Some(t);
        }
        free
    }

    /// Does a task that stops the world wait for it?
    pub fn is_awaited(&self) -> bool {
        self.stopper.is_some()
    }

    /// Does a task that stops the world wait for it? If so, the holder is the first to get it back: before the other
    /// returning tasks, and before the threads on the queue.
    pub fn yield_to_stopper(&mut self, holder: T) -> bool {
        if self.is_awaited() {
            self.returning.push_front(holder);
            self.returning_was_last = false;
        }
        self.is_awaited()
    }

    /// The holder releases it: picks the next task, which holds it from now on. `for_work` names the task that should
    /// do the work here, if there is any. Returning tasks and work alternate, so that neither keeps the other waiting.
    pub fn release_to_next(&mut self, mut for_work: impl FnMut(&mut SlotState<T>) -> Option<T>) -> Option<T> {
        self.holder = match self.stopper.take() {
            Some(s) => Some(s),
            None if self.returning_was_last => {
                self.returning_was_last = false;
                for_work(self).or_else(|| self.next_returning())
            }
            None => self.next_returning().or_else(|| for_work(self)),
        };
        if self.holder.is_some() && self.checker == self.holder {
            self.checker = None;
        }
        self.holder
    }

    /// Takes a worker: one that has been sent to check and has not checked yet, or an idle one.
    pub fn next_worker(&mut self) -> Option<T> {
        let sent = self.checker.take_if(|t| !self.returning.contains(t));
        sent.or_else(|| self.idle.pop())
    }

    /// The task that has been sent to check and has not checked yet.
    pub fn pending_checker(&self) -> Option<T> {
        self.checker
    }

    /// May the holder leave the HEC free, although a task waits for it or work waits on it? Not if it must be passed to
    /// a task that stops the world, or if a returning task has waited for long.
    pub fn may_be_left(&self) -> bool {
        !self.is_awaited() && self.leave_count < MAX_LEAVES
    }

    /// The holder leaves the HEC free, although a task waits for it or work waits on it. Returns the task to send:
    /// unless one has been sent already, the longest returning one, or the one that `for_work` names.
    pub fn leave(&mut self, for_work: impl FnOnce(&mut SlotState<T>) -> T) -> Option<T> {
        self.holder = None;
        self.leave_count += !self.returning.is_empty() as usize;
        if self.checker.is_some() {
            return None;
        }
        let next = self.returning.front().copied();
        self.checker = Some(next.unwrap_or_else(|| for_work(self)));
        self.checker
    }

    /// The holder leaves the HEC free, and no task is sent.
    pub fn leave_unchecked(&mut self) {
        self.holder = None;
    }

    /// The task, which has been sent to check, takes the HEC if it is free. If not, a worker becomes idle again.
    pub fn check(&mut self, t: T) -> bool {
        if self.checker != Some(t) {
            return false;
        }
        self.checker = None;
        let waits = self.returning.iter().position(|&r| r == t);
        let free = self.holder.is_none();
        match waits {
            Some(at) if free => {
                self.returning.remove(at);
                self.leave_count = 0;
            }
            None if !free => self.idle.push(t),
            _ => {}
        }
        if free {
            self.holder = Some(t);
            self.returning_was_last = waits.is_some();
        }
        free
    }

    /// An idle worker, which watches the HEC's events, is to take the HEC itself. False if it has been given something.
    pub fn take_as_idle(&mut self, t: T) -> bool {
        self.take_idle(|&i| i == t).is_some()
    }

    /// Takes an idle worker for which `may` is true.
    pub fn take_idle(&mut self, may: impl Fn(&T) -> bool) -> Option<T> {
        let at = self.idle.iter().rposition(may)?;
        Some(self.idle.remove(at))
    }

    fn next_returning(&mut self) -> Option<T> {
        let t = self.returning.pop_front()?;
        self.returning_was_last = true;
        self.leave_count = 0;
        Some(t)
    }
}
