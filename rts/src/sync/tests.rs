//! Tests of MVars, ports and `throwTo`, on threads whose stacks are those of blocked threads.
use super::mvar::{hec_mvar_put, hec_mvar_taken, hec_port_write, try_put_mvar};
use super::throwto::{deliver_instead, hec_throw_to, hec_unmasked, thread_finished};
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Tso};
use crate::eval::raise_async::raise_async;
use crate::hec::wait::Wait;
use crate::info;
use crate::sync::park_thread::park;
use crate::sync::wait_queues::leave_queues;
use crate::testing::symbols as t;
use crate::testing::world::World;

fn empty() -> Closure {
    Tso::end().closure()
}

/// Parks a thread on an MVar or a port, as the scheduler does. Returns false if the thread need not wait.
fn parked(w: &mut World, t: Tso, m: Closure, why: usize) -> bool {
    w.hec.wait = Wait { why, on: m.0 };
    unsafe { park(w.hec, t) }
}

/// Makes a thread that waits to take from (or read) the MVar.
fn taker(w: &mut World, m: Closure, why: usize) -> Tso {
    let t = w.thread_with(&[t::ret_p().0, m.0]);
    assert!(parked(w, t, m, why));
    t
}

/// Makes a thread that waits to put a value.
fn putter(w: &mut World, m: Closure, value: Closure) -> Tso {
    let t = w.thread_with(&[info!(stg_block_putmvar_info).0, m.0, value.0]);
    assert!(parked(w, t, m, BlockedOnMVar));
    t
}

/// The value that a taker received.
fn received(t: Tso) -> Closure {
    unsafe {
        let frame = t.obj().stackobj.obj().sp as *const usize;
        assert_eq!(*frame, info!(stg_ret_p_info).0);
        Closure(*frame.add(1))
    }
}

#[test]
fn takers_are_served_in_order_one_by_one() {
    let mut w = World::new(2);
    let m = w.mvar();
    let takers: Vec<Tso> = (0..4).map(|_| taker(&mut w, m, BlockedOnMVar)).collect();
    for (i, &t) in takers.iter().enumerate() {
        let value = w.int(1000 + i);
        unsafe { hec_mvar_put(w.hec, m, value, m.info()) };
        assert_eq!(w.runnable(), [t]);
        assert_eq!(received(t), value);
        assert_eq!(unsafe { m.field(MVAR_VALUE) }, empty());
    }
    let value = w.int(2000);
    unsafe {
        hec_mvar_put(w.hec, m, value, m.info());
        assert_eq!(m.field(MVAR_VALUE), value);
        assert!(!try_put_mvar(w.hec, m, value));
    }
    assert!(w.runnable().is_empty());
}

#[test]
fn putters_are_served_in_order() {
    let mut w = World::new(2);
    let m = w.mvar();
    let values: Vec<Closure> = (0..3).map(|i| w.int(1000 + i)).collect();
    unsafe { hec_mvar_put(w.hec, m, values[0], m.info()) };
    let [a, b] = [putter(&mut w, m, values[1]), putter(&mut w, m, values[2])];
    for (t, value) in [(a, values[1]), (b, values[2])] {
        unsafe {
            hec_mvar_taken(w.hec, m, m.info());
            assert_eq!(m.field(MVAR_VALUE), value);
            assert_eq!(w.runnable(), [t]);
            assert_eq!(*(t.obj().stackobj.obj().sp as *const usize), info!(stg_stop_thread_info).0);
        }
    }
    unsafe {
        hec_mvar_taken(w.hec, m, m.info());
        assert_eq!(m.field(MVAR_VALUE), empty());
    }
}

#[test]
fn readers_all_see_the_value_that_the_first_taker_takes() {
    let mut w = World::new(2);
    let m = w.mvar();
    let a = taker(&mut w, m, BlockedOnMVar);
    let b = taker(&mut w, m, BlockedOnMVar);
    let r = taker(&mut w, m, BlockedOnMVarRead);
    let s = taker(&mut w, m, BlockedOnMVarRead);
    let value = w.int(1000);
    unsafe { hec_mvar_put(w.hec, m, value, m.info()) };
    let woken = w.runnable();
    assert!(woken.len() == 3 && [a, r, s].iter().all(|t| woken.contains(t)));
    assert!(woken.iter().all(|&t| received(t) == value));
    assert_eq!(unsafe { b.obj().why_blocked } as usize, BlockedOnMVar);
    assert_eq!(unsafe { m.field(MVAR_VALUE) }, empty());
}

