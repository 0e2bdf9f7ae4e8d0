//! Tests of run queues, of parking, and of stacks that grow and shrink by chunks.
use super::create;
use super::stack::{grow, hec_stack_underflow, Grown, StackSizes, UNDERFLOW_FRAME_WORDS};
use crate::abi::layout::*;
use crate::abi::tso::Priority;
use crate::abi::{Closure, Tso};
use crate::collector::Request;
use crate::eval::raise_async::raise_async;
use crate::hec::priority;
use crate::hec::run_order::RunOrder;
use crate::hec::run_queue::{set_link, ThreadQueue};
use crate::info;
use crate::testing::symbols as t;
use crate::testing::world::{World, STACKS};
use crate::thread::stack_shrink::{make_ready, ROOM_WORDS};
use crate::thread::{park, stack_cache};

#[test]
fn threads_are_served_in_order() {
    let mut w = World::new(2);
    let [a, b, c] = [w.thread(), w.thread(), w.thread()];
    let mut q = ThreadQueue::new();
    let rs = &mut w.hec.remembered;
    unsafe {
        q.push_back(rs, a);
        q.push_back(rs, b);
        q.push_front(rs, c);
        assert_eq!(q.contents(), [c, a, b]);
        for expected in [Some(c), Some(a), Some(b), None] {
            assert_eq!(q.pop_front(), expected);
        }
        assert!(q.is_empty() && q.contents().is_empty());
        q.push_front(rs, b);
        assert_eq!(q.contents(), [b]);
    }
}

#[test]
fn the_last_thread_is_first_and_one_that_has_run_is_second() {
    let mut w = World::new(2);
    let [a, b, c, d] = [w.thread(), w.thread(), w.thread(), w.thread()];
    let mut q = ThreadQueue::with_order(0, RunOrder::Lifo);
    let rs = &mut w.hec.remembered;
    unsafe {
        q.push_again(rs, a);
        [b, c].into_iter().for_each(|t| q.push_back(rs, t));
        q.push_again(rs, d);
        q.end_slice(rs, true);
        assert_eq!(q.contents(), [c, d, b, a]);
        assert!(q.bring_forward(rs, b, 3));
        assert_eq!(q.contents(), [b, c, d, a]);
        for expected in [b, c, d, a] {
            assert_eq!(q.pop_front(), Some(expected));
        }
        q.push_again(rs, b);
        q.push_again(rs, c);
        assert_eq!(q.contents(), [b, c]);
    }
}

#[test]
fn a_random_order_is_each_order_equally_often_and_the_same_for_a_seed() {
    let mut w = World::new(2);
    let threads = [w.thread(), w.thread(), w.thread()];
    let rs = &mut w.hec.remembered;
    let mut order_of = |q: &mut ThreadQueue| unsafe {
        threads.into_iter().for_each(|t| q.push_back(rs, t));
        std::iter::from_fn(|| q.pop_front()).collect::<Vec<_>>()
    };
    let queue = |seed| ThreadQueue::with_order(0, RunOrder::Random { seed });
    let mut q = queue(1);
    let mut seen = std::collections::HashMap::new();
    for _ in 0..6000 {
        *seen.entry(order_of(&mut q)).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), 6);
    assert!(seen.values().all(|n| (900..1100).contains(n)), "{seen:?}");
    let mut orders = |seed| {
        let mut q = queue(seed);
        (0..20).map(|_| order_of(&mut q)).collect::<Vec<_>>()
    };
    assert_eq!(orders(7), orders(7));
    assert_ne!(orders(7), orders(8));
}

