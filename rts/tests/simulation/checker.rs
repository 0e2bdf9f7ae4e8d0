//! What must hold in every simulated run.
//!
//! 1. No live object is freed: every reference of an object or thread leads to an object. (The heap's model also says
//!    so when somebody uses what is not there.)
//! 2. No garbage is kept for ever: what is cached is counted. When all is done, no weight is out, and nothing is left
//!    but the value of `main`. A lost PE's weights are missing, so this is asked of runs without losses only. Thunks
//!    that were given up keep what they refer to. Those of several PEs may keep each other until a global collection,
//!    so of runs with such thunks it is only asked that all weights that are out are held by somebody.
//! 3. Each thunk is updated once, and each task evaluated once, one that was placed at its place. A loss may make an
//!    evaluation necessary again, and so may a value that stays, or a call that is cancelled.
//! 4. The answer is right, whatever is lost and whatever stays, and nothing waits for ever. (The heap's model says so
//!    when an exception reaches what the program itself evaluates.)
//! 5. Each call ends once: with its value, or as cancelled if it was, or as lost if its PE is.
use crate::calls::{Outcome, PlannedCall};
use crate::cluster::ids::{Call, Pe};
use crate::graph::owner;
use crate::plan::{Figures, Plan};
use crate::program::Task;
use crate::world::{Process, World};
use std::collections::{BTreeMap, BTreeSet};

/// Runs a plan, and checks it.
pub fn check(plan: &Plan) -> Figures {
    let mut world = World::new(plan);
    let (answer, tasks) = plan.program.evaluate(plan.program.main());
    let found = world.run(references_lead_to_objects);
    assert_eq!(found, answer, "the answer is wrong");
    let lost = world.processes.iter().filter(|p| !p.is_alive()).count();
    let outcomes = calls_have_ended(&world.processes, plan);
    let number = |is_like: fn(&Outcome) -> bool| outcomes.iter().filter(|o| is_like(o)).count();
    let (returned, cancelled) = (number(|o| matches!(o, Outcome::Value(_))), number(|o| *o == Outcome::Cancelled));
    let mut expected: BTreeSet<Task> = tasks.iter().copied().collect();
    if lost == 0 {
        let performed = plan.calls.iter().zip(&outcomes).filter(|(_, o)| **o != Outcome::Cancelled);
        expected.extend(performed.flat_map(|(call, _)| plan.program.evaluate(call.action).1));
        if plan.program.partial == 0 {
            weights_sum_up(&world.processes);
        }
    }
    let none_stays = lost == 0 && plan.program.staying == 0;
    let none_given_up = none_stays && cancelled == 0;
    tasks_are_evaluated(&world.processes, &expected, none_given_up);
    if none_given_up && plan.program.partial == 0 {
        nothing_is_left(&world.processes);
    }
    if none_stays {
        placed_tasks_are_evaluated_there(&world);
    }
    nothing_waits(&world.processes);
    let sum = |of: fn(&Process) -> u64| world.processes.iter().map(of).sum::<u64>();
    let evaluations = sum(|p| p.heap.evaluated.len() as u64) as usize;
    let met_staying = sum(|p| p.heap.met_staying);
    let frozen = sum(|p| p.heap.frozen);
    Figures { tasks: tasks.len(), lost, evaluations, met_staying, frozen, returned, cancelled, ..world.figures }
}

pub fn references_lead_to_objects(processes: &[Process]) {
    let alive = |pe: Pe| processes[usize::from(pe.0)].is_alive() && !processes[0].element.members.is_lost(pe);
    for (n, process) in processes.iter().enumerate().filter(|(n, _)| alive(Pe(*n as u16))) {
        for reference in process.heap.all_references().filter(|&r| alive(owner(r))) {
            let is_there = processes[usize::from(owner(reference).0)].heap.has(reference);
            assert!(is_there, "{reference:?} was freed, and PE {n} refers to it");
        }
    }
}

fn tasks_are_evaluated(processes: &[Process], expected: &BTreeSet<Task>, is_once: bool) {
    let mut times = BTreeMap::new();
    for task in processes.iter().flat_map(|p| &p.heap.evaluated) {
        *times.entry(task).or_insert(0) += 1;
    }
    let missing = expected.iter().find(|task| !times.contains_key(task));
    assert_eq!(missing, None, "was not evaluated");
    let again = times.into_iter().find(|(_, times)| *times > 1);
    assert!(!is_once || again.is_none(), "{again:?} was evaluated more than once");
}

fn placed_tasks_are_evaluated_there(world: &World) {
    for (pe, task) in &world.placed {
        let is_there = world.processes[usize::from(pe.0)].heap.evaluated.contains(task);
        assert!(is_there, "{task:?} was placed at {pe:?}, and not evaluated there");
    }
}

/// What the calls of PEs that go on came to.
fn calls_have_ended(processes: &[Process], plan: &Plan) -> Vec<Outcome> {
    let of = |pe: Pe| &processes[usize::from(pe.0)];
    let calls = plan.calls.iter().enumerate().filter(|(_, call)| of(call.caller).is_alive());
    let check = |(n, call): (usize, &PlannedCall)| {
        let outcome = of(call.caller).heap.calls.outcome(Call(n as u64)).unwrap_or_else(|| panic!("{call:?} waits"));
        let is_right = match outcome {
            Outcome::Value(value) => value == plan.program.evaluate(call.action).0,
            Outcome::Stays => plan.program.stays(call.action),
            Outcome::Cancelled => call.cancelled_after.is_some(),
            Outcome::Lost => of(call.caller).element.members.is_lost(call.place),
        };
        assert!(is_right, "{call:?} has ended with {outcome:?}");
        outcome
    };
    calls.map(check).collect()
}

fn nothing_waits(processes: &[Process]) {
    for (n, process) in processes.iter().enumerate().filter(|(_, p)| p.is_alive()) {
        let element = &process.element;
        assert_eq!(element.loans.lent().count(), 0, "PE {n} waits for loans");
        assert_eq!(element.fetches.addresses().count(), 0, "PE {n} waits for answers");
        assert_eq!(element.readers.addresses().count(), 0, "PE {n} has readers that wait");
        assert!(element.debts.is_empty(), "PE {n} has not ended what it has borrowed");
        assert!(!process.heap.has_threads(), "PE {n} has threads");
        let is_counted = |block| element.held.holds(block);
        assert!(process.heap.cached_blocks().all(is_counted), "PE {n} caches what it holds no weight of");
    }
}

fn weights_sum_up(processes: &[Process]) {
    let mut held = BTreeMap::new();
    for credit in processes.iter().flat_map(|p| p.element.held.credits()) {
        *held.entry(credit.block).or_insert(0) += credit.weight;
    }
    let given = processes.iter().flat_map(|p| p.element.given.blocks());
    assert_eq!(given.map(|c| (c.block, c.weight)).collect::<BTreeMap<_, _>>(), held, "weights given, and held");
}

fn nothing_is_left(processes: &[Process]) {
    for (n, process) in processes.iter().enumerate() {
        assert_eq!(process.element.held.credits().next(), None, "PE {n} still holds a weight");
        assert_eq!(process.element.given.blocks().next(), None, "PE {n} misses a weight");
        assert_eq!(process.heap.number_of_objects(), usize::from(n == 0), "PE {n} keeps garbage");
    }
}
