//! What is under way or kept when the worlds have stopped: graphs, whose objects and all that these refer to are roots,
//! and weights.
//!
//! A graph may refer to blocks of others that this PE does not hold. So these addresses are not marked here, but sent
//! to their owners ([`take_found`]).
use crate::abi::{Closure, Info};
use crate::base::poison::unpoisoned;
use crate::cluster::credit::Credit;
use crate::cluster::message::Message;
use crate::collector::roots::Visitor;
use crate::memory::address_space::is_own;
use crate::memory::in_heap;
use crate::spread::graph::Graph;
use crate::spread::packet::Packet;
use crate::spread::run::Run;
use crate::spread::travel::present_function;
use crate::spread::{fields, program};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// Addresses of others that graphs refer to.
static FOUND: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// Shows own objects of graphs, and absent ones that were asked for, to `visit`.
/// # Safety
/// The world is stopped, and FLUSH has come from all.
pub unsafe fn visit_roots(run: &Run, visit: &mut Visitor) {
    let mut found = BTreeSet::new();
    let mut note = |graph: &Graph| {
        each_address(graph, &mut |address| {
            found.insert(address);
        });
    };
    run.step_without_hec(|step| step.kept_graphs().for_each(&mut note));
    run.inbox.each(|message| message.parcel().into_iter().for_each(|parcel| note(&parcel.graph)));
    let (own, of_others): (BTreeSet<usize>, _) = found.into_iter().partition(|&address| is_own(address));
    own.into_iter().for_each(|address| visit(&mut Closure(address)));
    *unpoisoned(FOUND.lock()) = of_others;
}

/// The addresses of others that graphs refer to, once.
pub fn take_found() -> BTreeSet<usize> {
    std::mem::take(&mut *unpoisoned(FOUND.lock()))
}

/// Calls `f` with the addresses of a graph's objects, and of what these refer to.
unsafe fn each_address(graph: &Graph, f: &mut impl FnMut(usize)) {
    let Some(parts) = graph.parts() else { return };
    let packet = Packet::of(&parts.extents, &parts.words);
    let function_info = |function: Closure| -> Info {
        match packet.find(function.untag().0) {
            Some(words) => words.info(),
            None if program::holds(function.untag().0) => function.untag().info(),
            None => present_function(function),
        }
    };
    let mut pointer = |p: Closure| {
        if in_heap(p.0) {
            f(p.untag().0);
        }
    };
    parts.roots.iter().for_each(|&root| pointer(root));
    packet.each(|to, words, _| {
        pointer(to);
        fields::each(words, words.info(), &function_info, |i| pointer(words.field(i)));
    });
    if !parts.thunk.is_empty() {
        let words = Closure(parts.thunk.as_ptr() as usize);
        fields::each(words, words.info(), &function_info, |i| pointer(words.field(i)));
    }
}

/// All weights that this PE has: those that it holds, and those in messages that have come. On own blocks there are
/// those that come back.
pub fn held(run: &Run) -> Vec<Credit> {
    let mut credits = run.step_without_hec(|step| step.held_credits());
    run.inbox.each(|message| match message {
        Message::Credit(credit) => credits.push(*credit),
        Message::ReturnCredits(returned) => credits.extend(returned),
        _ => credits.extend(message.parcel().into_iter().flat_map(|parcel| &parcel.credits)),
    });
    credits
}
