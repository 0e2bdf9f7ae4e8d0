//! Unit tests of the header and the buffers, with a strict reader.
use super::buffer::{is_too_long, Buffer, NO_HEC};
use super::event::*;
use crate::abi::layout::*;
use crate::observe::eventlog::header::{header, Size, KINDS};
use std::collections::HashMap;

/// Bytes that are read from the front.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take(&mut self, n: usize) -> &[u8] {
        let (head, rest) = self.0.split_at(n);
        self.0 = rest;
        head
    }
    fn number(&mut self, n: usize) -> u64 {
        self.take(n).iter().fold(0, |v, &b| v << 8 | u64::from(b))
    }
    fn mark(&mut self, mark: usize) {
        assert_eq!(self.number(4), mark as u64);
    }
}

/// Sizes by kind, as in the header.
fn read_header(bytes: &[u8]) -> HashMap<u64, Option<usize>> {
    let mut r = Bytes(bytes);
    let mut sizes = HashMap::new();
    r.mark(EVENT_HEADER_BEGIN);
    r.mark(EVENT_HET_BEGIN);
    loop {
        match r.number(4) as usize {
            EVENT_HET_END => break,
            mark => assert_eq!(mark, EVENT_ET_BEGIN),
        }
        let kind = r.number(2);
        let size = r.number(2) as i16;
        let name = r.number(4) as usize;
        assert!(name > 0 && r.take(name).is_ascii());
        assert_eq!(r.number(4), 0);
        r.mark(EVENT_ET_END);
        assert!(sizes.insert(kind, (size >= 0).then_some(size as usize)).is_none());
    }
    r.mark(EVENT_HEADER_END);
    r.mark(EVENT_DATA_BEGIN);
    assert!(r.0.is_empty());
    sizes
}

/// End time, HEC and events (time, kind, payload) of a block.
pub(super) fn read_block(bytes: &[u8]) -> (u64, u64, Vec<(u64, u64, Vec<u8>)>) {
    let sizes = read_header(&header());
    let mut r = Bytes(bytes);
    assert_eq!(r.number(2), EVENT_BLOCK_MARKER as u64);
    let begins = r.number(8);
    assert_eq!(r.number(4), bytes.len() as u64);
    let (ends, hec) = (r.number(8), r.number(2));
    assert!(begins <= ends);
    let mut events = Vec::new();
    while !r.0.is_empty() {
        let (kind, time) = (r.number(2), r.number(8));
        let size = match sizes[&kind] {
            Some(fixed) => fixed,
            None => r.number(2) as usize,
        };
        events.push((time, kind, r.take(size).to_vec()));
    }
    (ends, hec, events)
}

/// An event of every kind.
pub(super) fn every_event() -> Vec<Event<'static>> {
    let bare = KINDS.iter().filter(|k| k.size == Size::Fixed(0)).map(|k| Event::Bare(k.number));
    bare.chain([
        Event::CreateThread(1),
        Event::RunThread(2),
        Event::StopThread { thread: 3, status: 8, on: 4 },
        Event::ThreadRunnable(5),
        Event::MigrateThread { thread: 6, to: 7 },
        Event::ThreadWakeup { thread: 8, hec: 9 },
        Event::ThreadLabel { thread: 10, label: b"label" },
        Event::CreateSparkThread(11),
        Event::SparkSteal { victim: 12 },
        Event::SparkCounters(SparkCounts { created: 13, ..SparkCounts::default() }),
        Event::HeapAllocated(14),
        Event::HeapSize(15),
        Event::HeapLive(16),
        Event::HeapInfo(HeapShape { generations: 17, ..HeapShape::default() }),
        Event::GcStats(GcStats { generation: 18, ..GcStats::default() }),
        Event::CapsetCreate { set: 19, kind: CAPSET_TYPE_CLOCKDOMAIN },
        Event::CapsetDelete(20),
        Event::CapsetAssign { set: 21, hec: 22 },
        Event::CapsetRemove { set: 23, hec: 24 },
        Event::CapCreate(25),
        Event::CapDelete(26),
        Event::CapDisable(27),
        Event::CapEnable(28),
        Event::TaskCreate { task: 29, hec: 30, os_thread: 31 },
        Event::TaskMigrate { task: 32, from: 33, to: 34 },
        Event::TaskDelete(35),
        Event::WallClock { seconds: 36, nanoseconds: 37 },
        Event::Process(38),
        Event::ParentProcess(39),
        Event::RtsIdentifier(b"GHC"),
        Event::ProgramArgs(b"a\0b\0"),
        Event::LogMessage(b"line"),
        Event::UserMessage(b"message"),
        Event::UserMarker(b""),
        Event::UserBinary(b"\0\xff"),
    ])
    .collect()
}

