//! Models of the pool of GC helper threads.
//!
//! *Checked*: jobs are done, and never after they have been closed.
//! *Shipped code*: `collector/parallel/helper_pool.rs`.
use crate::atomics::{AtomicUsize, Ordering};
use crate::explore;
use crate::shipped::helper_pool::{HelperId, HelperPool};
use loom::sync::Arc;
use loom::thread::{self, JoinHandle};

fn start_helpers(pool: &Arc<HelperPool>, helpers: usize) -> Vec<JoinHandle<()>> {
    let one = |_| {
        let pool = pool.clone();
        thread::spawn(move || pool.run_helper())
    };
    (0..helpers).map(one).collect()
}

fn stop_helpers(pool: &HelperPool, helpers: Vec<JoinHandle<()>>) {
    pool.shut_down();
    for helper in helpers {
        helper.join().unwrap();
    }
}

/// Runs two jobs with this many helpers, of which `wanted` are wanted.
fn two_jobs(helpers: usize, wanted: usize) {
    let pool = Arc::new(HelperPool::new(1));
    let all = start_helpers(&pool, helpers);
    for _ in 0..2 {
        // The model's own memory: loom reports an access after the job's end.
        let workers = loom::cell::UnsafeCell::new([0; 3]);
        let taken = AtomicUsize::new(0);
        struct Shared<'a>(&'a loom::cell::UnsafeCell<[usize; 3]>);
        unsafe impl Sync for Shared<'_> {}
        let shared = Shared(&workers);
        let job = |helper: HelperId| {
            let shared = &shared;
            taken.fetch_add(1, Ordering::Relaxed);
            // Each helper has a number of its own.
            shared.0.with(|p| unsafe { assert_eq!((*p)[helper.number], 0) });
        };
        unsafe { pool.post(wanted, &job) };
        pool.close_job();
        assert!(taken.load(Ordering::Relaxed) <= wanted.min(helpers));
        workers.with_mut(|p| unsafe { (*p)[0] = 1 });
    }
    stop_helpers(&pool, all);
}

#[test]
fn a_job_ends_when_it_is_closed() {
    explore(3, || two_jobs(1, 1));
}

#[test]
fn no_more_helpers_than_wanted_take_a_job() {
    explore(2, || two_jobs(2, 1));
}

/// Runs a volunteer beside the helpers, which looks for a job a few times.
fn with_a_volunteer(helpers: usize, wanted: usize) {
    let pool = Arc::new(HelperPool::new(1));
    let all = start_helpers(&pool, helpers);
    let volunteer = {
        let pool = pool.clone();
        thread::spawn(move || {
            let (mut looks, mut jobs) = (2, 0);
            pool.volunteer(7, helpers + 1).unwrap().wait_as_helper(|done| {
                looks -= 1;
                jobs += done as usize;
                looks > 0
            });
            jobs
        })
    };
    let done = loom::cell::UnsafeCell::new(0);
    struct Shared<'a>(&'a loom::cell::UnsafeCell<usize>);
    unsafe impl Sync for Shared<'_> {}
    let shared = Shared(&done);
    let taken = AtomicUsize::new(0);
    let taken_by_volunteer = AtomicUsize::new(0);
    let job = |helper: HelperId| {
        let shared = &shared;
        assert!((1..=wanted).contains(&helper.number));
        assert!([None, Some(7)].contains(&helper.hec));
        taken_by_volunteer.fetch_add(helper.hec.is_some() as usize, Ordering::Relaxed);
        taken.fetch_add(1, Ordering::Relaxed);
        shared.0.with(|_| ());
    };
    unsafe { pool.post(wanted, &job) };
    pool.close_job();
    assert!(taken.load(Ordering::Relaxed) <= wanted.min(helpers + 1));
    done.with_mut(|_| ());
    stop_helpers(&pool, all);
    assert_eq!(volunteer.join().unwrap(), taken_by_volunteer.load(Ordering::Relaxed));
}

#[test]
fn a_volunteer_does_not_run_a_closed_job() {
    explore(3, || with_a_volunteer(0, 1));
}

#[test]
fn a_volunteer_and_a_helper_do_not_both_take_a_job_for_one() {
    explore(2, || with_a_volunteer(1, 1));
}
