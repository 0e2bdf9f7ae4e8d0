//! Tests of claims, updates, frozen work and exceptions on hand-made stacks.
use super::blackhole::{self, stop_waiting};
use super::raise::hec_raise;
use super::update::update;
use super::wait_for_thunk::{self, park};
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Tso};
use crate::collector::Request;
use crate::eval::lazy_blackholing::thread_paused;
use crate::hec::Hec;
use crate::info;
use crate::static_closure;
use crate::testing::symbols as t;
use crate::testing::world::{World, STACKS};
use crate::thread::park;
use crate::thread::stack::grow;

pub(super) fn upd() -> usize {
    info!(stg_upd_frame_info).0
}
fn marked() -> usize {
    info!(stg_marked_upd_frame_info).0
}
pub(super) fn enter() -> usize {
    info!(stg_enter_info).0
}

/// The words on a thread's current chunk, from the top on.
pub(super) fn stack(t: Tso) -> Vec<usize> {
    unsafe {
        let (sp, top) = (t.obj().stackobj.obj().sp, t.obj().stackobj.top());
        std::slice::from_raw_parts(sp as *const usize, (top - sp) / 8).to_vec()
    }
}

pub(super) fn stop() -> usize {
    info!(stg_stop_thread_info).0
}

unsafe fn owner(thunk: Closure) -> Tso {
    assert_eq!(thunk.info(), info!(stg_BLACKHOLE_info));
    Tso(thunk.word(INDIRECTEE))
}

/// The parts of a frozen segment: the closure that it evaluates first, and its words.
pub(super) unsafe fn frozen(thunk: Closure) -> (Closure, Vec<usize>) {
    assert_eq!(thunk.info(), info!(stg_IND_info));
    let ap = thunk.field(INDIRECTEE);
    assert_eq!(ap.info(), info!(stg_AP_STACK_info));
    words_of(ap)
}

/// The words that a chain of frozen segments puts on the stack, youngest first.
pub(super) unsafe fn thawed(mut ap: Closure) -> Vec<usize> {
    let mut segments = vec![];
    while ap.tag() == 0 {
        let (first, words) = words_of(ap);
        segments.push(words);
        ap = first;
    }
    segments.into_iter().rev().flatten().collect()
}

unsafe fn words_of(ap: Closure) -> (Closure, Vec<usize>) {
    let words = (0..ap.word(AP_STACK_SIZE)).map(|i| ap.word(AP_STACK_PAYLOAD + i));
    (ap.field(AP_STACK_FUN), words.collect())
}

#[test]
fn a_paused_thread_claims_what_it_evaluates() {
    let mut w = World::new(2);
    let (x, y) = (w.thunk(), w.thunk());
    let a = w.thread_with(&[t::ret_p().0, 8, upd(), x.0, t::ret_p().0, 8, upd(), y.0]);
    unsafe {
        thread_paused(w.hec, a);
        assert_eq!((owner(x), owner(y)), (a, a));
        assert_eq!(stack(a), [t::ret_p().0, 8, marked(), x.0, t::ret_p().0, 8, marked(), y.0, stop()]);
        // What lies below a marked frame has been claimed before, and is not visited again.
        let z = w.thunk();
        *(a.obj().stackobj.obj().sp as *mut usize).add(7) = z.0;
        thread_paused(w.hec, a);
        assert_eq!(z.info(), t::thunk());
    }
}

/// Grows the stack of a thread so that all but its youngest ten words are in an older chunk.
unsafe fn grow_by_a_chunk(w: &mut World, t: Tso) {
    let sizes = crate::thread::stack::StackSizes { buffer: 10, chunk: STACKS.initial, ..STACKS };
    grow(w.hec, t, &sizes, false);
}

#[test]
fn thunks_in_older_chunks_are_claimed_once() {
    let mut w = World::new(2);
    let (x, y, z) = (w.thunk(), w.thunk(), w.thunk());
    let words = [&[t::ret_9().0; 10][..], &[upd(), x.0, upd(), y.0]].concat();
    let a = w.thread_with(&words);
    unsafe {
        let older = a.obj().stackobj;
        grow_by_a_chunk(&mut w, a);
        thread_paused(w.hec, a);
        assert_eq!((owner(x), owner(y)), (a, a));
        let frame = older.obj().sp as *mut usize;
        assert_eq!([*frame, *frame.add(2)], [marked(); 2]);
        (*frame, *frame.add(1)) = (upd(), z.0);
        thread_paused(w.hec, a);
        assert_eq!(z.info(), t::thunk());
    }
}

