//! The event log of a run (`+RTS -l`): one for all processing elements (PEs), which PE 0 writes.
//!
//! *Protocol*
//! 1. Each PE logs as a program by itself does. But the writer of its blocks is [`WRITER`]. PE 0 merges them
//!    ([`Merge`]) and passes them on to the writer of the program, a file as a rule. The others send theirs to PE 0
//!    (EVENTS).
//! 2. When its HECs can run, PE 0 asks each PE for its clock and its HECs (`cluster/clock.rs`). Until all have
//!    answered, blocks are held back.
//! 3. With each heartbeat a PE passes on what it has logged. So little is missing if it is killed.
//! 4. When `main` has ended, PE 0 asks for the rest (END_EVENTS). A PE that is asked stops its world, ends its log, and
//!    says so (EVENTS_ENDED). PE 0 waits for all, unless nothing has come for [`LIMIT`]. Then it says what is missing.
//!
//! What has come of a PE that is lost stays in the log.
//!
//! *Locking*: the locks of this file come after those of the event log's buffers. They are held while blocks are sent,
//! or written to the file.
//!
//! *Checked by* `tests/commands/spread_events.sh`.
use crate::abi::layout::{EVENT_BLOCK_MARKER, EVENT_DATA_END};
use crate::abi::rts_flags::EventLogWriter;
use crate::base::fatal;
use crate::base::poison::unpoisoned;
use crate::cluster::clock::{Clock, Nanos};
use crate::cluster::ids::{Pe, COORDINATOR};
use crate::cluster::message::Message;
use crate::observe::eventlog::merge::{Merge, Source};
use crate::observe::eventlog::{self, class, hooks};
use crate::spread::at_rest;
use crate::spread::run::{self, Run};
use libc::c_void;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// How long PE 0 waits for others at the end while nothing comes.
const LIMIT: Duration = Duration::from_secs(1);

/// The writer of a PE's log.
static WRITER: EventLogWriter = EventLogWriter {
    initEventLogWriter: Some(begin),
    writeEventLog: Some(write),
    flushEventLog: Some(flush),
    stopEventLogWriter: Some(stop),
};

/// At PE 0: the writer of the program.
static OF_PROGRAM: AtomicPtr<EventLogWriter> = AtomicPtr::new(std::ptr::null_mut());
/// At PE 0, as long as there is a log.
static MERGED: Mutex<Option<Merged>> = Mutex::new(None);
static CAME: Condvar = Condvar::new();
/// At the others: blocks that were written before this PE joined the run.
static UNSENT: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// The log of all PEs.
struct Merged {
    merge: Merge,
    clocks: Vec<Clock>,
    /// Those of whom no more will come.
    ended: BTreeSet<Pe>,
    /// Those of them that have not ended their logs.
    lost: BTreeSet<Pe>,
    /// Messages of the others that have come.
    received: u64,
}

/// The writer for the log of this PE, of which the program may have its own.
/// # Safety
/// Called once, at start. The program's writer stays valid.
pub unsafe fn writer(me: Pe, count: u16, of_program: *const EventLogWriter) -> *const EventLogWriter {
    if me == COORDINATOR {
        if of_program.is_null() {
            return of_program;
        }
        OF_PROGRAM.store(of_program.cast_mut(), Ordering::Release);
        *unpoisoned(MERGED.lock()) = Some(Merged {
            merge: Merge::new(count),
            clocks: (0..count).map(|_| Clock::default()).collect(),
            ended: BTreeSet::from([COORDINATOR]),
            lost: BTreeSet::new(),
            received: 0,
        });
    }
    &WRITER
}

fn of_program() -> Option<&'static EventLogWriter> {
    // SAFETY: null, or valid for ever.
    unsafe { OF_PROGRAM.load(Ordering::Acquire).as_ref() }
}

unsafe extern "C" fn begin() {
    if let Some(begin) = of_program().and_then(|writer| writer.initEventLogWriter) {
        begin()
    }
}

unsafe extern "C" fn flush() {
    if let Some(flush) = of_program().and_then(|writer| writer.flushEventLog) {
        flush()
    }
}

unsafe extern "C" fn stop() {
    if let Some(stop) = of_program().and_then(|writer| writer.stopEventLogWriter) {
        stop()
    }
}

/// Gets a block of this PE's log, or the log's beginning or end, which have no numbers.
unsafe extern "C" fn write(bytes: *mut c_void, length: usize) -> bool {
    let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), length);
    let is_block = bytes.starts_with(&(EVENT_BLOCK_MARKER as u16).to_be_bytes());
    if of_program().is_none() {
        let mut unsent = unpoisoned(UNSENT.lock());
        unsent.extend(is_block.then(|| bytes.to_vec()));
        if let Some(run) = run::current() {
            unsent.drain(..).for_each(|block| run.send(COORDINATOR, &Message::Events(block)));
        }
        return true;
    }
    let mut merged = unpoisoned(MERGED.lock());
    if is_block {
        merged.iter_mut().for_each(|merged| merged.add(COORDINATOR, bytes.to_vec()));
        return true;
    }
    if bytes == (EVENT_DATA_END as u16).to_be_bytes() {
        merged.take().into_iter().for_each(Merged::finish);
    }
    pass_on(bytes.to_vec())
}

