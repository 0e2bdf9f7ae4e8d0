//! Models of a spark pool.
//!
//! *Checked*: each spark is taken once, by others the oldest first, while the holder puts others into free slots and
//! takes the newest.
//! *Shipped code*: `hec/spark_pool.rs`.
use crate::explore;
use crate::shipped::spark_pool::SparkRing;
use loom::sync::Arc;
use loom::thread;

/// Takes sparks until there is none, at most `max`.
fn take_some(ring: &SparkRing, max: usize) -> Vec<usize> {
    (0..max).map_while(|_| ring.take()).collect()
}

/// Verifies that every spark was taken once or is left, and that no thief took a later one first.
fn assert_each_once(taken: &[Vec<usize>], put: usize) {
    assert!(taken.iter().all(|t| t.windows(2).all(|w| w[0] < w[1])), "{taken:?}");
    let mut all = taken.concat();
    all.sort_unstable();
    assert_eq!(all, (1..=put).collect::<Vec<_>>());
}

/// With two slots and three sparks, the third goes where the first was.
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

/// The holder takes the newest, and puts others where they were, while a thief takes the oldest.
#[test]
fn the_holder_and_a_thief_never_take_the_same_spark() {
    explore(3, || {
        let ring = Arc::new(SparkRing::new());
        ring.put(1, 2);
        let theirs = ring.clone();
        let thief = thread::spawn(move || take_some(&theirs, 2));
        ring.put(2, 2);
        let mut own: Vec<usize> = (0..2).filter_map(|_| ring.take_newest()).collect();
        let put = 2 + ring.put(3, 2) as usize;
        own.extend(ring.take_newest());
        own.sort_unstable();
        let stolen = thief.join().unwrap();
        assert_each_once(&[own, stolen, take_some(&ring, 3)], put);
    });
}

/// Two thieves and the holder want the last spark.
#[test]
fn the_last_spark_is_taken_once() {
    explore(3, || {
        let ring = Arc::new(SparkRing::new());
        ring.put(1, 2);
        let thieves: Vec<_> = (0..2)
            .map(|_| {
                let theirs = ring.clone();
                thread::spawn(move || take_some(&theirs, 1))
            })
            .collect();
        let own: Vec<usize> = ring.take_newest().into_iter().collect();
        let mut taken: Vec<_> = thieves.into_iter().map(|t| t.join().unwrap()).collect();
        taken.push(own);
        assert_each_once(&taken, 1);
        assert!(ring.is_empty() && ring.take_newest().is_none());
    });
}

/// The thunk of a spark is visible to the thief that takes it.
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
