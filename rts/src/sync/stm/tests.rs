//! Tests of transactions, in threads without code: records, commits and wake-ups.
use super::*;
use crate::abi::closure::fields::*;
use crate::collector::Request;
use crate::memory::age_of;
use crate::sync::stm::trec::{INDEX, LOG, NESTED, NOTES, OUTERMOST};
use crate::testing::symbols as t;
use crate::testing::world::World;

/// Makes a thread in a transaction, and makes it the running one.
fn begin(w: &mut World) -> Tso {
    let code = t::nil().0;
    let t = w.thread_with(&[t::atomically().0, code]);
    w.run(t);
    unsafe { hec_stm_begin(w.hec) };
    t
}

fn read(w: &mut World, v: Closure) -> Closure {
    unsafe { hec_stm_read(w.hec, v) }
}

fn write(w: &mut World, v: Closure, value: Closure) {
    assert_eq!(unsafe { hec_stm_write(w.hec, v, value) }, 1);
}

fn commit(w: &mut World) -> bool {
    unsafe { hec_stm_commit(w.hec) == 1 }
}

fn value(v: Closure) -> Closure {
    unsafe { v.field(TVAR_VALUE) }
}

fn version(v: Closure) -> usize {
    unsafe { v.word(TVAR_UPDATES) }
}

#[test]
fn writes_are_seen_inside_at_once_and_outside_after_the_commit() {
    let mut w = World::new(2);
    let (one, two) = (w.int(1000), w.int(2000));
    let (v, u) = (w.tvar(one), w.tvar(one));
    let t = begin(&mut w);
    write(&mut w, v, two);
    assert_eq!((read(&mut w, v), read(&mut w, u), value(v)), (two, one, one));
    assert!(commit(&mut w));
    assert_eq!((value(v), version(v), version(u)), (two, 2, 0));
    assert!(unsafe { current(t) }.is_none());
}

#[test]
fn an_invalid_transaction_has_no_effect() {
    let mut w = World::new(2);
    let (one, two, three) = (w.int(1000), w.int(2000), w.int(3000));
    // What the slower transaction reads, what it writes after reading, what it writes without reading.
    for (reads, writes) in [(true, false), (true, true), (false, true)] {
        let (v, other) = (w.tvar(one), w.tvar(one));
        let slow = begin(&mut w);
        if reads {
            read(&mut w, v);
        }
        if writes {
            write(&mut w, v, three);
        }
        write(&mut w, other, three);
        begin(&mut w);
        write(&mut w, v, two);
        assert!(commit(&mut w));
        unsafe { assert!(!validate(slow)) };
        w.run(slow);
        assert!(!commit(&mut w));
        assert_eq!((value(v), value(other)), (two, one));
        assert_eq!((version(v), version(other)), (2, 0), "no lock is left");
        // A new transaction has begun, and succeeds.
        assert_eq!(read(&mut w, v), two);
        assert!(commit(&mut w));
    }
}

#[test]
fn a_value_that_changed_and_changed_back_is_noticed() {
    let mut w = World::new(2);
    let (one, two) = (w.int(1000), w.int(2000));
    let v = w.tvar(one);
    let slow = begin(&mut w);
    read(&mut w, v);
    for x in [two, one] {
        begin(&mut w);
        write(&mut w, v, x);
        assert!(commit(&mut w));
    }
    w.run(slow);
    assert!(!commit(&mut w));
}

#[test]
fn transactions_that_read_each_others_writes_do_not_both_commit() {
    let mut w = World::new(2);
    let (one, two) = (w.int(1000), w.int(2000));
    let (u, v) = (w.tvar(one), w.tvar(one));
    let a = begin(&mut w);
    read(&mut w, u);
    write(&mut w, v, two);
    begin(&mut w);
    read(&mut w, v);
    write(&mut w, u, two);
    assert!(commit(&mut w));
    w.run(a);
    assert!(!commit(&mut w));
}

