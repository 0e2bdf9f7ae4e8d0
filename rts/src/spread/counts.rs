//! What each processing element (PE) has done, for the report of `-s`.
//!
//! *Protocol*
//! 1. When `main` has ended, PE 0 sends ASK_COUNTS to all others, and waits for their answers, but no longer than
//!    [`LIMIT`].
//! 2. A PE that is asked starts an OS thread. This stops the world of its PE, since only then the allocation areas say
//!    what was allocated. It answers COUNTS. The network task does not wait for that.
//! 3. PE 0 prints two tables, each with a line for each PE and one for the sum. A PE that has not answered has a line
//!    that says so.
//!
//! *Locking*: who stops the world takes the element's lock. Nobody holds that while he waits for a HEC.
//!
//! *Checked by* the tests below and `tests/commands/spread.sh`.
use crate::base::poison::unpoisoned;
use crate::cluster::ids::{Pe, COORDINATOR};
use crate::cluster::message::Message;
use crate::observe::stats;
use crate::sched::gc;
use crate::spread::at_rest;
use crate::spread::install;
use crate::spread::run::{self, Run};
use crate::spread::traffic::{RECEIVED, SENT};
use crate::spread::why_fetch;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// How long PE 0 waits for the others' answers.
const LIMIT: Duration = Duration::from_secs(1);

/// What is counted, in the order of [`own`], which adds the pairs of `why_fetch.rs`.
const COLUMNS: [&str; 20] = [
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
    "global",
    "bytes: calls",
    "loans",
    "fetches",
    "weights",
    "control",
    "cache hits",
];
/// Those of them that are nanoseconds.
const TIME: usize = 11;
/// Those of the first table. The others are in a second one: lines would be too long.
const FIRST: usize = 10;

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
    let by_purpose = SENT.by_purpose.each_ref().map(|bytes| bytes.load(Relaxed));
    let counts = counts.chain(by_purpose).chain([install::present_targets()]);
    counts.chain(why_fetch::counted()).collect()
}

/// PE 0 asks. Without an answer it reports that.
pub fn on_asked(run: &'static Run) {
    at_rest::act("haskell-counts", || {
        // SAFETY: the world is stopped.
        let counts = unsafe { own(run) };
        run.send(COORDINATOR, &Message::Counts(counts));
    });
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
    let table = if has_table { tables(run.count(), &all) } else { String::new() };
    table + &why_fetch::report(all.values().filter_map(|counts| counts.get(COLUMNS.len()..)))
}

/// Both tables. Each has a line for each PE, and the sum.
fn tables(count: usize, answers: &BTreeMap<Pe, Vec<u64>>) -> String {
    [0..FIRST, FIRST..COLUMNS.len()].map(|columns| table(columns, count, answers)).concat()
}

fn table(columns: Range<usize>, count: usize, answers: &BTreeMap<Pe, Vec<u64>>) -> String {
    let cell = |column: usize, value: u64| match column {
        TIME => format!("{:.3}s", value as f64 / 1e9),
        _ => stats::grouped(value),
    };
    let line = |name: String, value: &dyn Fn(usize) -> u64| -> Vec<String> {
        [name].into_iter().chain(columns.clone().map(|column| cell(column, value(column)))).collect()
    };
    let heads = ["PE"].iter().chain(&COLUMNS[columns.clone()]);
    let mut lines = vec![heads.map(ToString::to_string).collect()];
    let of = |counts: &Vec<u64>, column: usize| counts.get(column).copied().unwrap_or(0);
    lines.extend((0..count as u16).map(|pe| match answers.get(&Pe(pe)) {
        Some(counts) => line(pe.to_string(), &|column| of(counts, column)),
        None => vec![pe.to_string(), "no answer".to_owned()],
    }));
    lines.push(line("sum".to_owned(), &|column| answers.values().map(|counts| of(counts, column)).sum()));
    let width = |column: usize| lines.iter().filter_map(|line| line.get(column)).map(String::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..=columns.len()).map(width).collect();
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
        let text = tables(3, &BTreeMap::from([(Pe(0), counts(1_000)), (Pe(2), counts(1_000_000))]));
        let words: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(words[0][..3], ["PE", "sent", "bytes"]);
        assert_eq!(words[1][..3], ["0", "1,000", "2,000"]);
        assert_eq!(words[2], ["1", "no", "answer"]);
        assert_eq!(words[4][..3], ["sum", "1,001,000", "2,002,000"]);
        assert_eq!((words[5].len(), words[6][..3].join(" ")), (0, "PE GCs GC".to_owned()));
        assert_eq!(words[7][..4], ["0", "11,000", "0.000s", "13,000"]);
        assert_eq!(words[8], ["1", "no", "answer"]);
        assert_eq!(words[10][..4], ["sum", "11,011,000", "0.012s", "13,013,000"]);
        assert_eq!(words[10].last(), Some(&"20,020,000"));
        let ends: Vec<usize> = text.lines().map(str::len).filter(|&length| length > 30).collect();
        assert_eq!(ends, [[ends[0]; 4], [ends[4]; 4]].concat());
    }

    #[test]
    fn lines_are_readable() {
        let many: Vec<u64> =
            (0..COLUMNS.len()).map(|column| if column == TIME { 12_345_000_000 } else { 999_999 }).collect();
        let text = tables(2, &BTreeMap::from([(Pe(0), many.clone()), (Pe(1), many)]));
        assert!(text.lines().all(|line| line.len() <= 120), "{text}");
    }
}
