//! Unit tests: objects are packed, evicted and installed again, within one process.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, WORD};
use crate::collector::Request;

use crate::memory::fixed_blocks::is_fixed;
use crate::memory::in_heap;
use crate::spread::cell::{contents, is_absent, resolve, Contents, Target};
use crate::spread::collect::keep_blocks;
use crate::spread::export::fixed_address;
use crate::spread::fields;
use crate::spread::graph::Graph;
use crate::spread::install::{install, install_as, Installed};
use crate::spread::pack::{pack, pack_thunk};
use crate::spread::stays::Stays;
use crate::spread::travel::present_function;
use crate::testing::symbols as t;
use crate::testing::world::World;
use crate::{info, static_closure};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::LazyLock;

mod arrival;
mod collection;
mod depth;
mod global_collection;
mod passing_on;
mod thawed;

const PLENTY: usize = 1 << 30;

/// An info table with the code of a thunk.
struct Table([u64; 34]);

impl Table {
    const EMPTY: Table = Table([0; 34]);

    /// Fills the table, whose code is a stack check and these bytes.
    fn fill(&mut self, ptrs: usize, then: &[u8]) -> Info {
        self.0[0] = ptrs as u64;
        self.0[1] = THUNK as u64;
        let check = [0x48, 0x8d, 0x45, 0xd8, 0x4c, 0x39, 0xf8, 0x0f, 0x82, 1, 0, 0, 0];
        let at = (&raw mut self.0[2]).cast::<u8>();
        for (i, &byte) in check.iter().chain(then).enumerate() {
            // SAFETY: the table has room for as many.
            unsafe { *at.add(i) = byte }
        }
        Info(at as usize)
    }
}

static mut TABLES: [Table; 2] = [Table::EMPTY; 2];
/// A thunk with two fields that code enters through its header, and one that it may not.
static UPDATABLE: LazyLock<usize> = LazyLock::new(|| {
    let push = [&[0x48, 0xc7, 0x45, 0xf0][..], &(info!(stg_upd_frame_info).0 as u32).to_le_bytes()].concat();
    // SAFETY: written once.
    unsafe { (*std::ptr::addr_of_mut!(TABLES))[0].fill(2, &push).0 }
});
// SAFETY: written once.
static SINGLE_ENTRY: LazyLock<usize> =
    LazyLock::new(|| unsafe { (*std::ptr::addr_of_mut!(TABLES))[1].fill(2, &[0x90]).0 });

fn updatable() -> Info {
    Info(*UPDATABLE)
}

fn single_entry() -> Info {
    Info(*SINGLE_ENTRY)
}

/// What a value looks like from outside: objects in the order in which a walk finds them, with numbers for those found
/// before.
fn show(root: Closure) -> String {
    let (mut text, mut seen, mut todo) = (String::new(), HashMap::new(), vec![root]);
    while let Some(p) = todo.pop() {
        // SAFETY: the test's objects are live.
        unsafe {
            let (c, cut) = match resolve(p) {
                Target::Static(c) => (c, false),
                Target::Fixed(c) => (c, is_absent(c)),
                Target::Exit(_, c) | Target::Local(c) => (c, false),
            };
            if cut {
                write!(text, "? ").unwrap();
                continue;
            }
            let c = c.untag();
            let info = c.info();
            if info == info!(ghczmprim_GHCziTypes_Izh_con_info) {
                write!(text, "{} ", c.word(1)).unwrap();
                continue;
            }
            let next = seen.len();
            let n = *seen.entry(c.0).or_insert(next);
            if n != next {
                write!(text, "#{n} ").unwrap();
                continue;
            }
            write!(text, "{:x}", if in_heap(c.0) { info.kind() } else { c.0 }).unwrap();
            if info.kind() == ARR_WORDS {
                let bytes = std::slice::from_raw_parts(c.slot(ARR_BYTES_PAYLOAD) as *const u8, c.word(ARR_BYTES));
                write!(text, "{bytes:?}").unwrap();
            }
            text.push(' ');
            if in_heap(c.0) {
                let from = todo.len();
                fields::each(c, info, &|function| present_function(function), |i| todo.push(c.field(i)));
                todo[from..].reverse();
            }
        }
    }
    text
}