/// Passes on bytes to the writer of the program.
fn pass_on(mut bytes: Vec<u8>) -> bool {
    let write = of_program().and_then(|writer| writer.writeEventLog);
    // SAFETY: the bytes are borrowed for the call.
    write.is_some_and(|write| unsafe { write(bytes.as_mut_ptr().cast(), bytes.len()) })
}

impl Merged {
    fn add(&mut self, pe: Pe, block: Vec<u8>) {
        self.merge.add(pe.0, block);
        self.write_ready();
    }

    fn describe(&mut self, pe: Pe, source: Source) {
        self.merge.describe(pe.0, source);
        self.write_ready();
    }

    fn write_ready(&mut self) {
        self.merge.take().into_iter().for_each(|block| {
            pass_on(block);
        });
    }

    /// Writes what is held back for those that are not known.
    fn finish(mut self) {
        self.merge.describe(COORDINATOR.0, own());
        (0..self.clocks.len() as u16).for_each(|pe| self.merge.describe(pe, UNKNOWN));
        self.write_ready();
    }

    fn others(&self) -> impl Iterator<Item = Pe> {
        (1..self.clocks.len() as u16).map(Pe)
    }

    fn ask_clock(&mut self, run: &Run, pe: Pe) {
        self.clocks[usize::from(pe.0)].on_asked(eventlog::now());
        run.send(pe, &Message::AskClock);
    }
}

/// A PE of which nothing comes.
const UNKNOWN: Source = Source { hecs: 0, offset: 0 };

/// This PE, as its own clock says.
fn own() -> Source {
    let is_logged = eventlog::on(class::PROCESS);
    Source { hecs: if is_logged { hooks::hec_count() as u16 } else { 0 }, offset: 0 }
}

/// This PE has joined the run, and its HECs can run. PE 0 asks for clocks.
pub fn start(run: &Run) {
    let mut merged = unpoisoned(MERGED.lock());
    if let Some(merged) = merged.as_mut().filter(|_| eventlog::on(class::PROCESS)) {
        merged.describe(COORDINATOR, own());
        merged.others().for_each(|pe| merged.ask_clock(run, pe));
    }
}

/// PE 0 asks for the clock of this PE.
pub fn on_clock_asked(run: &Run) {
    let message = Message::Clock { time: eventlog::now(), hecs: own().hecs.into() };
    run.send(COORDINATOR, &message);
}

/// A PE has told its clock.
pub fn on_clock(run: &Run, from: Pe, time: Nanos, hecs: u64) {
    let now = eventlog::now();
    let mut merged = unpoisoned(MERGED.lock());
    let Some(merged) = merged.as_mut() else { return };
    match merged.clocks[usize::from(from.0)].on_answer(time, now) {
        Some(offset) => merged.describe(from, Source { hecs: hecs as u16, offset }),
        None => merged.ask_clock(run, from),
    }
}

/// A PE has sent a block.
pub fn on_block(from: Pe, block: Vec<u8>) {
    let mut merged = unpoisoned(MERGED.lock());
    let Some(merged) = merged.as_mut() else { return };
    merged.add(from, block);
    merged.received += 1;
    CAME.notify_one();
}

/// A PE has sent all.
pub fn on_ended(from: Pe) {
    let mut merged = unpoisoned(MERGED.lock());
    let Some(merged) = merged.as_mut() else { return };
    merged.ended.insert(from);
    merged.received += 1;
    CAME.notify_one();
}

/// A PE is lost: the run may end soon.
pub fn on_lost(pe: Pe) {
    let mut merged = unpoisoned(MERGED.lock());
    if let Some(merged) = merged.as_mut().filter(|merged| !merged.ended.contains(&pe)) {
        merged.lost.insert(pe);
        merged.ended.insert(pe);
        merged.describe(pe, UNKNOWN);
        CAME.notify_one();
    }
    drop(merged);
    eventlog::flush();
}

/// PE 0 asks for the rest of this PE's log.
pub fn on_end_asked(run: &'static Run) {
    at_rest::act("haskell-events", || {
        eventlog::end();
        run.send(COORDINATOR, &Message::EventsEnded);
    });
}

/// PE 0 collects what the others have logged, before it ends its own log. Nothing for a program by itself, or without a
/// log.
pub fn collect() {
    let Some(run) = run::current().filter(|_| eventlog::on(class::PROCESS)) else { return };
    let mut guard = unpoisoned(MERGED.lock());
    let Some(merged) = guard.as_mut() else { return };
    merged.others().filter(|pe| !merged.lost.contains(pe)).for_each(|pe| run.send(pe, &Message::EndEvents));
    loop {
        let Some(merged) = guard.as_ref() else { return };
        let received = merged.received;
        let missing: Vec<Pe> = merged.others().filter(|pe| !merged.ended.contains(pe)).collect();
        let is_waiting = |merged: &mut Option<Merged>| merged.as_ref().is_some_and(|m| m.received == received);
        if !missing.is_empty() {
            let (waited, result) = unpoisoned(CAME.wait_timeout_while(guard, LIMIT, is_waiting));
            guard = waited;
            if !result.timed_out() {
                continue;
            }
        }
        let lost = guard.iter().flat_map(|merged| &merged.lost).copied();
        for pe in missing.into_iter().chain(lost) {
            fatal::print_message(&format!("the event log has not all of PE {}", pe.0));
        }
        return;
    }
}