#[test]
fn a_waiter_that_leaves_is_not_served() {
    let mut w = World::new(2);
    for gone in 0..3 {
        let m = w.mvar();
        let mut ts: Vec<Tso> = (0..3).map(|_| taker(&mut w, m, BlockedOnMVar)).collect();
        unsafe { raise_async(w.hec, ts[gone], None) };
        assert_eq!(w.runnable(), [ts.remove(gone)]);
        ts.push(taker(&mut w, m, BlockedOnMVar));
        for t in ts {
            let value = w.int(1000);
            unsafe { hec_mvar_put(w.hec, m, value, m.info()) };
            assert_eq!(w.runnable(), [t]);
        }
        assert_eq!(unsafe { m.field(MVAR_HEAD) }, empty());
        assert_eq!(unsafe { m.field(MVAR_TAIL) }, empty());
    }
}

#[test]
fn waiters_that_time_out_leave_no_entries() {
    let mut w = World::new(2);
    let m = w.mvar();
    let first = taker(&mut w, m, BlockedOnMVar);
    for _ in 0..100 {
        let t = taker(&mut w, m, BlockedOnMVar);
        unsafe { leave_queues(w.hec, t) };
    }
    unsafe {
        let mut entries = 0;
        let mut at = m.field(MVAR_HEAD);
        while at != empty() {
            entries += 1;
            at = at.field(MVAR_QUEUE_LINK);
        }
        assert!(entries <= 2, "{entries} entries for one thread");
    }
    assert_eq!(unsafe { first.obj().why_blocked } as usize, BlockedOnMVar);
}

#[test]
fn an_old_mvar_that_is_written_is_remembered() {
    let mut w = World::new(2);
    let m = w.mvar();
    let m = w.old(m);
    assert_eq!(unsafe { m.info() }, info!(stg_MVAR_CLEAN_info));
    let value = w.int(1000);
    unsafe { hec_mvar_put(w.hec, m, value, m.info()) };
    assert_eq!(unsafe { m.info() }, info!(stg_MVAR_DIRTY_info));
    assert_eq!(w.hec.remembered.by_generation[1], [m]);
}

#[test]
fn a_port_has_one_reader() {
    let mut w = World::new(2);
    let port = w.mvar();
    let reader = w.thread_with(&[t::ret_p().0, port.0]);
    let late = w.thread_with(&[t::ret_p().0, port.0]);
    let value = w.int(1000);
    assert!(parked(&mut w, reader, port, BlockedOnIOCompletion));
    assert!(!parked(&mut w, late, port, BlockedOnIOCompletion));
    unsafe {
        hec_port_write(w.hec, port, value);
        assert_eq!(w.runnable(), [reader]);
        assert_eq!(received(reader), value);
        assert_eq!(port.field(MVAR_HEAD), empty());
    }
}

/// Makes a thread that throws `e` to the target. Returns it, and whether it must wait.
fn thrower(w: &mut World, target: Tso, e: Closure) -> (Tso, bool) {
    let t = w.thread_with(&[t::ret_pp().0, target.0, e.0]);
    w.run(t);
    let waits = unsafe { hec_throw_to(w.hec, target, e) == 1 };
    assert!(!waits || unsafe { park(w.hec, t) });
    (t, waits)
}

/// Makes a thread with a catch frame and these flags.
fn catcher(w: &mut World, flags: usize) -> Tso {
    let handler = w.thunk();
    let t = w.thread_with(&[t::ret_p().0, 8, t::catch().0, TSO_BLOCKEX, handler.0]);
    unsafe { t.obj().flags = flags as u32 };
    t
}

/// The exception that a thread's handler is called with.
fn handled(t: Tso) -> Closure {
    unsafe {
        let sp = t.obj().stackobj.obj().sp as *const usize;
        assert_eq!(*sp.add(2), info!(stg_ap_pv_info).0);
        Closure(*sp.add(3))
    }
}

