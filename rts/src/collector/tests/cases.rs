// Collections of small handmade heaps. The heap checker verifies each before and after.
// `mod.rs` includes this file once for each number of GC workers.
use crate::collector::policy::max_heap::Fit;
use crate::collector::policy::{heap_limits, max_heap};
use crate::collector::*;
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Stack, Tso};
use crate::testing::symbols as t;
use crate::memory::{Age, Used, age_of, block_alloc, in_heap};
use crate::testing::world::{NURSERY, World};
use crate::{info, static_closure};

fn world(generations: usize) -> World {
    World::with_gc_threads(generations, THREADS)
}

/// # Safety
/// `l` is a list of boxed integers.
unsafe fn sum(mut l: Closure) -> usize {
    let mut n = 0;
    while l.tag() == 2 {
        n += l.untag().field(1).untag().word(1);
        l = l.untag().field(2);
    }
    n
}

#[test]
fn a_list_survives_and_ages() {
    let mut w = world(2);
    let l = w.list(0, 3000);
    w.roots.push(l);
    for (i, step) in [1, 2, 2].into_iter().enumerate() {
        w.list(0, 3000);
        let o = w.collect(Request::MINOR);
        assert_eq!(unsafe { sum(w.roots[0]) }, 3000 * 2999 / 2);
        assert_eq!(age_of(w.roots[0].0).step(), step);
        assert_eq!(o.copied_words > 0, i < 2);
    }
    let o = w.collect(Request::MAJOR);
    // Each cell has 3 words; integers up to 255 are shared.
    assert_eq!(o.live.all(), (3000 * 3 + (3000 - 256) * 2) * WORD);
    w.roots.clear();
    assert_eq!(w.collect(Request::MAJOR).live.all(), 0);
    assert_eq!(block_alloc::blocks_in_use(), NURSERY / BLOCK_BYTES);
}

#[test]
fn three_generations_promote_one_by_one() {
    let mut w = world(3);
    let l = w.list(1000, 2000);
    w.roots.push(l);
    for (request, step) in
        [(Request::MINOR, 1), (Request::MINOR, 2), (Request { generation: 1, ..Request::MINOR }, 3)]
    {
        w.collect(request);
        assert_eq!(age_of(w.roots[0].0).step(), step);
    }
}

#[test]
fn uncollected_generations_count_as_live() {
    for generations in [1, 2, 3] {
        let mut w = world(generations);
        let (l, large) = (w.list(1000, 3000), w.array(info!(stg_MUT_ARR_PTRS_DIRTY_info), 5000, t::nil()));
        w.roots.extend([l, large]);
        let full = w.collect(Request::MAJOR).live;
        assert_eq!(full.plain, 2000 * 5 * WORD);
        assert!(full.large > 5000 * WORD);
        for more in 1..5 {
            let l = w.list(1000, 1100);
            w.roots.push(l);
            let now = w.collect(Request::MINOR).live;
            assert_eq!(now, Used { plain: (2000 + more * 100) * 5 * WORD, ..full });
        }
        assert_eq!(w.collect(Request::MAJOR).live, Used { plain: 2400 * 5 * WORD, ..full });
    }
}

#[test]
fn survivors_of_a_growing_heap_are_promoted_at_once() {
    let mut w = world(2);
    let mut steps = Vec::new();
    for _ in 0..12 {
        let l = w.list(1000, 4000);
        w.roots.push(l);
        w.collect(Request::MINOR);
        steps.push(age_of(w.roots[w.roots.len() - 1].0).step());
    }
    assert_eq!(steps[..2], [1, 1]);
    assert!(steps.contains(&2), "{steps:?}");
    for &l in &w.roots {
        assert_eq!(unsafe { sum(l) }, (1000..4000).sum());
    }
}

#[test]
fn promotions_count_against_the_limit_of_their_generation() {
    let mut w = world(3);
    let l = w.list(1000, 4000);
    w.roots.push(l);
    w.collect(Request::MINOR);
    unsafe {
        let gens = &mut heap().gens;
        assert!(gens[0].blocks() > 0);
        gens[1..].iter_mut().for_each(|gen| gen.limit = gen.blocks());
        assert_eq!(heap_limits::next_generation_to_collect(), 1);
        gens[1].limit = usize::MAX;
        assert_eq!(heap_limits::next_generation_to_collect(), 0);
    }
}