#[test]
fn threads_of_a_random_order_move_and_are_roots() {
    let mut w = World::new(2);
    let [a, b, c, d] = [w.thread(), w.thread(), w.thread(), w.thread()];
    let mut q = ThreadQueue::with_order(0, RunOrder::Random { seed: 5 });
    let rs = &mut w.hec.remembered;
    unsafe {
        [a, b, c].into_iter().for_each(|t| q.push_back(rs, t));
        q.push_front(rs, d);
        let last = [a, b, c].into_iter().find(|&t| !q.is_among_first(t, 3)).unwrap();
        assert!(q.first() == d && !q.is_among_first(last, 3) && q.is_among_first(last, 4));
        assert!(!q.bring_forward(rs, last, 3) && q.first() == d);
        assert!(q.bring_forward(rs, last, 4) && q.first() == last);
        q.end_slice(rs, true);
        (0..99).for_each(|_| q.on_yield(rs));
        let mut seen = Vec::new();
        q.roots(&mut |c| seen.push(Tso(c.0)));
        for t in [a, b, c, d] {
            assert!(seen.contains(&t));
        }
        while q.pop_front().is_some() {}
        seen.clear();
        q.roots(&mut |c| seen.push(Tso(c.0)));
        assert!(seen.is_empty());
    }
}

#[test]
fn an_awaited_thread_is_brought_forward() {
    let mut w = World::new(2);
    let [a, b, c, d] = [w.thread(), w.thread(), w.thread(), w.thread()];
    let mut q = ThreadQueue::new();
    let rs = &mut w.hec.remembered;
    unsafe {
        assert!(!q.bring_forward(rs, a, 9));
        [a, b, c].into_iter().for_each(|t| q.push_back(rs, t));
        assert!(q.bring_forward(rs, c, 9));
        assert_eq!(q.contents(), [c, a, b]);
        assert!(q.bring_forward(rs, c, 9));
        assert!(q.bring_forward(rs, a, 2));
        assert_eq!(q.contents(), [a, c, b]);
        assert!(!q.bring_forward(rs, b, 2));
        assert!(!q.bring_forward(rs, d, 9));
        assert_eq!(q.contents(), [a, c, b]);
    }
}

/// Makes the thread CPU-bound. Its burst began at `burst_began`, or begins when it is queued.
fn make_batch(t: Tso, burst_began: u32) {
    unsafe { (t.obj().priority, t.obj().burst_began) = (NEW_BATCH, burst_began) };
}

const NEW_BATCH: Priority = Priority::Batch { slices: 0, blocks: 0 };

#[test]
fn interactive_threads_run_first_and_batch_threads_in_burst_order() {
    let mut w = World::new(2);
    let [a, b, old, older, interactive, interactive_2] = std::array::from_fn(|_| w.thread());
    let mut many: Vec<Tso> = (0..90).map(|_| w.thread()).collect();
    let mut q = ThreadQueue::new();
    let rs = &mut w.hec.remembered;
    unsafe {
        // While no thread is CPU-bound, all are served in order.
        [a, interactive, b].into_iter().for_each(|t| q.push_back(rs, t));
        assert_eq!([q.pop_front(), q.pop_front(), q.pop_front()], [Some(a), Some(interactive), Some(b)]);
        // A CPU-bound thread that was interrupted, and so goes to the front.
        [a, b].into_iter().for_each(|t| make_batch(t, 0));
        q.push_front(rs, a);
        q.push_back(rs, interactive);
        assert_eq!([q.pop_front(), q.pop_front()], [Some(interactive), Some(a)]);
        // They are served in the order in which they came, unless one began its burst earlier. One whose burst goes on
        // is next.
        [a, b, interactive, interactive_2].into_iter().for_each(|t| q.push_back(rs, t));
        assert_eq!(q.contents(), [interactive, interactive_2, a, b]);
        make_batch(old, a.obj().burst_began.wrapping_sub(10));
        make_batch(older, a.obj().burst_began.wrapping_sub(20));
        [old, older].into_iter().for_each(|t| q.push_back(rs, t));
        assert_eq!(q.contents(), [interactive, interactive_2, a, older, old, b]);
        assert!(q.bring_forward(rs, interactive_2, 9));
        assert_eq!(q.contents(), [interactive_2, interactive, a, older, old, b]);
        // When interactive threads have used up a time slice, a CPU-bound one is next. In the end all have been.
        let mut seen = Vec::new();
        while q.len() > 2 {
            assert_eq!([q.pop_front(), q.pop_front()], [Some(interactive_2), Some(interactive)]);
            [interactive_2, interactive].into_iter().for_each(|t| q.push_back(rs, t));
            q.end_slice(rs, true);
            seen.extend(q.pop_front());
        }
        assert_eq!(seen, [a, older, old, b]);
        q.end_slice(rs, true);
        assert_eq!(q.contents(), [interactive_2, interactive]);
        while q.pop_front().is_some() {}
        q.push_back(rs, a);
        q.end_slice(rs, true);
        q.push_back(rs, interactive);
        assert_eq!(q.contents(), [a, interactive]);
        // Interactive threads that only yield do not keep the CPU-bound ones waiting for ever, either. If they are
        // many, each has its turn in between.
        for (others, yields) in [(0, 32), (90, 96)] {
            many.drain(..others).for_each(|t| q.push_back(rs, t));
            assert_eq!(q.pop_front(), Some(a));
            q.push_back(rs, a);
            let found = (1..999).find(|_| {
                let t = q.pop_front().unwrap();
                q.on_yield(rs);
                q.push_back(rs, t);
                q.first() == a
            });
            assert_eq!(found, Some(yields));
        }
    }
}

