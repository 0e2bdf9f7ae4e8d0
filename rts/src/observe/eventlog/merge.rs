//! Several logs as one: the blocks of each process of a run, with numbers that are unique in the run.
//!
//! *What changes in a block*
//!
//! - HECs: those of process *k* come after those of process *k* - 1. What a process has more than it had at the start
//!   comes after all.
//! - Threads: a process keeps the low bits, and the high bits are the number of the process. Those of the first process
//!   keep their numbers.
//! - Sets of HECs and tasks: each process has its own.
//! - Times: the offset of the process's clock is added.
//!
//! Every field keeps its size. So a block is changed where it is, and may be written as soon as all processes have said
//! how many HECs they have. Until then blocks are held back. Blocks stay in their order, so the events of a HEC do.
//!
//! *Checked by* `merge_tests.rs`.
use super::buffer::{MARKER_BYTES, NO_HEC};
use super::header::{size_of, Size};
use crate::abi::layout::*;
use std::collections::BTreeMap;

/// Sets of HECs that a process has.
const SETS: u32 = 2;
/// Bits of a task's number, which is an address.
const TASK_BITS: u32 = 48;
/// Added to a HEC's number: the first HEC of the process with that number. Only blocks that are to be merged have it.
const OF_OTHER: u16 = 1 << 15;
/// Bytes of kind and time, which begin an event.
const HEAD: usize = 2 + 8;

/// What a block calls a HEC of another process.
pub fn hec_of(process: u16) -> u16 {
    OF_OTHER | process
}

/// A number in a payload.
#[derive(Clone, Copy)]
enum Field {
    Hec,
    /// 0 is none.
    Thread,
    Set,
    Task,
}

/// The numbers in a payload that differ in a merged log, and where they are.
fn fields(kind: usize) -> &'static [(usize, Field)] {
    use Field::*;
    match kind {
        EVENT_CREATE_THREAD
        | EVENT_RUN_THREAD
        | EVENT_THREAD_RUNNABLE
        | EVENT_CREATE_SPARK_THREAD
        | EVENT_THREAD_LABEL => &[(0, Thread)],
        EVENT_STOP_THREAD => &[(0, Thread), (6, Thread)],
        EVENT_MIGRATE_THREAD | EVENT_THREAD_WAKEUP => &[(0, Thread), (4, Hec)],
        EVENT_SPARK_STEAL | EVENT_CAP_CREATE | EVENT_CAP_DELETE | EVENT_CAP_DISABLE | EVENT_CAP_ENABLE => &[(0, Hec)],
        EVENT_CAPSET_ASSIGN_CAP | EVENT_CAPSET_REMOVE_CAP => &[(0, Set), (4, Hec)],
        EVENT_CAPSET_CREATE
        | EVENT_CAPSET_DELETE
        | EVENT_HEAP_ALLOCATED
        | EVENT_HEAP_SIZE
        | EVENT_HEAP_LIVE
        | EVENT_HEAP_INFO_GHC
        | EVENT_GC_STATS_GHC
        | EVENT_WALL_CLOCK_TIME
        | EVENT_OSPROCESS_PID
        | EVENT_OSPROCESS_PPID
        | EVENT_RTS_IDENTIFIER
        | EVENT_PROGRAM_ARGS => &[(0, Set)],
        EVENT_TASK_CREATE => &[(0, Task), (8, Hec)],
        EVENT_TASK_MIGRATE => &[(0, Task), (8, Hec), (10, Hec)],
        EVENT_TASK_DELETE => &[(0, Task)],
        _ => &[],
    }
}

/// What is known of a process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Source {
    pub hecs: u16,
    /// What is added to its times.
    pub offset: i64,
}

/// The merge of the logs of several processes.
pub struct Merge {
    sources: Vec<Option<Source>>,
    held: Vec<(u16, Vec<u8>)>,
    /// The numbers of HECs that were made later.
    more: BTreeMap<(u16, u16), u16>,
}

impl Merge {
    pub fn new(processes: u16) -> Merge {
        Merge { sources: vec![None; processes.into()], held: Vec::new(), more: BTreeMap::new() }
    }

    /// Says what is known of a process now. The first to say so is right.
    pub fn describe(&mut self, process: u16, source: Source) {
        self.sources[usize::from(process)].get_or_insert(source);
    }

