//! What must hold in every simulated run.
//!
//! 1. No live object is freed: every reference of an object or thread leads to an object. (The heap's model also says
//!    so when somebody uses what is not there.)
//! 2. No garbage is kept for ever: what is cached is counted. When all is done, no weight is out, and nothing is left
//!    but the value of `main`. A lost PE's weights are missing, so this is asked of runs without losses only.
//! 3. Each thunk is updated once, and each task evaluated once. A loss may make an evaluation necessary again.
//! 4. The answer is right, whatever is lost, and nothing waits for ever.
use crate::cluster::ids::Pe;
use crate::heap::owner;
use crate::world::{Figures, Plan, Process, World};
use std::collections::BTreeMap;

/// Runs a plan, and checks it.
pub fn check(plan: &Plan) -> Figures {
    let mut world = World::new(plan);
    let (answer, tasks) = plan.program.answer();
    let found = world.run(references_lead_to_objects);
    assert_eq!(found, answer, "the answer is wrong");
    let lost = world.processes.iter().filter(|p| !p.is_alive()).count();
    each_task_is_evaluated_once(&world.processes, tasks, lost > 0);
    nothing_waits(&world.processes);
    if lost == 0 {
        nothing_is_left(&world.processes);
    }
    let evaluations = world.processes.iter().map(|p| p.heap.evaluated.len()).sum();
    Figures { tasks, lost, evaluations, ..world.figures }
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

fn each_task_is_evaluated_once(processes: &[Process], tasks: usize, is_any_lost: bool) {
    let mut times = BTreeMap::new();
    for task in processes.iter().flat_map(|p| &p.heap.evaluated) {
        *times.entry(task).or_insert(0) += 1;
    }
    assert_eq!(times.len(), tasks, "tasks that were evaluated");
    let again = times.into_iter().find(|(_, times)| *times > 1);
    assert!(is_any_lost || again.is_none(), "{again:?} was evaluated more than once");
}

fn nothing_waits(processes: &[Process]) {
    for (n, process) in processes.iter().enumerate().filter(|(_, p)| p.is_alive()) {
        let element = &process.element;
        assert_eq!(element.loans.roots().count(), 0, "PE {n} waits for loans");
        assert_eq!(element.fetches.addresses().count(), 0, "PE {n} waits for answers");
        assert_eq!(element.readers.addresses().count(), 0, "PE {n} has readers that wait");
        assert!(element.debts.is_empty(), "PE {n} has not ended what it has borrowed");
        assert!(!process.heap.has_threads(), "PE {n} has threads");
        let is_counted = |block| element.held.holds(block);
        assert!(process.heap.cached_blocks().all(is_counted), "PE {n} caches what it holds no weight of");
    }
}

fn nothing_is_left(processes: &[Process]) {
    for (n, process) in processes.iter().enumerate() {
        assert_eq!(process.element.held.credits().next(), None, "PE {n} still holds a weight");
        assert_eq!(process.element.given.blocks().next(), None, "PE {n} misses a weight");
        assert_eq!(process.heap.number_of_objects(), usize::from(n == 0), "PE {n} keeps garbage");
    }
}