#[test]
fn a_burst_goes_on_until_it_ends_or_the_thread_yields() {
    let mut w = World::new(2);
    let [runs, older, interactive] = std::array::from_fn(|_| w.thread());
    let mut q = ThreadQueue::new();
    let rs = &mut w.hec.remembered;
    unsafe {
        [(older, 10), (runs, 20)].into_iter().for_each(|(t, burst_began)| make_batch(t, burst_began));
        [older, interactive].into_iter().for_each(|t| q.push_back(rs, t));
        priority::on_slice_end(runs, 2, false);
        q.push_again(rs, runs);
        assert_eq!(q.contents(), [interactive, runs, older]);
        assert!(q.bring_forward(rs, runs, 9) && q.pop_front() == Some(runs));
        priority::end_burst(runs);
        q.push_again(rs, runs);
        assert_eq!(q.contents(), [interactive, older, runs]);
        assert!(runs.obj().burst_began != 0 && runs.obj().priority == Priority::BatchSeen { slices: 0, blocks: 0 });
    }
}

#[test]
fn burst_order_is_searched_among_the_first_only() {
    let mut w = World::new(2);
    let many: Vec<Tso> = (0..100).map(|_| w.thread()).collect();
    let late = w.thread();
    let mut q = ThreadQueue::new();
    let rs = &mut w.hec.remembered;
    unsafe {
        (1..).zip(&many).for_each(|(i, &t)| {
            make_batch(t, 10 * i);
            q.push_back(rs, t);
        });
        make_batch(late, 905);
        q.push_back(rs, late);
        assert!(q.contents()[32] == late);
    }
}

