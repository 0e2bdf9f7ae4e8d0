//! Runs a job for many items on some threads at a time.
use crate::error::Result;
use std::{
    collections::BTreeMap,
    sync::{
        atomic::{AtomicUsize, Ordering},
        Mutex,
    },
    thread,
};

/// Does `job` for every item, two at a time: tests and compilations share the machine with other programs. The first
/// failure is the answer.
pub fn in_parallel<T: Sync, R: Send>(items: &[T], job: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
    let end = AtomicUsize::new(items.len());
    let results: Mutex<Vec<Option<Result<R>>>> = Mutex::new(items.iter().map(|_| None).collect());
    count_up(2, &end, |n| {
        let result = job(&items[n]);
        if result.is_err() {
            end.store(0, Ordering::Relaxed);
        }
        results.lock().expect("no job panics")[n] = Some(result);
    });
    results.into_inner().expect("no job panics").into_iter().flatten().collect()
}

/// The first of the numbers below `count` for which `test` has an answer or fails. `workers` tests run at a time; when
/// one has an answer, no test of a higher number is begun.
pub fn first_of<R: Send>(
    workers: usize,
    count: usize,
    test: impl Fn(usize) -> Result<Option<R>> + Sync,
) -> Result<Option<(usize, R)>> {
    let end = AtomicUsize::new(count);
    let answers = Mutex::new(BTreeMap::new());
    count_up(workers, &end, |n| {
        if let Some(answer) = test(n).transpose() {
            end.fetch_min(n, Ordering::Relaxed);
            answers.lock().expect("no test panics").insert(n, answer);
        }
    });
    let first = answers.into_inner().expect("no test panics").pop_first();
    first.map(|(n, answer)| answer.map(|a| (n, a))).transpose()
}

/// Calls `job` with 0, 1, …, on `workers` threads, until a number is not below `end`. Jobs may lower that.
fn count_up(workers: usize, end: &AtomicUsize, job: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= end.load(Ordering::Relaxed) {
                    return;
                }
                job(n);
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Fail;

    #[test]
    fn the_first_answer_in_order_of_numbers_is_taken() {
        for workers in [1, 2, 7] {
            let tried = Mutex::new(Vec::new());
            let odd_from_20 = |n| {
                tried.lock().unwrap().push(n);
                // Lower numbers answer later.
                thread::sleep(std::time::Duration::from_millis(40 - n as u64));
                Ok((n >= 20 && n % 2 == 1).then_some(2 * n))
            };
            assert_eq!(first_of(workers, 40, odd_from_20).unwrap(), Some((21, 42)));
            let mut tried = tried.into_inner().unwrap();
            tried.sort();
            assert_eq!(tried[..22], (0..22).collect::<Vec<_>>());
            assert!(workers > 1 || tried.len() == 22, "{tried:?}");
        }
        assert!(first_of(3, 5, |_| Ok(None::<()>)).unwrap().is_none());
        let failing = |n| if n == 3 { Err(Fail::new("no such thing")) } else { Ok((n > 3).then_some(n)) };
        assert_eq!(first_of(2, 9, failing).unwrap_err().message, "no such thing");
    }
}
