//! A buffer of events of one HEC, or of those that belong to none.
//!
//! A buffer is written as a *block*: a marker with its size, the time of its end and its HEC, and then the events. A
//! reader merges blocks by time.
use super::event::{Event, Put};
use crate::abi::layout::*;
use crate::observe::eventlog::header::is_variable;

/// A block is written when it has this many bytes. That is large enough that writing costs little for each event. It is
/// small enough that little is lost when a program is killed.
const CAPACITY: usize = 64 << 10;
/// Most bytes of a fixed-size event, or of a variable one without its text.
const MAX_FIXED_BYTES: usize = 96;
/// Bytes of a marker: kind, time and payload.
pub const MARKER_BYTES: usize = 2 + 8 + 14;

/// The HEC number in the marker of the common buffer.
pub const NO_HEC: u16 = u16::MAX;

pub struct Buffer {
    /// Empty, or a marker and events.
    bytes: Vec<u8>,
}

/// Is the event's payload longer than the format allows?
pub fn is_too_long(event: &Event) -> bool {
    if event.text_bytes() + MAX_FIXED_BYTES <= EVENT_PAYLOAD_SIZE_MAX {
        return false;
    }
    let mut measured = Vec::new();
    event.payload(&mut measured);
    measured.len() > EVENT_PAYLOAD_SIZE_MAX
}

impl Buffer {
    pub const fn new() -> Buffer {
        Buffer { bytes: Vec::new() }
    }

    /// Must the block be written before the event is added?
    pub fn is_full_for(&self, event: &Event) -> bool {
        !self.bytes.is_empty() && self.bytes.len() + MAX_FIXED_BYTES + event.text_bytes() > CAPACITY
    }

    /// Adds an event that is not too long. `time` is in nanoseconds since the program's start, and `hec` is the HEC of
    /// this buffer.
    pub fn add(&mut self, time: u64, hec: u16, event: &Event) {
        if self.bytes.is_empty() {
            self.bytes.reserve(CAPACITY);
            self.begin(EVENT_BLOCK_MARKER, time);
            // Size and end are not known yet.
            self.bytes.u32(0);
            self.bytes.u64(0);
            self.bytes.u16(hec);
        }
        let kind = event.kind();
        self.begin(kind, time);
        if !is_variable(kind) {
            return event.payload(&mut self.bytes);
        }
        let at = self.bytes.len();
        self.bytes.u16(0);
        event.payload(&mut self.bytes);
        let size = (self.bytes.len() - at - 2) as u16;
        self.bytes[at..at + 2].copy_from_slice(&size.to_be_bytes());
    }

    fn begin(&mut self, kind: usize, time: u64) {
        self.bytes.u16(kind as u16);
        self.bytes.u64(time);
    }

    /// The finished block; `None` if it is empty. It stays in the buffer until [`clear`].
    ///
    /// [`clear`]: Buffer::clear
    pub fn block(&mut self, now: u64) -> Option<&mut [u8]> {
        if self.bytes.is_empty() {
            return None;
        }
        let size = self.bytes.len() as u32;
        self.bytes[10..14].copy_from_slice(&size.to_be_bytes());
        self.bytes[14..MARKER_BYTES - 2].copy_from_slice(&now.to_be_bytes());
        Some(&mut self.bytes)
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
    }
}