#[test]
fn a_child_inherits_the_level_and_blocking_changes_it() {
    let mut w = World::new(2);
    let t = w.thread();
    let priority = unsafe { &mut t.obj().priority };
    let (batch, seen) =
        (|slices, blocks| Priority::Batch { slices, blocks }, |slices, blocks| Priority::BatchSeen { slices, blocks });
    for (parent, child) in [
        (Priority::Interactive, Priority::Interactive),
        (Priority::InteractiveSeen, Priority::Interactive),
        (batch(3, 1), NEW_BATCH),
        (seen(2, 1), NEW_BATCH),
    ] {
        *priority = parent;
        let made = w.thread();
        unsafe { priority::inherit(made, t) };
        assert_eq!(unsafe { made.obj().priority }, child);
    }
    // A thread stays CPU-bound until it has blocked four times without having been seen at work twice in between.
    let blocks = |before, chunks_used| unsafe {
        (t.obj().priority, t.obj().chunks_used, t.obj().burst_began) = (before, chunks_used, 7);
        priority::on_block(t);
        assert_eq!(t.obj().chunks_used, 0);
        (t.obj().priority, t.obj().burst_began)
    };
    assert_eq!(
        [Priority::Interactive, Priority::InteractiveSeen, batch(2, 3), seen(2, 3)].map(|before| blocks(before, 9).0),
        [Priority::Interactive; 4]
    );
    // If it has not been seen at work at all so far, its burst has not begun.
    assert_eq!(
        [batch(2, 0), seen(2, 2), batch(0, 1)].map(|before| blocks(before, 9)),
        [(batch(2, 1), 7), (batch(2, 3), 7), (batch(0, 2), 7)]
    );
    assert_eq!(blocks(NEW_BATCH, 9), (batch(0, 1), 0));
    let found = |before| unsafe {
        t.obj().priority = before;
        priority::on_slice_end(t, 9, false);
        t.obj().priority
    };
    assert_eq!([batch(2, 3), seen(2, 3)].map(found), [seen(3, 3), batch(3, 0)]);
    // What is usual decays.
    let mut usual_chunks = |chunks_used| {
        blocks(Priority::Interactive, chunks_used);
        unsafe { t.obj().usual_chunks }
    };
    assert_eq!([100, 8, 0, 8, 60].map(&mut usual_chunks), [100, 75, 75, 57, 60]);
}

#[test]
fn a_burst_has_several_slices_if_others_wait() {
    let mut w = World::new(2);
    let t = w.thread();
    let slices = |waiting| unsafe {
        t.obj().priority = Priority::Interactive;
        priority::on_slice_end(t, waiting, false);
        assert_eq!(t.obj().priority, Priority::InteractiveSeen);
        t.obj().burst_began = 7;
        priority::on_slice_end(t, waiting, false);
        assert!(priority::is_cpu_bound(t) && !priority::is_in_burst(t), "it waits as others do");
        t.obj().burst_began = 7;
        (1..).find(|_| {
            priority::on_slice_end(t, waiting, false);
            !priority::is_in_burst(t)
        })
    };
    assert_eq!([0, 1, 3, 10, 25, 70, 1000].map(|n| slices(n).unwrap()), [1, 2, 4, 7, 3, 1, 1]);
    // A thread that others wait for stays interactive.
    for priority in
        [Priority::Interactive, Priority::InteractiveSeen, NEW_BATCH, Priority::BatchSeen { slices: 1, blocks: 1 }]
    {
        unsafe {
            t.obj().priority = priority;
            priority::on_slice_end(t, 10, true);
            assert!(!priority::is_cpu_bound(t));
        }
    }
    // A thread that has done much need not be seen twice, unless that is usual for it.
    let computes = |chunks_used, usual_chunks| unsafe {
        (t.obj().priority, t.obj().chunks_used, t.obj().usual_chunks) =
            (Priority::Interactive, chunks_used, usual_chunks);
        priority::on_slice_end(t, 10, false);
        priority::is_cpu_bound(t)
    };
    assert!(!computes(15, 0) && computes(16, 0) && !computes(39, 20) && computes(40, 20) && !computes(40_000, 40_000));
}

#[test]
fn an_old_thread_whose_link_is_written_is_remembered() {
    let mut w = World::new(2);
    let t = w.thread();
    let t = Tso(w.old(t.closure()).0);
    let young = w.thread();
    assert_eq!(unsafe { t.obj().dirty }, 0);
    let before = w.hec.remembered.by_generation[1].len();
    unsafe {
        set_link(&mut w.hec.remembered, t, young);
        set_link(&mut w.hec.remembered, t, Tso::end());
    }
    assert_eq!(w.hec.remembered.by_generation[1][before..], [t.closure()]);
}

