//! Full collections of fixed objects that others refer to, or do not.
use super::*;
use crate::memory::{age_of, exits, Age};

/// Are all objects of a packet in blocks that are not free?
fn are_there(graph: &Graph) -> bool {
    unsafe { graph.objects() }.iter().all(|c| age_of(c.0) != Age::FREE)
}

#[test]
fn copies_without_references_are_freed_and_made_anew() {
    let mut w = World::new(2);
    let list = w.list(1 << 40, (1 << 40) + 5000);
    w.roots.push(list);
    let before = show(list);
    unsafe {
        let graph = pack(w.hec, &[list], PLENTY).unwrap();
        w.collect(Request::MAJOR);
        assert!(!graph.objects().iter().any(|c| age_of(c.0).is_fixed()));
        let root = w.roots[0];
        let again = pack(w.hec, &[root], PLENTY).unwrap();
        assert!(again.objects().iter().all(|c| is_fixed(*c)));
        w.roots.push(again.roots()[0]);
        // They are the program's own now, and what they stand for becomes them.
        w.collect(Request::MINOR);
        w.collect(Request::MAJOR);
        assert!(are_there(&again));
        assert_eq!((show(w.roots[0]), show(w.roots[1])), (before.clone(), before));
    }
}

#[test]
fn referenced_blocks_keep_what_they_lead_to() {
    let mut w = World::new(2);
    let (list, nil) = (w.list(1 << 40, (1 << 40) + 10), t::nil().with_tag(1));
    let thunk = w.object(updatable(), &[0, list.0, nil.0]);
    let pair = w.cons(thunk, nil);
    let before = show(pair);
    unsafe {
        let graph = pack(w.hec, &[pair], PLENTY).unwrap();
        keep_blocks(graph.blocks());
        for request in [Request::MAJOR, Request::MINOR, Request::MAJOR] {
            w.collect(request);
            assert_eq!(show(graph.roots()[0]), before);
        }
        assert_eq!(exits::listed().len(), 1);
    }
}

#[test]
fn cells_that_are_not_reached_are_no_roots() {
    let mut w = World::new(2);
    let (nil, kept) = (t::nil().with_tag(1), w.list(1 << 40, (1 << 40) + 2));
    let [one, two] = [0, 1].map(|_| w.object(updatable(), &[0, kept.0, nil.0]));
    let before = show(two);
    unsafe {
        let cells = [one, two].map(|thunk| fixed_address(w.hec, thunk).unwrap());
        w.roots.push(cells[1]);
        w.collect(Request::MAJOR);
        assert_eq!(exits::listed(), [cells[1].slot(INDIRECTEE) as usize]);
        // Its neighbour leads nowhere.
        assert_eq!((cells[0].info().kind(), show(cells[1])), (ARR_WORDS, before));
        w.roots.pop();
        w.collect(Request::MAJOR);
        assert_eq!((exits::listed(), age_of(cells[1].0)), (vec![], Age::FREE));
    }
}

#[test]
fn arrays_larger_than_a_block_are_freed() {
    let mut w = World::new(2);
    let elements = vec![t::nil().with_tag(1); 5000];
    let large = array(&mut w, info!(stg_MUT_ARR_PTRS_FROZEN_CLEAN_info), &elements);
    w.roots.push(large);
    unsafe {
        let holder = w.cons(large, large);
        let graph = pack(w.hec, &[holder], PLENTY).unwrap();
        w.roots.push(graph.roots()[0]);
        w.collect(Request::MAJOR);
        assert!(are_there(&graph));
        w.roots.clear();
        w.collect(Request::MAJOR);
        assert!(graph.objects().iter().all(|c| age_of(c.0) == Age::FREE));
    }
}