#[test]
fn every_reference_keeps_its_tag() {
    let mut w = world(2);
    let (number, list) = (w.int(1000), w.list(1000, 1002));
    for _ in 0..2 {
        let cell = w.cons(number, list);
        let variable = w.object(info!(stg_MUT_VAR_DIRTY_info), &[list.0]);
        w.roots.extend([number, list, cell, variable]);
    }
    for request in [Request::MINOR, Request::MINOR, Request::MAJOR] {
        w.collect(request);
        for i in [0, 4] {
            let [number, list, cell, variable] = [0, 1, 2, 3].map(|j| w.roots[i + j]);
            assert_eq!([number, list, cell, variable].map(|c| c.tag()), [1, 2, 2, 0]);
            unsafe {
                assert_eq!(cell.untag().field(1), number);
                assert_eq!(cell.untag().field(2), list);
                assert_eq!(variable.field(MUT_VAR), list);
            }
        }
    }
}

#[test]
fn small_boxes_are_shared() {
    let mut w = world(2);
    let (a, b) = (w.int(255), w.int(256));
    w.roots.extend([a, b]);
    w.collect(Request::MINOR);
    assert_eq!(w.roots[0].0, static_closure!(stg_INTLIKE_closure).0 + 271 * 16 + 1);
    assert!(in_heap(w.roots[1].0));
    assert_eq!(unsafe { w.roots[0].untag().word(1) }, 255);
}

#[test]
fn an_updated_old_thunk_promotes_its_value() {
    let mut w = world(2);
    let nil = t::nil().with_tag(1);
    let thunk = w.object(t::thunk(), &[0, nil.0, nil.0]);
    w.roots.push(thunk);
    w.collect(Request::MINOR);
    w.collect(Request::MINOR);
    let old = w.roots[0];
    let value = w.list(1000, 1010);
    unsafe {
        old.set_word(INDIRECTEE, value.0);
        old.set_info(info!(stg_IND_info));
    }
    w.hec.remember(old);
    w.collect(Request::MINOR);
    unsafe {
        assert_eq!(age_of(old.word(INDIRECTEE)).step(), 2);
        assert_eq!(sum(old.field(INDIRECTEE)), 10045);
    }
    assert!(w.hec.remembered.by_generation[1].is_empty());
}

/// Writes to an old variable as a program does.
unsafe fn write(w: &mut World, variable: Closure, value: Closure) {
    variable.set_word(MUT_VAR, value.0);
    variable.set_info(info!(stg_MUT_VAR_DIRTY_info));
    w.hec.remember(variable);
}

/// The first object copied to a step opens a run; the others are copied by the common case.
#[test]
fn old_variables_stay_remembered_while_small_objects_age() {
    let mut w = world(2);
    for _ in 0..3 {
        let variable = w.object(info!(stg_MUT_VAR_DIRTY_info), &[t::nil().0 + 1]);
        w.roots.push(variable);
    }
    (0..2).for_each(|_| drop(w.collect(Request::MAJOR)));
    let variables = w.roots.clone();
    let list = w.list(1000, 1010);
    unsafe {
        for &variable in &variables {
            let thunk = w.object(t::thunk(), &[0, list.0, t::nil().0 + 1]);
            write(&mut w, variable, thunk);
        }
        w.collect(Request::MINOR);
        let thunks: Vec<Closure> = variables.iter().map(|v| v.field(MUT_VAR)).collect();
        assert!(thunks.iter().all(|thunk| age_of(thunk.0).step() == 1));
        w.collect(Request::MINOR);
        for (variable, thunk) in variables.iter().zip(thunks) {
            assert_ne!(variable.field(MUT_VAR), thunk);
            assert_eq!(sum(variable.field(MUT_VAR).field(2)), 10045);
        }
    }
    assert!(w.hec.remembered.by_generation[1].is_empty());
}

#[test]
fn a_variable_stays_remembered_for_a_younger_object_behind_an_indirection() {
    let mut w = world(3);
    let variable = w.object(info!(stg_MUT_VAR_DIRTY_info), &[t::nil().0 + 1]);
    w.roots.push(variable);
    (0..3).for_each(|_| drop(w.collect(Request::MAJOR)));
    let list = w.list(1000, 1010);
    w.roots.push(list);
    (0..2).for_each(|_| drop(w.collect(Request::MINOR)));
    let (variable, list) = (w.roots[0], w.roots.pop().unwrap());
    assert_eq!((age_of(variable.0).step(), age_of(list.0).step()), (3, 2));
    let indirection = w.object(info!(stg_IND_info), &[list.0]);
    unsafe {
        write(&mut w, variable, indirection);
        w.collect(Request::MINOR);
        assert_eq!(variable.field(MUT_VAR), list);
        assert!(!w.hec.remembered.by_generation[2].is_empty());
        w.collect(Request { generation: 1, ..Request::MINOR });
        assert_ne!(variable.field(MUT_VAR), list);
        assert_eq!(sum(variable.field(MUT_VAR)), 10045);
    }
}