#[test]
fn a_thread_parks_and_resumes() {
    let mut w = World::new(2);
    let (t, m) = (w.thread(), w.mvar());
    unsafe {
        assert_eq!(park::blocked_on(t), Some(Tso::end().closure()));
        park::block(w.hec, t, BlockedOnMVar, m.0);
        assert_eq!(park::blocked_on(t), Some(m));
        assert!(w.hec.run_queue.is_empty());
        park::unblock(w.hec, t);
        assert_eq!(t.obj().why_blocked as usize, NotBlocked);
        assert_eq!(w.runnable(), [t]);
        // A number is no pointer, and a thread that returns from a call wakes no other.
        park::block(w.hec, t, BlockedOnRead, 5);
        assert_eq!(park::blocked_on(t), None);
        park::block(w.hec, t, BlockedOnCCall, 0);
        park::resume_from_call(w.hec, t);
        assert_eq!((t.obj().why_blocked as usize, t.obj().block_info), (NotBlocked, Tso::end().0));
        assert!(w.hec.run_queue.is_empty());
    }
}

const SMALL: StackSizes = StackSizes { initial: 128, chunk: 400, buffer: 40, max: 1500 };

/// Fills a thread's chunk with frames of ten words, numbered from `from`. Returns the next number.
unsafe fn fill(t: Tso, from: usize) -> usize {
    let stack = t.obj().stackobj;
    let mut n = from;
    while stack.obj().sp - 80 >= stack.sp_lim() {
        create::push(stack, &[t::ret_9().0, n, n, n, n, n, n, n, n, n]);
        n += 1;
    }
    n
}

/// Fills a thread's chunk once it has the full size.
unsafe fn fill_whole(w: &mut World, t: Tso, sizes: &StackSizes) -> usize {
    let mut n = fill(t, 0);
    while size(t) < sizes.chunk - SIZEOF_StgStack / 8 {
        grow(w.hec, t, sizes, false);
        n = fill(t, n);
    }
    n
}

/// Removes all frames, across chunks, and checks their numbers.
unsafe fn drain(w: &mut World, t: Tso, mut n: usize) {
    w.run(t);
    loop {
        let o = t.obj().stackobj.obj();
        let frame = o.sp as *const usize;
        match *frame {
            f if f == info!(stg_stop_thread_info).0 => break,
            f if f == info!(stg_stack_underflow_frame_info).0 => hec_stack_underflow(w.hec),
            f => {
                n -= 1;
                assert_eq!((f, *frame.add(1), *frame.add(9)), (t::ret_9().0, n, n));
                o.sp += 80;
            }
        }
    }
    assert_eq!(n, 0);
    assert_eq!(t.obj().tot_stack_size, t.obj().stackobj.obj().size);
}

#[test]
fn a_stack_grows_by_chunks_and_shrinks_again() {
    let mut w = World::new(2);
    let t = w.thread();
    unsafe {
        let mut n = 0;
        let sizes = StackSizes { chunk: 2000, max: 100_000, ..SMALL };
        let full = 2000 - 3;
        while size(t) < full {
            n = fill(t, n);
            let (old, words) = (t.obj().stackobj, words_of(t));
            assert_eq!(grow(w.hec, t, &sizes, false), Grown::Chunk);
            // All frames of a small chunk move to a larger one.
            assert!(size(t) > old.obj().size as usize && size(t) <= full);
            assert_eq!((words_of(t), old.obj().sp), (words, old.top()));
            assert_eq!(t.obj().tot_stack_size as usize, size(t));
        }
        let mut total = full;
        for _ in 0..3 {
            let old = t.obj().stackobj;
            n = fill(t, n);
            assert_eq!(grow(w.hec, t, &sizes, false), Grown::Chunk);
            let new = t.obj().stackobj;
            total += full;
            assert_eq!((new.obj().size as usize, t.obj().tot_stack_size as usize), (full, total));
            // Whole frames have moved, as many as the buffer holds.
            let words = (new.top() - new.obj().sp) / 8;
            assert_eq!(words, 40 + UNDERFLOW_FRAME_WORDS);
            assert_eq!(*(new.obj().sp as *const usize), t::ret_9().0);
            assert_eq!(*(old.obj().sp as *const usize), t::ret_9().0);
        }
        drain(&mut w, t, n);
    }
}

