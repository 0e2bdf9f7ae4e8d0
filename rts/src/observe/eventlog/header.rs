//! The header of a log: the kinds of events, with their sizes and names.
use crate::abi::layout::*;
use crate::observe::eventlog::event::Put;

/// Bytes of a payload, unless each event has its own size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Fixed(u16),
    Variable,
}

pub struct Kind {
    pub number: usize,
    pub size: Size,
    pub name: &'static str,
}

const fn fixed(number: usize, bytes: u16, name: &'static str) -> Kind {
    Kind { number, size: Size::Fixed(bytes), name }
}

const fn variable(number: usize, name: &'static str) -> Kind {
    Kind { number, size: Size::Variable, name }
}

/// All kinds that are written, by number, and one that never is.
pub const KINDS: &[Kind] = &[
    fixed(EVENT_CREATE_THREAD, 4, "Create thread"),
    fixed(EVENT_RUN_THREAD, 4, "Run thread"),
    fixed(EVENT_STOP_THREAD, 10, "Stop thread"),
    fixed(EVENT_THREAD_RUNNABLE, 4, "Thread runnable"),
    fixed(EVENT_MIGRATE_THREAD, 6, "Migrate thread"),
    fixed(EVENT_THREAD_WAKEUP, 6, "Wakeup thread"),
    fixed(EVENT_GC_START, 0, "Starting GC"),
    fixed(EVENT_GC_END, 0, "Finished GC"),
    fixed(EVENT_REQUEST_SEQ_GC, 0, "Request sequential GC"),
    fixed(EVENT_REQUEST_PAR_GC, 0, "Request parallel GC"),
    fixed(EVENT_CREATE_SPARK_THREAD, 4, "Create spark thread"),
    variable(EVENT_LOG_MSG, "Log message"),
    fixed(EVENT_BLOCK_MARKER, 14, "Block marker"),
    variable(EVENT_USER_MSG, "User message"),
    fixed(EVENT_GC_IDLE, 0, "GC idle"),
    fixed(EVENT_GC_WORK, 0, "GC working"),
    fixed(EVENT_GC_DONE, 0, "GC done"),
    fixed(EVENT_CAPSET_CREATE, 6, "Create capability set"),
    fixed(EVENT_CAPSET_DELETE, 4, "Delete capability set"),
    fixed(EVENT_CAPSET_ASSIGN_CAP, 6, "Add capability to capability set"),
    fixed(EVENT_CAPSET_REMOVE_CAP, 6, "Remove capability from capability set"),
    variable(EVENT_RTS_IDENTIFIER, "RTS name and version"),
    variable(EVENT_PROGRAM_ARGS, "Program arguments"),
    fixed(EVENT_OSPROCESS_PID, 8, "Process ID"),
    fixed(EVENT_OSPROCESS_PPID, 8, "Parent process ID"),
    fixed(EVENT_SPARK_COUNTERS, 56, "Spark counters"),
    fixed(EVENT_SPARK_CREATE, 0, "Spark create"),
    fixed(EVENT_SPARK_DUD, 0, "Spark dud"),
    fixed(EVENT_SPARK_OVERFLOW, 0, "Spark overflow"),
    fixed(EVENT_SPARK_RUN, 0, "Spark run"),
    fixed(EVENT_SPARK_STEAL, 2, "Spark steal"),
    fixed(EVENT_SPARK_FIZZLE, 0, "Spark fizzle"),
    fixed(EVENT_SPARK_GC, 0, "Spark GC"),
    fixed(EVENT_WALL_CLOCK_TIME, 16, "Wall clock time"),
    variable(EVENT_THREAD_LABEL, "Thread label"),
    fixed(EVENT_CAP_CREATE, 2, "Create capability"),
    fixed(EVENT_CAP_DELETE, 2, "Delete capability"),
    fixed(EVENT_CAP_DISABLE, 2, "Disable capability"),
    fixed(EVENT_CAP_ENABLE, 2, "Enable capability"),
    fixed(EVENT_HEAP_ALLOCATED, 12, "Total heap memory ever allocated"),
    fixed(EVENT_HEAP_SIZE, 12, "Current heap size"),
    fixed(EVENT_HEAP_LIVE, 12, "Current heap live data"),
    fixed(EVENT_HEAP_INFO_GHC, 38, "Heap static parameters"),
    fixed(EVENT_GC_STATS_GHC, 58, "GC statistics"),
    fixed(EVENT_GC_GLOBAL_SYNC, 0, "Synchronise stop-the-world GC"),
    fixed(EVENT_TASK_CREATE, 18, "Task create"),
    fixed(EVENT_TASK_MIGRATE, 12, "Task migrate"),
    fixed(EVENT_TASK_DELETE, 8, "Task delete"),
    variable(EVENT_USER_MARKER, "User marker"),
    // Its presence tells readers how reasons for blocking are numbered.
    fixed(EVENT_HACK_BUG_T9003, 0, "Empty event for bug #9003"),
    variable(EVENT_USER_BINARY_MSG, "User binary message"),
];

const fn is_known(number: usize) -> bool {
    size_of(number).is_some()
}

/// The size of a kind's payload; `None` if there is no such kind.
pub const fn size_of(number: usize) -> Option<Size> {
    let mut i = 0;
    while i < KINDS.len() {
        if KINDS[i].number == number {
            return Some(KINDS[i].size);
        }
        i += 1;
    }
    None
}

/// Bit *n* is set if events of kind *n* have their own size.
const VARIABLE: [u64; 4] = {
    let mut bits = [0; 4];
    let mut i = 0;
    while i < KINDS.len() {
        if let Size::Variable = KINDS[i].size {
            bits[KINDS[i].number / 64] |= 1 << (KINDS[i].number % 64);
        }
        i += 1;
    }
    bits
};

const _: () = assert!(is_known(EVENT_BLOCK_MARKER) && !is_known(EVENT_DATA_END));

#[inline]
pub fn is_variable(kind: usize) -> bool {
    VARIABLE[kind / 64] >> (kind % 64) & 1 != 0
}

/// All bytes before the first event.
pub fn header() -> Vec<u8> {
    let mut out = Vec::new();
    out.u32(EVENT_HEADER_BEGIN as u32);
    out.u32(EVENT_HET_BEGIN as u32);
    for kind in KINDS {
        out.u32(EVENT_ET_BEGIN as u32);
        out.u16(kind.number as u16);
        out.u16(match kind.size {
            Size::Fixed(bytes) => bytes,
            Size::Variable => -1i16 as u16,
        });
        out.u32(kind.name.len() as u32);
        out.text(kind.name.as_bytes());
        // No extra information.
        out.u32(0);
        out.u32(EVENT_ET_END as u32);
    }
    out.u32(EVENT_HET_END as u32);
    out.u32(EVENT_HEADER_END as u32);
    out.u32(EVENT_DATA_BEGIN as u32);
    out
}