/// A cell with a younger head is scavenged although all that it holds has been copied, since it must be remembered.
#[test]
fn old_cells_remember_younger_heads() {
    let mut w = world(2);
    let l = w.list(1000, 1100);
    w.roots.push(l);
    w.collect(Request::MINOR);
    let young = w.int(5000);
    // The integer is copied first and survives once; the list survives for the second time.
    w.roots.insert(0, young);
    let cell = |w: &World, n: usize| (0..n).fold(w.roots[1].untag(), |c, _| unsafe { c.field(2).untag() });
    for n in [20, 21, 40] {
        unsafe { cell(&w, n).set_word(1, young.0) };
    }
    w.collect(Request::MINOR);
    let sum_now = 3 * 5000 + (1000..1100).sum::<usize>() - (1020 + 1021 + 1040);
    for age in [1, 2] {
        assert_eq!(age_of(w.roots[0].0).step(), age);
        assert_eq!(unsafe { sum(w.roots[1]) }, sum_now);
        let mut remembered = w.hec.remembered.by_generation[1].clone();
        remembered.retain(|&c| (20..=40).any(|n| c == cell(&w, n)));
        assert_eq!(remembered.len(), if age == 1 { 3 } else { 0 });
        w.collect(Request::MINOR);
    }
}

#[test]
fn large_objects_stay_where_they_are() {
    let mut w = world(2);
    let nil = t::nil().with_tag(1);
    let a = w.array(info!(stg_MUT_ARR_PTRS_DIRTY_info), 5000, nil);
    w.array(info!(stg_MUT_ARR_PTRS_DIRTY_info), 5000, nil);
    let l = w.list(1000, 1010);
    unsafe { a.set_word(MUT_ARR_PAYLOAD + 4321, l.0) };
    w.roots.push(a);
    let before = block_alloc::blocks_in_use();
    // It counts as work until it is old, with its cards. Its header is not counted where it is divided.
    for (step, elements) in [(1, 5000), (2, 5000), (2, 0)] {
        let scanned = w.collect(Request::MINOR).scanned_bytes / WORD;
        assert!(scanned >= elements && scanned <= elements / 100 * 101, "{scanned}");
        assert_eq!(w.roots[0], a);
        assert_eq!(age_of(a.0).step(), step);
        assert_eq!(unsafe { sum(a.field(MUT_ARR_PAYLOAD + 4321)) }, 10045);
    }
    assert!(block_alloc::blocks_in_use() < before);
}

#[test]
fn an_old_array_is_scanned_by_cards() {
    let mut w = world(2);
    let nil = t::nil().with_tag(1);
    let a = w.array(info!(stg_MUT_ARR_PTRS_DIRTY_info), 1000, nil);
    w.roots.push(a);
    w.collect(Request::MAJOR);
    w.collect(Request::MAJOR);
    let a = w.roots[0];
    assert_eq!(unsafe { a.info() }, info!(stg_MUT_ARR_PTRS_CLEAN_info));
    assert_eq!(w.hec.remembered.by_generation[1], [a]);
    let l = w.list(1000, 1010);
    let card = a.slot(MUT_ARR_PAYLOAD + 1000) as *mut u8;
    unsafe {
        a.set_word(MUT_ARR_PAYLOAD + 700, l.0);
        a.set_info(info!(stg_MUT_ARR_PTRS_DIRTY_info));
        *card.add(700 / 128) = 1;
    }
    // What a mutable array refers to is not promoted at once, so the card stays dirty.
    for dirty in [true, false] {
        w.collect(Request::MINOR);
        unsafe {
            assert_eq!(sum(a.field(MUT_ARR_PAYLOAD + 700)), 10045);
            assert_eq!(*card.add(700 / 128) != 0, dirty);
        }
    }
    // Once frozen, it leaves the remembered set.
    unsafe { a.set_info(info!(stg_MUT_ARR_PTRS_FROZEN_DIRTY_info)) };
    w.collect(Request::MINOR);
    assert_eq!(unsafe { a.info() }, info!(stg_MUT_ARR_PTRS_FROZEN_CLEAN_info));
    assert!(w.hec.remembered.by_generation[1].is_empty());
}

#[test]
fn pinned_blocks_live_as_long_as_one_array() {
    let mut w = world(2);
    let pinned: Vec<Closure> = (0..4)
        .map(|i| unsafe {
            let a = w.hec.alloc.allocate_pinned(8, 64, 16).unwrap();
            a.set_info(info!(stg_ARR_WORDS_info));
            a.set_word(ARR_BYTES, 48);
            assert_eq!((a.0 + 16) % 64, 0);
            a.set_word(ARR_BYTES_PAYLOAD, i);
            a
        })
        .collect();
    w.roots.push(pinned[2]);
    w.collect(Request::MINOR);
    assert_eq!(w.roots[0], pinned[2]);
    assert_eq!(unsafe { pinned[2].word(ARR_BYTES_PAYLOAD) }, 2);
    w.roots.clear();
    w.collect(Request::MINOR);
    assert_eq!(age_of(pinned[2].0), Age::FREE);
}