#[test]
fn the_youngest_frame_moves_even_with_a_short_buffer() {
    let mut w = World::new(2);
    let t = w.thread();
    let sizes = StackSizes { buffer: 9, ..SMALL };
    unsafe {
        let n = fill_whole(&mut w, t, &sizes);
        let old = t.obj().stackobj;
        let sp = old.obj().sp;
        grow(w.hec, t, &sizes, false);
        assert_eq!(old.obj().sp, sp + 80);
        assert_eq!((t.obj().stackobj.top() - t.obj().stackobj.obj().sp) / 8, 10 + UNDERFLOW_FRAME_WORDS);
        drain(&mut w, t, n);
    }
}

#[test]
fn a_chunk_that_is_emptied_by_growing_is_skipped() {
    let mut w = World::new(2);
    let t = w.thread();
    unsafe {
        let n = fill_whole(&mut w, t, &SMALL);
        grow(w.hec, t, &SMALL, false);
        // All frames of the new chunk move when it grows at once.
        let between = t.obj().stackobj;
        grow(w.hec, t, &SMALL, false);
        let new = t.obj().stackobj;
        let underflow = (new.top() as *const usize).sub(UNDERFLOW_FRAME_WORDS);
        assert_ne!(*underflow.add(1), between.0);
        drain(&mut w, t, n);
    }
}

#[test]
fn a_first_chunk_that_fits_in_the_buffer_is_replaced() {
    let mut w = World::new(2);
    let t = w.thread();
    unsafe {
        let n = fill(t, 0);
        let old = t.obj().stackobj;
        let words = words_of(t);
        assert_eq!(grow(w.hec, t, &STACKS, false), Grown::Chunk);
        assert_eq!(words_of(t), words);
        assert_eq!(t.obj().tot_stack_size as usize, size(t));
        assert!(size(t) > 2 * old.obj().size as usize && old.obj().sp == old.top());
        drain(&mut w, t, n);
    }
}

#[test]
fn a_stack_ends_at_its_limit_unless_unlimited() {
    let mut w = World::new(2);
    let t = w.thread();
    unsafe {
        let mut n = 0;
        let mut chunks = 0;
        loop {
            n = fill(t, n);
            if grow(w.hec, t, &SMALL, false) == Grown::Limit {
                break;
            }
            chunks += 1;
            assert!(chunks < 20);
        }
        assert!(t.obj().tot_stack_size as usize >= SMALL.max && chunks > 1);
        assert_eq!(grow(w.hec, t, &SMALL, true), Grown::Chunk);
        drain(&mut w, t, n);
    }
}

#[test]
fn chunks_below_the_current_one_turn_clean_and_survive() {
    let mut w = World::new(2);
    let t = w.thread();
    unsafe {
        let n = fill_whole(&mut w, t, &SMALL);
        grow(w.hec, t, &SMALL, false);
        let t = Tso(w.old(t.closure()).0);
        let new = t.obj().stackobj;
        let below = *(new.top() as *const usize).sub(1);
        assert_eq!(crate::abi::Stack(below).obj().dirty, 0);
        drain(&mut w, t, n);
        // Returning to the chunk has made it dirty, and remembered it.
        assert_ne!(crate::abi::Stack(below).obj().dirty, 0);
        assert!(w.hec.remembered.by_generation[1].contains(&Closure(below)));
    }
}

#[test]
fn new_threads_are_ready_to_run_what_they_are_made_for() {
    let w = World::new(2);
    let action = t::nil();
    unsafe {
        let io = create::new_io_thread(w.hec, action, &STACKS);
        let sp = io.obj().stackobj.obj().sp as *const usize;
        let words = [info!(stg_enter_info).0, action.0, info!(stg_ap_v_info).0];
        assert_eq!(std::slice::from_raw_parts(sp, 3), words);
        assert_eq!(*sp.add(3), info!(stg_stop_thread_info).0);
        assert_eq!(w.hec.new_threads, [io]);
        let other = create::new_eval_thread(w.hec, action, &STACKS);
        assert!(other.obj().id > io.obj().id);
        let call = create::apply(w.hec, action, &[action, Closure(8)]);
        assert_eq!((call.word(2), call.word(3), call.word(4)), (action.0, action.0, 8));
    }
}

