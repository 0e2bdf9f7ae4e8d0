//! Sparks: each one that was put is taken once, the oldest first, while the holder puts others into slots that have become free.
use crate::explore;
use crate::shipped::spark_pool::SparkRing;
use loom::sync::Arc;
use loom::thread;

/// Takes until there is nothing, at most so many times.
fn take_some(ring: &SparkRing, most: usize) -> Vec<usize> {
    (0..most).map_while(|_| ring.take()).collect()
}

/// What each of those who took has taken, and what is left: every spark once, and nobody took a later one first.
fn assert_each_once(taken: &[Vec<usize>], put: usize) {
    assert!(taken.iter().all(|t| t.windows(2).all(|w| w[0] < w[1])), "{taken:?}");
    let mut all = taken.concat();
    all.sort_unstable();
    assert_eq!(all, (1..=put).collect::<Vec<_>>());
}

/// Two slots, and three sparks: the third goes where the first has been.
#[test]
fn a_slot_is_used_again_only_when_its_spark_is_gone() {
    explore(3, || {
        let ring = Arc::new(SparkRing::new());
        let theirs = ring.clone();
        let thief = thread::spawn(move || take_some(&theirs, 2));
        let mut put = 0;
        for _ in 0..3 {
            put += ring.put(put + 1, 2) as usize;
        }
        let own = take_some(&ring, 1);
        let stolen = thief.join().unwrap();
        assert_each_once(&[own, stolen, take_some(&ring, 3)], put);
    });
}

#[test]
fn each_spark_is_taken_by_one_thief() {
    explore(3, || {
        let ring = Arc::new(SparkRing::new());
        ring.put(1, 2);
        ring.put(2, 2);
        let thieves: Vec<_> = (0..2)
            .map(|_| {
                let theirs = ring.clone();
                thread::spawn(move || take_some(&theirs, 2))
            })
            .collect();
        let put = 2 + ring.put(3, 2) as usize;
        let mut taken: Vec<_> = thieves.into_iter().map(|t| t.join().unwrap()).collect();
        taken.push(take_some(&ring, 3));
        assert_each_once(&taken, put);
    });
}

/// The thunk that a spark is, is there for who takes it.
#[test]
fn a_thief_sees_what_was_written_before_the_spark() {
    explore(3, || {
        let shared = Arc::new((SparkRing::new(), crate::atomics::AtomicUsize::new(0)));
        let theirs = shared.clone();
        let thief = thread::spawn(move || {
            if theirs.0.take().is_some() {
                assert_eq!(theirs.1.load(crate::atomics::Ordering::Relaxed), 7);
            }
        });
        shared.1.store(7, crate::atomics::Ordering::Relaxed);
        assert!(shared.0.put(1, 2));
        thief.join().unwrap();
    });
}