#[test]
fn a_few_pinned_bytes_do_not_keep_the_buffers_allocated_beside_them() {
    let mut w = world(2);
    let mut pinned = |words: usize| unsafe {
        let a = w.hec.alloc.allocate_pinned(words, 8, 16).unwrap();
        a.set_info(info!(stg_ARR_WORDS_info));
        a.set_word(ARR_BYTES, (words - ARR_BYTES_PAYLOAD) * WORD);
        a
    };
    let mut kept = Vec::new();
    for _ in 0..100 {
        pinned(500);
        kept.push(pinned(4));
        pinned(100);
    }
    w.roots.extend(kept);
    w.collect(Request::MINOR);
    assert!(w.hec.alloc.allocated() > 100 * 600 * WORD as u64);
    assert_eq!(w.collect(Request::MAJOR).live.large, 100 * 4 * WORD);
}

fn weak(w: &mut World, key: Closure, value: Closure, finalizer: Closure) -> Closure {
    let none = static_closure!(stg_NO_FINALIZER_closure).0;
    let c = w.object(info!(stg_WEAK_info), &[none, key.0, value.0, finalizer.0, 0]);
    w.hec.new_weaks.push(c);
    c
}

#[test]
fn weak_pointers_follow_their_keys() {
    let mut w = world(2);
    let (k1, k2, k3) = (w.int(1001), w.int(1002), w.int(1003));
    let (none, finalizer) = (static_closure!(stg_NO_FINALIZER_closure), w.int(1004));
    let value = w.list(1000, 1010);
    // The value of the first keeps the key of the second alive.
    let first = weak(&mut w, k1, k2, none);
    let second = weak(&mut w, k2, value, none);
    weak(&mut w, k3, k3, finalizer);
    w.roots.extend([k1, second]);
    let o = w.collect(Request::MINOR);
    assert_eq!(o.dead_weaks.len(), 1);
    unsafe {
        assert_eq!(o.dead_weaks[0].field(WEAK_FINALIZER).untag().word(1), 1004);
        assert_eq!(o.dead_weaks[0].field(WEAK_KEY), none);
        assert_eq!(sum(w.roots[1].field(WEAK_VALUE)), 10045);
    }
    assert_ne!(w.roots[1], second);
    // The key has been copied.
    assert_ne!(unsafe { w.roots[1].field(WEAK_KEY) }, k2);
    assert_eq!(unsafe { heap().gens[0].weaks.len() }, 2);
    assert!(unsafe { heap().gens[0].weaks.iter().all(|&x| x != first) });
    w.roots.remove(0);
    let o = w.collect(Request::MINOR);
    assert_eq!(o.dead_weaks.len(), 2);
    o.dead_weaks.iter().for_each(|d| unsafe { d.set_info(info!(stg_DEAD_WEAK_info)) });
    assert_eq!(w.collect(Request::MAJOR).dead_weaks.len(), 0);
    assert_eq!(unsafe { heap().gens[1].weaks.len() }, 0);
}

#[test]
fn chains_of_weak_pointers_live_in_any_order() {
    const LENGTH: usize = 10;
    let mut w = world(2);
    let none = static_closure!(stg_NO_FINALIZER_closure);
    for reverse in [false, true] {
        let keys: Vec<Closure> = (0..=LENGTH).map(|i| w.int(1000 + i)).collect();
        // The value of each is the key of the next.
        let mut links: Vec<_> = keys.windows(2).map(|w| (w[0], w[1])).collect();
        if reverse {
            links.reverse();
        }
        for (key, value) in links {
            weak(&mut w, key, value, none);
        }
        w.roots.push(keys[0]);
    }
    assert_eq!(w.collect(Request::MINOR).dead_weaks.len(), 0);
    assert_eq!(w.collect(Request::MAJOR).dead_weaks.len(), 0);
    w.roots.pop();
    assert_eq!(w.collect(Request::MAJOR).dead_weaks.len(), LENGTH);
}

