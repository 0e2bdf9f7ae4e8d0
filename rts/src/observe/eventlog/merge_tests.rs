//! Unit tests of the merge of logs.
use super::buffer::{Buffer, NO_HEC};
use super::event::*;
use super::merge::{hec_of, Merge, Source};
use super::tests::{every_event, read_block};
use crate::observe::eventlog::event::Put;

fn block(hec: u16, events: &[(u64, Event)]) -> Vec<u8> {
    let mut buffer = Buffer::new();
    events.iter().for_each(|(time, event)| buffer.add(*time, hec, event));
    let end = events.last().map_or(0, |(time, _)| *time);
    buffer.block(end).unwrap().to_vec()
}

fn payload(event: Event) -> Vec<u8> {
    let mut payload = Vec::new();
    event.payload(&mut payload);
    payload
}

/// Three processes with two, three and one HECs.
fn merge() -> Merge {
    let mut merge = Merge::new(3);
    for (process, hecs, offset) in [(0, 2, 0), (1, 3, 1_000), (2, 1, -1_000)] {
        merge.describe(process, Source { hecs, offset });
    }
    merge
}

/// An event of a process, as it is in the merged log.
fn merged(process: u16, event: Event) -> Vec<u8> {
    let mut merge = merge();
    merge.add(process, block(0, &[(5_000, event)]));
    let [block] = &merge.take()[..] else { panic!("one block") };
    let (_, _, events) = read_block(block);
    events[0].2.clone()
}

#[test]
fn hecs_and_times_are_those_of_the_run() {
    let mut merge = merge();
    for (process, hec) in [(0, 1), (1, 0), (1, 2), (2, 0), (2, NO_HEC)] {
        merge.add(process, block(hec, &[(1_500, Event::RunThread(1)), (1_700, Event::RunThread(2))]));
    }
    let blocks: Vec<_> = merge.take().iter().map(|block| read_block(block)).collect();
    let hecs: Vec<u64> = blocks.iter().map(|(_, hec, _)| *hec).collect();
    assert_eq!(hecs, [1, 2, 4, 5, NO_HEC.into()]);
    let times: Vec<_> = blocks.iter().map(|(end, _, events)| (events[0].0, events[1].0, *end)).collect();
    let (first, second, third) = ((1_500, 1_700, 1_700), (2_500, 2_700, 2_700), (500, 700, 700));
    assert_eq!(times, [first, second, second, third, third]);
    // What was before the start of the run was at its start.
    merge.add(2, block(0, &[(0, Event::RunThread(1)), (1_001, Event::RunThread(2))]));
    let (_, _, events) = read_block(&merge.take()[0]);
    assert_eq!((events[0].0, events[1].0), (0, 1));
}

#[test]
fn numbers_of_processes_differ() {
    let thread = |process: u32, n: u32| n | process << 30;
    let task = |process: u64| 0x7fff_1234_5678 | process << 48;
    let set = |process: u32, n: u32| n + 2 * process;
    for (process, first_hec) in [(0u16, 0u16), (1, 2), (2, 5)] {
        let p = u32::from(process);
        let same = |event, expected| assert_eq!(merged(process, event), payload(expected));
        same(Event::RunThread(7), Event::RunThread(thread(p, 7)));
        same(Event::ThreadLabel { thread: 7, label: b"x" }, Event::ThreadLabel { thread: thread(p, 7), label: b"x" });
        let stopped = |thread, on| Event::StopThread { thread, status: 8, on };
        same(stopped(7, 9), stopped(thread(p, 7), thread(p, 9)));
        same(stopped(7, 0), stopped(thread(p, 7), 0));
        same(Event::ThreadWakeup { thread: 7, hec: 0 }, Event::ThreadWakeup { thread: thread(p, 7), hec: first_hec });
        same(Event::SparkSteal { victim: 0 }, Event::SparkSteal { victim: first_hec });
        same(Event::SparkSteal { victim: hec_of(1) }, Event::SparkSteal { victim: 2 });
        same(Event::CapsetAssign { set: 1, hec: 0 }, Event::CapsetAssign { set: set(p, 1), hec: first_hec });
        let migrated = |task, hec| Event::TaskMigrate { task, from: hec, to: hec };
        same(migrated(task(0), 0), migrated(task(process.into()), first_hec));
        let created = |task, hec| Event::TaskCreate { task, hec, os_thread: 11 };
        same(created(task(0), 0), created(task(process.into()), first_hec));
        let with_set = |mut payload: Vec<u8>| {
            let mut number = Vec::new();
            number.u32(set(p, 0));
            payload[..4].copy_from_slice(&number);
            payload
        };
        for event in [Event::HeapLive(5), Event::Process(5), Event::RtsIdentifier(b"GHC"), Event::ProgramArgs(b"a\0")] {
            assert_eq!(merged(process, event), with_set(payload(event)));
        }
        same(Event::UserMessage(b"\0\0\0\x07 text"), Event::UserMessage(b"\0\0\0\x07 text"));
    }
}

#[test]
fn a_hec_that_is_made_later_comes_after_all() {
    for _ in 0..2 {
        assert_eq!(merged(0, Event::CapCreate(2)), payload(Event::CapCreate(6)));
    }
    let mut merge = merge();
    for (process, hec) in [(1, 3), (0, 2), (1, 3), (2, 1)] {
        merge.add(process, block(hec, &[(1, Event::RunThread(1))]));
    }
    let hecs: Vec<u64> = merge.take().iter().map(|block| read_block(block).1).collect();
    assert_eq!(hecs, [6, 7, 6, 8]);
}

#[test]
fn blocks_wait_until_all_processes_are_known() {
    let mut merge = Merge::new(2);
    merge.add(1, block(0, &[(1, Event::RunThread(1))]));
    merge.describe(1, Source { hecs: 1, offset: 0 });
    assert!(merge.take().is_empty() && !merge.is_described(0));
    merge.add(0, block(0, &[(1, Event::RunThread(1))]));
    merge.describe(0, Source { hecs: 4, offset: 0 });
    // That comes too late.
    merge.describe(0, Source { hecs: 7, offset: 0 });
    let hecs: Vec<u64> = merge.take().iter().map(|block| read_block(block).1).collect();
    assert_eq!(hecs, [4, 0]);
    assert!(merge.take().is_empty());
}

#[test]
fn every_event_is_understood_and_what_is_no_block_is_left_out() {
    let events: Vec<_> = every_event().into_iter().map(|event| (1, event)).collect();
    let whole = block(0, &events);
    let mut merge = Merge::new(1);
    merge.describe(0, Source { hecs: 100, offset: 0 });
    merge.add(0, whole.clone());
    assert_eq!(merge.take(), [&whole[..]]);
    for wrong in [vec![], whole[..whole.len() - 1].to_vec(), b"no block".to_vec()] {
        merge.add(0, wrong);
    }
    assert!(merge.take().is_empty());
}
