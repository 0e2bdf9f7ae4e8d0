//! Collections over several processing elements, of which the others are played: what they mark, phase by phase.
use super::*;
use crate::memory::{age_of, exits, Age};
use crate::spread::collect::play;
use crate::spread::global_gc::Exchanged::{self, GivenUp, PhaseOver, Trace};
use crate::spread::remote_objects::is_remote;

/// A thread to which only others refer, by this remote object.
unsafe fn remote_thread(w: &mut World) -> Closure {
    let (thread, nil) = (w.thread(), t::nil().with_tag(1));
    let holder = w.cons(thread.closure(), nil);
    let graph = pack(w.hec, &[holder], PLENTY).unwrap();
    keep_blocks(graph.blocks());
    graph.objects().into_iter().find(|c| is_remote(c.info())).unwrap()
}

#[test]
fn weights_make_no_roots() {
    let mut w = World::new(2);
    let (list, nil) = (w.list(1 << 40, (1 << 40) + 10), t::nil().with_tag(1));
    let thunk = w.object(updatable(), &[0, list.0, nil.0]);
    let pair = w.cons(thunk, nil);
    unsafe {
        let graph = pack(w.hec, &[pair], PLENTY).unwrap();
        keep_blocks(graph.blocks());
        w.collect(Request::MAJOR);
        assert_eq!((graph.roots()[0].untag().info().kind(), exits::listed().len()), (CONSTR_2_0, 1));
        w.collect(Request::GLOBAL);
        assert!(graph.objects().iter().all(|c| age_of(c.0) == Age::FREE));
        assert_eq!(exits::listed(), []);
    }
}

#[test]
fn what_others_mark_is_kept_with_all_that_it_leads_to() {
    let mut w = World::new(2);
    let (list, nil) = (w.list(1 << 40, (1 << 40) + 10), t::nil().with_tag(1));
    let thunk = w.object(updatable(), &[0, list.0, nil.0]);
    let (garbage, before) = (w.cons(nil, nil), show(thunk));
    unsafe {
        let cell = fixed_address(w.hec, thunk).unwrap();
        let graph = pack(w.hec, &[garbage], PLENTY).unwrap();
        keep_blocks(graph.blocks());
        play([Trace(vec![cell.0])]);
        w.collect(Request::GLOBAL);
        assert_eq!(show(cell), before);
        assert_eq!(exits::listed(), [cell.slot(INDIRECTEE) as usize]);
        assert!(graph.objects().iter().all(|c| age_of(c.0) == Age::FREE));
    }
}

#[test]
fn a_thread_is_lost_when_nobody_has_marked_it_in_the_first_phase() {
    let marked = |c: Closure| Trace(vec![c.0]);
    let collect = |others: &dyn Fn(Closure) -> Vec<Exchanged>| {
        let mut w = World::new(2);
        // SAFETY: all is live.
        unsafe {
            let remote = remote_thread(&mut w);
            assert_eq!(w.collect(Request::MAJOR).resurrected.len(), 0);
            play(others(remote));
            (w.collect(Request::GLOBAL).resurrected.len(), age_of(remote.0) != Age::FREE)
        }
    };
    assert_eq!(collect(&|c| vec![marked(c)]), (0, true));
    // Another lost thread refers to it, and both are told.
    assert_eq!(collect(&|c| vec![PhaseOver, marked(c)]), (1, true));
    assert_eq!(collect(&|_| vec![]), (1, false));
}

#[test]
fn one_that_is_given_up_keeps_what_one_of_its_own_keeps() {
    let mut w = World::new(2);
    let (list, nil) = (w.list(1 << 40, (1 << 40) + 10), t::nil().with_tag(1));
    let thunk = w.object(updatable(), &[0, list.0, nil.0]);
    let pair = w.cons(thunk, nil);
    let before = show(pair);
    unsafe {
        let graph = pack(w.hec, &[pair], PLENTY).unwrap();
        keep_blocks(graph.blocks());
        for given_up in [vec![GivenUp, GivenUp, GivenUp, GivenUp], vec![PhaseOver, GivenUp, GivenUp, GivenUp]] {
            play(given_up);
            w.collect(Request::GLOBAL);
            assert_eq!(show(graph.roots()[0]), before);
            w.collect(Request::MAJOR);
            assert_eq!((show(graph.roots()[0]), exits::listed().len()), (before.clone(), 1));
        }
    }
}
