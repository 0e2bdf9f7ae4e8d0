//! The profile of black holes (`HECATON_SHOW=blackholes`): how often and how long threads wait, for thunks of which
//! kind, and how often work is duplicated.
//!
//! *Invariants*
//!
//! - A claimed thunk does not tell its former header. So the headers of claimed thunks are kept here by address, and
//!   updated after each collection.
//! - Compiled code that claims eagerly does not call this module, so its thunks have no name here.
//! - When the profile is off, it costs the test of a flag where a thread stops.
//!
//! *Locking*: one lock for all counts.
use crate::abi::symbols::is_blackhole_info;
use crate::abi::{Closure, Info, Tso};
use crate::base::poison::unpoisoned;
use crate::observe::symbolize;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Kinds of thunks in the report: as many as fit on a screen.
const TOP: usize = 20;

static ON: AtomicBool = AtomicBool::new(false);

#[derive(Default)]
struct Counts {
    /// The headers that claimed thunks had before.
    kinds: HashMap<Closure, Info>,
    /// By thread number: the kind of thunk that the thread waits for, and the start of the wait.
    waiting: HashMap<u64, (Option<Info>, Instant)>,
    waits: HashMap<Option<Info>, (u64, Duration)>,
    cut_off: u64,
    stolen: u64,
    copied: u64,
}

static COUNTS: Mutex<Option<Counts>> = Mutex::new(None);

fn counts() -> MutexGuard<'static, Option<Counts>> {
    unpoisoned(COUNTS.lock())
}

fn note(what: impl FnOnce(&mut Counts)) {
    if ON.load(Ordering::Relaxed) {
        what(counts().get_or_insert_with(Counts::default))
    }
}

/// Starts counting. The collector then has to call [`moved`].
pub fn start() {
    ON.store(true, Ordering::Relaxed);
}

/// A thunk with this header was claimed.
pub fn claimed(thunk: Closure, header: Info) {
    note(|c| {
        c.kinds.insert(thunk, header);
    });
}

/// A thread starts to wait for a thunk.
/// # Safety
/// `t` is live.
pub unsafe fn blocked(t: Tso, thunk: Closure) {
    note(|c| {
        let kind = c.kinds.get(&thunk).copied();
        c.waiting.insert(t.obj().id, (kind, Instant::now()));
    });
}

/// The thread no longer waits.
/// # Safety
/// `t` is live.
pub unsafe fn woken(t: Tso) {
    note(|c| {
        if let Some((kind, since)) = c.waiting.remove(&t.obj().id) {
            let (waits, time) = c.waits.entry(kind).or_default();
            *waits += 1;
            *time += since.elapsed();
        }
    });
}

/// The evaluation of a thunk was ended, because another thread evaluates it or has its value.
pub fn cut_off() {
    note(|c| c.cut_off += 1);
}

/// A thunk was taken from the thread that evaluated it and would not run soon.
pub fn stolen() {
    note(|c| c.stolen += 1);
}

/// A thread evaluates a copy of another one's work.
pub fn copied() {
    note(|c| c.copied += 1);
}

/// After a collection. `now` returns the new address of a live object.
pub fn moved(now: &mut (dyn FnMut(Closure) -> Option<Closure> + '_)) {
    note(|c| {
        let kinds = std::mem::take(&mut c.kinds);
        for (thunk, kind) in kinds {
            // SAFETY: a live object, or what an evaluated thunk has become.
            let claimed = |c: &Closure| unsafe { is_blackhole_info(c.untag().info()) };
            if let Some(thunk) = now(thunk).filter(claimed) {
                c.kinds.insert(thunk, kind);
            }
        }
    });
}

/// Prints the counts to stderr.
pub fn report() {
    // A closed stderr must not end the program.
    note(|c| drop(std::io::stderr().write_all(text(c, &mut symbolize::name_of).as_bytes())));
}

fn text(c: &Counts, name_of: &mut dyn FnMut(usize) -> Option<String>) -> String {
    let waits: u64 = c.waits.values().map(|w| w.0).sum();
    let time: Duration = c.waits.values().map(|w| w.1).sum();
    let mut out = format!(
        "Black holes: threads waited {waits} times, {:.3} s in all; work done twice was cut off \
         {} times\n",
        time.as_secs_f64(),
        c.cut_off
    );
    if c.stolen > 0 {
        let _ = writeln!(out, "Thunks taken from threads that did not run: {}", c.stolen);
    }
    if c.copied > 0 {
        let _ = writeln!(out, "Thunks of passive threads that were evaluated twice: {}", c.copied);
    }
    let mut kinds: Vec<_> = c.waits.iter().collect();
    kinds.sort_by_key(|(kind, &(waits, time))| (std::cmp::Reverse((time, waits)), kind.map(|k| k.0)));
    if !kinds.is_empty() {
        out += "       waits   seconds  thunk\n";
    }
    for (kind, (waits, time)) in kinds.into_iter().take(TOP) {
        let name = match kind {
            Some(info) => name_of(info.0).unwrap_or_else(|| format!("{:#x}", info.0)),
            None => "(claimed by compiled code)".to_owned(),
        };
        let _ = writeln!(out, "{waits:12}{:10.3}  {name}", time.as_secs_f64());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_waits_come_first() {
        let mut c = Counts { cut_off: 2, stolen: 4, ..Counts::default() };
        c.waits.insert(Some(Info(16)), (3, Duration::from_millis(20)));
        c.waits.insert(Some(Info(32)), (1, Duration::from_millis(1500)));
        c.waits.insert(None, (7, Duration::ZERO));
        let mut name = |p| (p == 16).then(|| "Main_slow_info".to_owned());
        assert_eq!(
            text(&c, &mut name),
            "Black holes: threads waited 11 times, 1.520 s in all; work done twice was cut off 2 times\n\
             Thunks taken from threads that did not run: 4\n\
             \x20      waits   seconds  thunk\n\
             \x20          1     1.500  0x20\n\
             \x20          3     0.020  Main_slow_info\n\
             \x20          7     0.000  (claimed by compiled code)\n"
        );
        assert_eq!(text(&Counts::default(), &mut name).lines().count(), 1);
    }
}