#[test]
fn the_second_evaluator_is_cut_off_in_an_older_chunk() {
    let mut w = World::new(2);
    let (x, y) = (w.thunk(), w.thunk());
    let a = w.thread_with(&[upd(), x.0]);
    let words = [&[t::ret_9().0; 10][..], &[upd(), y.0, t::ret_p().0, 8, upd(), x.0]].concat();
    let b = w.thread_with(&words);
    w.run(b);
    unsafe {
        thread_paused(w.hec, a);
        let older = b.obj().stackobj;
        grow_by_a_chunk(&mut w, b);
        assert!(thread_paused(w.hec, b));
        assert!(b.obj().stackobj == older);
        assert_eq!(stack(b), [enter(), x.0, stop()]);
        assert_eq!((owner(x), b.obj().tot_stack_size), (a, older.obj().size));
        assert_eq!(y.info(), info!(stg_IND_info));
    }
}

#[test]
fn an_old_thunk_that_is_claimed_is_remembered() {
    let mut w = World::new(2);
    let x = w.thunk();
    let x = w.old(x);
    let a = w.thread_with(&[upd(), x.0]);
    unsafe { thread_paused(w.hec, a) };
    assert_eq!(w.hec.remembered.by_generation[1], [x]);
}

#[test]
fn adjacent_update_frames_become_one() {
    let mut w = World::new(2);
    let (x, y, z) = (w.thunk(), w.thunk(), w.thunk());
    let a = w.thread_with(&[t::ret_p().0, 8, upd(), x.0, upd(), y.0, upd(), z.0, t::ret_p().0, 16]);
    unsafe {
        thread_paused(w.hec, a);
        assert_eq!(stack(a), [t::ret_p().0, 8, marked(), x.0, t::ret_p().0, 16, stop()]);
        assert_eq!(owner(x), a);
        for thunk in [y, z] {
            assert_eq!(thunk.info(), info!(stg_IND_info));
        }
        assert_eq!((y.field(INDIRECTEE), z.field(INDIRECTEE)), (x, x));
    }
}

#[test]
fn the_second_evaluator_is_cut_off() {
    let mut w = World::new(2);
    let (x, y) = (w.thunk(), w.thunk());
    let first = w.thread_with(&[t::ret_p().0, 8, upd(), x.0]);
    let second = w.thread_with(&[t::ret_p().0, 8, upd(), y.0, t::ret_p().0, 16, upd(), x.0, t::ret_p().0, 24]);
    unsafe {
        thread_paused(w.hec, first);
        thread_paused(w.hec, second);
        assert_eq!(owner(x), first);
        // It enters the thunk again, and what it did for another thunk is not lost.
        assert_eq!(stack(second), [enter(), x.0, t::ret_p().0, 24, stop()]);
        assert_eq!(frozen(y).1, [t::ret_p().0, 8]);
        // A thread in a foreign call is left alone, because the call returns to the frame on top.
        let third = w.thread_with(&[t::ret_p().0, 8, upd(), x.0]);
        third.obj().why_blocked = BlockedOnCCall as u16;
        thread_paused(w.hec, third);
        assert_eq!(stack(third), [t::ret_p().0, 8, upd(), x.0, stop()]);
    }
}

#[test]
fn a_black_hole_wakes_waiters_in_order() {
    let mut w = World::new(2);
    let x = w.thunk();
    let a = w.thread_with(&[upd(), x.0]);
    let [b, c, d] = [w.thread(), w.thread(), w.thread()];
    let value = w.int(1000);
    unsafe {
        assert!(!park(w.hec, b, x), "nobody evaluates it yet");
        thread_paused(w.hec, a);
        for t in [b, c, d] {
            assert!(park(w.hec, t, x));
            assert_eq!(t.obj().why_blocked as usize, BlockedOnBlackHole);
        }
        stop_waiting(c);
        update(w.hec, a, x, value);
        assert_eq!(x.field(INDIRECTEE), value);
        assert_eq!(w.runnable(), [b, d]);
        assert!(!park(w.hec, b, x));
    }
}

#[test]
fn the_indirectee_decides_and_not_the_header() {
    let mut w = World::new(2);
    let x = w.thunk();
    let a = w.thread_with(&[upd(), x.0]);
    let b = w.thread();
    let value = w.int(1000);
    unsafe {
        thread_paused(w.hec, a);
        // An update whose value the claim has overwritten stores its header late.
        x.set_info(info!(stg_IND_info));
        assert!(blackhole::value(x).is_none());
        w.roots = vec![x, a.closure(), b.closure(), value];
        w.collect(Request::MINOR);
        let (x, a, b) = (w.roots[0], Tso(w.roots[1].0), Tso(w.roots[2].0));
        assert_eq!(x.field(INDIRECTEE), a.closure());
        assert!(park(w.hec, b, x));
        update(w.hec, a, x, w.roots[3]);
        assert_eq!(w.runnable(), [b]);
        assert_eq!(blackhole::value(x), Some(w.roots[3]));
        // A value under a claim that was late is a value.
        x.set_info(info!(stg_BLACKHOLE_info));
        assert!(!park(w.hec, b, x));
    }
}

