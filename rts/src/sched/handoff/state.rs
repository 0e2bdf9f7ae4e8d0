//! Who holds a HEC, and who is to hold it next. `mod.rs` keeps one of these under a lock for each HEC.
use std::collections::VecDeque;

/// So many calls may be made before a returner has its turn.
const MAX_LEFT: usize = 512;

/// `T` names a task.
pub struct SlotState<T> {
    pub holder: Option<T>,
    /// A task that stops the world and waits for this HEC.
    stopper: Option<T>,
    returning: VecDeque<T>,
    /// The last successor came from `returning`.
    returner_last: bool,
    /// Who has been sent for to see whether the HEC is free, and has not looked yet.
    looker: Option<T>,
    /// How often the HEC has been left since the first of those who return has been that.
    left: usize,
    /// Workers that wait for something to do.
    pub idle: Vec<T>,
}

impl<T: Copy + PartialEq> SlotState<T> {
    pub const fn new(holder: Option<T>) -> SlotState<T> {
        SlotState {
            holder,
            stopper: None,
            returning: VecDeque::new(),
            returner_last: false,
            looker: None,
            left: 0,
            idle: Vec::new(),
        }
    }

    /// Nobody holds it or waits for it.
    pub fn is_free(&self) -> bool {
        self.holder.is_none() && self.returning.is_empty()
    }

    /// How many wait for it.
    pub fn returning(&self) -> usize {
        self.returning.len()
    }

    /// The task takes it, or waits for it behind the others. True if it holds it now.
    pub fn take_or_enqueue(&mut self, t: T) -> bool {
        let free = self.holder.is_none();
        if free {
            self.holder = Some(t);
        } else {
            self.returning.push_back(t);
        }
        free
    }

    /// The task, which stops the world, takes it (true) or is the next to have it.
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

    /// Does a task that stops the world wait for it? Then the holder is the first to have it back: before
    /// the others, and before the threads on the queue.
    pub fn yield_to_stopper(&mut self, holder: T) -> bool {
        if self.is_awaited() {
            self.returning.push_front(holder);
            self.returner_last = false;
        }
        self.is_awaited()
    }

    /// The holder lets go: picks the next, who holds it from now on. `for_work` names who should do what is
    /// to be done here, if anything is. Returners and work take turns, so that neither can
    /// keep the other waiting.
    pub fn release_to_next(&mut self, mut for_work: impl FnMut(&mut SlotState<T>) -> Option<T>) -> Option<T> {
        self.holder = match self.stopper.take() {
            Some(s) => Some(s),
            None if self.returner_last => {
                self.returner_last = false;
                for_work(self).or_else(|| self.next_returning())
            }
            None => self.next_returning().or_else(|| for_work(self)),
        };
        if self.holder.is_some() && self.looker == self.holder {
            self.looker = None;
        }
        self.holder
    }

    /// A worker that is idle, or that has been sent for and not looked yet.
    pub fn next_worker(&mut self) -> Option<T> {
        let sent_for = self.looker.take_if(|t| !self.returning.contains(t));
        sent_for.or_else(|| self.idle.pop())
    }

    /// Who has been sent for and not looked yet.
    pub fn pending_checker(&self) -> Option<T> {
        self.looker
    }

    /// May the holder leave the HEC free, though somebody or something waits for it? Not if it has to be passed to who stops the world,
    /// or if another one has waited for long.
    pub fn may_be_left(&self) -> bool {
        !self.is_awaited() && self.left < MAX_LEFT
    }

    /// The holder leaves the HEC free, though somebody or something waits for it. If nobody has been sent for, the longest waiting
    /// returner is, or who `for_work` names.
    pub fn leave(&mut self, for_work: impl FnOnce(&mut SlotState<T>) -> T) -> Option<T> {
        self.holder = None;
        self.left += !self.returning.is_empty() as usize;
        if self.looker.is_some() {
            return None;
        }
        let next = self.returning.front().copied();
        self.looker = Some(next.unwrap_or_else(|| for_work(self)));
        self.looker
    }

    /// The task, which has been sent for, takes the HEC if it is free. Else a worker is idle again.
    pub fn look(&mut self, t: T) -> bool {
        if self.looker != Some(t) {
            return false;
        }
        self.looker = None;
        let waits = self.returning.iter().position(|&r| r == t);
        let free = self.holder.is_none();
        match waits {
            Some(at) if free => {
                self.returning.remove(at);
                self.left = 0;
            }
            None if !free => self.idle.push(t),
            _ => {}
        }
        if free {
            self.holder = Some(t);
            self.returner_last = waits.is_some();
        }
        free
    }

    fn next_returning(&mut self) -> Option<T> {
        let t = self.returning.pop_front()?;
        self.returner_last = true;
        self.left = 0;
        Some(t)
    }
}
