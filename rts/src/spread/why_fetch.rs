//! `+RTS --why-fetch`: which objects have been fetched most, by the names of their info tables.
//!
//! The processing element that has asked counts the answers. All run the same executable, so PE 0, which gets all
//! counts with those of `-s`, can name the info tables of all.
use crate::abi::Info;
use crate::base::poison::unpoisoned;
use crate::observe::stats::grouped;
use crate::observe::symbolize::name_of;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Mutex;

/// Lines of the report.
const LINES: usize = 20;

static IS_ENABLED: AtomicBool = AtomicBool::new(false);
/// How often an object with this info table was the root of an answer.
static FETCHED: Mutex<BTreeMap<u64, u64>> = Mutex::new(BTreeMap::new());

pub fn enable() {
    IS_ENABLED.store(true, Relaxed);
}

pub fn is_enabled() -> bool {
    IS_ENABLED.load(Relaxed)
}

/// An object with this header has been fetched.
pub fn note(info: Info) {
    if is_enabled() {
        *unpoisoned(FETCHED.lock()).entry(info.0 as u64).or_default() += 1;
    }
}

/// What this PE has counted, as pairs of an info table and a number.
pub fn counted() -> Vec<u64> {
    unpoisoned(FETCHED.lock()).iter().flat_map(|(&info, &count)| [info, count]).collect()
}

/// The report on the pairs of all PEs, if it is asked for.
pub fn report<'a>(counted: impl Iterator<Item = &'a [u64]>) -> String {
    if !is_enabled() {
        return String::new();
    }
    let mut sums: BTreeMap<u64, u64> = BTreeMap::new();
    for pair in counted.flat_map(|counts| counts.chunks_exact(2)) {
        *sums.entry(pair[0]).or_default() += pair[1];
    }
    let all: u64 = sums.values().sum();
    let mut sums: Vec<(u64, u64)> = sums.into_iter().collect();
    sums.sort_by_key(|&(info, count)| (std::cmp::Reverse(count), info));
    let line = |&(info, count): &(u64, u64)| {
        let name = name_of(info as usize).unwrap_or_else(|| format!("{info:#x}"));
        format!("  {:>12}  {name}\n", grouped(count))
    };
    let lines: String = sums.iter().take(LINES).map(line).collect();
    let rest: u64 = sums.iter().skip(LINES).map(|(_, count)| count).sum();
    let rest = if rest > 0 { format!("  {:>12}  others\n", grouped(rest)) } else { String::new() };
    format!("  {:>12}  fetched, by what came\n{lines}{rest}\n", grouped(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_come_first() {
        enable();
        let (one, other): (Vec<u64>, Vec<u64>) = (vec![8, 1, 16, 2_000], (0..60).map(|n| 100 + n).collect());
        let text = report([&one[..], &one[..], &other[..]].into_iter());
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[0], ["7,902", "fetched,", "by", "what", "came"]);
        assert_eq!(lines[1][0], "4,000");
        assert_eq!(lines[2][0], "159");
        assert_eq!(lines[1 + LINES][1], "others");
    }
}