/// A thread's number, and the words on its current chunk.
unsafe fn words_of(t: Tso) -> (u64, Vec<usize>) {
    let stack = t.obj().stackobj;
    let sp = stack.obj().sp;
    let n = (stack.top() - sp) / 8;
    (t.obj().id, std::slice::from_raw_parts(sp as *const usize, n).to_vec())
}

unsafe fn size(t: Tso) -> usize {
    t.obj().stackobj.obj().size as usize
}

/// Makes threads of different depths, which are roots, with numbers for frames.
unsafe fn parked_threads(w: &mut World, n: usize) -> Vec<(u64, Vec<usize>)> {
    for i in 0..n {
        let frame = |k| [vec![t::ret_9().0], vec![k; 9]].concat();
        let frames: Vec<usize> = (0..i % 5).flat_map(frame).collect();
        let t = w.thread_with(&frames);
        w.roots.push(t.closure());
    }
    w.roots.iter().map(|c| words_of(Tso(c.0))).collect()
}

#[test]
fn a_parked_threads_chunk_is_as_small_as_its_contents() {
    for gc_threads in [1, 4] {
        let mut w = World::with_gc_threads(2, gc_threads);
        unsafe {
            let before = parked_threads(&mut w, 200);
            let full = size(Tso(w.roots[0].0));
            w.collect(Request::MINOR);
            // A thread may have run since the last collection, and may soon run again.
            assert!(w.roots.iter().all(|c| size(Tso(c.0)) == full));
            for request in [Request::MINOR, Request::MAJOR, Request::MAJOR] {
                w.collect(request);
                for (c, words) in w.roots.iter().zip(&before) {
                    let t = Tso(c.0);
                    assert_eq!(words_of(t), *words);
                    assert_eq!(size(t), words.1.len() + ROOM_WORDS);
                    assert_eq!(t.obj().stackobj.full_size(), full);
                    assert_eq!(t.obj().tot_stack_size as usize, full);
                }
            }
            for (i, words) in before.iter().enumerate() {
                let t = Tso(w.roots[i].0);
                let small = t.obj().stackobj;
                make_ready(w.hec, t);
                assert_eq!((size(t), t.obj().tot_stack_size as usize), (full, full));
                assert_eq!(words_of(t), *words);
                // The old chunk keeps nothing alive.
                assert_eq!(small.obj().sp, small.top());
            }
            // Old threads refer to young chunks: the heap checker verifies that they are remembered.
            w.collect(Request::MINOR);
            for (c, words) in w.roots.iter().zip(&before) {
                assert_eq!((words_of(Tso(c.0)), size(Tso(c.0))), (words.clone(), full));
            }
        }
    }
}

#[test]
fn a_thread_that_runs_in_each_cycle_keeps_its_chunk() {
    let mut w = World::new(2);
    unsafe {
        parked_threads(&mut w, 1);
        let full = size(Tso(w.roots[0].0));
        for i in 0..6 {
            let request = if i < 3 { Request::MINOR } else { Request::MAJOR };
            make_ready(w.hec, Tso(w.roots[0].0));
            w.collect(request);
            assert_eq!(size(Tso(w.roots[0].0)), full);
        }
    }
}

#[test]
fn a_thread_in_a_foreign_call_keeps_its_chunk() {
    let mut w = World::new(2);
    unsafe {
        parked_threads(&mut w, 2);
        let full = size(Tso(w.roots[0].0));
        park::block(w.hec, Tso(w.roots[0].0), BlockedOnCCall, 0);
        park::block(w.hec, Tso(w.roots[1].0), BlockedOnDelay, 0);
        for _ in 0..3 {
            w.collect(Request::MAJOR);
        }
        assert_eq!(size(Tso(w.roots[0].0)), full);
        assert!(size(Tso(w.roots[1].0)) < full);
    }
}