#[test]
fn lost_threads_are_resurrected_and_finished_ones_dropped() {
    let mut w = world(2);
    let (held, lost, finished, killed) = (w.thread(), w.thread(), w.thread(), w.thread());
    unsafe {
        finished.obj().what_next = ThreadComplete as u16;
        killed.obj().what_next = ThreadKilled as u16;
    }
    let id = unsafe { lost.obj().id };
    w.roots.push(held.closure());
    let o = w.collect(Request::MINOR);
    assert_eq!(o.resurrected.len(), 1);
    unsafe {
        assert_eq!(o.resurrected[0].obj().id, id);
        assert_eq!(heap().gens[0].threads.len(), 2);
        let stack: Stack = Tso(w.roots[0].0).obj().stackobj;
        assert_eq!(stack.obj().sp, stack.top() - 8);
        assert_ne!(stack.obj().sp, held.obj().stackobj.0);
    }
}

#[test]
fn frames_are_scanned_by_their_bitmaps() {
    let mut w = world(2);
    let thread = w.thread();
    let l = w.list(1000, 1010);
    // Another thread has updated the thunk that the frame is to update.
    let thunk = w.object(info!(stg_IND_info), &[l.0, 0, 0]);
    unsafe {
        crate::thread::create::push(
            thread.obj().stackobj,
            &[t::ret().0, l.0, l.0, info!(stg_upd_frame_info).0, thunk.0],
        );
    }
    w.roots.extend([thread.closure(), thunk]);
    for _ in 0..3 {
        w.collect(Request::MINOR);
        unsafe {
            let stack = Tso(w.roots[0].0).obj().stackobj;
            let sp = stack.obj().sp as *const usize;
            assert_eq!(sum(Closure(*sp.add(1))), 10045);
            assert_eq!(*sp.add(2), l.0);
            let updatee = Closure(*sp.add(4));
            assert_eq!(updatee.info(), info!(stg_IND_info));
            assert_eq!(updatee.field(INDIRECTEE), Closure(*sp.add(1)));
            assert_eq!(stack.obj().dirty != 0, !age_of(stack.0).is_old());
        }
    }
    assert!(w.hec.remembered.by_generation[1].is_empty());
}

#[test]
fn a_long_chain_of_selectors_collapses() {
    const N: usize = 30_000;
    let mut w = world(2);
    assert!(w.resize_nursery(4 << 20));
    let nil = t::nil().with_tag(1);
    // snd (snd (… pair)), with a pair for each step.
    let mut l = w.list(1000, 1010);
    for _ in 0..N {
        l = w.cons(nil, l);
    }
    for _ in 0..N {
        l = w.object(t::snd(), &[0, l.0]);
    }
    w.roots.push(l);
    let o = w.collect(Request::MINOR);
    assert_eq!(unsafe { sum(w.roots[0]) }, 10045);
    assert_eq!(o.copied_words, 10 * 5);
}

/// In this chain each pair holds a selection from the next. An object that holds all the pairs has them walked once.
#[test]
fn nested_selectors_are_evaluated_once() {
    const N: usize = 100_000;
    let mut w = world(2);
    assert!(w.resize_nursery(8 << 20));
    let end = w.list(1000, 1010);
    let nil = t::nil().with_tag(1);
    let mut pair = w.cons(end, nil);
    let mut all = nil;
    for _ in 0..N {
        let s = w.object(t::fst(), &[0, pair.0]);
        pair = w.cons(s, nil);
        all = w.cons(pair, all);
    }
    w.roots.push(all);
    let o = w.collect(Request::MINOR);
    assert_eq!(o.copied_words, (10 * 5) + 2 * N * 3);
    let all = w.roots[0];
    assert_eq!(unsafe { sum(all.untag().field(1).untag().field(1)) }, 10045);
}

#[test]
fn cyclic_selectors_are_kept() {
    let mut w = world(2);
    let nil = t::nil().with_tag(1);
    // p = (fst p, []), and q = (fst r, []) with r = (fst q, []).
    let own = w.object(t::fst(), &[0, 0]);
    let p = w.cons(own, nil);
    let [a, b] = [w.object(t::fst(), &[0, 0]), w.object(t::fst(), &[0, 0])];
    let [q, r] = [w.cons(a, nil), w.cons(b, nil)];
    unsafe {
        own.set_word(SELECTOR_SELECTEE, p.0);
        a.set_word(SELECTOR_SELECTEE, r.0);
        b.set_word(SELECTOR_SELECTEE, q.0);
    }
    // A selector that leads into such a cycle has no value either.
    let into = w.object(t::fst(), &[0, q.0]);
    w.roots.extend([own, into]);
    w.collect(Request::MINOR);
    unsafe {
        assert_eq!(w.roots[0].info(), t::fst());
        assert_eq!(w.roots[0].field(SELECTOR_SELECTEE).untag().field(1), w.roots[0]);
        assert_eq!(w.roots[1].info(), t::fst());
    }
}

