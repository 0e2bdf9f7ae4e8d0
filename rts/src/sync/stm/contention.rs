//! Contention manager: gives commit priority to a transaction that has lost too often.
//!
//! Each commit that fails does so because another succeeded (`commit.rs`), so the transactions together make progress.
//! But a long transaction can lose for ever against short ones, because one of them always commits while it reads.
//!
//! *Protocol*
//! 1. A transaction that has lost several times asks for commit priority.
//! 2. While one transaction holds the priority, other transactions that have written something yield before they
//!    commit, and try again when their threads run next. Transactions that have only read commit.
//! 3. The long transaction can still lose to commits that were under way when it asked. Then it commits.
//! 4. The priority is a lease, because its holder may be descheduled, or may wait for a thunk that a yielding thread
//!    evaluates. After its time the lease has no effect.
//!
//! *Invariant*: Transactions are correct without commit priority, so all accesses to the word are relaxed.
//!
//! *Checked by*: the unit tests below.
use crate::base::atomics::{AtomicUsize, Ordering};

/// The holder's thread number in the lower half, and the millisecond in which the lease ends in the upper half. 0 if no
/// thread holds the priority.
pub struct CommitPriority(AtomicUsize);

const NUMBER_BITS: u32 = 32;

fn number(thread: u64) -> usize {
    // No thread has number 0.
    (thread as u32).max(1) as usize
}

fn owner(word: usize) -> usize {
    word as u32 as usize
}

/// Milliseconds wrap around after seven weeks; a lease is shorter than half of that.
fn has_expired(word: usize, now: u32) -> bool {
    let end = (word >> NUMBER_BITS) as u32;
    now.wrapping_sub(end) < u32::MAX / 2
}

impl CommitPriority {
    pub const fn new() -> CommitPriority {
        CommitPriority(AtomicUsize::new(0))
    }

    #[inline(always)]
    pub fn is_held(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// Takes or extends the lease, for `milliseconds` from `now`. Returns false if another thread holds it.
    pub fn acquire(&self, thread: u64, now: u32, milliseconds: u32) -> bool {
        let seen = self.0.load(Ordering::Relaxed);
        if seen != 0 && owner(seen) != number(thread) && !has_expired(seen, now) {
            return false;
        }
        let mine = number(thread) | (now.wrapping_add(milliseconds) as usize) << NUMBER_BITS;
        self.0.compare_exchange(seen, mine, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    pub fn is_held_by(&self, thread: u64) -> bool {
        owner(self.0.load(Ordering::Relaxed)) == number(thread)
    }

    /// Ends the lease, if the thread holds it.
    pub fn release(&self, thread: u64) {
        let seen = self.0.load(Ordering::Relaxed);
        if owner(seen) == number(thread) {
            self.clear(seen);
        }
    }

    /// Must the thread yield to another thread's commit?
    pub fn must_yield(&self, thread: u64, now: u32) -> bool {
        let seen = self.0.load(Ordering::Relaxed);
        if seen == 0 || owner(seen) == number(thread) {
            return false;
        }
        if has_expired(seen, now) {
            self.clear(seen);
            return false;
        }
        true
    }

    /// Clears the word unless another thread has taken the lease since.
    fn clear(&self, seen: usize) {
        _ = self.0.compare_exchange(seen, 0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Resets the lease in the child of a fork, which has none of the parent's threads.
    pub fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priority_is_held_until_released_or_expired() {
        let r = CommitPriority::new();
        assert!(!r.is_held() && !r.must_yield(1, 0));
        assert!(r.acquire(1, 1000, 50));
        assert!(r.is_held() && r.is_held_by(1) && !r.must_yield(1, 1000) && r.must_yield(2, 1049));
        assert!(!r.acquire(2, 1049, 50));
        r.release(2);
        assert!(r.is_held_by(1));
        // The holder may extend its lease.
        assert!(r.acquire(1, 1049, 50) && r.must_yield(2, 1098));
        assert!(!r.must_yield(2, 1099) && !r.is_held());
        assert!(r.acquire(1, 2000, 50) && !r.acquire(2, 2049, 50) && r.acquire(2, 2050, 50) && r.must_yield(1, 2060));
        r.release(2);
        assert!(!r.is_held());
    }

    #[test]
    fn numbers_and_milliseconds_may_wrap() {
        let r = CommitPriority::new();
        assert!(r.acquire(1 << 32, u32::MAX - 10, 50));
        assert!(r.is_held() && r.must_yield(7, u32::MAX) && r.must_yield(7, 38) && !r.must_yield(7, 39));
    }
}
