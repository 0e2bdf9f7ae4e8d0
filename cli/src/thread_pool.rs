//! Runs a job for many items, two at a time: tests and compilations share the machine with other programs.
use crate::error::Result;
use std::{
    sync::{
        atomic::{AtomicUsize, Ordering},
        Mutex,
    },
    thread,
};

/// Does `job` for every item, two at a time; the first failure is the answer.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], job: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Result<R>>>> = Mutex::new(items.iter().map(|_| None).collect());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(n) else { return };
                let result = job(item);
                if result.is_err() {
                    next.store(items.len(), Ordering::Relaxed);
                }
                results.lock().expect("no job panics")[n] = Some(result);
            });
        }
    });
    results.into_inner().expect("no job panics").into_iter().flatten().collect()
}
