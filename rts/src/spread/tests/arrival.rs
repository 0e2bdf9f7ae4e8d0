//! Objects that arrive at addresses where threads may enter them meanwhile.
use super::*;
use crate::base::random::Random;
use crate::spread::travel::function_field;
use std::collections::HashSet;

/// Code that finds a pointer may use what it leads to without entering it: the pointer is tagged, or what has it is
/// code, and knows a function.
unsafe fn is_used_unentered(owner: Closure, field: usize) -> bool {
    let (p, kind) = (owner.field(field), owner.info().kind());
    let is_code = |kind| fields::is_function(kind) || kind == PAP;
    let knows = fields::is_function(kind) || function_field(kind) == Some(field);
    p.tag() != 0 || knows && is_code(p.untag().info().kind())
}

/// Checks what makes the order of headers irrelevant: in all objects that can be reached from `from`, only pointers
/// that are entered lead to what was absent.
unsafe fn assert_any_order_will_do(from: &[Closure], was_absent: &HashSet<usize>) {
    let (mut todo, mut seen) = (from.to_vec(), HashSet::new());
    while let Some(c) = todo.pop() {
        let c = c.untag();
        if !in_heap(c.0) || !seen.insert(c.0) {
            continue;
        }
        assert!(!is_absent(c) && c.word(0) != 0);
        fields::each(c, c.info(), &|function| present_function(function), |i| {
            let target = c.field(i).untag();
            assert!(!was_absent.contains(&target.0) || !is_used_unentered(c, i), "{c:?} uses {target:?}");
            todo.push(target);
        });
    }
}

/// What a value looks like to this depth. Copies of one object look the same.
unsafe fn unfold(p: Closure, depth: usize) -> String {
    let c = p.untag();
    if depth == 0 || !in_heap(c.0) {
        return ".".to_owned();
    }
    let mut text = format!("({:x}", c.info().0);
    fields::each(c, c.info(), &|function| present_function(function), |i| text += &unfold(c.field(i), depth - 1));
    text + ")"
}

#[test]
fn functions_that_need_each_other_arrive_where_all_were_absent() {
    let mut w = World::new(2);
    let nil = t::nil().with_tag(1);
    let f = w.object(t::fun(), &[nil.0]).with_tag(1);
    let g = w.object(t::fun(), &[f.0]).with_tag(1);
    let rest = w.cons(g, nil);
    let both = w.cons(f, rest);
    unsafe {
        f.untag().set_word(1, g.0);
        let whole = pack(w.hec, &[both], PLENTY).unwrap();
        let alone: Vec<Graph> = whole.objects().iter().map(|&c| pack(w.hec, &[c], 0).unwrap()).collect();
        whole.evict();
        // Each function brings the other one.
        let (cells, functions): (Vec<&Graph>, _) = alone.iter().partition(|graph| graph.objects().len() == 1);
        assert_eq!((cells.len(), functions.len()), (2, 2));
        cells.iter().for_each(|graph| drop(install_as(w.hec, graph, false)));
        let absent: HashSet<usize> = functions.iter().map(|graph: &&Graph| graph.roots()[0].untag().0).collect();
        assert!(absent.iter().all(|&c| is_absent(Closure(c))));
        let arrived = install_as(w.hec, functions[0], false).arrived;
        assert_eq!(arrived.len(), 2);
        assert_any_order_will_do(&arrived, &absent);
        let [f, g] = [0, 1].map(|i| arrived[i].field(1));
        assert_eq!((f.tag(), g.tag()), (1, 1));
        assert_eq!((f.untag().field(1), g.untag().field(1)), (g, f));
        assert!(install_as(w.hec, functions[1], false).arrived.is_empty());
    }
}

/// An array of objects that refer to each other at random.
unsafe fn random_graph(w: &mut World, random: &mut Random) -> Closure {
    let nil = t::nil().with_tag(1);
    let functions: Vec<Closure> = (0..10).map(|_| w.object(t::fun(), &[nil.0]).with_tag(1)).collect();
    let mut all = functions.clone();
    for _ in 0..20 {
        let function = random.pick(&functions);
        let pap = w.object(info!(stg_PAP_info), &[1 << 32, function.0, nil.0]);
        all.extend([pap, w.cons(nil, nil)]);
    }
    for &c in &all {
        fields::each(c.untag(), c.untag().info(), &|function| function.untag().info(), |i| {
            if function_field(c.untag().info().kind()) != Some(i) {
                c.untag().set_word(i, random.pick(&all).0);
            }
        });
    }
    array(w, info!(stg_MUT_ARR_PTRS_FROZEN_CLEAN_info), &all)
}

#[test]
fn what_was_absent_is_used_only_after_it_was_entered() {
    for seed in 0..100 {
        let mut w = World::new(2);
        let mut random = Random(seed);
        unsafe {
            let root = random_graph(&mut w, &mut random);
            let graph = pack(w.hec, &[root], PLENTY).unwrap();
            let before = unfold(graph.roots()[0], 5);
            let is_entered = |c: &Closure| !fields::is_array(c.info().kind());
            let entered: Vec<Closure> = graph.objects().into_iter().filter(is_entered).collect();
            graph.evict();
            let absent: Vec<Closure> = entered.into_iter().filter(|_| random.below(2) == 0).collect();
            absent.iter().for_each(|c| c.set_info(info!(hec_ABSENT_info)));
            let installed = install_as(w.hec, &graph, false);
            assert_eq!(installed.arrived.len(), absent.len());
            assert_eq!(unfold(installed.roots[0], 5), before);
            let absent: HashSet<usize> = absent.iter().map(|c| c.0).collect();
            assert_any_order_will_do(&installed.roots, &absent);
            assert_any_order_will_do(&installed.arrived, &absent);
        }
    }
}