#[test]
fn exceptions_for_a_masked_thread_wait_in_order() {
    let mut w = World::new(2);
    let target = catcher(&mut w, TSO_BLOCKEX);
    let es: Vec<Closure> = (0..4).map(|i| w.int(1000 + i)).collect();
    let ts: Vec<Tso> = es
        .iter()
        .map(|&e| {
            let (t, waits) = thrower(&mut w, target, e);
            assert!(waits);
            t
        })
        .collect();
    unsafe {
        assert!(!deliver_instead(w.hec, target, BlockedOnMVar));
        // One in the middle, the first and the last are withdrawn.
        for gone in [1, 0, 3] {
            raise_async(w.hec, ts[gone], None);
            assert_eq!(w.runnable(), [ts[gone]]);
        }
        target.obj().flags = 0;
        w.run(target);
        assert_eq!(hec_unmasked(w.hec), 0);
        assert_eq!(handled(target), es[2]);
        assert_eq!(w.runnable(), [ts[2]]);
        assert_eq!(*(ts[2].obj().stackobj.obj().sp as *const usize), info!(stg_stop_thread_info).0);
        assert_eq!(target.obj().blocked_exceptions, empty());
    }
}

#[test]
fn exceptions_for_a_masked_thread_are_listed_in_order() {
    let mut w = World::new(2);
    let target = catcher(&mut w, TSO_BLOCKEX);
    let es: Vec<Closure> = (0..3).map(|i| w.int(1000 + i)).collect();
    let ts: Vec<Tso> = es.iter().map(|&e| thrower(&mut w, target, e).0).collect();
    unsafe {
        raise_async(w.hec, ts[0], None);
        assert_eq!(w.runnable(), [ts[0]]);
        target.obj().flags = 0;
        w.run(target);
        assert_eq!(hec_unmasked(w.hec), 0);
        assert_eq!(handled(target), es[1]);
        assert_eq!(w.runnable(), [ts[1]]);
    }
}

#[test]
fn when_an_exception_is_raised_at_once() {
    let mut w = World::new(2);
    let e = w.int(1000);
    let interruptible = TSO_BLOCKEX | TSO_INTERRUPTIBLE;
    for (flags, blocked, at_once) in [
        (0, false, true),
        (interruptible, false, false),
        (TSO_BLOCKEX, false, false),
        (0, true, true),
        (interruptible, true, true),
        (TSO_BLOCKEX, true, false),
    ] {
        let target = catcher(&mut w, flags);
        let m = w.mvar();
        if blocked {
            unsafe { crate::thread::create::push(target.obj().stackobj, &[t::ret_p().0, m.0]) };
            assert!(parked(&mut w, target, m, BlockedOnMVar));
        }
        let (_, waits) = thrower(&mut w, target, e);
        assert_eq!(!waits, at_once, "flags {flags}, blocked {blocked}");
        assert_eq!(w.runnable().contains(&target), blocked && at_once);
        if at_once {
            assert_eq!(handled(target), e);
        }
    }
}

#[test]
fn a_thread_that_blocks_interruptibly_gets_what_waits() {
    let mut w = World::new(2);
    let target = catcher(&mut w, TSO_BLOCKEX | TSO_INTERRUPTIBLE);
    let e = w.int(1000);
    let (source, waits) = thrower(&mut w, target, e);
    assert!(waits);
    let m = w.mvar();
    unsafe { crate::thread::create::push(target.obj().stackobj, &[t::ret_p().0, m.0]) };
    assert!(!parked(&mut w, target, m, BlockedOnMVar));
    assert_eq!(w.runnable(), [source]);
    assert_eq!(handled(target), e);
    assert_eq!(unsafe { m.field(MVAR_HEAD) }, empty());
}

#[test]
fn throwers_to_a_finished_thread_resume() {
    let mut w = World::new(2);
    let target = catcher(&mut w, TSO_BLOCKEX);
    let e = w.int(1000);
    let ts = [thrower(&mut w, target, e).0, thrower(&mut w, target, e).0];
    unsafe {
        target.obj().what_next = ThreadComplete as u16;
        thread_finished(w.hec, target);
        assert_eq!(w.runnable(), ts);
        assert!(!thrower(&mut w, target, e).1);
    }
}
