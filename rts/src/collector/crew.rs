//! Helpers that share one OS thread's work: GC threads beside the one that collects.
//!
//! The protocol, all of it under one lock:
//! 1. The owner *posts* a job for some hands and goes on with its own part of it.
//! 2. A helper that is woken, or still looks around after its last job, takes the job if hands
//!    are wanted, and a number from 1 up with it. There may be none left, or no job any more.
//! 3. The owner *recalls* the job: from here on no helper can take it, and the owner waits for
//!    those who did. A helper that was too slow to come is not waited for.
//!
//! So a job is alive exactly while somebody may run it, and posting one costs little more than
//! the system call that wakes sleepers.
use crate::atomics::{spin_loop, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering};

/// What each of the hands does, called with its number. The owner is number 0.
pub type Job<'a> = &'a (dyn Fn(usize) + Sync);

pub struct Crew {
    state: Mutex<State>,
    posted: Condvar,
    left: Condvar,
    /// Jobs posted so far, for those who look without the lock.
    round: AtomicUsize,
    /// How often a helper looks for another job before it sleeps.
    patience: usize,
}

struct State {
    round: usize,
    job: Option<Job<'static>>,
    /// Helpers that may still take the job, and the number that the next one gets.
    wanted: usize,
    next: usize,
    /// Helpers that have taken the job and not left it.
    working: usize,
    closed: bool,
}

impl Crew {
    pub fn new(patience: usize) -> Crew {
        Crew {
            state: Mutex::new(State {
                round: 0,
                job: None,
                wanted: 0,
                next: 1,
                working: 0,
                closed: false,
            }),
            posted: Condvar::new(),
            left: Condvar::new(),
            round: AtomicUsize::new(0),
            patience,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Offers a job to `hands` helpers.
    /// # Safety
    /// No job is posted, and the owner recalls this one while `job` is still alive.
    pub unsafe fn post(&self, hands: usize, job: Job) {
        let mut s = self.lock();
        s.round += 1;
        // SAFETY: a helper has it only between taking and leaving it, for which `recall` waits.
        s.job = Some(std::mem::transmute::<Job, Job<'static>>(job));
        s.wanted = hands;
        s.next = 1;
        self.round.store(s.round, Ordering::Relaxed);
        drop(s);
        for _ in 0..hands {
            self.posted.notify_one();
        }
    }

    /// Takes the job back and waits until nobody works at it.
    pub fn recall(&self) {
        let mut s = self.lock();
        s.job = None;
        while s.working > 0 {
            s = self.left.wait(s).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    /// A helper's life: ends when the crew is closed.
    pub fn help(&self) {
        let mut seen = 0;
        while let Some((job, me)) = self.take(&mut seen) {
            job(me);
            let mut s = self.lock();
            s.working -= 1;
            if s.working == 0 {
                self.left.notify_one();
            }
        }
    }

    fn take(&self, seen: &mut usize) -> Option<(Job<'static>, usize)> {
        for _ in 0..self.patience {
            if self.round.load(Ordering::Relaxed) != *seen {
                break;
            }
            spin_loop();
        }
        let mut s = self.lock();
        loop {
            if s.closed {
                return None;
            }
            if let (Some(job), true) = (s.job, s.round != *seen && s.wanted > 0) {
                *seen = s.round;
                let me = s.next;
                s.next += 1;
                s.wanted -= 1;
                s.working += 1;
                return Some((job, me));
            }
            s = self.posted.wait(s).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    /// Sends all helpers away.
    pub fn close(&self) {
        self.lock().closed = true;
        self.posted.notify_all();
    }
}