#[test]
fn every_kind_has_the_size_that_the_header_gives() {
    let sizes = read_header(&header());
    let mut seen = Vec::new();
    for event in every_event() {
        let mut payload = Vec::new();
        event.payload(&mut payload);
        let kind = event.kind();
        match sizes[&(kind as u64)] {
            Some(fixed) => assert_eq!(payload.len(), fixed, "{event:?}"),
            None => assert!(payload.len() >= event.text_bytes(), "{event:?}"),
        }
        seen.push(kind);
    }
    // Only the buffer writes the marker.
    seen.push(EVENT_BLOCK_MARKER);
    seen.sort();
    let mut known: Vec<_> = KINDS.iter().map(|k| k.number).collect();
    known.sort();
    assert_eq!(seen, known);
}

#[test]
fn a_block_has_all_events_added() {
    let mut buffer = Buffer::new();
    assert!(buffer.block(0).is_none());
    for (i, event) in every_event().iter().enumerate() {
        buffer.add(100 + i as u64, 3, event);
    }
    let (ends, hec, events) = read_block(buffer.block(1000).unwrap());
    assert_eq!((ends, hec, events.len()), (1000, 3, every_event().len()));
    for (i, (event, (time, kind, payload))) in every_event().iter().zip(&events).enumerate() {
        let mut expected = Vec::new();
        event.payload(&mut expected);
        assert_eq!((*time, *kind as usize, payload), (100 + i as u64, event.kind(), &expected));
    }
    buffer.clear();
    assert!(buffer.block(2000).is_none());
    buffer.add(2001, NO_HEC, &Event::CreateThread(1));
    let (_, hec, events) = read_block(buffer.block(2002).unwrap());
    assert_eq!((hec, events.len()), (0xffff, 1));
}

#[test]
fn a_block_is_written_before_it_grows_large() {
    let mut buffer = Buffer::new();
    let text = [b'x'; 1000];
    let event = Event::UserMessage(&text);
    let mut n = 0;
    while !buffer.is_full_for(&event) {
        buffer.add(n, 0, &event);
        n += 1;
    }
    assert!((60..65).contains(&n), "{n}");
    // An event that fits in no block has its own.
    let text = vec![b'x'; EVENT_PAYLOAD_SIZE_MAX];
    let event = Event::UserMessage(&text);
    assert!(buffer.is_full_for(&event));
    buffer.clear();
    assert!(!buffer.is_full_for(&event));
    assert!(!is_too_long(&event));
    buffer.add(0, 0, &event);
    assert_eq!(read_block(buffer.block(1).unwrap()).2[0].2.len(), EVENT_PAYLOAD_SIZE_MAX);
}

#[test]
fn the_whole_payload_counts() {
    let text = vec![b'x'; EVENT_PAYLOAD_SIZE_MAX];
    assert!(is_too_long(&Event::ThreadLabel { thread: 1, label: &text[3..] }));
    assert!(!is_too_long(&Event::ThreadLabel { thread: 1, label: &text[4..] }));
}