/// Packs, evicts and installs a closure again.
fn round_trip(w: &mut World, c: Closure, budget: usize) -> Installed {
    // SAFETY: the test holds the HEC.
    unsafe {
        let graph = pack(w.hec, &[c], budget).unwrap();
        keep_blocks(graph.blocks());
        let before = graph.parts().unwrap().words;
        graph.evict();
        let installed = install(w.hec, &Graph::from_bytes(graph.as_bytes().to_vec()));
        let again = pack(w.hec, &installed.roots, budget).unwrap();
        assert_eq!(again.parts().unwrap().words, before);
        installed
    }
}

/// Checks that a closure comes back as it went, and that its original is then its copy.
fn comes_back(w: &mut World, c: Closure) -> Closure {
    let before = show(c);
    w.roots.push(c);
    let back = round_trip(w, c, PLENTY).roots[0];
    assert!(is_fixed(back) || !in_heap(back.0));
    assert_eq!(show(back), before);
    w.roots.push(back);
    w.collect(Request::MINOR);
    w.collect(Request::MAJOR);
    let (back, c) = (w.roots.pop().unwrap(), w.roots.pop().unwrap());
    assert_eq!(show(back), before);
    assert_eq!(show(c), before);
    back
}

fn array(w: &mut World, info: Info, elements: &[Closure]) -> Closure {
    let a = w.array(info, elements.len(), t::nil());
    elements.iter().enumerate().for_each(|(i, e)| unsafe { a.set_word(MUT_ARR_PAYLOAD + i, e.0) });
    a
}

fn bytes(w: &mut World, n: usize) -> Closure {
    let a = w.object(info!(stg_ARR_WORDS_info), &vec![0x0102_0304_0506_0708; 1 + n.div_ceil(WORD)]);
    unsafe { a.set_word(ARR_BYTES, n) };
    a
}

#[test]
fn lists_come_back_and_their_originals_become_their_copies() {
    let mut w = World::new(2);
    let list = w.list(0, 1000);
    w.roots.push(list);
    let back = comes_back(&mut w, list);
    w.collect(Request::MAJOR);
    assert_eq!(w.roots[0], back);
}

#[test]
fn sharing_and_cycles_are_kept() {
    let mut w = World::new(2);
    let (big, nil) = (w.int(1 << 40), t::nil().with_tag(1));
    let shared = w.cons(big, nil);
    let pair = w.cons(shared, shared);
    let knot = w.cons(pair, pair);
    unsafe { knot.untag().set_word(2, knot.0) };
    assert_eq!(show(knot).matches('#').count(), 2);
    comes_back(&mut w, knot);
}

#[test]
fn functions_and_applications_come_back_with_their_companions() {
    let mut w = World::new(2);
    let list = w.list(300, 310);
    let inner = w.object(t::fun(), &[list.0]);
    let outer = w.object(t::fun(), &[inner.0]);
    let pap = w.object(info!(stg_PAP_info), &[1 << 32, outer.0, list.0]);
    let pair = w.cons(pap, list);
    comes_back(&mut w, pair);
    // With no budget the function brings what its code may know, and of the list only the first cell.
    let list = w.list(300, 310);
    let again = w.object(t::fun(), &[list.0]);
    let other = w.object(t::fun(), &[again.0]);
    let back = round_trip(&mut w, other, 0);
    assert_eq!(show(back.roots[0]), show(other));
    unsafe {
        let known = back.roots[0].untag().field(1).untag().field(1);
        assert_eq!((known.tag(), resolve(known)), (2, Target::Fixed(known)));
        assert!(matches!(resolve(known.untag().field(2)), Target::Exit(..)));
    }
}

#[test]
fn arrays_come_back() {
    let mut w = World::new(2);
    let (list, pinned) = (w.list(300, 310), bytes(&mut w, 100));
    let frozen = array(&mut w, info!(stg_MUT_ARR_PTRS_FROZEN_CLEAN_info), &[list, pinned, list]);
    let mut fields = vec![3];
    fields.extend([list.0, frozen.0, list.0]);
    let small = w.object(info!(stg_SMALL_MUT_ARR_PTRS_FROZEN_CLEAN_info), &fields);
    let holder = w.cons(small, frozen);
    comes_back(&mut w, holder);
}