#[test]
fn selectors_without_a_value_are_kept() {
    let mut w = world(2);
    let nil = t::nil().with_tag(1);
    let thunk = w.object(t::thunk(), &[0, nil.0, nil.0]);
    let mut s = thunk;
    for _ in 0..10_000 {
        s = w.object(t::fst(), &[0, s.0]);
    }
    // Two selectors that select from each other.
    let a = w.object(t::fst(), &[0, 0]);
    let b = w.object(t::fst(), &[0, a.0]);
    unsafe { a.set_word(SELECTOR_SELECTEE, b.0) };
    w.roots.extend([s, a]);
    let o = w.collect(Request::MINOR);
    assert_eq!(o.copied_words, 4 + 3 * 10_002);
    unsafe {
        assert_eq!(w.roots[1].info(), t::fst());
        assert_eq!(w.roots[1].field(SELECTOR_SELECTEE).field(SELECTOR_SELECTEE), w.roots[1]);
    }
}

#[test]
fn cafs_live_as_long_as_code_can_reach_them() {
    let mut w = world(2);
    let caf = t::caf();
    let header = unsafe { caf.info() };
    let bh = unsafe { caf::newCAF(&mut w.hec.r, caf) };
    assert!(unsafe { caf::newCAF(&mut w.hec.r, caf) }.is_null());
    let value = w.list(1000, 1010);
    unsafe {
        bh.set_word(INDIRECTEE, value.0);
        bh.set_info(info!(stg_IND_info));
    }
    let nil = t::nil().with_tag(1);
    let f = w.object(t::fun(), &[nil.0]);
    w.roots.push(f);
    w.collect(Request::MINOR);
    assert_eq!(age_of(unsafe { caf.word(INDIRECTEE) }).step(), 2);
    for _ in 0..3 {
        w.collect(Request::MAJOR);
        assert_eq!(unsafe { sum(caf.field(INDIRECTEE)) }, 10045);
    }
    w.roots.clear();
    let o = w.collect(Request::MAJOR);
    assert_eq!((o.live.all(), unsafe { caf.info() }), (0, header));
    assert!(unsafe { heap().cafs.is_empty() });
}

#[test]
fn compact_regions_live_and_die_whole() {
    let mut w = world(2);
    const HEADER: usize = 24;
    let region = unsafe {
        let age = Age(Age::COMPACT);
        let (first, second) = (
            crate::memory::alloc_run(1, age).unwrap(),
            crate::memory::alloc_run(2, age).unwrap(),
        );
        let region = (*first).start + HEADER;
        for (run, next) in [(first, (*second).start), (second, 0)] {
            let at = (*run).start as *mut usize;
            *at = at as usize;
            *at.add(1) = region;
            *at.add(2) = next;
            (*run).back = region;
            (*run).free = (*run).start + 4096;
            w.hec.alloc.add_large_run(run);
        }
        let inner = Closure((*second).start + HEADER);
        inner.set_info(t::cons());
        inner.set_word(1, t::nil().0 + 1);
        inner.set_word(2, t::nil().0 + 1);
        w.roots.push(inner.with_tag(2));
        region
    };
    for step in [1, 2, 2] {
        w.collect(Request::MINOR);
        assert_eq!(age_of(region).step(), step);
    }
    w.roots.clear();
    w.collect(Request::MAJOR);
    assert_eq!(age_of(region), Age::FREE);
}

/// Describes what is reachable from `root`, independently of addresses and of evaluation by the collector. Objects are
/// numbered in the order of the walk.
unsafe fn describe(root: Closure) -> Vec<usize> {
    let mut numbers = std::collections::HashMap::new();
    let (mut todo, mut text) = (vec![root], Vec::new());
    while let Some(c) = todo.pop() {
        let mut o = c.untag();
        while o.info() == info!(stg_IND_info) || o.info() == t::fst() {
            o = match o.info() == t::fst() {
                true => o.field(SELECTOR_SELECTEE).untag().field(1).untag(),
                false => o.field(INDIRECTEE).untag(),
            };
        }
        let n = numbers.len();
        if let Some(&seen) = numbers.get(&o) {
            text.push(seen);
            continue;
        }
        numbers.insert(o, n);
        text.push(o.info().kind());
        match o.info().kind() {
            CONSTR_2_0 => todo.extend([o.field(2), o.field(1)]),
            CONSTR_0_1 => text.push(o.word(1)),
            MUT_ARR_PTRS_CLEAN | MUT_ARR_PTRS_DIRTY | MUT_ARR_PTRS_FROZEN_CLEAN
            | MUT_ARR_PTRS_FROZEN_DIRTY => {
                let n = o.word(MUT_ARR_PTRS);
                // The kind changes with the ages of the elements.
                *text.last_mut().unwrap() = n;
                todo.extend((0..n).map(|i| o.field(MUT_ARR_PAYLOAD + i)));
            }
            _ => {}
        }
    }
    text
}

