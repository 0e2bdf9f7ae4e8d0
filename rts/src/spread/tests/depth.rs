//! Long chains of objects: packing and installing them costs no stack, and what does not travel is not walked.
use super::*;
use crate::memory::{alloc_run, Age, BLOCK_BYTES};
use crate::spread::pack::BUDGET;

const LONG: usize = 1_000_000;
/// Without optimization, objects of more fields take longer.
const SHORTER: usize = LONG / 5;

/// Words of the objects that are packed with `c` and this budget, and installed again.
fn words(w: &mut World, c: Closure, budget: usize) -> usize {
    // SAFETY: the test holds the HEC.
    unsafe {
        let graph = pack(w.hec, &[c], budget).unwrap();
        graph.evict();
        install_as(w.hec, &graph, false);
        graph.parts().unwrap().words.len()
    }
}

/// The last of a chain of `n` objects, each of which `link` makes of the one before.
fn chain(w: &mut World, n: usize, link: impl Fn(&mut World, Closure) -> Closure) -> Closure {
    (0..n).fold(t::nil().with_tag(1), |last, _| link(w, last))
}

#[test]
fn a_chain_of_functions_travels_whole() {
    let mut w = World::new(2);
    let last = chain(&mut w, LONG, |w, f| w.object(t::fun(), &[f.0]).with_tag(1));
    assert_eq!(words(&mut w, last, BUDGET), 2 * LONG);
}

#[test]
fn a_chain_of_single_entry_thunks_travels_whole() {
    let mut w = World::new(2);
    let last = chain(&mut w, SHORTER, |w, f| w.object(single_entry(), &[0, f.0, f.0]));
    let user = w.object(t::fun(), &[last.0]);
    assert_eq!(words(&mut w, user, BUDGET), 2 + 4 * SHORTER);
}

#[test]
fn a_chain_of_applications_and_one_of_data_are_cut() {
    let mut w = World::new(2);
    let nil = t::nil().with_tag(1);
    let fun = w.object(t::fun(), &[nil.0]).with_tag(1);
    for link in [
        &(|w: &mut World, p: Closure| w.object(info!(stg_PAP_info), &[1 << 32, fun.0, p.0]))
            as &dyn Fn(&mut World, Closure) -> Closure,
        &|w: &mut World, p: Closure| w.cons(p, t::nil().with_tag(1)),
        &|w: &mut World, p: Closure| w.cons(t::nil().with_tag(1), p),
    ] {
        let last = chain(&mut w, SHORTER, link);
        assert!(words(&mut w, last, BUDGET) <= BUDGET / WORD + 4);
        let rest = chain(&mut w, SHORTER, link);
        assert!(words(&mut w, rest, PLENTY) >= 3 * SHORTER);
    }
}

#[test]
fn a_chain_of_thunks_stays_behind_one_cell() {
    let mut w = World::new(2);
    let nil = t::nil().with_tag(1);
    let last = chain(&mut w, LONG, |w, thunk| w.object(updatable(), &[0, thunk.0, thunk.0]));
    let holder = w.cons(last, nil);
    assert_eq!(words(&mut w, holder, PLENTY), 3);
    // Lent, it brings a cell for the next one.
    unsafe {
        let graph = pack_thunk(w.hec, last, PLENTY).unwrap();
        assert_eq!((graph.parts().unwrap().words.len(), graph.parts().unwrap().thunk.len()), (0, 4));
    }
    // Evaluated one after the other, each is an indirection to the next.
    let mut thunk = last;
    unsafe {
        while thunk != nil {
            let next = thunk.field(THUNK_PAYLOAD);
            thunk.set_word(INDIRECTEE, next.0);
            thunk.set_info(info!(stg_IND_info));
            thunk = next;
        }
    }
    let other = w.cons(last, nil);
    assert_eq!(words(&mut w, other, PLENTY), 3);
}

#[test]
fn what_exceeds_the_budget_is_not_looked_at() {
    let mut w = World::new(2);
    // Whoever looks at the fields of this cell, reads an address that is none.
    let end = w.object(t::cons(), &[0xdead_0000_0000_0000; 2]).with_tag(2);
    let list = (0..1000).fold(end, |list, n| {
        let head = w.int((1 << 40) + n);
        w.cons(head, list)
    });
    let fun = w.object(t::fun(), &[list.0]);
    let pair = w.cons(list, list);
    let elements = array(&mut w, info!(stg_MUT_ARR_PTRS_FROZEN_CLEAN_info), &[pair, fun.with_tag(1), end]);
    assert!(words(&mut w, elements, BUDGET) <= BUDGET / WORD + 4);
}

#[test]
fn companions_of_many_are_examined_once() {
    let mut w = World::new(2);
    let last = chain(&mut w, LONG, |w, f| w.object(t::fun(), &[f.0]).with_tag(1));
    let list = (0..100_000).fold(t::nil().with_tag(1), |list, _| {
        let user = w.object(t::fun(), &[last.0]).with_tag(1);
        w.cons(user, list)
    });
    assert_eq!(words(&mut w, list, PLENTY), 2 * LONG + 5 * 100_000);
}

#[test]
fn more_than_a_message_holds_stays() {
    let mut w = World::new(2);
    unsafe {
        let run = alloc_run((1 << 30) / BLOCK_BYTES + 1, Age(2 | Age::LARGE)).unwrap();
        let bytes = Closure((*run).start);
        bytes.set_info(info!(stg_ARR_WORDS_info));
        bytes.set_word(ARR_BYTES, 1 << 30);
        let holder = w.object(info!(base_GHCziForeignPtr_PlainPtr_con_info), &[bytes.0]);
        assert_eq!(pack(w.hec, &[holder], BUDGET), Err(Stays("more than 1 GB at once")));
    }
}
