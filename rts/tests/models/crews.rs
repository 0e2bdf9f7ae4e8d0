//! A crew: jobs are done, and never after they have been recalled.
use crate::crew::Crew;
use crate::explore;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::sync::Arc;
use loom::thread;

/// Runs two jobs with `helpers` for `hands` of them.
fn two_jobs(helpers: usize, hands: usize) {
    let crew = Arc::new(Crew::new(0));
    let all: Vec<_> = (0..helpers)
        .map(|_| {
            let crew = crew.clone();
            thread::spawn(move || crew.help())
        })
        .collect();
    for _ in 0..2 {
        // A model's own memory: loom sees an access after the job's end.
        let workers = loom::cell::UnsafeCell::new([0; 3]);
        let taken = AtomicUsize::new(0);
        struct Shared<'a>(&'a loom::cell::UnsafeCell<[usize; 3]>);
        unsafe impl Sync for Shared<'_> {}
        let shared = Shared(&workers);
        let job = |me: usize| {
            let shared = &shared;
            taken.fetch_add(1, Ordering::Relaxed);
            // Each has a number of its own.
            shared.0.with(|p| unsafe { assert_eq!((*p)[me], 0) });
        };
        unsafe { crew.post(hands, &job) };
        crew.recall();
        assert!(taken.load(Ordering::Relaxed) <= hands.min(helpers));
        workers.with_mut(|p| unsafe { (*p)[0] = 1 });
    }
    crew.close();
    for helper in all {
        helper.join().unwrap();
    }
}

#[test]
fn a_job_ends_when_it_is_recalled() {
    explore(3, || two_jobs(1, 1));
}

#[test]
fn no_more_hands_than_wanted_take_it() {
    explore(2, || two_jobs(2, 1));
}
