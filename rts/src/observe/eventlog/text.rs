//! Events as lines on stderr (`-v`), for programs that are linked with `-debug`.
use super::classes::{class, on};
use super::event::Event;
use crate::abi::layout::*;
use crate::abi::rts_flags::flags;
use crate::abi::Ways;
use crate::base::poison::unpoisoned;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Mutex;

/// Labels of threads.
static LABELS: Mutex<BTreeMap<u32, String>> = Mutex::new(BTreeMap::new());

fn thread(number: u32) -> String {
    let label = unpoisoned(LABELS.lock()).get(&number).cloned().unwrap_or_default();
    format!("thread {number}[\"{label}\"]")
}

pub fn print(hec: Option<u32>, time: u64, event: &Event) {
    if let Event::ThreadLabel { thread, label } = event {
        unpoisoned(LABELS.lock()).insert(*thread, String::from_utf8_lossy(label).into_owned());
    }
    let Some(what) = describe(event) else { return };
    let mut line = String::new();
    if Ways::linked().threaded {
        // SAFETY: a query.
        line += &format!("{:x}: ", unsafe { libc::pthread_self() });
    }
    if flags().TraceFlags.timestamp {
        line += &format!("{time:9}: ");
    }
    if let Some(no) = hec {
        line += &format!("cap {no}: ");
    }
    line += &what;
    line.push('\n');
    // One write, so that no other output comes between. A closed stderr must not end the program.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// The text of an event; `None` if it is useful to tools only.
fn describe(event: &Event) -> Option<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(match *event {
        Event::CreateThread(t) => format!("created {}", thread(t)),
        Event::RunThread(t) => format!("running {} (ThreadRunGHC)", thread(t)),
        Event::StopThread { thread: t, status, on } => {
            format!("{} stopped ({})", thread(t), reason(status as usize, on))
        }
        Event::ThreadRunnable(t) => format!("{} is runnable", thread(t)),
        Event::MigrateThread { thread: t, to } => format!("{} migrating to cap {to}", thread(t)),
        Event::ThreadWakeup { thread: t, hec } => format!("waking up {} on cap {hec}", thread(t)),
        Event::ThreadLabel { thread: t, label } => format!("thread {t} has label {}", text(label)),
        Event::CreateSparkThread(t) => format!("creating spark thread {t}"),
        Event::Bare(kind) => describe_bare(kind)?.to_owned(),
        Event::SparkSteal { victim } => format!("stealing a spark from cap {victim}"),
        // As on the stock runtime. Sets of HECs belong to the class of the scheduler here.
        Event::CapsetCreate { .. }
        | Event::CapsetDelete(_)
        | Event::CapsetAssign { .. }
        | Event::CapsetRemove { .. }
            if !on(class::SCHEDULER) =>
        {
            return None
        }
        Event::CapsetCreate { set, kind } => format!("created capset {set} of type {kind}"),
        Event::CapsetDelete(set) => format!("deleted capset {set}"),
        Event::CapsetAssign { set, hec } => format!("assigned cap {hec} to capset {set}"),
        Event::CapsetRemove { set, hec } => format!("removed cap {hec} from capset {set}"),
        Event::CapCreate(hec) => format!("cap {hec}: initialised"),
        Event::CapDelete(hec) => format!("cap {hec}: shutting down"),
        Event::CapDisable(hec) => format!("cap {hec}: disabled"),
        Event::CapEnable(hec) => format!("cap {hec}: enabled"),
        Event::LogMessage(message) | Event::UserMessage(message) => text(message),
        Event::UserMarker(marker) => format!("User marker: {}", text(marker)),
        Event::UserBinary(_)
        | Event::SparkCounters(_)
        | Event::HeapAllocated(_)
        | Event::HeapSize(_)
        | Event::HeapLive(_)
        | Event::HeapInfo(_)
        | Event::GcStats(_)
        | Event::TaskCreate { .. }
        | Event::TaskMigrate { .. }
        | Event::TaskDelete(_)
        | Event::WallClock { .. }
        | Event::Process(_)
        | Event::ParentProcess(_)
        | Event::RtsIdentifier(_)
        | Event::ProgramArgs(_) => return None,
    })
}

fn describe_bare(kind: usize) -> Option<&'static str> {
    Some(match kind {
        EVENT_GC_START => "starting GC",
        EVENT_GC_END => "finished GC",
        EVENT_REQUEST_SEQ_GC => "requesting sequential GC",
        EVENT_REQUEST_PAR_GC => "requesting parallel GC",
        EVENT_GC_IDLE => "GC idle",
        EVENT_GC_WORK => "GC working",
        EVENT_GC_DONE => "GC done",
        EVENT_GC_GLOBAL_SYNC => "all caps stopped for GC",
        EVENT_SPARK_CREATE => "spark created",
        EVENT_SPARK_DUD => "spark is a dud",
        EVENT_SPARK_OVERFLOW => "spark did not fit",
        EVENT_SPARK_RUN => "running a spark",
        EVENT_SPARK_FIZZLE => "spark fizzled",
        EVENT_SPARK_GC => "spark collected",
        _ => return None,
    })
}

fn reason(status: usize, on: u32) -> String {
    const BLOCKED: usize = THREAD_SUSPENDED_FOREIGN_CALL;
    let text = match status {
        HeapOverflow => "heap overflow",
        StackOverflow => "stack overflow",
        ThreadYielding => "yielding",
        ThreadBlocked => "blocked",
        ThreadFinished => "finished",
        THREAD_SUSPENDED_FOREIGN_CALL => "suspended while making a foreign call",
        _ => match status - BLOCKED {
            BlockedOnMVar => "blocked on an MVar",
            BlockedOnMVarRead => "blocked on a read of an MVar",
            BlockedOnBlackHole => return format!("blocked on a black hole owned by thread {on}"),
            BlockedOnRead => "blocked on a read operation",
            BlockedOnWrite => "blocked on a write operation",
            BlockedOnDelay => "blocked on a delay operation",
            BlockedOnSTM => "blocked on STM",
            BlockedOnMsgThrowTo => "blocked on throwTo",
            other => return format!("blocked for reason {other}"),
        },
    };
    text.to_owned()
}