#[test]
fn the_first_value_stays() {
    let mut w = World::new(2);
    let x = w.thunk();
    let (one, two) = (w.int(1000), w.int(2000));
    let x = w.old(x);
    let a = w.thread();
    unsafe {
        update(w.hec, a, x, one);
        update(w.hec, a, x, two);
        assert_eq!(x.field(INDIRECTEE), one);
    }
    assert_eq!(w.hec.remembered.by_generation[1], [x]);
}

/// Queues the thread behind many others.
unsafe fn queue_far_back(w: &mut World, a: Tso) {
    for _ in 0..wait_for_thunk::MAX_QUEUE_SEARCH {
        let other = w.thread_with(&[t::ret_p().0, 8]);
        w.hec.run_queue.push_back(&mut w.hec.remembered, other);
    }
    w.hec.run_queue.push_back(&mut w.hec.remembered, a);
}

#[test]
fn a_thunk_is_stolen_from_a_thread_far_back_with_the_work_done_for_it() {
    let mut w = World::new(2);
    let (x, y, z) = (w.thunk(), w.thunk(), w.thunk());
    let ret = t::ret_p().0;
    unsafe {
        let a = w.thread_with(&[ret, 8, upd(), x.0, ret, 16, upd(), y.0, ret, 24, upd(), z.0]);
        let [b, c] = [(); 2].map(|_| w.thread_with(&[ret, 8]));
        thread_paused(w.hec, a);
        assert!(park(w.hec, c, y));
        queue_far_back(&mut w, a);
        assert!(!park(w.hec, b, y));
        let unit = static_closure!(ghczmprim_GHCziTuple_Z0T_closure).with_tag(1);
        assert_eq!(frozen(x), (unit, vec![ret, 8]));
        assert_eq!(frozen(y), (x, vec![ret, 16]));
        assert_eq!(stack(a), [enter(), y.0, ret, 24, marked(), z.0, stop()]);
        // It still owns the thunk that is further down.
        assert_eq!(blackhole::owner_of(z), Some(a));
        // A thread that already waits may steal as well.
        assert_eq!(c.obj().why_blocked as usize, NotBlocked);
    }
}

#[test]
fn a_thunk_is_not_stolen_with_frames_of_its_thread() {
    let mut w = World::new(2);
    let ret = t::ret_p().0;
    let unmask = info!(stg_unmaskAsyncExceptionszh_ret_info).0;
    let handler = w.thunk();
    for own in [&[unmask][..], &[t::catch().0, 0, handler.0]] {
        let x = w.thunk();
        unsafe {
            let (a, b) = (w.thread_with(&[&[ret, 8], own, &[upd(), x.0]].concat()), w.thread_with(&[ret, 8]));
            thread_paused(w.hec, a);
            queue_far_back(&mut w, a);
            assert!(park(w.hec, b, x));
            assert_eq!(blackhole::owner_of(x), Some(a));
            w.hec.run_queue = crate::hec::run_queue::ThreadQueue::new();
        }
    }
}

#[test]
fn a_thread_that_runs_soon_keeps_its_thunk() {
    let mut w = World::new(2);
    let x = w.thunk();
    let (a, b) = (w.thread_with(&[upd(), x.0]), w.thread_with(&[t::ret_p().0, 8]));
    unsafe {
        thread_paused(w.hec, a);
        w.hec.run_queue.push_back(&mut w.hec.remembered, a);
        assert!(park(w.hec, b, x));
        assert_eq!(blackhole::owner_of(x), Some(a));
    }
}

#[test]
fn a_thread_of_another_hec_that_is_waited_for_runs_next_there() {
    let mut w = World::new(2);
    let mut there = Box::new(Hec::new(1));
    let (x, y) = (w.thunk(), w.thunk());
    let ret = t::ret_p().0;
    unsafe {
        let owner = w.thread_with(&[upd(), x.0, ret, 8]);
        let between = w.thread_with(&[upd(), y.0, ret, 8]);
        let [a, b, other] = [(); 3].map(|_| w.thread_with(&[ret, 8]));
        [owner, between].into_iter().for_each(|t| _ = thread_paused(w.hec, t));
        assert!(park(w.hec, between, x));
        park::ownership(owner).hand_over(there.address());
        // Through a thread that waits itself; and not if the owner runs already.
        assert!(park(w.hec, a, y));
        let messages = there.take_messages();
        there.r.current_tso = owner.0;
        assert!(park(w.hec, b, x));
        assert!(!there.has_messages());
        // Now this is the HEC that reads messages.
        park::ownership(owner).hand_over(w.hec.address());
        [other, owner].into_iter().for_each(|t| w.hec.run_queue.push_back(&mut w.hec.remembered, t));
        messages.into_iter().for_each(|l| wait_for_thunk::prioritise_message(w.hec, l));
        assert_eq!(w.hec.run_queue.pop_front(), Some(owner));
        while w.hec.run_queue.pop_front().is_some() {}
    }
}

