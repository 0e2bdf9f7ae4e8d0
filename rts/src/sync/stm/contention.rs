//! Right of way: while a transaction has it, others wait with what they write.
//!
//! Each commit that fails is paid for by one that has succeeded (`commit.rs`), so all together get on. But a long transaction
//! can lose for ever against short ones: one of them always commits while it reads. So who has lost several times asks for the right
//! of way. As long as one has it, others that come to commit what they have written give way to other threads, and try again when they
//! come round; who has only read commits. The long one can lose to commits that were under way when it asked, and then is through. (In
//! the literature on contention managers this is priority for who has waited long enough.)
//!
//! It is a lease. Whoever has it may be kept from running, or wait for a thunk of one that gives way: after its time it counts no more.
//!
//! Transactions are right without any of this, so the word orders nothing.
use crate::base::atomics::{AtomicUsize, Ordering};

/// The thread's number in its lower half, and in its upper half the millisecond in which the lease ends; 0 while nobody has it.
pub struct CommitPriority(AtomicUsize);

const NUMBER_BITS: u32 = 32;

fn number(thread: u64) -> usize {
    // No thread has number 0.
    (thread as u32).max(1) as usize
}

fn owner(word: usize) -> usize {
    word as u32 as usize
}

/// Milliseconds come round in seven weeks; a lease is shorter than half of that.
fn has_ended(word: usize, now: u32) -> bool {
    let end = (word >> NUMBER_BITS) as u32;
    now.wrapping_sub(end) < u32::MAX / 2
}

impl CommitPriority {
    pub const fn new() -> CommitPriority {
        CommitPriority(AtomicUsize::new(0))
    }

    #[inline(always)]
    pub fn is_taken(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Takes it for so many milliseconds, or for so many more; false if another has it.
    pub fn take(&self, thread: u64, now: u32, milliseconds: u32) -> bool {
        let seen = self.0.load(Ordering::Relaxed);
        if seen != 0 && owner(seen) != number(thread) && !has_ended(seen, now) {
            return false;
        }
        let mine = number(thread) | (now.wrapping_add(milliseconds) as usize) << NUMBER_BITS;
        self.0.compare_exchange(seen, mine, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    pub fn is_of(&self, thread: u64) -> bool {
        owner(self.0.load(Ordering::Relaxed)) == number(thread)
    }

    /// Gives it up, if the thread has it.
    pub fn give_up(&self, thread: u64) {
        let seen = self.0.load(Ordering::Relaxed);
        if owner(seen) == number(thread) {
            self.clear(seen);
        }
    }

    /// Must the thread give way?
    pub fn is_anothers(&self, thread: u64, now: u32) -> bool {
        let seen = self.0.load(Ordering::Relaxed);
        if seen == 0 || owner(seen) == number(thread) {
            return false;
        }
        if has_ended(seen, now) {
            self.clear(seen);
            return false;
        }
        true
    }

    /// Unless somebody else has it by now.
    fn clear(&self, seen: usize) {
        _ = self.0.compare_exchange(seen, 0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// In the child of a fork, which has none of the threads.
    pub fn forget(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_it_until_it_gives_it_up_or_its_time_is_over() {
        let r = CommitPriority::new();
        assert!(!r.is_taken() && !r.is_anothers(1, 0));
        assert!(r.take(1, 1000, 50));
        assert!(r.is_taken() && r.is_of(1) && !r.is_anothers(1, 1000) && r.is_anothers(2, 1049));
        assert!(!r.take(2, 1049, 50));
        r.give_up(2);
        assert!(r.is_of(1));
        // Who has it may ask for more.
        assert!(r.take(1, 1049, 50) && r.is_anothers(2, 1098));
        assert!(!r.is_anothers(2, 1099) && !r.is_taken());
        assert!(r.take(1, 2000, 50) && !r.take(2, 2049, 50) && r.take(2, 2050, 50) && r.is_anothers(1, 2060));
        r.give_up(2);
        assert!(!r.is_taken());
    }

    #[test]
    fn numbers_and_milliseconds_may_come_round() {
        let r = CommitPriority::new();
        assert!(r.take(1 << 32, u32::MAX - 10, 50));
        assert!(r.is_taken() && r.is_anothers(7, u32::MAX) && r.is_anothers(7, 38) && !r.is_anothers(7, 39));
    }
}
