//! The runs: what kinds of faults are tried, with how many seeds.
use crate::base::random::Random;
use crate::calls::PlannedCall;
use crate::checker::check;
use crate::cluster::credit::NEW_WEIGHT;
use crate::cluster::ids::{Micros, Pe, COORDINATOR};
use crate::cluster::members::{HEARTBEAT, SILENCE};
use crate::network::{Faults, Partition};
use crate::plan::{Figures, Plan};
use crate::program::{Program, Task};
use crate::world::World;
use std::panic::{catch_unwind, resume_unwind};

/// Seeds of each kind. `HECATON_SEEDS` says another number.
const SEEDS: u64 = 150;

pub fn seeds() -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    match number("HECATON_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("HECATON_SEEDS").unwrap_or(SEEDS),
    }
}

/// Checks a kind of plan with all seeds.
fn check_all(plan: impl Fn(u64, &mut Random) -> Plan) -> Vec<Figures> {
    let check_one = |seed| {
        let plan = plan(seed, &mut Random(seed));
        catch_unwind(|| check(&plan)).unwrap_or_else(|cause| {
            eprintln!("HECATON_SEED={seed} fails: {plan:?}");
            resume_unwind(cause)
        })
    };
    seeds().map(check_one).collect()
}

/// A program without placed calls and the like.
const PLAIN: Program =
    Program { seed: 1, depth: 12, fanout: 5, work: 2_000, placed: 0, wanted: 0, lenient: 0, staying: 0, partial: 0 };

fn plan(seed: u64, random: &mut Random) -> Plan {
    let faults = Faults { is_datagram: false, lost: 0, duplicated: 0, partitions: vec![] };
    let pes = 1 + random.below(8) as u16;
    let mut program = Program {
        seed: random.number(),
        depth: 2 + random.below(5) as u32,
        fanout: 2 + random.below(4),
        work: 1 + random.below(5_000),
        ..PLAIN
    };
    // Small weights are soon too small to be split.
    let new_weight = if random.below(2) == 0 { NEW_WEIGHT } else { 1 + random.below(8) };
    program.placed = [0, 50, 500][random.below(3) as usize];
    program.wanted = [0, 300, 1_000][random.below(3) as usize];
    program.lenient = [0, 300, 1_000][random.below(3) as usize];
    let calls = if pes > 1 { calls(pes, &program, random) } else { vec![] };
    Plan { seed, pes, program, new_weight, faults, kills: vec![], calls }
}

/// Calls by PE 0, and some by others.
fn calls(pes: u16, program: &Program, random: &mut Random) -> Vec<PlannedCall> {
    let time = START_TIME + program.expected_time(pes);
    let mut call = || {
        let (all, others) = (u64::from(pes), u64::from(pes) - 1);
        let caller = if random.below(2) == 0 { COORDINATOR } else { Pe(random.below(all) as u16) };
        PlannedCall {
            time: random.below(time),
            caller,
            place: Pe((caller.0 + 1 + random.below(others) as u16) % pes),
            action: Task { id: random.number(), depth: random.below(3) as u32 },
            cancelled_after: (random.below(2) == 0).then(|| random.below(20_000)),
        }
    };
    (0..4).map(|_| call()).collect()
}

fn datagrams(seed: u64, random: &mut Random) -> Plan {
    let faults =
        Faults { is_datagram: true, lost: random.below(200), duplicated: random.below(200), partitions: vec![] };
    Plan { faults, ..plan(seed, random) }
}

/// By then most runs have started.
const START_TIME: Micros = 5_000;

/// Some PEs, but not PE 0, and a time for each at which something happens to it.
fn victims(plan: &Plan, random: &mut Random) -> Vec<(Pe, Micros)> {
    let time = START_TIME + plan.program.expected_time(plan.pes);
    let mut victims: Vec<(Pe, Micros)> = (1..plan.pes).map(|n| (Pe(n), random.below(time))).collect();
    victims.retain(|_| random.below(2) == 0);
    victims
}

#[test]
fn channels_deliver_in_order() {
    let figures = check_all(plan);
    assert!(figures.iter().all(|f| f.lost == 0), "a PE was declared lost, and was not");
    let sum = |of: fn(&Figures) -> u64| figures.iter().map(of).sum::<u64>();
    let all_happen = sum(|f| f.loans - f.placed) > 0 && sum(|f| f.placed) > 0;
    assert!(figures.len() == 1 || all_happen, "nothing was lent or placed");
    assert_eq!(sum(|f| f.failed), sum(|f| f.frozen), "a loan has failed that was not frozen");
    assert!(figures.len() == 1 || sum(|f| f.frozen) > 0, "nothing was frozen");
    let all_end = sum(|f| f.returned as u64) > 0 && sum(|f| f.cancelled as u64) > 0;
    assert!(figures.len() == 1 || all_end, "no call has returned, or none was cancelled");
}