#[test]
fn rolling_back_undoes_a_nested_transaction_and_no_more() {
    let mut w = World::new(2);
    let values: Vec<Closure> = (0..5).map(|i| w.int(1000 + i)).collect();
    let vs: Vec<Closure> = (0..20).map(|_| w.tvar(values[0])).collect();
    let t = begin(&mut w);
    let r = unsafe { current(t) }.unwrap();
    write(&mut w, vs[0], values[1]);
    // As Cmm begins one: the number of notes so far is the mark.
    let begin_nested = |r: Record| unsafe {
        let (notes, enclosing) = (r.0.word(NOTES), r.0.word(NESTED));
        r.0.set_word(NESTED, notes);
        (notes, enclosing)
    };
    let (outer, none) = begin_nested(r);
    assert_eq!(none, OUTERMOST);
    vs.iter().for_each(|&v| write(&mut w, v, values[2]));
    vs.iter().for_each(|&v| write(&mut w, v, values[3]));
    let (inner, enclosing) = begin_nested(r);
    assert_eq!(enclosing, outer);
    vs[5..].iter().for_each(|&v| write(&mut w, v, values[4]));
    unsafe { roll_back(w.hec, t, inner, enclosing) };
    assert!(vs.iter().all(|&v| read(&mut w, v) == values[3]));
    write(&mut w, vs[7], values[4]);
    unsafe { roll_back(w.hec, t, outer, OUTERMOST) };
    assert_eq!(read(&mut w, vs[0]), values[1]);
    assert!(vs[1..].iter().all(|&v| read(&mut w, v) == values[0]));
    assert!(commit(&mut w));
    // An entry that in the end was only read is not written.
    assert_eq!((value(vs[0]), version(vs[0])), (values[1], 2));
    assert!(vs[1..].iter().all(|&v| version(v) == 0));
}

#[test]
fn the_next_transaction_reuses_the_record_until_a_collection() {
    let mut w = World::new(2);
    let (one, two) = (w.int(1000), w.int(2000));
    let (v, u) = (w.tvar(one), w.tvar(one));
    begin(&mut w);
    write(&mut w, v, two);
    let first = unsafe { running(w.hec) }.0;
    assert!(commit(&mut w));
    begin(&mut w);
    assert_eq!(unsafe { running(w.hec) }.0, first);
    assert_eq!(unsafe { running(w.hec).len() }, 0);
    assert_eq!((read(&mut w, u), read(&mut w, v)), (one, two));
    assert!(commit(&mut w));
    w.collect(Request::MINOR);
    assert!(w.hec.spare_record.is_null());
}

#[test]
fn a_log_with_an_index_serves_other_transactions() {
    const N: usize = 40;
    let mut w = World::new(2);
    let (one, two) = (w.int(1000), w.int(2000));
    let vs: Vec<Closure> = (0..2 * N).map(|_| w.tvar(one)).collect();
    begin(&mut w);
    let first = unsafe { running(w.hec) }.0;
    // Fewer, more and other TVars each time; the index of the previous transaction must not matter.
    for (i, touched_tvars) in [0..N, 0..17, N..2 * N, 0..16, 5..N + 5].into_iter().enumerate() {
        let r = unsafe { running(w.hec) };
        assert_eq!(r.0, first);
        let before: Vec<usize> = vs.iter().map(|&v| version(v)).collect();
        for &v in &vs[touched_tvars.clone()] {
            read(&mut w, v);
        }
        vs[touched_tvars.clone()].iter().for_each(|&v| write(&mut w, v, two));
        assert_eq!(unsafe { r.len() }, touched_tvars.len(), "an entry for each in round {i}");
        assert!(commit(&mut w));
        for (k, &v) in vs.iter().enumerate() {
            assert_eq!(version(v), before[k] + 2 * touched_tvars.contains(&k) as usize);
        }
        begin(&mut w);
    }
}

#[test]
fn a_waiting_record_keeps_nothing_of_its_predecessors() {
    let mut w = World::new(2);
    let one = w.int(1000);
    let vs: Vec<Closure> = (0..6).map(|_| w.tvar(one)).collect();
    begin(&mut w);
    let first = unsafe { running(w.hec) }.0;
    vs.iter().for_each(|&v| write(&mut w, v, one));
    assert!(commit(&mut w));
    let (t, waits) = retry(&mut w, &vs[..1]);
    assert!(waits);
    unsafe {
        let r = current(t).unwrap();
        assert_eq!(r.0, first);
        let log = r.0.field(LOG);
        let rest = (2..log.word(MUT_ARR_PTRS)).map(|k| log.field(MUT_ARR_PAYLOAD + k));
        assert!(rest.into_iter().all(|c| c == Tso::end().closure()));
    }
    // With one HEC, its record is used again.
    w.run(t);
    unsafe { hec_stm_woken(w.hec) };
    assert_eq!(w.hec.spare_record, first);
}

