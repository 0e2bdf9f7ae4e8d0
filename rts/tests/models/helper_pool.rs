//! A crew: jobs are done, and never after they have been recalled.
use crate::atomics::{AtomicUsize, Ordering};
use crate::explore;
use crate::shipped::helper_pool::{HelperId, HelperPool};
use loom::sync::Arc;
use loom::thread::{self, JoinHandle};

fn hire(crew: &Arc<HelperPool>, helpers: usize) -> Vec<JoinHandle<()>> {
    let one = |_| {
        let crew = crew.clone();
        thread::spawn(move || crew.help())
    };
    (0..helpers).map(one).collect()
}

fn dismiss(crew: &HelperPool, helpers: Vec<JoinHandle<()>>) {
    crew.close();
    for helper in helpers {
        helper.join().unwrap();
    }
}

/// Runs two jobs with `helpers` for `hands` of them.
fn two_jobs(helpers: usize, hands: usize) {
    let crew = Arc::new(HelperPool::new(1));
    let all = hire(&crew, helpers);
    for _ in 0..2 {
        // A model's own memory: loom sees an access after the job's end.
        let workers = loom::cell::UnsafeCell::new([0; 3]);
        let taken = AtomicUsize::new(0);
        struct Shared<'a>(&'a loom::cell::UnsafeCell<[usize; 3]>);
        unsafe impl Sync for Shared<'_> {}
        let shared = Shared(&workers);
        let job = |hand: HelperId| {
            let shared = &shared;
            taken.fetch_add(1, Ordering::Relaxed);
            // Each has a number of its own.
            shared.0.with(|p| unsafe { assert_eq!((*p)[hand.number], 0) });
        };
        unsafe { crew.post(hands, &job) };
        crew.close_job();
        assert!(taken.load(Ordering::Relaxed) <= hands.min(helpers));
        workers.with_mut(|p| unsafe { (*p)[0] = 1 });
    }
    dismiss(&crew, all);
}

#[test]
fn a_job_ends_when_it_is_closed() {
    explore(3, || two_jobs(1, 1));
}

#[test]
fn no_more_helpers_than_wanted_take_a_job() {
    explore(2, || two_jobs(2, 1));
}

/// A visitor beside the helpers, which looks a few times.
fn with_a_visitor(helpers: usize, hands: usize) {
    let crew = Arc::new(HelperPool::new(1));
    let all = hire(&crew, helpers);
    let visitor = {
        let crew = crew.clone();
        thread::spawn(move || {
            let (mut looks, mut jobs) = (2, 0);
            crew.volunteer(7, helpers + 1).unwrap().wait_as_helper(|done| {
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
    let taken_by_visitor = AtomicUsize::new(0);
    let job = |hand: HelperId| {
        let shared = &shared;
        assert!((1..=hands).contains(&hand.number));
        assert!([None, Some(7)].contains(&hand.hec));
        taken_by_visitor.fetch_add(hand.hec.is_some() as usize, Ordering::Relaxed);
        taken.fetch_add(1, Ordering::Relaxed);
        shared.0.with(|_| ());
    };
    unsafe { crew.post(hands, &job) };
    crew.close_job();
    assert!(taken.load(Ordering::Relaxed) <= hands.min(helpers + 1));
    done.with_mut(|_| ());
    dismiss(&crew, all);
    assert_eq!(visitor.join().unwrap(), taken_by_visitor.load(Ordering::Relaxed));
}

#[test]
fn a_volunteer_does_not_run_a_closed_job() {
    explore(3, || with_a_visitor(0, 1));
}

#[test]
fn a_volunteer_and_a_helper_do_not_both_take_a_job_for_one() {
    explore(2, || with_a_visitor(1, 1));
}