#[test]
fn an_exception_finds_room_in_a_shrunk_chunk() {
    let mut w = World::new(2);
    let handler = w.thunk();
    unsafe {
        // The longest handler call in place of the shortest frames.
        for words in [vec![t::catch().0, 0, handler.0], vec![]] {
            let t = w.thread_with(&words);
            let full = size(t);
            let t = Tso(w.old(t.closure()).0);
            assert_eq!(size(t), words.len() + 1 + ROOM_WORDS);
            let e = w.int(1000);
            raise_async(w.hec, t, Some(e));
            w.roots.push(t.closure());
            w.collect(Request::MINOR);
            let t = Tso(w.roots.pop().unwrap().0);
            let kept = words_of(t).1;
            if words.is_empty() {
                assert_eq!(kept[0], info!(stg_ret_p_info).0);
            } else {
                let call = [info!(stg_enter_info).0, info!(stg_ap_pv_info).0];
                assert_eq!((kept.len(), kept[0], kept[2]), (6, call[0], call[1]));
            }
            make_ready(w.hec, t);
            assert_eq!((words_of(t).1, size(t)), (kept, full));
        }
    }
}

#[test]
fn a_dropped_shrunk_chunk_counts_in_full() {
    let mut w = World::new(2);
    let t = w.thread();
    unsafe {
        fill_whole(&mut w, t, &SMALL);
        let first = size(t);
        grow(w.hec, t, &SMALL, false);
        let t = Tso(w.old(t.closure()).0);
        assert!(size(t) < first);
        // An exception that nothing catches discards all but the first chunk.
        let e = w.int(1000);
        raise_async(w.hec, t, Some(e));
        assert_eq!((t.obj().tot_stack_size as usize, size(t)), (first, first));
    }
}

#[test]
fn a_new_thread_gets_the_chunk_of_one_that_has_ended() {
    let mut w = World::new(2);
    let words = STACKS.first_chunk();
    unsafe {
        let ended = [w.thread(), w.thread()];
        let chunks = ended.map(|t| t.obj().stackobj);
        for t in ended {
            stack_cache::add(w.hec, t, words);
            stack_cache::add(w.hec, t, words);
        }
        assert!(ended[0].obj().stackobj == ended[1].obj().stackobj && size(ended[0]) == 0);
        // A chunk of another size is made; each of this size is given out once.
        let larger = create::new_thread(w.hec, &StackSizes { initial: 500, ..STACKS });
        let new = [w.thread(), w.thread(), w.thread()].map(|t| t.obj().stackobj);
        assert!(new[0] == chunks[1] && new[1] == chunks[0]);
        assert!(!chunks.contains(&new[2]) && !chunks.contains(&larger.obj().stackobj));
        assert_eq!((new[0].obj().size as usize, new[0].top() - new[0].obj().sp), (words, 8));
        // All of them, and the finished threads, survive.
        w.roots = w.hec.new_threads.iter().map(|t| t.closure()).collect();
        for request in [Request::MINOR, Request::MAJOR] {
            w.collect(request);
            let stop = [info!(stg_stop_thread_info).0];
            assert!(w.roots[2..].iter().all(|c| words_of(Tso(c.0)).1 == stop));
            assert!(w.roots[..2].iter().all(|c| size(Tso(c.0)) == 0));
        }
    }
}

#[test]
fn a_collection_empties_the_stack_cache() {
    let mut w = World::new(2);
    let words = STACKS.first_chunk();
    unsafe {
        let old = w.thread();
        let old = Tso(w.old(old.closure()).0);
        make_ready(w.hec, old);
        w.roots.push(old.closure());
        w.collect(Request::MINOR);
        let old = Tso(w.roots[0].0);
        stack_cache::add(w.hec, old, words);
        assert!(w.hec.spare_chunks.take(words).is_none() && size(old) == words);
        let young = w.thread();
        stack_cache::add(w.hec, young, words);
        w.collect(Request::MINOR);
        // Where the chunk was, there is now a new chunk of another thread.
        let (first, second) = (w.thread(), w.thread());
        assert!(first.obj().stackobj != second.obj().stackobj);
    }
}