#[test]
fn tvars_are_found_after_a_collection_moves_them() {
    const N: usize = 5000;
    let mut w = World::new(2);
    let mut l = t::nil().with_tag(1);
    for i in 0..N {
        let zero = w.int(1000 + i);
        let v = w.tvar(zero);
        l = w.cons(v, l);
    }
    w.roots.push(l);
    let t = begin(&mut w);
    w.roots.push(t.closure());
    for round in 0..3 {
        let mut l = w.roots[0];
        for i in (0..N).rev() {
            let v = unsafe { l.untag().field(1) };
            let expected = if round == 0 { 1000 + i } else { round * 10_000 + i };
            assert_eq!(unsafe { read(&mut w, v).untag().word(1) }, expected);
            let next = w.int((round + 1) * 10_000 + i);
            write(&mut w, v, next);
            l = unsafe { l.untag().field(2) };
        }
        assert_eq!(unsafe { running(w.hec).len() }, N);
        w.collect(Request::MINOR);
        // The large index is rebuilt in place: that allocates nothing, and so does not cause the next
        // collection.
        unsafe {
            let index = |w: &mut World| running(w.hec).0.field(INDEX);
            let before = index(&mut w);
            let first = w.roots[0].untag().field(1);
            read(&mut w, first);
            assert_eq!(index(&mut w), before);
        }
    }
    assert!(commit(&mut w));
    let mut l = w.roots[0];
    for i in (0..N).rev() {
        unsafe {
            let v = l.untag().field(1);
            assert_eq!((value(v).untag().word(1), version(v)), (30_000 + i, 2));
            l = l.untag().field(2);
        }
    }
}

/// Runs a transaction that reads these TVars and retries. Returns its thread, and whether it waits.
fn retry(w: &mut World, vs: &[Closure]) -> (Tso, bool) {
    let t = begin(w);
    vs.iter().for_each(|&v| {
        read(w, v);
    });
    let waits = unsafe { hec_stm_retry(w.hec) == 1 && crate::sync::park_thread::park(w.hec, t) };
    (t, waits)
}

#[test]
fn a_commit_wakes_waiters_in_order_and_once() {
    let mut w = World::new(2);
    let (one, two) = (w.int(1000), w.int(2000));
    let (u, v, x) = (w.tvar(one), w.tvar(one), w.tvar(one));
    let (a, _) = retry(&mut w, &[u, v]);
    let (b, _) = retry(&mut w, &[v]);
    let (c, waits) = retry(&mut w, &[x]);
    assert!(waits);
    assert_eq!(unsafe { a.obj().why_blocked } as usize, BlockedOnSTM);
    begin(&mut w);
    write(&mut w, u, two);
    write(&mut w, v, two);
    assert!(commit(&mut w));
    assert_eq!(w.runnable(), [a, b]);
    for t in [a, b] {
        w.run(t);
        unsafe { hec_stm_woken(w.hec) };
    }
    let nobody = static_closure!(stg_END_STM_WATCH_QUEUE_closure);
    unsafe {
        assert_eq!((u.field(TVAR_WAITERS), v.field(TVAR_WAITERS)), (nobody, nobody));
        assert_ne!(x.field(TVAR_WAITERS), nobody);
        crate::eval::raise_async::raise_async(w.hec, c, None);
        assert_eq!(x.field(TVAR_WAITERS), nobody);
    }
}

#[test]
fn a_retry_after_a_change_restarts() {
    let mut w = World::new(2);
    let (one, two) = (w.int(1000), w.int(2000));
    let v = w.tvar(one);
    let slow = begin(&mut w);
    read(&mut w, v);
    begin(&mut w);
    write(&mut w, v, two);
    assert!(commit(&mut w));
    w.run(slow);
    unsafe {
        assert_eq!(hec_stm_retry(w.hec), 1);
        assert!(!crate::sync::park_thread::park(w.hec, slow));
        let waiting = info!(stg_atomically_waiting_frame_info).0;
        assert_eq!(*(slow.obj().stackobj.obj().sp as *const usize), waiting);
        assert_eq!(v.field(TVAR_WAITERS), static_closure!(stg_END_STM_WATCH_QUEUE_closure));
    }
    assert_eq!(version(v), 2);
}

#[test]
fn a_retry_goes_to_the_alternative_with_writes_undone() {
    let mut w = World::new(2);
    let (one, two) = (w.int(1000), w.int(2000));
    let v = w.tvar(one);
    let t = begin(&mut w);
    let r = unsafe { current(t) }.unwrap();
    let alternative = t::nil().0;
    unsafe {
        r.0.set_word(NESTED, 0);
        let frame = [t::catch_retry().0, 0, OUTERMOST, alternative];
        crate::thread::create::push(t.obj().stackobj, &frame);
        write(&mut w, v, two);
        assert_eq!(hec_stm_retry(w.hec), 0);
        let sp = t.obj().stackobj.obj().sp as *const usize;
        assert_eq!((*sp, *sp.add(1)), (info!(stg_enter_info).0, alternative));
    }
    assert_eq!(read(&mut w, v), one);
}