/// A generator of pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

/// Makes objects that refer to each other at random: sharing, cycles, selectors, arrays of all sizes.
fn random_heap(w: &mut World, n: usize, random: &mut Random) -> Closure {
    let nil = t::nil().with_tag(1);
    let mut all = vec![w.int(1000)];
    let (mut cells, mut arrays) = (Vec::new(), Vec::new());
    for i in 0..n {
        let (a, b) = (all[random.below(all.len())], all[random.below(all.len())]);
        let new = match random.below(12) {
            0 => w.int(1000 + i),
            1 => {
                let pair = w.cons(a, b);
                w.object(t::fst(), &[0, pair.0])
            }
            2 => w.object(info!(stg_IND_info), &[a.0, 0]),
            3 if i % 16 == 0 => {
                let frozen = info!(stg_MUT_ARR_PTRS_FROZEN_DIRTY_info);
                let info = if i % 32 == 0 { info!(stg_MUT_ARR_PTRS_DIRTY_info) } else { frozen };
                let n = random.below(9000);
                let array = w.array(info, n, nil);
                arrays.push((array, n));
                array
            }
            _ => {
                let cell = w.cons(a, b);
                cells.push(cell);
                cell
            }
        };
        all.push(new);
    }
    let mut list = nil;
    for _ in 0..n / 4 {
        let element = all[random.below(all.len())];
        list = w.cons(element, list);
        let (from, to) = (cells[random.below(cells.len())], all[random.below(all.len())]);
        unsafe { from.untag().set_word(1 + random.below(2), to.0) };
    }
    for (array, n) in arrays {
        for _ in 0..n / 8 {
            let element = all[random.below(all.len())];
            unsafe { array.set_word(MUT_ARR_PAYLOAD + random.below(n), element.0) };
        }
    }
    list
}

#[test]
fn a_random_heap_keeps_its_shape() {
    for seed in 0..3 {
        let mut w = world(2 + seed as usize % 2);
        assert!(w.resize_nursery(4 << 20));
        let mut random = Random(seed);
        for request in [Request::MINOR, Request::MINOR, Request::MAJOR, Request::MINOR] {
            let new = random_heap(&mut w, 4000, &mut random);
            w.roots.push(new);
            let before: Vec<_> = w.roots.iter().map(|&c| unsafe { describe(c) }).collect();
            w.collect(request);
            let after: Vec<_> = w.roots.iter().map(|&c| unsafe { describe(c) }).collect();
            assert!(before == after, "seed {seed}");
            assert!(w.resize_nursery(4 << 20));
        }
    }
}

#[test]
fn many_remembered_objects_are_all_found() {
    let mut w = world(2);
    let olds: Vec<_> = (0..3000).map(|_| w.object(info!(stg_MUT_VAR_DIRTY_info), &[t::nil().0 + 1])).collect();
    w.roots.extend(&olds);
    w.collect(Request::MAJOR);
    w.collect(Request::MAJOR);
    for i in 0..olds.len() {
        let (old, value) = (w.roots[i], w.list(1000 + i, 1003 + i));
        assert!(age_of(old.0).is_old());
        unsafe {
            old.set_word(MUT_VAR, value.0);
            old.set_info(info!(stg_MUT_VAR_DIRTY_info));
        }
        // Some are listed twice, which may happen.
        (0..1 + i % 2).for_each(|_| w.hec.remember(old));
    }
    for _ in 0..3 {
        w.collect(Request::MINOR);
        for i in 0..olds.len() {
            assert_eq!(unsafe { sum(w.roots[i].field(MUT_VAR)) }, 3 * (1001 + i));
        }
    }
    assert!(w.hec.remembered.by_generation[1].is_empty());
}

#[test]
fn a_full_collection_leaves_every_generation_room() {
    for generations in 2..5 {
        let mut w = world(generations);
        assert!(w.resize_nursery(4 << 20));
        let l = w.list(1000, 41_000);
        w.roots.push(l);
        (0..generations).for_each(|_| drop(w.collect(Request::MAJOR)));
        for gen in unsafe { heap().gens.iter().skip(1) } {
            assert!(gen.blocks() * 3 / 2 < gen.limit);
        }
    }
}

