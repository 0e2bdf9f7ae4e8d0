//! Unit tests of the encoding: the bytes of every event. Kinds and the order of fields are as in the installed
//! `rts/EventLogFormat.h`, widths as in the user guide's "Eventlog encodings". All bytes of an event's fields differ,
//! so swapped fields are found.
use super::buffer::Buffer;
use super::event::*;
use crate::observe::eventlog::header::KINDS;

/// An event, its kind, and its payload in hexadecimal digits, with a space between fields.
const EVERY_KIND: &[(Event, u16, &str)] = &[
    (Event::CreateThread(0x01020304), 0, "01020304"),
    (Event::RunThread(0x01020304), 1, "01020304"),
    (Event::StopThread { thread: 0x01020304, status: 0x0506, on: 0x0708090a }, 2, "01020304 0506 0708090a"),
    (Event::ThreadRunnable(0x01020304), 3, "01020304"),
    (Event::MigrateThread { thread: 0x01020304, to: 0x0506 }, 4, "01020304 0506"),
    (Event::ThreadWakeup { thread: 0x01020304, hec: 0x0506 }, 8, "01020304 0506"),
    (Event::Bare(9), 9, ""),
    (Event::Bare(10), 10, ""),
    (Event::Bare(11), 11, ""),
    (Event::Bare(12), 12, ""),
    (Event::CreateSparkThread(0x01020304), 15, "01020304"),
    // A text follows its length.
    (Event::LogMessage(b"line"), 16, "0004 6c696e65"),
    (Event::UserMessage(b"text"), 19, "0004 74657874"),
    (Event::Bare(20), 20, ""),
    (Event::Bare(21), 21, ""),
    (Event::Bare(22), 22, ""),
    (Event::CapsetCreate { set: 0x01020304, kind: 0x0506 }, 25, "01020304 0506"),
    (Event::CapsetDelete(0x01020304), 26, "01020304"),
    (Event::CapsetAssign { set: 0x01020304, hec: 0x0506 }, 27, "01020304 0506"),
    (Event::CapsetRemove { set: 0x01020304, hec: 0x0506 }, 28, "01020304 0506"),
    // The set of the process is 0, that of the clock 1.
    (Event::RtsIdentifier(b"GHC"), 29, "0007 00000000 474843"),
    (Event::ProgramArgs(b"a\0b\0"), 30, "0008 00000000 61006200"),
    (Event::Process(0x01020304), 32, "00000000 01020304"),
    (Event::ParentProcess(0x01020304), 33, "00000000 01020304"),
    (
        Event::SparkCounters(SparkCounts {
            created: 0x0102030405060708,
            dud: 0x1112131415161718,
            overflowed: 0x2122232425262728,
            converted: 0x3132333435363738,
            collected: 0x4142434445464748,
            fizzled: 0x5152535455565758,
            remaining: 0x6162636465666768,
        }),
        34,
        "0102030405060708 1112131415161718 2122232425262728 3132333435363738 4142434445464748 \
         5152535455565758 6162636465666768",
    ),
    (Event::Bare(35), 35, ""),
    (Event::Bare(36), 36, ""),
    (Event::Bare(37), 37, ""),
    (Event::Bare(38), 38, ""),
    (Event::SparkSteal { victim: 0x0102 }, 39, "0102"),
    (Event::Bare(40), 40, ""),
    (Event::Bare(41), 41, ""),
    (
        Event::WallClock { seconds: 0x0203040506070809, nanoseconds: 0x0a0b0c0d },
        43,
        "00000001 0203040506070809 0a0b0c0d",
    ),
    (Event::ThreadLabel { thread: 0x01020304, label: b"name" }, 44, "0008 01020304 6e616d65"),
    (Event::CapCreate(0x0102), 45, "0102"),
    (Event::CapDelete(0x0102), 46, "0102"),
    (Event::CapDisable(0x0102), 47, "0102"),
    (Event::CapEnable(0x0102), 48, "0102"),
    (Event::HeapAllocated(0x0102030405060708), 49, "00000000 0102030405060708"),
    (Event::HeapSize(0x0102030405060708), 50, "00000000 0102030405060708"),
    (Event::HeapLive(0x0102030405060708), 51, "00000000 0102030405060708"),
    (
        Event::HeapInfo(HeapShape {
            generations: 0x0102,
            maximum: 0x1112131415161718,
            nursery: 0x2122232425262728,
            megablock: 0x3132333435363738,
            block: 0x4142434445464748,
        }),
        52,
        "00000000 0102 1112131415161718 2122232425262728 3132333435363738 4142434445464748",
    ),
    (
        Event::GcStats(GcStats {
            generation: 0x0102,
            copied: 0x1112131415161718,
            slop: 0x2122232425262728,
            fragmentation: 0x3132333435363738,
            threads: 0x03040506,
            max_copied_by_one: 0x4142434445464748,
            balanced_copied: 0x5152535455565758,
        }),
        53,
        // The number of bytes that all threads copied occurs a second time.
        "00000000 0102 1112131415161718 2122232425262728 3132333435363738 03040506 4142434445464748 \
         1112131415161718 5152535455565758",
    ),
    (Event::Bare(54), 54, ""),
    (
        Event::TaskCreate { task: 0x0102030405060708, hec: 0x090a, os_thread: 0x1112131415161718 },
        55,
        "0102030405060708 090a 1112131415161718",
    ),
    (Event::TaskMigrate { task: 0x0102030405060708, from: 0x090a, to: 0x0b0c }, 56, "0102030405060708 090a 0b0c"),
    (Event::TaskDelete(0x0102030405060708), 57, "0102030405060708"),
    (Event::UserMarker(b"mark"), 58, "0004 6d61726b"),
    (Event::Bare(59), 59, ""),
    (Event::UserBinary(b"\0\xff"), 181, "0002 00ff"),
];

const BLOCK_MARKER: u16 = 18;

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digits: Vec<u8> = hexadecimal.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

#[test]
fn every_event_has_these_bytes() {
    for (event, kind, payload) in EVERY_KIND {
        let mut buffer = Buffer::new();
        buffer.add(0x1020304050607080, 0x2a2b, event);
        let event_bytes = [&kind.to_be_bytes()[..], &bytes("1020304050607080"), &bytes(payload)].concat();
        let length = (2 + 8 + 4 + 8 + 2 + event_bytes.len()) as u32;
        // A block begins with a marker: the time of its first event, its length, the time of its end, and its HEC.
        let marker =
            [&bytes("0012 1020304050607080")[..], &length.to_be_bytes(), &bytes("2030405060708090 2a2b")].concat();
        assert_eq!(buffer.block(0x2030405060708090).unwrap(), [marker, event_bytes].concat(), "{event:?}");
    }
}

#[test]
fn all_kinds_are_covered() {
    let mut known: Vec<u16> =
        KINDS.iter().map(|kind| kind.number as u16).filter(|&kind| kind != BLOCK_MARKER).collect();
    known.sort();
    assert!(EVERY_KIND.iter().map(|(_, kind, _)| *kind).eq(known));
}
