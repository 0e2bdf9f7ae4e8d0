//! Tests of run queues that are divided into the built-in queue and parts of named queues.
use crate::abi::Tso;
use crate::base::random::Random;
use crate::collector::Request;
use crate::hec::named_queues;
use crate::hec::priority;
use crate::hec::run_order::RunOrder;
use crate::hec::run_queue::ThreadQueue;
use crate::hec::SLICE_ENDED;
use crate::memory::remembered_set::RememberedSet;
use crate::testing::world::World;
use crate::thread::park;
use std::cmp::Reverse;
use std::sync::atomic::Ordering;

fn new_queue(order: RunOrder) -> usize {
    named_queues::new(order).unwrap()
}

/// Makes a thread of a named queue.
fn member(w: &mut World, queue: usize, key: i32) -> Tso {
    let t = w.thread();
    unsafe { priority::join(t, queue, key) };
    t
}

fn members<const N: usize>(w: &mut World, queue: usize) -> [Tso; N] {
    std::array::from_fn(|_| member(w, queue, 0))
}

fn push_all(q: &mut ThreadQueue, rs: &mut RememberedSet, threads: &[Tso]) {
    threads.iter().for_each(|&t| unsafe { q.push_back(rs, t) });
}

fn pop_all(q: &mut ThreadQueue) -> Vec<Tso> {
    let all = std::iter::from_fn(|| unsafe {
        let (first, len) = (q.first(), q.len());
        let t = q.pop_front()?;
        assert_eq!((t, q.len()), (first, len - 1));
        Some(t)
    });
    all.collect()
}

#[test]
fn each_named_queue_has_its_order() {
    let mut w = World::new(2);
    for (order, expected) in [(RunOrder::Fifo, [0, 1, 3, 2]), (RunOrder::Lifo, [2, 1, 3, 0])] {
        let queue = new_queue(order);
        let all: [Tso; 4] = members(&mut w, queue);
        let mut q = ThreadQueue::new();
        let rs = &mut w.hec.remembered;
        push_all(&mut q, rs, &all[..2]);
        // The last one has run, and is queued again before another is woken.
        unsafe { q.push_again(rs, all[3]) };
        push_all(&mut q, rs, &all[2..3]);
        assert_eq!(pop_all(&mut q), expected.map(|i| all[i]));
    }
    let queue = new_queue(RunOrder::Random { seed: 3 });
    let all: [Tso; 20] = members(&mut w, queue);
    let mut q = ThreadQueue::new();
    push_all(&mut q, &mut w.hec.remembered, &all);
    let popped = pop_all(&mut q);
    assert!(popped.len() == 20 && popped != all && all.iter().all(|t| popped.contains(t)));
}

#[test]
fn a_queue_with_priorities_is_a_sorted_list() {
    let mut w = World::new(2);
    let queue = new_queue(RunOrder::Priority);
    let all: [Tso; 30] = members(&mut w, queue);
    let mut q = ThreadQueue::new();
    let rs = &mut w.hec.remembered;
    let mut random = Random(5);
    // The keys and arrivals of the threads that are queued. The one that runs next is the least.
    let mut sorted: Vec<(Reverse<i32>, i64, Tso)> = Vec::new();
    let mut idle = all.to_vec();
    // The first one divides the run queue.
    push_all(&mut q, rs, &all[..1]);
    pop_all(&mut q);
    for step in 1..20_000 {
        let is_queued = |t: Tso| sorted.iter().position(|&(.., other)| other == t);
        match random.below(5) {
            0 | 1 if !idle.is_empty() => unsafe {
                let t = idle.swap_remove(random.below(idle.len() as u64) as usize);
                priority::set_key(t, random.below(5) as i32 - 2);
                let front = random.below(3) == 0;
                if front {
                    q.push_front(rs, t);
                } else if random.below(2) == 0 {
                    q.push_again(rs, t);
                } else {
                    q.push_back(rs, t);
                }
                sorted.push((Reverse(priority::key(t)), if front { -step } else { step }, t));
            },
            2 => unsafe {
                let t = all[random.below(30) as usize];
                let place = is_queued(t);
                assert_eq!(q.is_among_first(t, usize::MAX), place.is_some());
                assert_eq!(q.bring_forward(rs, t, usize::MAX), place.is_some());
                if let Some(place) = place {
                    sorted[place] = (sorted[0].0, -step, t);
                }
            },
            _ => {
                let expected = (!sorted.is_empty()).then(|| sorted.remove(0).2);
                assert_eq!(unsafe { q.pop_front() }, expected);
                idle.extend(expected);
            }
        }
        sorted.sort_by_key(|&(key, arrival, _)| (key, arrival));
        assert_eq!(q.first(), sorted.first().map_or(Tso::NULL, |&(.., t)| t));
        assert_eq!((q.len(), q.is_empty()), (sorted.len(), sorted.is_empty()));
    }
}