#[test]
fn a_thunk_is_stolen_for_a_thread_of_another_hec() {
    let mut w = World::new(2);
    let mut there = Box::new(Hec::new(1));
    let x = w.thunk();
    let ret = t::ret_p().0;
    unsafe {
        let (a, b) = (w.thread_with(&[upd(), x.0, ret, 8]), w.thread_with(&[ret, 8]));
        thread_paused(w.hec, a);
        park::ownership(a).hand_over(there.address());
        assert!(park(w.hec, b, x));
        park::ownership(a).hand_over(w.hec.address());
        queue_far_back(&mut w, a);
        there.take_messages().into_iter().for_each(|l| wait_for_thunk::prioritise_message(w.hec, l));
        assert_eq!(blackhole::owner_of(x), None);
        assert_eq!(stack(a), [enter(), x.0, ret, 8, stop()]);
        assert_eq!(b.obj().why_blocked as usize, NotBlocked);
        w.hec.run_queue = crate::hec::run_queue::ThreadQueue::new();
    }
}

#[test]
fn an_exception_finds_the_nearest_handler() {
    let mut w = World::new(2);
    let (x, y, handler, other) = (w.thunk(), w.thunk(), w.thunk(), w.thunk());
    let ret = t::ret_p().0;
    let a =
        w.thread_with(&[ret, 8, upd(), x.0, ret, 16, t::catch().0, 0, handler.0, upd(), y.0, t::catch().0, 0, other.0]);
    let e = w.int(1000);
    w.run(a);
    unsafe {
        assert_eq!(hec_raise(w.hec, e), 0);
        let unmask = info!(stg_unmaskAsyncExceptionszh_ret_info).0;
        assert_eq!(stack(a)[..6], [enter(), handler.0, info!(stg_ap_pv_info).0, e.0, unmask, upd()]);
        assert_eq!(a.obj().flags as usize, TSO_BLOCKEX | TSO_INTERRUPTIBLE);
        // The thunk above the handler raises again; the one below is untouched.
        let again = x.field(INDIRECTEE);
        assert_eq!((again.info(), again.word(THUNK_PAYLOAD)), (info!(stg_raise_info), e.0));
        assert_eq!(y.info(), t::thunk());
    }
}

#[test]
fn a_handler_installed_under_mask_stays_masked() {
    let mut w = World::new(2);
    let handler = w.thunk();
    let e = w.int(1000);
    for state in [TSO_BLOCKEX, TSO_BLOCKEX | TSO_INTERRUPTIBLE] {
        let a = w.thread_with(&[t::ret_p().0, 8, t::catch().0, state, handler.0]);
        w.run(a);
        unsafe {
            assert_eq!(hec_raise(w.hec, e), 0);
            assert_eq!(stack(a), [enter(), handler.0, info!(stg_ap_pv_info).0, e.0, stop()]);
            assert_eq!(a.obj().flags as usize, state);
        }
    }
}

#[test]
fn a_handler_in_an_older_chunk_is_found() {
    let mut w = World::new(2);
    let handler = w.thunk();
    let words = [&[t::ret_9().0; 10][..], &[t::catch().0, 0, handler.0]].concat();
    let a = w.thread_with(&words);
    let e = w.int(1000);
    w.run(a);
    unsafe {
        let first = a.obj().stackobj;
        grow_by_a_chunk(&mut w, a);
        assert!(a.obj().stackobj != first);
        assert_eq!(hec_raise(w.hec, e), 0);
        assert!(a.obj().stackobj == first);
        assert_eq!(stack(a)[..2], [enter(), handler.0]);
        assert_eq!(a.obj().tot_stack_size, first.obj().size);
    }
}

#[test]
fn an_exception_without_a_handler_ends_the_thread() {
    let mut w = World::new(2);
    let x = w.thunk();
    let a = w.thread_with(&[upd(), x.0, t::ret_p().0, 8]);
    let e = w.int(1000);
    w.run(a);
    unsafe {
        assert_eq!(hec_raise(w.hec, e), 1);
        assert_eq!(a.obj().what_next as usize, ThreadKilled);
        assert_eq!(stack(a), [info!(stg_ret_p_info).0, e.0, stop()]);
    }
}