/// Makes another transaction invalidate the running thread's, which then tries to commit.
fn lose(w: &mut World, me: Tso, v: Closure) {
    let x = read(w, v);
    begin(w);
    write(w, v, x);
    assert!(commit(w));
    w.run(me);
    assert!(!commit(w));
}

#[test]
fn a_frequent_loser_gets_commit_priority() {
    let mut w = World::new(2);
    let (one, two) = (w.int(1000), w.int(2000));
    let (u, v) = (w.tvar(one), w.tvar(one));
    let long = begin(&mut w);
    let mut losses = 0;
    while !unsafe { has_commit_priority(long) } {
        lose(&mut w, long, v);
        losses += 1;
    }
    assert_eq!(losses, 64);
    // Other transactions that have written something wait; one that has only read does not.
    let other = begin(&mut w);
    write(&mut w, u, two);
    assert_eq!(unsafe { hec_stm_commit(w.hec) }, YIELD);
    let reader = begin(&mut w);
    read(&mut w, u);
    assert!(commit(&mut w) && reader != other);
    w.run(long);
    read(&mut w, v);
    write(&mut w, u, two);
    assert!(commit(&mut w));
    assert!(!COMMIT_PRIORITY.is_held() && unsafe { long.obj().losses } == 0);
    w.run(other);
    assert!(!commit(&mut w), "it has been overtaken meanwhile");
    write(&mut w, u, one);
    assert!(commit(&mut w));
}

#[test]
fn a_long_transaction_gets_priority_after_three_losses() {
    let mut w = World::new(2);
    let one = w.int(1000);
    let vs: Vec<Closure> = (0..1000).map(|_| w.tvar(one)).collect();
    let long = begin(&mut w);
    for taken in [false, false, true] {
        vs.iter().for_each(|&v| _ = read(&mut w, v));
        lose(&mut w, long, vs[0]);
        assert_eq!(unsafe { has_commit_priority(long) }, taken);
    }
    // It releases the priority also if its transaction ends in another way.
    unsafe { abort(w.hec, long) };
    assert!(!COMMIT_PRIORITY.is_held());
}

/// Makes `n` old, clean TVars with such a value.
fn old_tvars(w: &mut World, n: usize, value: Closure) -> std::ops::Range<usize> {
    let first = w.roots.len();
    for _ in 0..n {
        let v = w.tvar(value);
        w.roots.push(v);
    }
    // The TVars are promoted before their values.
    (0..3).for_each(|_| drop(w.collect(Request::MINOR)));
    first..first + n
}

#[test]
fn pointer_free_values_of_many_old_tvars_are_pretenured() {
    let mut w = World::new(2);
    let n = 100;
    let value_at_first = w.int(1000);
    let vs = old_tvars(&mut w, n, value_at_first);
    let (clean, dirty) = (info!(stg_TVAR_CLEAN_info), info!(stg_TVAR_DIRTY_info));
    let state = |w: &World, i: usize| unsafe { (w.roots[i].info(), age_of(value(w.roots[i]).0).is_old()) };
    for round in 1..10 {
        assert!(vs.clone().all(|i| state(&w, i) == (clean, true)));
        let list = w.list(3000, 3001);
        begin(&mut w);
        for i in vs.clone() {
            let new = if i == vs.end - 1 { list } else { w.int(1000 * round + i) };
            let v = w.roots[i];
            write(&mut w, v, new);
        }
        assert!(commit(&mut w));
        let remembered = w.hec.remembered.by_generation[1].clone();
        let few = tvar::MIN_REMEMBERED_TO_PRETENURE;
        // A TVar whose value has a pointer is remembered, like the first few.
        for i in vs.clone() {
            let is_remembered = i < vs.start + few || i == vs.end - 1;
            assert_eq!(state(&w, i), if is_remembered { (dirty, false) } else { (clean, true) });
            assert_eq!(remembered.contains(&w.roots[i]), is_remembered);
        }
        if round % 3 == 0 {
            w.collect(Request::MAJOR);
        }
        (0..3).for_each(|_| drop(w.collect(Request::MINOR)));
        for i in vs.start..vs.end - 1 {
            let found = value(w.roots[i]);
            assert_eq!(unsafe { (found.tag(), found.untag().word(1)) }, (1, 1000 * round + i));
        }
    }
}
