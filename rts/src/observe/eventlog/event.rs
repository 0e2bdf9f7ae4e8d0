//! Events: their content and encoding.
//!
//! The formats are those of the user guide's "Eventlog encodings". Numbers are big-endian. An event encodes only its
//! payload. The buffer adds kind, time and length.
use crate::abi::layout::*;

/// Thread numbers have 32 bits in a log.
pub type ThreadId = u32;

/// The set of HECs that share this process and its heap.
pub const PROCESS: u32 = 0;
/// The set of HECs that share a clock: all of them.
pub const CLOCK: u32 = 1;

/// Numbers of sparks of one HEC so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SparkCounts {
    pub created: u64,
    pub dud: u64,
    pub overflowed: u64,
    pub converted: u64,
    pub collected: u64,
    pub fizzled: u64,
    /// In the pool now.
    pub remaining: u64,
}

/// One collection. All numbers except `generation` and `threads` are bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GcStats {
    pub generation: u16,
    pub copied: u64,
    pub slop: u64,
    /// Taken from the system but not in use.
    pub fragmentation: u64,
    pub threads: u32,
    pub max_copied_by_one: u64,
    pub balanced_copied: u64,
}

/// The parameters of the heap, in bytes. A maximum of 0 means none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapShape {
    pub generations: u16,
    pub maximum: u64,
    pub nursery: u64,
    /// The units of address space and of the heap.
    pub megablock: u64,
    pub block: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    CreateThread(ThreadId),
    RunThread(ThreadId),
    /// `status` as in the header; `on` is the thread that it waits for, or 0.
    StopThread {
        thread: ThreadId,
        status: u16,
        on: ThreadId,
    },
    ThreadRunnable(ThreadId),
    MigrateThread {
        thread: ThreadId,
        to: u16,
    },
    ThreadWakeup {
        thread: ThreadId,
        hec: u16,
    },
    ThreadLabel {
        thread: ThreadId,
        label: &'a [u8],
    },
    CreateSparkThread(ThreadId),
    /// An event without payload, by its kind.
    Bare(usize),
    SparkSteal {
        victim: u16,
    },
    SparkCounters(SparkCounts),
    HeapAllocated(u64),
    HeapSize(u64),
    HeapLive(u64),
    HeapInfo(HeapShape),
    GcStats(GcStats),
    CapsetCreate {
        set: u32,
        kind: usize,
    },
    CapsetDelete(u32),
    CapsetAssign {
        set: u32,
        hec: u16,
    },
    CapsetRemove {
        set: u32,
        hec: u16,
    },
    CapCreate(u16),
    CapDelete(u16),
    CapDisable(u16),
    CapEnable(u16),
    TaskCreate {
        task: u64,
        hec: u16,
        os_thread: u64,
    },
    TaskMigrate {
        task: u64,
        from: u16,
        to: u16,
    },
    TaskDelete(u64),
    WallClock {
        seconds: u64,
        nanoseconds: u32,
    },
    Process(u32),
    ParentProcess(u32),
    RtsIdentifier(&'a [u8]),
    /// Each argument ends with a zero byte.
    ProgramArgs(&'a [u8]),
    /// A line of the runtime's.
    LogMessage(&'a [u8]),
    UserMessage(&'a [u8]),
    UserMarker(&'a [u8]),
    UserBinary(&'a [u8]),
}

/// Appends numbers and text to the bytes of a log.
pub trait Put {
    fn u16(&mut self, v: u16);
    fn u32(&mut self, v: u32);
    fn u64(&mut self, v: u64);
    fn text(&mut self, v: &[u8]);
}

impl Put for Vec<u8> {
    fn u16(&mut self, v: u16) {
        self.extend_from_slice(&v.to_be_bytes());
    }
    fn u32(&mut self, v: u32) {
        self.extend_from_slice(&v.to_be_bytes());
    }
    fn u64(&mut self, v: u64) {
        self.extend_from_slice(&v.to_be_bytes());
    }
    fn text(&mut self, v: &[u8]) {
        self.extend_from_slice(v);
    }
}

impl Event<'_> {
    pub fn kind(&self) -> usize {
        match *self {
            Event::CreateThread(_) => EVENT_CREATE_THREAD,
            Event::RunThread(_) => EVENT_RUN_THREAD,
            Event::StopThread { .. } => EVENT_STOP_THREAD,
            Event::ThreadRunnable(_) => EVENT_THREAD_RUNNABLE,
            Event::MigrateThread { .. } => EVENT_MIGRATE_THREAD,
            Event::ThreadWakeup { .. } => EVENT_THREAD_WAKEUP,
            Event::ThreadLabel { .. } => EVENT_THREAD_LABEL,
            Event::CreateSparkThread(_) => EVENT_CREATE_SPARK_THREAD,
            Event::Bare(kind) => kind,
            Event::SparkSteal { .. } => EVENT_SPARK_STEAL,
            Event::SparkCounters(_) => EVENT_SPARK_COUNTERS,
            Event::HeapAllocated(_) => EVENT_HEAP_ALLOCATED,
            Event::HeapSize(_) => EVENT_HEAP_SIZE,
            Event::HeapLive(_) => EVENT_HEAP_LIVE,
            Event::HeapInfo(_) => EVENT_HEAP_INFO_GHC,
            Event::GcStats(_) => EVENT_GC_STATS_GHC,
            Event::CapsetCreate { .. } => EVENT_CAPSET_CREATE,
            Event::CapsetDelete(_) => EVENT_CAPSET_DELETE,
            Event::CapsetAssign { .. } => EVENT_CAPSET_ASSIGN_CAP,
            Event::CapsetRemove { .. } => EVENT_CAPSET_REMOVE_CAP,
            Event::CapCreate(_) => EVENT_CAP_CREATE,
            Event::CapDelete(_) => EVENT_CAP_DELETE,
            Event::CapDisable(_) => EVENT_CAP_DISABLE,
            Event::CapEnable(_) => EVENT_CAP_ENABLE,
            Event::TaskCreate { .. } => EVENT_TASK_CREATE,
            Event::TaskMigrate { .. } => EVENT_TASK_MIGRATE,
            Event::TaskDelete(_) => EVENT_TASK_DELETE,
            Event::WallClock { .. } => EVENT_WALL_CLOCK_TIME,
            Event::Process(_) => EVENT_OSPROCESS_PID,
            Event::ParentProcess(_) => EVENT_OSPROCESS_PPID,
            Event::RtsIdentifier(_) => EVENT_RTS_IDENTIFIER,
            Event::ProgramArgs(_) => EVENT_PROGRAM_ARGS,
            Event::LogMessage(_) => EVENT_LOG_MSG,
            Event::UserMessage(_) => EVENT_USER_MSG,
            Event::UserMarker(_) => EVENT_USER_MARKER,
            Event::UserBinary(_) => EVENT_USER_BINARY_MSG,
        }
    }

    pub fn payload(&self, out: &mut impl Put) {
        match *self {
            Event::Bare(_) => {}
            Event::CreateThread(t) | Event::RunThread(t) | Event::ThreadRunnable(t) | Event::CreateSparkThread(t) => {
                out.u32(t)
            }
            Event::StopThread { thread, status, on } => {
                out.u32(thread);
                out.u16(status);
                out.u32(on);
            }
            Event::MigrateThread { thread, to: hec } | Event::ThreadWakeup { thread, hec } => {
                out.u32(thread);
                out.u16(hec);
            }
            Event::ThreadLabel { thread, label } => {
                out.u32(thread);
                out.text(label);
            }
            Event::SparkSteal { victim: hec }
            | Event::CapCreate(hec)
            | Event::CapDelete(hec)
            | Event::CapDisable(hec)
            | Event::CapEnable(hec) => out.u16(hec),
            Event::SparkCounters(s) => {
                for n in [s.created, s.dud, s.overflowed, s.converted, s.collected, s.fizzled, s.remaining] {
                    out.u64(n);
                }
            }
            Event::HeapAllocated(bytes) | Event::HeapSize(bytes) | Event::HeapLive(bytes) => {
                out.u32(PROCESS);
                out.u64(bytes);
            }
            Event::HeapInfo(h) => {
                out.u32(PROCESS);
                out.u16(h.generations);
                for bytes in [h.maximum, h.nursery, h.megablock, h.block] {
                    out.u64(bytes);
                }
            }
            Event::GcStats(g) => {
                out.u32(PROCESS);
                out.u16(g.generation);
                out.u64(g.copied);
                out.u64(g.slop);
                out.u64(g.fragmentation);
                out.u32(g.threads);
                out.u64(g.max_copied_by_one);
                out.u64(g.copied);
                out.u64(g.balanced_copied);
            }
            Event::CapsetCreate { set, kind } => {
                out.u32(set);
                out.u16(kind as u16);
            }
            Event::CapsetDelete(set) => out.u32(set),
            Event::CapsetAssign { set, hec } | Event::CapsetRemove { set, hec } => {
                out.u32(set);
                out.u16(hec);
            }
            Event::TaskCreate { task, hec, os_thread } => {
                out.u64(task);
                out.u16(hec);
                out.u64(os_thread);
            }
            Event::TaskMigrate { task, from, to } => {
                out.u64(task);
                out.u16(from);
                out.u16(to);
            }
            Event::TaskDelete(task) => out.u64(task),
            Event::WallClock { seconds, nanoseconds } => {
                out.u32(CLOCK);
                out.u64(seconds);
                out.u32(nanoseconds);
            }
            Event::Process(pid) | Event::ParentProcess(pid) => {
                out.u32(PROCESS);
                out.u32(pid);
            }
            Event::RtsIdentifier(text) | Event::ProgramArgs(text) => {
                out.u32(PROCESS);
                out.text(text);
            }
            Event::LogMessage(text) | Event::UserMessage(text) | Event::UserMarker(text) | Event::UserBinary(text) => {
                out.text(text)
            }
        }
    }

    /// Bytes of text in the payload, of any number. The rest of a payload is small.
    pub fn text_bytes(&self) -> usize {
        match *self {
            Event::ThreadLabel { label: text, .. }
            | Event::RtsIdentifier(text)
            | Event::ProgramArgs(text)
            | Event::LogMessage(text)
            | Event::UserMessage(text)
            | Event::UserMarker(text)
            | Event::UserBinary(text) => text.len(),
            _ => 0,
        }
    }
}