#[test]
fn thunks_stay_behind_cells() {
    let mut w = World::new(2);
    let (list, nil) = (w.list(0, 3), t::nil().with_tag(1));
    let thunk = w.object(updatable(), &[0, list.0, nil.0]);
    let cell = w.cons(thunk, nil);
    let back = comes_back(&mut w, cell);
    unsafe {
        let exit = Closure(back.untag().word(1));
        assert!(matches!(contents(exit), Contents::Unevaluated(_)));
        let Target::Exit(_, local) = resolve(exit) else { panic!("no exit") };
        w.roots.push(local);
        w.collect(Request::MAJOR);
        // Its owner evaluates it, and the value travels to the same address.
        let (thunk, value) = (w.roots[0], w.list(500, 505));
        thunk.set_word(INDIRECTEE, value.0);
        thunk.set_info(info!(stg_IND_info));
        w.hec.remember(thunk);
        assert!(matches!(contents(exit), Contents::Value(_)));
        w.collect(Request::MINOR);
        let installed = round_trip(&mut w, exit, PLENTY);
        assert_eq!(installed.roots, [exit]);
        assert_eq!(show(exit), show(w.roots[0]));
    }
}

#[test]
fn what_exceeds_the_budget_becomes_cells() {
    let mut w = World::new(2);
    let list = w.list(1 << 40, (1 << 40) + 10_000);
    w.roots.push(list);
    let before = show(list);
    let graph = unsafe { pack(w.hec, &[list], 1000).unwrap() };
    assert!((1000..1100).contains(&(graph.parts().unwrap().words.len() * WORD)));
    let mut packets = 1;
    // The rest is asked for, cell by cell.
    let mut at = graph.roots()[0];
    unsafe {
        while let Target::Fixed(c) = resolve(at) {
            at = Closure(c.untag().word(2));
            if let Target::Exit(cell, _) = resolve(at) {
                round_trip(&mut w, cell, 50_000);
                packets += 1;
            }
        }
    }
    assert_eq!(show(graph.roots()[0]), before);
    assert!((9..13).contains(&packets), "{packets}");
    w.collect(Request::MAJOR);
    assert_eq!(show(w.roots[0]), before);
}

#[test]
fn mutable_objects_stay_with_those_that_need_them() {
    let mut w = World::new(2);
    let nil = t::nil().with_tag(1);
    let var = w.object(info!(stg_MUT_VAR_DIRTY_info), &[nil.0]);
    let reference = w.cons(var, nil);
    let stays = |w: &mut World, c| unsafe { pack(w.hec, &[c], PLENTY).unwrap_err() };
    assert_eq!(stays(&mut w, var), Stays("a MutVar#"));
    assert_eq!(stays(&mut w, reference), Stays("a MutVar#"));
    let fun = w.object(t::fun(), &[reference.0]);
    assert_eq!(stays(&mut w, fun), Stays("a MutVar#"));
    let far = w.object(t::fun(), &[fun.0]);
    assert_eq!(stays(&mut w, far), Stays("a MutVar#"));
    unsafe {
        assert_eq!(fixed_address(w.hec, var), Err(Stays("a MutVar#")));
        // Others get a cell in its place.
        let outer = w.cons(reference, nil);
        let graph = pack(w.hec, &[outer], PLENTY).unwrap();
        assert!(matches!(resolve(Closure(graph.roots()[0].untag().word(1))), Target::Exit(..)));
    }
}

#[test]
fn an_mvar_is_itself_at_its_owner_and_a_remote_object_in_packets() {
    let mut w = World::new(2);
    let mvar = w.mvar();
    let holder = w.cons(t::nil().with_tag(1), mvar);
    w.roots.push(holder);
    unsafe {
        let graph = pack(w.hec, &[holder], PLENTY).unwrap();
        keep_blocks(graph.blocks());
        let copy = graph.roots()[0].untag();
        assert_eq!(copy.word(2), mvar.0);
        let parts = graph.parts().unwrap();
        let (remote, empty) = (Closure(parts.words[2]), static_closure!(stg_END_TSO_QUEUE_closure).0);
        assert!(is_fixed(remote) && remote.info() == info!(hec_REMOTE_MVAR_info) && remote.word(1) == mvar.0);
        assert_eq!(parts.words[3..], [remote.word(0), empty, empty, empty]);
        // Its exits are roots, and the original has become the copy.
        w.collect(Request::MAJOR);
        assert_eq!(w.roots[0].untag(), copy);
        let moved = Closure(copy.word(2));
        assert!(moved != mvar && !is_fixed(moved) && remote.word(1) == moved.0);
        // The same one is packed again, and comes home as itself.
        let again = pack(w.hec, &[w.roots[0]], PLENTY).unwrap();
        assert_eq!(again.parts().unwrap().words[2], remote.0);
        let thunk = w.object(updatable(), &[0, moved.0, moved.0]);
        let lent = pack_thunk(w.hec, thunk, PLENTY).unwrap();
        assert_eq!(lent.parts().unwrap().thunk[2], remote.0);
        let installed = install(w.hec, &lent).thunk.unwrap();
        assert_eq!(installed.word(2), moved.0);
    }
}

