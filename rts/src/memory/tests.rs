//! Unit tests of blocks, nurseries, pinned arrays, remembered sets and sizes.
use super::nursery::AllocArea;
use super::*;
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, WORD};
use crate::info;
use crate::memory::block_alloc::{blocks_in_use, blocks_resident, trim};
use crate::memory::object_size::{size_of_frame, size_of_object};
use crate::testing::symbols as t;
use crate::testing::world::{World, NURSERY};

/// A pool whose free blocks are one run, with no pages.
fn empty_pool() -> World {
    let w = World::new(2);
    unsafe { trim(0) };
    w
}

unsafe fn run(len: usize) -> Run {
    alloc_run(len, Age::NURSERY).unwrap()
}

#[test]
fn runs_are_split_and_joined() {
    let _w = empty_pool();
    unsafe {
        let whole = run(12);
        let at = (*whole).start;
        free_run(whole);
        // Taken from the front of the free run.
        let [a, b, c] = [run(4), run(4), run(4)];
        assert_eq!([(*a).start, (*b).start, (*c).start], [0, 4, 8].map(|i| at + i * BLOCK_BYTES));
        assert_eq!(address_space::run_of(at + 7 * BLOCK_BYTES + 5), b);
        // The one in the middle joins both neighbours.
        free_run(a);
        free_run(c);
        let other = run(12);
        assert_ne!((*other).start, at);
        free_run(other);
        free_run(b);
        assert_eq!((*run(12)).start, at);
    }
}

#[test]
fn every_block_of_a_run_has_its_age() {
    let _w = empty_pool();
    unsafe {
        let r = alloc_run(3, Age(2 | Age::LARGE)).unwrap();
        for i in 0..3 {
            assert_eq!(age_of((*r).start + i * BLOCK_BYTES + 8), Age(2 | Age::LARGE));
        }
        let start = (*r).start;
        free_run(r);
        assert_eq!(age_of(start + 2 * BLOCK_BYTES), Age::FREE);
    }
}

#[test]
fn trimmed_blocks_are_returned_and_can_be_reused() {
    let _w = empty_pool();
    let before = blocks_resident();
    unsafe {
        let (a, b, c) = (run(5), run(1), run(5));
        *((*a).start as *mut usize) = 42;
        let start = (*a).start;
        free_run(a);
        free_run(c);
        assert_eq!(blocks_resident(), before + 11);
        trim(5);
        assert_eq!(blocks_resident(), before + 6);
        trim(0);
        assert_eq!(blocks_resident(), before + 1);
        free_run(b);
        trim(0);
        let again = run(11);
        assert_eq!((*again).start, start);
        assert_eq!(*(start as *const usize), 0);
    }
}

#[test]
fn an_exhausted_range_gives_no_run() {
    let _w = empty_pool();
    let used = blocks_in_use();
    let all = address_space::range_bytes() / BLOCK_BYTES;
    unsafe {
        assert!(alloc_run(all, Age::NURSERY).is_none());
        assert!(alloc_run(all + 1, Age::NURSERY).is_none());
        assert_eq!(blocks_in_use(), used);
        // Other blocks are still available.
        free_run(run(100));
    }
    assert_eq!(blocks_in_use(), used);
}

/// Does the system back this address with a page? `None` if it cannot populate pages in advance.
unsafe fn is_backed(at: usize) -> Option<bool> {
    let page = (at & !4095) as *mut libc::c_void;
    if libc::madvise(page, 0, libc::MADV_POPULATE_WRITE) != 0 {
        return None;
    }
    let mut there = 0u8;
    assert_eq!(libc::mincore(page, 4096, &mut there), 0);
    Some(there & 1 == 1)
}

