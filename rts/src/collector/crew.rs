//! Helpers that share one OS thread's work: GC threads beside the one that collects.
//!
//! The protocol, all of it under one lock:
//! 1. The owner *posts* a job for some hands and goes on with its own part of it.
//! 2. A helper that is woken, or still looks around after its last job, takes the job if hands
//!    are wanted, and a number from 1 up with it. There may be none left, or no job any more.
//!    A *visitor* does the same while it has nothing else to do: an OS thread that waits for the
//!    collection to end anyway ([`Crew::stand_by`]). Sleepers are woken only as far as those who
//!    are awake do not suffice.
//! 3. The owner *recalls* the job: from here on no helper can take it, and the owner waits for
//!    those who did. A helper that was too slow to come is not waited for.
//!
//! So a job is alive exactly while somebody may run it, and posting one costs little more than
//! the system call that wakes sleepers.
use crate::atomics::{spin_loop, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering};
use crate::unpoisoned::unpoisoned;

/// What each of the hands does, called with its number. The owner is number 0.
pub type Job<'a> = &'a (dyn Fn(usize) + Sync);

pub struct Crew {
    state: Mutex<State>,
    posted: Condvar,
    left: Condvar,
    /// Jobs posted so far, for those who look without the lock.
    round: AtomicUsize,
    /// Helpers and visitors that look for a job now.
    awake: AtomicUsize,
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

impl State {
    /// The job, if hands are wanted, and the number of whoever takes it.
    fn take(&mut self) -> Option<(Job<'static>, usize)> {
        let job = self.job.filter(|_| self.wanted > 0)?;
        let number = self.next;
        self.next += 1;
        self.wanted -= 1;
        self.working += 1;
        Some((job, number))
    }
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
        // SAFETY: a helper has it only between taking and leaving it, for which `recall` waits.
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
    pub fn recall(&self) {
        let mut s = self.lock();
        s.job = None;
        while s.working > 0 {
            s = unpoisoned(self.left.wait(s));
        }
    }

    /// A helper's life: ends when the crew is closed.
    pub fn help(&self) {
        let mut seen = 0;
        while let Some((job, number)) = self.wait_for_job(&mut seen) {
            self.work(job, number);
        }
    }

    /// A visitor's time: it does jobs that come, while `waits`.
    pub fn stand_by(&self, mut waits: impl FnMut() -> bool) {
        let mut seen = None;
        self.awake.fetch_add(1, Ordering::Relaxed);
        while waits() {
            if Some(self.round.load(Ordering::Relaxed)) != seen {
                let mut s = self.lock();
                seen = Some(s.round);
                if let Some((job, number)) = s.take() {
                    drop(s);
                    self.awake.fetch_sub(1, Ordering::Relaxed);
                    self.work(job, number);
                    self.awake.fetch_add(1, Ordering::Relaxed);
                }
            }
            spin_loop();
        }
        self.awake.fetch_sub(1, Ordering::Relaxed);
    }

    fn work(&self, job: Job, number: usize) {
        job(number);
        let mut s = self.lock();
        s.working -= 1;
        if s.working == 0 {
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
                let taken = s.take();
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