#[test]
fn the_built_in_queue_and_named_ones_take_turns() {
    let mut w = World::new(2);
    let (fifo, lifo) = (new_queue(RunOrder::Fifo), new_queue(RunOrder::Lifo));
    let [a, b] = [w.thread(), w.thread()];
    let [c, d] = members(&mut w, fifo);
    let [e, f] = members(&mut w, lifo);
    let mut q = ThreadQueue::new();
    let rs = &mut w.hec.remembered;
    unsafe {
        push_all(&mut q, rs, &[a, b, c, d, e, f]);
        // Within a slice it is the built-in queue's turn, also while that is empty because its thread runs.
        assert_eq!([q.pop_front(), q.pop_front()], [Some(a), Some(b)]);
        q.push_back(rs, a);
        assert_eq!(q.first(), a);
        q.end_slice(rs, true);
        assert_eq!(q.pop_front(), Some(c));
        q.push_again(rs, c);
        q.end_slice(rs, false);
        assert_eq!([q.pop_front(), q.pop_front()], [Some(f), Some(e)]);
        // No thread of that part is left in the middle of its slice.
        assert_eq!(q.pop_front(), Some(a));
        push_all(&mut q, rs, &[e, a]);
        q.end_slice(rs, true);
        assert_eq!(pop_all(&mut q), [d, c, e, a]);
        // A thread that is put at the front has its turn, and then the others go on.
        push_all(&mut q, rs, &[a, c, e]);
        q.push_front(rs, d);
        assert_eq!(pop_all(&mut q), [d, c, a, e]);
        // One that is waited for has, too.
        push_all(&mut q, rs, &[a, b, c, d]);
        assert!(!q.bring_forward(rs, b, 1) && q.bring_forward(rs, b, 2));
        assert_eq!(pop_all(&mut q), [b, a, c, d]);
        // A thread that only yields keeps its turn for a while.
        push_all(&mut q, rs, &[a, c]);
        q.end_slice(rs, true);
        let first = q.first();
        (0..31).for_each(|_| q.on_yield(rs));
        assert_eq!(q.first(), first);
        q.on_yield(rs);
        assert_ne!(q.first(), first);
    }
}

#[test]
fn a_child_belongs_to_the_queue_of_its_parent() {
    let mut w = World::new(2);
    let queue = new_queue(RunOrder::Priority);
    let (parent, child) = (member(&mut w, queue, -7), w.thread());
    unsafe {
        priority::inherit(child, parent);
        assert_eq!((priority::named_queue(child), priority::key(child)), (Some(queue), -7));
        // Blocking and slices change nothing.
        priority::on_block(child);
        priority::on_slice_end(child, 3, true);
        priority::end_burst(child);
        assert_eq!((priority::named_queue(child), priority::key(child)), (Some(queue), -7));
        assert!(!priority::is_cpu_bound(child) && !priority::is_interactive(child));
        priority::join(child, 0, 0);
        assert!(priority::named_queue(child).is_none() && priority::is_interactive(child));
    }
}

/// Wakes a thread while another one runs. Is the running one asked to stop?
fn is_preempted(w: &mut World, running: Tso, woken: Tso) -> bool {
    w.run(running);
    w.hec.context_switch.store(0, Ordering::Relaxed);
    unsafe {
        let held = park::lock(woken);
        park::block(w.hec, woken, crate::abi::layout::BlockedOnMVar, 0);
        drop(held);
        park::unblock(w.hec, woken);
    }
    w.runnable();
    w.hec.context_switch.load(Ordering::Relaxed) != 0
}

#[test]
fn a_woken_thread_preempts_one_with_a_lower_key() {
    let mut w = World::new(2);
    let (queue, other) = (new_queue(RunOrder::Priority), new_queue(RunOrder::Priority));
    let [low, high] = [1, 2].map(|key| member(&mut w, queue, key));
    let (elsewhere, built_in) = (member(&mut w, other, 3), w.thread());
    assert!(is_preempted(&mut w, low, high));
    for (running, woken) in [(high, low), (low, elsewhere), (built_in, high), (high, built_in)] {
        assert!(!is_preempted(&mut w, running, woken));
    }
    // The end of a time slice is still seen.
    w.hec.context_switch.store(SLICE_ENDED, Ordering::Relaxed);
    w.hec.request_yield();
    assert_eq!(w.hec.context_switch.load(Ordering::Relaxed), SLICE_ENDED);
}

#[test]
fn threads_of_all_parts_survive_collections() {
    let mut w = World::new(2);
    let queues = [RunOrder::Fifo, RunOrder::Lifo, RunOrder::Priority, RunOrder::Random { seed: 4 }].map(new_queue);
    let mut ids = Vec::new();
    for i in 0..40 {
        let t = if i % 5 == 0 { w.thread() } else { member(&mut w, queues[i % 5 - 1], i as i32) };
        unsafe {
            ids.push(t.obj().id);
            w.hec.run_queue.push_back(&mut w.hec.remembered, t);
        }
        if i % 7 == 0 {
            w.collect(Request::MINOR);
        }
    }
    w.collect(Request::MAJOR);
    let mut found = w.runnable().into_iter().map(|t| unsafe { t.obj().id }).collect::<Vec<_>>();
    found.sort_unstable();
    assert_eq!(found, ids);
}