#[test]
fn blocks_are_populated_before_they_are_taken() {
    let _w = empty_pool();
    prefault::allow_helper();
    unsafe {
        // More than ever before, so that the next ones are new.
        let fresh = (0..4000).map(|_| run(1)).max_by_key(|&r| (*r).start).unwrap();
        let next = (*fresh).start + 4 * BLOCK_BYTES;
        let mut tries = 0;
        while is_backed(next) == Some(false) && tries < 20_000 {
            std::thread::sleep(std::time::Duration::from_millis(5));
            tries += 1;
        }
        assert_ne!(is_backed(next), Some(false));
        // It populates only a little ahead.
        assert_ne!(is_backed((*fresh).start + 512 * BLOCK_BYTES), Some(true));
        // The helper pauses for GC threads. Then a thread that takes a block populates only the next few.
        prefault::set_cores_busy(true);
        let mut fresh = (0..1000).map(|_| run(1)).max_by_key(|&r| (*r).start).unwrap();
        // Blocks are committed 256 at a time, and beyond them nothing can be backed.
        while address_space::block_index((*fresh).start) % 256 != 32 {
            fresh = run(1);
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert_ne!(is_backed((*fresh).start + 100 * BLOCK_BYTES), Some(true));
        prefault::set_cores_busy(false);
    }
    prefault::stop_helper();
}

#[test]
fn untouched_runs_are_not_backed() {
    let _w = empty_pool();
    unsafe {
        // More than ever before, so that the next ones are new.
        for _ in 0..8000 {
            run(1);
        }
        let fresh: Vec<_> = (0..40)
            .flat_map(|i| {
                run(1);
                [block_alloc::alloc_untouched(1 + i % 3, Age(Age::LARGE)).unwrap()]
            })
            .collect();
        for &r in &fresh {
            for page in ((*r).start..(*r).start + (*r).len as usize * BLOCK_BYTES).step_by(4096) {
                assert_ne!(is_backed(page), Some(true));
            }
        }
        // Filled blocks are kept for runs that will be filled, and sparse ones for others.
        let (filled, sparse) = ((*run(1)).head, (*fresh[7]).head);
        free_run(address_space::desc(filled as usize));
        free_run(fresh[7]);
        assert_eq!((*block_alloc::alloc_untouched(1, Age(Age::LARGE)).unwrap()).head, sparse);
        assert_eq!((*run(1)).head, filled);
    }
}

#[test]
fn each_run_visits_all_runs_in_use() {
    let _w = empty_pool();
    unsafe {
        let (a, b, c) = (run(2), run(3), run(4));
        free_run(b);
        let mut seen = Vec::new();
        block_alloc::each_run(|r| seen.push(r));
        assert!(seen.contains(&a) && seen.contains(&c) && !seen.contains(&b));
        assert_eq!(seen.iter().map(|&r| (*r).len as usize).sum::<usize>(), blocks_in_use());
        // Runs may be freed during the walk, whatever they join.
        let small: Vec<_> = (0..20).map(|_| run(1)).collect();
        small.into_iter().step_by(3).for_each(|r| free_run(r));
        block_alloc::each_run(|r| free_run(r));
        assert_eq!(blocks_in_use(), 0);
    }
}

#[test]
fn a_full_nursery_requests_a_collection_and_allocates_extra_runs() {
    let w = World::new(2);
    let alloc = &mut w.hec.alloc;
    let before = alloc.allocated();
    unsafe {
        let first = alloc.allocate(1000).unwrap();
        let mut last = first;
        while !alloc.run_full {
            let c = alloc.allocate(1000).unwrap();
            assert!(alloc.run_full || c.0 == last.0 + 1000 * WORD);
            last = c;
        }
        assert!(first.0 + NURSERY - 1000 * WORD < (*alloc.run).free);
        assert!(last.0 < first.0 || last.0 >= alloc.limit());
        assert_eq!(alloc.extra.len(), 1);
        let allocated = (alloc.allocated() - before) as usize;
        let n = allocated / (1000 * WORD);
        assert_eq!(allocated, n * 1000 * WORD);
        assert_eq!(n, (NURSERY / WORD) / 1000 + 1);
        alloc.allocate_aside(1000).unwrap();
        alloc.allocate_aside(1000).unwrap();
        assert_eq!(alloc.extra.len(), 2);
    }
}

#[test]
fn large_objects_count_towards_a_collection() {
    let w = World::new(2);
    let alloc = &mut w.hec.alloc;
    unsafe {
        let small = alloc.allocate(LARGE_OBJECT_WORDS).unwrap();
        let large = alloc.allocate(LARGE_OBJECT_WORDS + 1).unwrap();
        assert!(age_of(small.0).is_plain() && age_of(large.0).is(Age::LARGE));
        alloc.allocate(60 * BLOCK_WORDS).unwrap();
        assert!(!alloc.wants_gc);
        alloc.allocate(5 * BLOCK_WORDS).unwrap();
        assert!(alloc.wants_gc);
        let (extra, large) = alloc.end_cycle();
        assert_eq!((extra.len(), large.len(), alloc.wants_gc), (0, 3, false));
    }
}

#[test]
fn pinned_arrays_are_aligned_and_disjoint() {
    let w = World::new(2);
    let mut taken: Vec<(usize, usize)> = Vec::new();
    for (i, align) in [8, 16, 64, 256, 4096, 16384].into_iter().cycle().take(60).enumerate() {
        let words = 2 + (i * 37) % 400 + if i % 10 == 9 { BLOCK_WORDS } else { 0 };
        unsafe {
            let c = w.hec.alloc.allocate_pinned(words, align, 16).unwrap();
            let (from, to) = (c.0, c.0 + words * WORD);
            assert_eq!((from + 16) % align, 0, "alignment {align}");
            assert!(age_of(from).is(Age::PINNED));
            let run = address_space::run_of(from);
            assert!(from >= (*run).start && to <= (*run).start + (*run).len as usize * BLOCK_BYTES);
            assert!(to <= (*run).free);
            assert!(taken.iter().all(|&(a, b)| to <= a || b <= from));
            taken.push((from, to));
        }
    }
}

#[test]
fn only_old_objects_are_remembered() {
    let mut w = World::new(3);
    let young = w.thunk();
    w.hec.remember(young);
    w.hec.remember(t::nil());
    assert!(w.hec.remembered.by_generation.iter().all(Vec::is_empty));
    let old = w.old(young);
    w.hec.remember(old);
    assert_eq!(w.hec.remembered.by_generation[1], [old]);
    w.hec.remembered.remember_static(t::caf());
    assert_eq!(w.hec.remembered.by_generation[2], [t::caf()]);
}

#[test]
fn ages() {
    assert!(!Age::NURSERY.is_old() && !Age::SURVIVOR.is_old());
    assert_eq!(Age::SURVIVOR.generation(), 0);
    let old = Age(Age::of_generation(1).0 | Age::CONDEMNED | Age::LARGE);
    assert!(old.is_old() && old.is(Age::CONDEMNED) && !old.is_plain());
    assert_eq!((old.generation(), old.step()), (1, 2));
}

#[test]
fn sizes_of_objects() {
    let mut w = World::new(2);
    let nil = t::nil().with_tag(1);
    let size = |c: Closure| unsafe { size_of_object(c.untag(), c.untag().info()) };
    assert_eq!(size(w.int(1000)), 2);
    assert_eq!(size(w.cons(nil, nil)), 3);
    assert_eq!(size(w.thunk()), 4);
    assert_eq!(size(w.mvar()), 4);
    for (n, cards) in [(0, 0), (1, 1), (1024, 1), (1025, 2)] {
        let a = w.array(info!(stg_MUT_ARR_PTRS_CLEAN_info), n, nil);
        assert_eq!(size(a), 3 + n + cards);
    }
    for (bytes, words) in [(0, 2), (1, 3), (8, 3), (9, 4)] {
        assert_eq!(size(w.object(info!(stg_ARR_WORDS_info), &[bytes, 0, 0])), words);
    }
    let ap = w.object(info!(stg_AP_STACK_info), &[0, 7, nil.0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(size(ap), AP_STACK_PAYLOAD + 7);
    let t = w.thread();
    unsafe {
        assert_eq!(size(t.closure()), SIZEOF_StgTSO / 8 + 1);
        let stack = t.obj().stackobj;
        assert_eq!(stack.0 + size(stack.closure()) * WORD, stack.top());
    }
}

#[test]
fn sizes_of_frames() {
    let frames = [(t::ret_p().0, 2), (t::ret_9().0, 10), (info!(stg_upd_frame_info).0, 2)];
    for (info, size) in frames {
        assert_eq!(unsafe { size_of_frame(&info) }, size);
    }
    assert_eq!(unsafe { size_of_frame([t::ret_fun().0, 5].as_ptr()) }, 8);
}

/// Fills the current run.
unsafe fn fill(area: &mut AllocArea) {
    (*area.run).free = area.limit();
    area.run_full = true;
}

#[test]
fn a_full_nursery_takes_unused_chunks_of_others() {
    let _w = World::new(2);
    let (mut a, mut b, mut c) = (AllocArea::new(1), AllocArea::new(2), AllocArea::new(3));
    let chunk = 4 * BLOCK_BYTES;
    let before = blocks_in_use();
    unsafe {
        assert!(nursery_distribution::distribute(&mut [&mut a, &mut b, &mut c], 4 * chunk, chunk));
        let in_use = blocks_in_use();
        // In the first cycle each HEC has its own chunks.
        assert_eq!(nursery_chunks::bytes_taken(), 3 * chunk);
        for n in 1..=4 {
            fill(&mut a);
            assert_eq!(a.next_run(), n < 4);
        }
        assert_eq!(nursery_chunks::bytes_taken(), 6 * chunk);
        assert_eq!(a.used(), 4 * chunk);
        fill(&mut b);
        for area in [&mut a, &mut b, &mut c] {
            area.end_cycle();
            area.start_cycle();
            assert_eq!(area.used(), 0);
        }
        assert!(nursery_distribution::distribute(&mut [&mut a, &mut b, &mut c], 4 * chunk, chunk));
        assert_eq!(blocks_in_use(), in_use);
        // Now the second HEC loses the chunks that it has not begun. The third was idle and loses none.
        for n in 1..=7 {
            fill(&mut a);
            assert_eq!(a.next_run(), n < 7);
        }
        assert!(!b.next_run() && c.next_run());
        for area in [&mut a, &mut b, &mut c] {
            area.start_cycle();
        }
        // Every HEC has its share again.
        assert!(nursery_distribution::distribute(&mut [&mut a, &mut b, &mut c], 4 * chunk, chunk));
        assert_eq!(blocks_in_use(), in_use);
        assert!((0..4).all(|n| b.next_run() || n == 3));
        assert!(nursery_distribution::distribute(&mut [&mut a, &mut b, &mut c], chunk, chunk));
        assert_eq!(blocks_in_use() - before, 3 * 4);
    }
}

#[test]
fn the_overflow_area_is_half_of_all_nurseries() {
    let _w = World::new(2);
    let (mut a, mut b) = (AllocArea::new(1), AllocArea::new(2));
    let chunk = 2 * BLOCK_BYTES;
    unsafe {
        assert!(nursery_distribution::distribute(&mut [&mut a, &mut b], 3 * chunk, chunk));
        let in_use = blocks_in_use();
        for _ in 0..2 {
            // Two chunks of its own, and three of the overflow area: half of what both have.
            for n in 1..=6 {
                fill(&mut a);
                assert_eq!(a.next_run_or_overflow(), n < 6);
            }
            assert!(!a.next_run() && b.next_run());
            for area in [&mut a, &mut b] {
                area.end_cycle();
                area.start_cycle();
                // So that neither takes the other's chunks.
                area.was_used = false;
            }
            // They are freed, and the next cycle has as many.
            assert!(nursery_distribution::distribute(&mut [&mut a, &mut b], 3 * chunk, chunk));
            assert_eq!(blocks_in_use(), in_use);
        }
    }
}

#[test]
fn a_request_larger_than_a_chunk_is_met_in_the_next_cycle() {
    let _w = World::new(2);
    let mut a = AllocArea::new(1);
    let chunk = 2 * BLOCK_BYTES;
    let before = blocks_in_use();
    unsafe {
        assert!(nursery_distribution::distribute(&mut [&mut a], 2 * chunk, chunk));
        a.note_refusal(chunk);
        assert!(!a.must_stop());
        a.note_refusal(3 * chunk);
        assert!(a.must_stop() && !a.next_run());
        a.end_cycle();
        a.start_cycle();
        assert!(nursery_distribution::distribute(&mut [&mut a], 2 * chunk, chunk));
        assert!(a.limit() - (*a.run).start >= 3 * chunk);
        // Only for one cycle.
        fill(&mut a);
        assert!(a.next_run() && a.limit() - (*a.run).start == chunk);
        a.end_cycle();
        a.start_cycle();
        assert!(nursery_distribution::distribute(&mut [&mut a], 2 * chunk, chunk));
        assert_eq!(blocks_in_use() - before, 4);
    }
}