#[test]
fn lists_in_a_list_are_shared_by_threads() {
    let mut w = world(2);
    w.roots.push(t::nil().with_tag(1));
    for _ in 0..40 {
        let l = w.list(1000, 1500);
        w.roots[0] = w.cons(l, w.roots[0]);
        w.collect(Request::MINOR);
    }
    // Helpers may come late, but not always.
    let helped = (0..10).filter_map(|_| w.collect(Request::MAJOR).helped).fold(0.0, f64::max);
    assert!(THREADS == 1 || helped > 0.1);
    unsafe {
        let mut l = w.roots[0];
        while l.tag() == 2 {
            assert_eq!(sum(l.untag().field(1)), 1500 * 1499 / 2 - 1000 * 999 / 2);
            l = l.untag().field(2);
        }
    }
}

/// A second generator of pseudo-random numbers, the same in each run.
struct XorShift(u64);

impl XorShift {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % n
    }
}

fn limited_world(generations: usize, limit: usize) -> World {
    let w = world(generations);
    let settings = *heap_limits::settings();
    // SAFETY: the heap is empty.
    unsafe { heap_limits::init(heap_limits::Settings { max_heap_bytes: Some(limit), ..settings }) };
    w
}

fn held() -> usize {
    // SAFETY: the test has the heap.
    unsafe { blocks_of(&heap().gens) * BLOCK_BYTES }
}

#[test]
fn the_heap_overflows_only_when_a_full_collection_leaves_more_than_the_limit() {
    let mut random = XorShift(0x9e37_79b9_7f4a_7c15);
    let (mut overflows, mut rescued) = (0, 0);
    for _ in 0..10 {
        let limit = (3 << 19) + random.below(2 << 20);
        let mut w = limited_world(2 + random.below(2), limit);
        // What each root holds, in bytes.
        let mut alive: Vec<usize> = Vec::new();
        for _ in 0..16 {
            let (root, bytes) = if random.below(4) == 0 {
                let n = 2000 + random.below(100_000);
                let a = w.array(info!(stg_MUT_ARR_PTRS_DIRTY_info), n, t::nil().with_tag(1));
                (a, unsafe { crate::memory::object_size::size_of_object(a, a.info()) } * WORD)
            } else {
                let n = random.below(12_000);
                (w.list(1000, 1000 + n), n * 5 * WORD)
            };
            w.roots.push(root);
            alive.push(bytes);
            while random.below(3) == 0 && !alive.is_empty() {
                let dead = random.below(alive.len());
                w.roots.swap_remove(dead);
                alive.swap_remove(dead);
            }
            let request = if random.below(8) == 0 { Request::MAJOR } else { Request::MINOR };
            let mut o = w.collect(request);
            if o.full_is_due {
                assert!(!o.major && !o.over_limit);
                o = w.collect(Request::MAJOR);
                rescued += !o.over_limit as usize;
            }
            let exactly: usize = alive.iter().sum();
            if o.major {
                assert_eq!(o.live.all(), exactly);
                assert_eq!(o.over_limit, exactly + o.slop > limit);
            }
            assert!(o.major || !o.over_limit);
            assert_eq!(held() > limit, o.over_limit);
            overflows += o.over_limit as usize;
        }
    }
    assert!(overflows > 5 && rescued > 5, "{overflows} overflows, {rescued} times none in spite of a young collection");
}

#[test]
fn a_large_object_is_refused_only_if_a_full_collection_leaves_too_little_room() {
    let mut random = XorShift(0x2545_f491_4f6c_dd1d);
    let mut answers = [0; 3];
    for _ in 0..24 {
        let limit = (2 << 20) + random.below(4 << 20);
        let bytes = 1 + random.below(6 << 20);
        let mut w = limited_world(2, limit);
        let kept = w.list(1000, 1000 + random.below(80_000));
        w.roots.push(kept);
        // Garbage, some of it old.
        let n = random.below(30_000);
        let dead = w.list(1000, 1000 + n);
        w.old(dead);
        let in_use = block_alloc::blocks_in_use() * BLOCK_BYTES;
        let first = max_heap::fit(bytes, None);
        match first {
            Fit::Fits => assert!(in_use + bytes <= limit),
            Fit::Never => assert!(bytes > limit),
            Fit::AfterCollection(n) => {
                assert!(in_use + bytes > limit && bytes <= limit);
                // Not before a full collection: a minor one is not enough.
                assert_eq!(max_heap::fit(bytes, Some(n)), first);
                if !w.collect(Request::MINOR).major {
                    assert_ne!(max_heap::fit(bytes, Some(n)), Fit::Never);
                }
                w.collect(Request::MAJOR);
                let room = held() + bytes <= limit;
                assert_eq!(max_heap::fit(bytes, Some(n)), if room { Fit::Fits } else { Fit::Never });
                answers[room as usize] += 1;
            }
        }
        answers[2] += matches!(first, Fit::Fits) as usize;
    }
    assert!(answers.iter().all(|&n| n > 0), "{answers:?}");
}
