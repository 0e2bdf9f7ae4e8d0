//! What each processing element (PE) has done, for the report of `-s`.
//!
//! *Protocol*
//! 1. When `main` has ended, PE 0 sends ASK_COUNTS to all others, and waits for their answers, but no longer than
//!    [`LIMIT`].
//! 2. A PE that is asked starts an OS thread. This stops the world of its PE, since only then the allocation areas say
//!    what was allocated. It answers COUNTS. The network task does not wait for that.
//! 3. PE 0 prints a line for each PE and one for the sum. A PE that has not answered has a line that says so.
//!
//! *Locking*: who stops the world takes the element's lock. Nobody holds that while he waits for a HEC.
//!
//! *Checked by* the tests below and `tests/commands/spread.sh`.
use crate::base::os_thread;
use crate::base::poison::unpoisoned;
use crate::cluster::ids::{Pe, COORDINATOR};
use crate::cluster::message::Message;
use crate::observe::stats;
use crate::sched::{gc, handoff, stop_world, task_table};
use crate::spread::run::{self, Run};
use crate::spread::traffic::{RECEIVED, SENT};
use crate::spread::why_fetch;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// How long PE 0 waits for the others' answers.
const LIMIT: Duration = Duration::from_secs(1);

/// What is counted, in the order of [`own`], which adds the pairs of `why_fetch.rs`.
const COLUMNS: [&str; 14] = [
    "sent",
    "bytes",
    "received",
    "bytes",
    "steals",
    "refused",
    "lent",
    "borrowed",
    "fetches",
    "merged",
    "GCs",
    "GC time",
    "allocated",
    "global GCs",
];
/// Those of them that are nanoseconds.
const TIME: usize = 11;

/// At PE 0: the answers that have come.
static ANSWERS: Mutex<BTreeMap<Pe, Vec<u64>>> = Mutex::new(BTreeMap::new());
static CAME: Condvar = Condvar::new();

/// What this PE has counted.
/// # Safety
/// The caller has stopped the world.
unsafe fn own(run: &Run) -> Vec<u64> {
    let element = run.element();
    let merged = element.fetches.wanted().saturating_sub(SENT.fetches.load(Relaxed));
    drop(element);
    let traffic = [
        &SENT.messages,
        &SENT.bytes,
        &RECEIVED.messages,
        &RECEIVED.bytes,
        &SENT.steals,
        &RECEIVED.refusals,
        &SENT.loans,
        &RECEIVED.loans,
        &SENT.fetches,
    ];
    let (collections, time) = stats::collections();
    let heap = [merged, collections, time as u64, gc::allocated(), run.cycle.completed()];
    let counts = traffic.map(|count| count.load(Relaxed)).into_iter().chain(heap);
    counts.chain(why_fetch::counted()).collect()
}

/// PE 0 asks.
pub fn on_asked(run: &'static Run) {
    let answer = move || {
        let me = task_table::current();
        handoff::acquire(me);
        // SAFETY: this task holds a HEC, and runs no thread. It gives back all that it has taken.
        let counts = unsafe {
            while !stop_world::stop(me) {}
            let counts = own(run);
            stop_world::resume(me);
            handoff::release_to_c(me);
            counts
        };
        run.send(COORDINATOR, &Message::Counts(counts));
    };
    // Without it there is no answer, which PE 0 reports.
    let _ = os_thread::start("haskell-counts", answer);
}

/// Another PE has answered.
pub fn on_answer(from: Pe, counts: Vec<u64>) {
    unpoisoned(ANSWERS.lock()).insert(from, counts);
    CAME.notify_one();
}

/// What all PEs have counted, as a table, if that is asked for, and what they have fetched most; nothing for a program
/// by itself.
/// # Safety
/// The caller has stopped the world.
pub unsafe fn report(has_table: bool) -> String {
    let Some(run) = run::current().filter(|_| has_table || why_fetch::is_enabled()) else { return String::new() };
    let asked: Vec<Pe> = run.element().members.others().collect();
    asked.iter().for_each(|&pe| run.send(pe, &Message::AskCounts));
    let missing = |answers: &mut BTreeMap<Pe, Vec<u64>>| answers.len() < asked.len();
    let (answers, _) = unpoisoned(CAME.wait_timeout_while(unpoisoned(ANSWERS.lock()), LIMIT, missing));
    let mut all = answers.clone();
    drop(answers);
    all.insert(run.me(), own(run));
    let table = if has_table { table(run.count(), &all) } else { String::new() };
    table + &why_fetch::report(all.values().filter_map(|counts| counts.get(COLUMNS.len()..)))
}

fn table(count: usize, answers: &BTreeMap<Pe, Vec<u64>>) -> String {
    let cell = |column: usize, value: u64| match column {
        TIME => format!("{:.3}s", value as f64 / 1e9),
        _ => stats::grouped(value),
    };
    let line = |name: String, counts: &Vec<u64>| -> Vec<String> {
        let cells = counts.iter().take(COLUMNS.len()).enumerate().map(|(column, &value)| cell(column, value));
        [name].into_iter().chain(cells).collect()
    };
    let sum = (0..COLUMNS.len()).map(|column| answers.values().filter_map(|counts| counts.get(column)).sum()).collect();
    let mut lines = vec![["PE"].iter().chain(&COLUMNS).map(ToString::to_string).collect()];
    lines.extend((0..count as u16).map(|pe| match answers.get(&Pe(pe)) {
        Some(counts) => line(pe.to_string(), counts),
        None => vec![pe.to_string(), "no answer".to_owned()],
    }));
    lines.push(line("sum".to_owned(), &sum));
    let width = |column: usize| lines.iter().filter_map(|line| line.get(column)).map(String::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..=COLUMNS.len()).map(width).collect();
    let padded = |line: &Vec<String>| -> String {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("  {cell:>width$}"));
        cells.collect::<String>() + "\n"
    };
    lines.iter().map(padded).collect::<String>() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pe_has_a_line_and_the_last_one_is_the_sum() {
        let counts = |n: u64| (0..COLUMNS.len() as u64).map(|column| n * (column + 1)).collect();
        let text = table(3, &BTreeMap::from([(Pe(0), counts(1_000)), (Pe(2), counts(1_000_000))]));
        let words: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(words[0][..3], ["PE", "sent", "bytes"]);
        assert_eq!(words[1][..3], ["0", "1,000", "2,000"]);
        assert_eq!(words[2], ["1", "no", "answer"]);
        assert_eq!(words[4][..3], ["sum", "1,001,000", "2,002,000"]);
        assert_eq!(words[4][1 + TIME..], ["0.012s", "13,013,000", "14,014,000"]);
        let ends: Vec<usize> = text.lines().map(str::len).filter(|&length| length > 20).collect();
        assert_eq!(ends, [ends[0]; 4]);
    }
}