/// Programs do not notice that values stay: each ends as it does on one PE.
#[test]
fn values_stay() {
    let figures = check_all(|seed, random| {
        let mut plan = if random.below(2) == 0 { plan(seed, random) } else { datagrams(seed, random) };
        plan.program.staying = [10, 50, 200, 1_000][random.below(4) as usize];
        plan
    });
    assert!(figures.iter().all(|f| f.lost == 0), "a PE was declared lost, and was not");
    let sum = |of: fn(&Figures) -> u64| figures.iter().map(of).sum::<u64>();
    let all_happen = sum(|f| f.failed) > 0 && sum(|f| f.met_staying) > 0;
    assert!(figures.len() == 1 || all_happen, "no loan has failed, or nobody has read what stays");
}

/// Values with parts that stay at the borrower.
#[test]
fn parts_stay() {
    let figures = check_all(|seed, random| {
        let mut plan = if random.below(2) == 0 { plan(seed, random) } else { datagrams(seed, random) };
        plan.program.staying = [50, 200, 500][random.below(3) as usize];
        plan.program.partial = [50, 200, 500][random.below(3) as usize];
        plan
    });
    assert!(figures.iter().all(|f| f.lost == 0), "a PE was declared lost, and was not");
}

#[test]
fn datagrams_are_lost_duplicated_and_reordered() {
    let figures = check_all(datagrams);
    assert!(figures.iter().all(|f| f.lost == 0), "a PE was declared lost, and was not");
}

#[test]
fn processes_are_killed() {
    let figures = check_all(|seed, random| {
        let mut plan = if random.below(2) == 0 { plan(seed, random) } else { datagrams(seed, random) };
        plan.program.staying = [0, 50][random.below(2) as usize];
        plan.program.partial = [0, 200][random.below(2) as usize];
        Plan { kills: victims(&plan, random), ..plan }
    });
    let many_evaluated_again = figures.iter().filter(|f| f.evaluations > f.tasks).count() > figures.len() / 10;
    assert!(figures.len() == 1 || many_evaluated_again, "losses cost nothing");
}

#[test]
fn the_network_is_partitioned() {
    check_all(|seed, random| {
        let mut plan = datagrams(seed, random);
        for (pe, from) in victims(&plan, random) {
            let length = [10_000, 500_000, 4_000_000, 20_000_000];
            let to = from + length[random.below(4) as usize];
            // From all, from PE 0 only, or from some.
            let mut without: Vec<Pe> = (0..plan.pes).map(Pe).filter(|&other| other != pe).collect();
            match random.below(3) {
                0 => {}
                1 => without.truncate(1),
                _ => without.retain(|_| random.below(2) == 0),
            }
            plan.faults.partitions.push(Partition { apart: pe, without, from, to });
        }
        plan
    });
}

#[test]
fn all_end_without_pe_0() {
    let plan =
        Plan { pes: 5, program: PLAIN, kills: vec![(COORDINATOR, 50_000)], calls: vec![], ..plan(1, &mut Random(1)) };
    let mut world = World::new(&plan);
    world.run_until(50_000 + HEARTBEAT);
    assert_eq!(world.processes.iter().filter(|p| p.is_alive()).count(), 4);
    world.run_until(50_000 + SILENCE + HEARTBEAT);
    assert!(world.processes.iter().all(|p| !p.is_alive()), "a PE goes on without PE 0");
}

#[test]
fn a_seed_decides_everything() {
    let plan = datagrams(7, &mut Random(7));
    assert_eq!(check(&plan), check(&plan));
}

/// One program on more and more PEs. `--nocapture` shows the figures.
#[test]
fn messages_and_time_grow_slowly() {
    println!("  PEs   tasks   time ms  speed-up    loans   fetches  messages  steals/PE/ms");
    let figures = [1, 4, 16, 64, 256, 1000].map(|pes| {
        let program = Program { depth: 8, ..PLAIN };
        let figures = check(&Plan { pes, program, new_weight: NEW_WEIGHT, calls: vec![], ..plan(1, &mut Random(1)) });
        (f64::from(pes), figures)
    });
    let alone = figures[0].1.time as f64;
    let speed_up = |f: &Figures| alone / f.time as f64;
    let steals = |pes: f64, f: &Figures| f.steals as f64 / pes / (f.time as f64 / 1e3);
    for (pes, f) in &figures {
        println!(
            "{pes:5} {:7} {:9} {:9.1} {:8} {:9} {:9} {:13.2}",
            f.tasks,
            f.time / 1_000,
            speed_up(f),
            f.loans,
            f.fetches,
            f.messages,
            steals(*pes, f)
        );
    }
    assert!(figures.windows(2).all(|pair| pair[1].1.time < pair[0].1.time), "more PEs are slower");
    assert!(speed_up(&figures[2].1) > 12.0, "16 PEs are not used");
    // An idle PE sends a request for each round trip at most.
    assert!(figures.iter().all(|(pes, f)| steals(*pes, f) < 5.0), "idle PEs flood the network");
}
