//! Helpers that share one OS thread's work: GC threads beside the one that collects.
//!
//! The protocol, all of it under one lock:
//! 1. The owner *posts* a job for some hands and goes on with its own part of it.
//! 2. A helper that is woken, or still looks around after its last job, takes the job if hands
//!    are wanted, and a number from 1 up with it. There may be none left, or no job any more.
//!    A *visitor* does the same while it has nothing else to do: an OS thread that waits for the
//!    collection to end anyway ([`HelperPool::volunteer`]). Sleepers are woken only as far as those who
//!    are awake do not suffice; visitors count as such before they have come.
//! 3. The owner *recalls* the job: from here on no helper can take it, and the owner waits for
//!    those who did. A helper that was too slow to come is not waited for.
//!
//! So a job is alive exactly while somebody may run it, and posting one costs little more than
//! the system call that wakes sleepers.
use crate::base::atomics::{spin_loop, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering};
use crate::base::poison::unpoisoned;

/// What each of the hands does. The owner is number 0.
pub type Job<'a> = &'a (dyn Fn(HelperId) + Sync);

/// Who takes part in a job.
#[derive(Clone, Copy)]
pub struct HelperId {
    pub number: usize,
    /// The HEC that a visitor has stopped with.
    pub hec: Option<usize>,
}

pub struct HelperPool {
    state: Mutex<State>,
    posted: Condvar,
    left: Condvar,
    /// Helpers that have taken the job and not left it; changes under the lock.
    working: AtomicUsize,
    /// Jobs posted so far, for those who look without the lock.
    round: AtomicUsize,
    /// Helpers and visitors that look for a job now.
    awake: AtomicUsize,
    /// How often a helper looks for another job before it sleeps, and an owner for helpers to leave.
    patience: usize,
}

struct State {
    round: usize,
    job: Option<Job<'static>>,
    /// Helpers that may still take the job, and the number that the next one gets.
    wanted: usize,
    next: usize,
    /// The owner sleeps until nobody works.
    awaited: bool,
    closed: bool,
}

impl HelperPool {
    pub fn new(patience: usize) -> HelperPool {
        HelperPool {
            state: Mutex::new(State { round: 0, job: None, wanted: 0, next: 1, awaited: false, closed: false }),
            posted: Condvar::new(),
            left: Condvar::new(),
            working: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            awake: AtomicUsize::new(0),
            patience,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        unpoisoned(self.state.lock())
    }

    /// Offers a job to `hands` helpers.
    /// # Safety
    /// No job is posted, and the owner recalls this one while `job` is still alive.
    pub unsafe fn post(&self, hands: usize, job: Job) {
        let mut s = self.lock();
        s.round += 1;
        // SAFETY: a helper has it only between taking and leaving it, for which `close_job` waits.
        s.job = Some(std::mem::transmute::<Job, Job<'static>>(job));
        s.wanted = hands;
        s.next = 1;
        self.round.store(s.round, Ordering::Relaxed);
        drop(s);
        // Who has stopped looking since will look under the lock before it sleeps.
        for _ in self.awake()..hands {
            self.posted.notify_one();
        }
    }

    /// How many look for a job now.
    pub fn awake(&self) -> usize {
        self.awake.load(Ordering::Relaxed)
    }

    /// Takes the job back and waits until nobody works at it.
    pub fn close_job(&self) {
        self.lock().job = None;
        // Nearly always they are just about to.
        for _ in 0..self.patience {
            if self.working.load(Ordering::Relaxed) == 0 {
                break;
            }
            spin_loop();
        }
        let mut s = self.lock();
        while self.working.load(Ordering::Relaxed) > 0 {
            s.awaited = true;
            s = unpoisoned(self.left.wait(s));
        }
    }

    /// A helper's life: ends when the crew is closed.
    pub fn help(&self) {
        let mut seen = 0;
        while let Some((job, number)) = self.wait_for_job(&mut seen) {
            self.work(job, HelperId { number, hec: None });
        }
    }

    /// A visitor, which has stopped with HEC `hec`: from now on it counts as awake. Nothing if `most` are.
    pub fn volunteer(&self, hec: usize, most: usize) -> Option<Volunteer<'_>> {
        if self.awake.fetch_add(1, Ordering::Relaxed) < most {
            return Some(Volunteer { helper_pool: self, hec });
        }
        self.awake.fetch_sub(1, Ordering::Relaxed);
        None
    }

    /// The job, if hands are wanted, and the number of whoever takes it.
    fn take(&self, s: &mut State) -> Option<(Job<'static>, usize)> {
        let job = s.job.filter(|_| s.wanted > 0)?;
        let number = s.next;
        s.next += 1;
        s.wanted -= 1;
        self.working.fetch_add(1, Ordering::Relaxed);
        Some((job, number))
    }

    fn work(&self, job: Job, hand: HelperId) {
        job(hand);
        let mut s = self.lock();
        if self.working.fetch_sub(1, Ordering::Relaxed) == 1 && std::mem::take(&mut s.awaited) {
            self.left.notify_one();
        }
    }

    fn wait_for_job(&self, seen: &mut usize) -> Option<(Job<'static>, usize)> {
        self.awake.fetch_add(1, Ordering::Relaxed);
        for _ in 0..self.patience {
            if self.round.load(Ordering::Relaxed) != *seen {
                break;
            }
            spin_loop();
        }
        self.awake.fetch_sub(1, Ordering::Relaxed);
        let mut s = self.lock();
        loop {
            if s.closed {
                return None;
            }
            if s.round != *seen {
                *seen = s.round;
                let taken = self.take(&mut s);
                if taken.is_some() {
                    return taken;
                }
            }
            s = unpoisoned(self.posted.wait(s));
        }
    }

    /// Sends all helpers away.
    pub fn close(&self) {
        self.lock().closed = true;
        self.posted.notify_all();
    }
}

/// A visitor that is awake.
pub struct Volunteer<'a> {
    helper_pool: &'a HelperPool,
    hec: usize,
}

impl Volunteer<'_> {
    /// The visitor does jobs that come, while it `waits`, which is told whether one has been done since it was last asked.
    pub fn wait_as_helper(self, mut waits: impl FnMut(bool) -> bool) {
        let helper_pool = self.helper_pool;
        let mut seen = None;
        let mut done = false;
        while waits(std::mem::take(&mut done)) {
            if Some(helper_pool.round.load(Ordering::Relaxed)) != seen {
                let mut s = helper_pool.lock();
                seen = Some(s.round);
                if let Some((job, number)) = helper_pool.take(&mut s) {
                    drop(s);
                    helper_pool.awake.fetch_sub(1, Ordering::Relaxed);
                    helper_pool.work(job, HelperId { number, hec: Some(self.hec) });
                    helper_pool.awake.fetch_add(1, Ordering::Relaxed);
                    done = true;
                }
            }
            spin_loop();
        }
    }
}

impl Drop for Volunteer<'_> {
    fn drop(&mut self) {
        self.helper_pool.awake.fetch_sub(1, Ordering::Relaxed);
    }
}