    pub fn is_described(&self, process: u16) -> bool {
        self.sources[usize::from(process)].is_some()
    }

    /// Adds a block of a process.
    pub fn add(&mut self, process: u16, block: Vec<u8>) {
        self.held.push((process, block));
    }

    /// Takes the blocks that may be written, if all processes are known. Blocks that cannot be right are left out.
    pub fn take(&mut self) -> Vec<Vec<u8>> {
        if self.sources.iter().any(Option::is_none) {
            return Vec::new();
        }
        let held = std::mem::take(&mut self.held).into_iter();
        held.filter_map(|(process, mut block)| self.renumber(process, &mut block).map(|()| block)).collect()
    }

    fn source(&self, process: u16) -> Source {
        self.sources[usize::from(process)].unwrap_or(Source { hecs: 0, offset: 0 })
    }

    fn renumber(&mut self, process: u16, block: &mut [u8]) -> Option<()> {
        let number = |bytes: &[u8]| bytes.iter().fold(0, |n, &byte| n << 8 | usize::from(byte));
        if number(block.get(..2)?) != EVENT_BLOCK_MARKER || block.len() < MARKER_BYTES {
            return None;
        }
        self.shift(process, &mut block[2..HEAD]);
        self.shift(process, &mut block[HEAD + 4..HEAD + 12]);
        self.replace(process, Field::Hec, &mut block[HEAD + 12..]);
        let mut rest = &mut block[MARKER_BYTES..];
        while !rest.is_empty() {
            let (head, after) = rest.split_at_mut_checked(HEAD)?;
            let kind = number(&head[..2]);
            self.shift(process, &mut head[2..]);
            let (length, after) = match size_of(kind)? {
                Size::Fixed(bytes) => (bytes.into(), after),
                Size::Variable => {
                    let (length, after) = after.split_at_mut_checked(2)?;
                    (number(length), after)
                }
            };
            let (payload, after) = after.split_at_mut_checked(length)?;
            for &(at, field) in fields(kind) {
                self.replace(process, field, payload.get_mut(at..)?);
            }
            rest = after;
        }
        Some(())
    }

    /// Corrects a time. What was before the start of the first process was at its start.
    fn shift(&self, process: u16, time: &mut [u8]) {
        let before = time.iter().fold(0u64, |n, &byte| n << 8 | u64::from(byte));
        let after = i128::from(before) + i128::from(self.source(process).offset);
        time.copy_from_slice(&(after.max(0) as u64).to_be_bytes());
    }

    /// Replaces the number at the front.
    fn replace(&mut self, process: u16, field: Field, bytes: &mut [u8]) {
        let mut change = |size: usize, new: &mut dyn FnMut(u64) -> u64| {
            let Some(bytes) = bytes.get_mut(..size) else { return };
            let old = bytes.iter().fold(0, |n, &byte| n << 8 | u64::from(byte));
            bytes.copy_from_slice(&new(old).to_be_bytes()[8 - size..]);
        };
        let own = u64::from(process);
        match field {
            Field::Hec => change(2, &mut |old| self.hec(process, old as u16).into()),
            Field::Thread => {
                let bits = u32::BITS - (self.sources.len() as u32 - 1).leading_zeros();
                let low = u32::BITS - bits;
                change(4, &mut |old| if old == 0 { 0 } else { old & ((1 << low) - 1) | own << low });
            }
            Field::Set => change(4, &mut |old| old + own * u64::from(SETS)),
            Field::Task => change(8, &mut |old| old & ((1 << TASK_BITS) - 1) | own << TASK_BITS),
        }
    }

    fn hec(&mut self, process: u16, hec: u16) -> u16 {
        if hec == NO_HEC {
            return NO_HEC;
        }
        let (process, hec) = if hec & OF_OTHER != 0 { (hec & !OF_OTHER, 0) } else { (process, hec) };
        if hec < self.source(process).hecs {
            return (0..process).map(|before| self.source(before).hecs).sum::<u16>() + hec;
        }
        let all: u16 = (0..self.sources.len() as u16).map(|process| self.source(process).hecs).sum();
        let next = all + self.more.len() as u16;
        *self.more.entry((process, hec)).or_insert(next)
    }
}
