//! Tests of frozen work, and of threads that wait for it.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::Closure;
use crate::eval::blackhole;
use crate::eval::frames::Frame;
use crate::eval::lazy_blackholing::thread_paused;
use crate::eval::raise_async::{raise_async, raise_outside_thunks, restart_transaction, truncate};
use crate::eval::tests::{frozen, stack, stop, thawed, upd};
use crate::eval::wait_for_thunk::park;
use crate::testing::symbols as t;
use crate::testing::world::{World, STACKS};
use crate::thread::stack::grow;
use crate::{hec, info, static_closure};
use std::sync::atomic::Ordering;

#[test]
fn a_killed_thread_leaves_its_work_in_order() {
    let mut w = World::new(2);
    let (x, y) = (w.thunk(), w.thunk());
    let ret = t::ret_p().0;
    let a = w.thread_with(&[ret, 8, ret, 16, upd(), x.0, ret, 24, upd(), y.0, ret, 32]);
    unsafe {
        thread_paused(w.hec, a);
        raise_async(w.hec, a, None);
        let unit = static_closure!(ghczmprim_GHCziTuple_Z0T_closure).with_tag(1);
        assert_eq!(frozen(x), (unit, vec![ret, 8, ret, 16]));
        assert_eq!(frozen(y), (x, vec![ret, 24]));
        assert_eq!(a.obj().what_next as usize, ThreadKilled);
        assert_eq!(stack(a), [info!(stg_ret_p_info).0, unit.0, stop()]);
    }
}

#[test]
fn a_handler_within_a_thunk_gets_no_exception_that_is_not_the_thunks() {
    let mut w = World::new(2);
    let (x, handlers, e) = (w.thunk(), [w.int(1000), w.int(2000)], w.int(3000));
    let (ret, catch) = (t::ret_p().0, t::catch().0);
    let within = [ret, 8, catch, 0, handlers[0].0, ret, 16, upd(), x.0];
    let a = w.thread_with(&[&within[..], &[ret, 24, catch, 0, handlers[1].0, ret, 32]].concat());
    let b = w.thread_with(&within);
    unsafe {
        thread_paused(w.hec, a);
        raise_outside_thunks(w.hec, a, e);
        let unit = static_closure!(ghczmprim_GHCziTuple_Z0T_closure).with_tag(1);
        assert_eq!(frozen(x), (unit, within[..7].to_vec()));
        assert_eq!(stack(a)[..4], [info!(stg_enter_info).0, handlers[1].0, info!(stg_ap_pv_info).0, e.0]);
        // There is no other handler.
        raise_outside_thunks(w.hec, b, e);
        assert_eq!(b.obj().what_next as usize, ThreadKilled);
    }
}

/// The numbers in the frames of `stack_of_numbers`, in the order in which work frozen in `thunk` would continue.
unsafe fn thaw(thunk: Closure) -> Vec<usize> {
    thawed(thunk.field(INDIRECTEE)).chunks(10).map(|f| f[1]).collect()
}

#[test]
fn work_is_frozen_across_chunks_and_in_segments() {
    let mut w = World::new(2);
    let x = w.thunk();
    let a = w.thread_with(&[upd(), x.0]);
    const N: usize = 500;
    unsafe {
        for n in 0..N {
            if a.obj().stackobj.obj().sp - 80 < a.obj().stackobj.sp_lim() {
                thread_paused(w.hec, a);
                grow(w.hec, a, &STACKS, false);
            }
            crate::thread::create::push(a.obj().stackobj, &[t::ret_9().0, n, 0, 0, 0, 0, 0, 0, 0, 0]);
        }
        thread_paused(w.hec, a);
        raise_async(w.hec, a, None);
        assert_eq!(thaw(x), (0..N).rev().collect::<Vec<_>>());
        // Each segment fits on a stack that has just grown.
        let mut at = x.field(INDIRECTEE);
        let mut segments = 0;
        while at.tag() == 0 {
            assert!(at.word(AP_STACK_SIZE) < 512);
            at = at.field(AP_STACK_FUN);
            segments += 1;
        }
        assert!(segments >= N * 10 / 512);
        assert_eq!(a.obj().tot_stack_size, a.obj().stackobj.obj().size);
    }
}

#[test]
fn a_thread_that_gives_up_masked_work_is_unmasked_again() {
    let mut w = World::new(2);
    let ret = t::ret_p().0;
    let unmask = info!(stg_unmaskAsyncExceptionszh_ret_info).0;
    let unit = static_closure!(ghczmprim_GHCziTuple_Z0T_closure).with_tag(1);
    let (x, y) = (w.thunk(), w.thunk());
    let [a, b] = [(); 2].map(|_| w.thread_with(&[ret, 8, unmask, ret, 16, upd(), x.0, ret, 24]));
    unsafe {
        // The second one finds the thunk claimed.
        assert!(!thread_paused(w.hec, a));
        assert!(thread_paused(w.hec, b));
        let enter = info!(stg_enter_info).0;
        let passes = info!(stg_ret_p_info).0;
        assert_eq!(stack(b), [passes, unit.0, unmask, enter, x.0, ret, 24, stop()]);
        let (switch, again) = (info!(hec_switch_frame_info).0, info!(hec_restart_switch_info).0);
        let c = w.thread_with(&[ret, 8, unmask, ret, 16, switch, y.0, ret, 24]);
        restart_transaction(w.hec, c);
        assert_eq!(stack(c), [passes, unit.0, unmask, again, y.0, ret, 24, stop()]);
    }
}

/// Makes the runtime assume a second HEC while this value lives.
struct SecondHec;

impl SecondHec {
    fn new() -> SecondHec {
        hec::n_capabilities.store(2, Ordering::Relaxed);
        SecondHec
    }
}

impl Drop for SecondHec {
    fn drop(&mut self) {
        hec::n_capabilities.store(1, Ordering::Relaxed);
    }
}

#[test]
fn waiters_on_an_overwritten_queue_are_woken_when_the_frame_is_lost() {
    let mut w = World::new(2);
    let ret = t::ret_p().0;
    let _second_hec = SecondHec::new();
    for killed in [false, true] {
        let (x, y, value) = (w.thunk(), w.thunk(), w.int(1000));
        let below = if killed { vec![] } else { vec![upd(), y.0] };
        let a = w.thread_with(&[&[ret, 8, upd(), x.0, ret, 16], &below[..], &[ret, 24]].concat());
        let b = w.thread_with(&[ret, 8]);
        unsafe {
            thread_paused(w.hec, a);
            assert!(park(w.hec, b, x));
            // Another evaluator, which read the header before the claim, stores its value over the queue.
            x.set_word(INDIRECTEE, value.0);
            x.set_info(info!(stg_IND_info));
            if killed {
                raise_async(w.hec, a, None);
            } else {
                let frame = Frame((a.obj().stackobj.obj().sp as *mut usize).add(6));
                truncate(w.hec, a, frame);
                assert_eq!((stack(a)[1], blackhole::owner_of(y)), (y.0, Some(a)));
            }
            assert_eq!((x.field(INDIRECTEE), w.runnable()), (value, vec![b]));
        }
    }
}
