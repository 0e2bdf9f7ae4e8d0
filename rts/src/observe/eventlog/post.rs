//! Buffers of the event log: adds an event to the buffer of its HEC, and writes full buffers.
//!
//! *Locking*: each buffer has a lock. Times are read under it, so that they never decrease within a block. `LOG` is
//! taken before the buffers.
use super::buffer::{is_too_long, Buffer, NO_HEC};
use super::classes::on;
use super::event::Event;
use super::{text, writer};
use crate::base::clock::getProcessElapsedTime;
use crate::base::fatal;
use crate::base::poison::unpoisoned;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::Mutex;

/// Events are printed to stderr instead of a log.
pub(super) static AS_TEXT: AtomicBool = AtomicBool::new(false);

/// HECs with a buffer of their own; the others use the common one.
const MAX_HECS: usize = 256;

pub(super) static BUFFERS: [Mutex<Buffer>; MAX_HECS] = [const { Mutex::new(Buffer::new()) }; MAX_HECS];
pub(super) static COMMON: Mutex<Buffer> = Mutex::new(Buffer::new());

/// Held by the thread that starts or ends a log.
pub(super) static LOG: Mutex<()> = Mutex::new(());
/// Start of the program on the monotonic clock; 0 if not yet known.
static START: AtomicI64 = AtomicI64::new(0);

/// Counts times from now on.
pub fn start_clock() {
    START.store(getProcessElapsedTime(), Ordering::Relaxed);
}

/// Nanoseconds since the program's start.
pub fn now() -> u64 {
    if START.load(Ordering::Relaxed) == 0 {
        // C code has started a log before the runtime.
        start_clock();
    }
    (getProcessElapsedTime() - START.load(Ordering::Relaxed)) as u64
}

fn buffer_of(hec: Option<u32>) -> (&'static Mutex<Buffer>, u16) {
    match hec {
        Some(no) if (no as usize) < MAX_HECS => (&BUFFERS[no as usize], no as u16),
        _ => (&COMMON, NO_HEC),
    }
}

/// Logs an event that happens now, on a HEC or on none.
#[cold]
pub(super) fn post(hec: Option<u32>, event: Event) {
    if AS_TEXT.load(Ordering::Relaxed) {
        return text::print(hec, now(), &event);
    }
    if is_too_long(&event) {
        return fatal::print_message("Event size exceeds EVENT_PAYLOAD_SIZE_MAX, bail out");
    }
    let (buffer, no) = buffer_of(hec);
    let mut buffer = unpoisoned(buffer.lock());
    if !on(u32::MAX) {
        return;
    }
    // Read under the lock, so that times in a block never decrease.
    let time = now();
    if buffer.is_full_for(&event) {
        write_out(&mut buffer, time);
    }
    buffer.add(time, no, &event);
}

/// Writes the buffer as a block.
pub(super) fn write_out(buffer: &mut Buffer, now: u64) {
    if let Some(block) = buffer.block(now) {
        writer::write(block);
        buffer.clear();
    }
}
