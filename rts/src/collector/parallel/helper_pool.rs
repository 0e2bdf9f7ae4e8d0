//! A pool of helper threads that share one OS thread's job: GC workers beside the one that collects.
//!
//! *Protocol*
//! 1. The owner *posts* a job for a number of helpers, and goes on with its own part.
//! 2. A helper that is woken, or still spins after its last job, takes the job if one more helper is wanted. It is
//!    given a number, from 1 up. It may find that no more helpers are wanted, or that the job is closed.
//! 3. A *volunteer* is an OS thread that waits for the collection to end anyway ([`HelperPool::volunteer`]). While it
//!    has nothing else to do, it takes jobs as a helper does.
//! 4. Posting wakes only as many sleepers as the awake helpers fall short. Volunteers count as awake before they have
//!    taken the job.
//! 5. The owner *closes* the job: from then on no helper can take it, and the owner waits for those that have. It does
//!    not wait for a helper that has not come.
//!
//! *Invariants*
//! - A job is alive exactly while a helper may run it.
//! - No two helpers of a job have the same number.
//!
//! *Locking*: every step is under `state`. `working`, `round` and `awake` are only hints outside it. Posting costs
//! little more than the system calls that wake sleepers.
//!
//! *Checked by*: the loom models in `rts/tests/models/helper_pool.rs`.
use crate::base::atomics::{spin_loop, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering};
use crate::base::poison::unpoisoned;

/// What each helper does. The owner has number 0.
pub type Job<'a> = &'a (dyn Fn(HelperId) + Sync);

/// A participant of a job.
#[derive(Clone, Copy)]
pub struct HelperId {
    pub number: usize,
    /// The HEC with which a volunteer has stopped.
    pub hec: Option<usize>,
}

pub struct HelperPool {
    state: Mutex<State>,
    job_posted: Condvar,
    finished: Condvar,
    /// Helpers that have taken the job and not left it. Changes under the lock.
    working: AtomicUsize,
    /// Jobs posted so far, for helpers that look without the lock.
    round: AtomicUsize,
    /// Helpers and volunteers that look for a job now.
    awake: AtomicUsize,
    /// How often a helper looks for another job before it sleeps, and an owner for helpers to leave.
    spins: usize,
}

struct State {
    round: usize,
    job: Option<Job<'static>>,
    /// Helpers that may still take the job, and the number that the next one is given.
    wanted: usize,
    next: usize,
    /// The owner sleeps until no helper works.
    awaited: bool,
    closed: bool,
}

impl HelperPool {
    pub fn new(spins: usize) -> HelperPool {
        HelperPool {
            state: Mutex::new(State { round: 0, job: None, wanted: 0, next: 1, awaited: false, closed: false }),
            job_posted: Condvar::new(),
            finished: Condvar::new(),
            working: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            awake: AtomicUsize::new(0),
            spins,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        unpoisoned(self.state.lock())
    }

    /// Offers a job to this many helpers.
    /// # Safety
    /// No job is posted, and the owner closes this one while `job` is still alive.
    pub unsafe fn post(&self, helpers: usize, job: Job) {
        let mut s = self.lock();
        s.round += 1;
        // SAFETY: a helper has it only between taking and leaving it, and `close_job` waits for that.
        s.job = Some(std::mem::transmute::<Job, Job<'static>>(job));
        s.wanted = helpers;
        s.next = 1;
        self.round.store(s.round, Ordering::Relaxed);
        drop(s);
        // A helper that has stopped spinning since looks under the lock before it sleeps.
        for _ in self.awake()..helpers {
            self.job_posted.notify_one();
        }
    }

    /// Returns how many helpers and volunteers look for a job now.
    pub fn awake(&self) -> usize {
        self.awake.load(Ordering::Relaxed)
    }

    /// Closes the job, and waits until no helper works on it.
    pub fn close_job(&self) {
        self.lock().job = None;
        // Nearly always they are about to finish.
        for _ in 0..self.spins {
            if self.working.load(Ordering::Relaxed) == 0 {
                break;
            }
            spin_loop();
        }
        let mut s = self.lock();
        while self.working.load(Ordering::Relaxed) > 0 {
            s.awaited = true;
            s = unpoisoned(self.finished.wait(s));
        }
    }

    /// Runs jobs as a helper until the pool is shut down.
    pub fn run_helper(&self) {
        let mut seen_round = 0;
        while let Some((job, number)) = self.wait_for_job(&mut seen_round) {
            self.run_job(job, HelperId { number, hec: None });
        }
    }

    /// Volunteers the calling thread, which has stopped with HEC `hec`. From now on it counts as awake. Returns `None`
    /// if `max` helpers are awake already.
    pub fn volunteer(&self, hec: usize, max: usize) -> Option<Volunteer<'_>> {
        if self.awake.fetch_add(1, Ordering::Relaxed) < max {
            return Some(Volunteer { helper_pool: self, hec });
        }
        self.awake.fetch_sub(1, Ordering::Relaxed);
        None
    }

    /// Takes the job and a number, if another helper is wanted.
    fn take_job(&self, s: &mut State) -> Option<(Job<'static>, usize)> {
        let job = s.job.filter(|_| s.wanted > 0)?;
        let number = s.next;
        s.next += 1;
        s.wanted -= 1;
        self.working.fetch_add(1, Ordering::Relaxed);
        Some((job, number))
    }

    fn run_job(&self, job: Job, helper: HelperId) {
        job(helper);
        let mut s = self.lock();
        if self.working.fetch_sub(1, Ordering::Relaxed) == 1 && std::mem::take(&mut s.awaited) {
            self.finished.notify_one();
        }
    }

    fn wait_for_job(&self, seen_round: &mut usize) -> Option<(Job<'static>, usize)> {
        self.awake.fetch_add(1, Ordering::Relaxed);
        for _ in 0..self.spins {
            if self.round.load(Ordering::Relaxed) != *seen_round {
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
            if s.round != *seen_round {
                *seen_round = s.round;
                let taken = self.take_job(&mut s);
                if taken.is_some() {
                    return taken;
                }
            }
            s = unpoisoned(self.job_posted.wait(s));
        }
    }

    /// Has all helpers end.
    pub fn shut_down(&self) {
        self.lock().closed = true;
        self.job_posted.notify_all();
    }
}

/// A volunteer that is awake.
pub struct Volunteer<'a> {
    helper_pool: &'a HelperPool,
    hec: usize,
}

impl Volunteer<'_> {
    /// Runs jobs that come while `keep_waiting` returns true. `keep_waiting` is told whether a job has been run since
    /// its last call.
    pub fn wait_as_helper(self, mut keep_waiting: impl FnMut(bool) -> bool) {
        let helper_pool = self.helper_pool;
        let mut seen_round = None;
        let mut done = false;
        while keep_waiting(std::mem::take(&mut done)) {
            if Some(helper_pool.round.load(Ordering::Relaxed)) != seen_round {
                let mut s = helper_pool.lock();
                seen_round = Some(s.round);
                if let Some((job, number)) = helper_pool.take_job(&mut s) {
                    drop(s);
                    helper_pool.awake.fetch_sub(1, Ordering::Relaxed);
                    helper_pool.run_job(job, HelperId { number, hec: Some(self.hec) });
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