#[test]
fn thunks_in_functions_travel_if_their_code_says_how_they_are_entered() {
    let mut w = World::new(2);
    let list = w.list(300, 303);
    let once = w.object(single_entry(), &[0, list.0, list.0]);
    let fun = w.object(t::fun(), &[once.0]);
    comes_back(&mut w, fun);
    let list = w.list(300, 303);
    let unknown = w.object(info!(stg_AP_NOUPD_info), &[0, 1 << 32, list.0, list.0]);
    let fun = w.cons(unknown, list);
    unsafe { assert!(pack(w.hec, &[fun], PLENTY).is_ok()) }
}

#[test]
fn lent_thunks_become_local_ones_elsewhere() {
    let mut w = World::new(2);
    let list = w.list(300, 303);
    let thunk = w.object(updatable(), &[0, list.0, list.0]);
    let before = show(thunk);
    unsafe {
        let graph = pack_thunk(w.hec, thunk, PLENTY).unwrap();
        graph.evict();
        let borrowed = install(w.hec, &graph).thunk.unwrap();
        assert_eq!(show(borrowed), before);
        w.roots.push(borrowed);
        w.collect(Request::MINOR);
        w.collect(Request::MAJOR);
        assert_eq!(show(w.roots[0]), before);
        let once = w.object(single_entry(), &[0, list.0, list.0]);
        assert!(pack_thunk(w.hec, once, PLENTY).is_err());
    }
}

#[test]
fn packets_that_came_before_are_skipped() {
    let mut w = World::new(2);
    let list = w.list(300, 400);
    let before = show(list);
    unsafe {
        let graph = pack(w.hec, &[list], PLENTY).unwrap();
        assert!(install(w.hec, &graph).arrived.is_empty());
        assert_eq!(show(graph.roots()[0]), before);
    }
}

#[test]
fn cells_have_one_address() {
    let mut w = World::new(2);
    let list = w.list(300, 400);
    w.roots.push(list);
    unsafe {
        let cell = fixed_address(w.hec, list).unwrap();
        w.roots.push(cell);
        assert_eq!(fixed_address(w.hec, list), Ok(cell));
        w.collect(Request::MINOR);
        let moved = w.roots[0];
        assert_eq!(fixed_address(w.hec, moved), Ok(cell));
        assert_eq!(fixed_address(w.hec, cell), Ok(cell));
        w.collect(Request::MAJOR);
        assert_eq!(show(cell), show(w.roots[0]));
    }
}

#[test]
fn references_are_cut_where_their_targets_are_missing() {
    let mut w = World::new(2);
    let list = w.list(1 << 40, (1 << 40) + 3);
    let before = show(list);
    unsafe {
        let whole = pack(w.hec, &[list], PLENTY).unwrap();
        let alone: Vec<Graph> = whole.objects().iter().map(|&c| pack(w.hec, &[c], 0).unwrap()).collect();
        whole.evict();
        let root = install_as(w.hec, &alone[0], false).roots[0];
        let (head, tail) = (root.untag().field(1), root.untag().field(2));
        assert!([head, tail].iter().all(|&c| c.tag() == 0 && is_absent(c)));
        assert_eq!(contents(tail), Contents::Absent);
        assert_eq!(show(root), "4 ? ? ");
        let arrived: Vec<_> = alone[1..].iter().flat_map(|one| install_as(w.hec, one, false).arrived).collect();
        assert_eq!(arrived.len(), whole.objects().len() - 1);
        assert_eq!(show(root), before);
    }
}
