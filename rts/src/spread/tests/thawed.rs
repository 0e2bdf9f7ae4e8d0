//! Arrays that are changed after they were packed. Their users freeze, thaw and freeze them again.
use super::*;
use crate::memory::{alloc_run, Age};
use crate::prims::array::hec_note_thaw;

/// Packs a constructor with this array, and returns the array's fixed address.
fn packed(w: &mut World, a: Closure) -> Closure {
    let holder = w.cons(a, t::nil().with_tag(1));
    // SAFETY: the test holds the HEC.
    unsafe { pack(w.hec, &[holder], PLENTY).unwrap().roots()[0].untag().field(1) }
}

#[test]
fn arrays_that_were_thawed_are_copied_again() {
    let mut w = World::new(2);
    let (small, large) = (w.int(1 << 40), w.int(1 << 41));
    let a = array(&mut w, info!(stg_MUT_ARR_PTRS_FROZEN_CLEAN_info), &[small]);
    let b = w.object(info!(stg_SMALL_MUT_ARR_PTRS_FROZEN_CLEAN_info), &[1, small.0]);
    for (a, element) in [(a, MUT_ARR_PAYLOAD), (b, SMALL_ARR_PAYLOAD)] {
        let first = packed(&mut w, a);
        assert_eq!(packed(&mut w, a), first);
        hec_note_thaw(a);
        let before = show(first);
        unsafe { a.set_word(element, large.0) };
        let second = packed(&mut w, a);
        assert_ne!(second, first);
        assert_eq!(show(first), before);
        assert_eq!(show(second), show(a));
    }
}

#[test]
fn bytes_that_were_changed_are_copied_again() {
    let mut w = World::new(2);
    let b = bytes(&mut w, 100);
    let first = packed(&mut w, b);
    assert_eq!(packed(&mut w, b), first);
    let before = show(first);
    unsafe { b.set_word(ARR_BYTES_PAYLOAD, 7) };
    let second = packed(&mut w, b);
    assert_eq!((show(first), show(second)), (before, show(b)));
    assert_ne!(second, first);
}

#[test]
fn large_bytes_are_fixed_in_place_only_if_there_are_addresses_of_them() {
    let mut w = World::new(2);
    unsafe {
        let run = alloc_run(2, Age(2 | Age::LARGE)).unwrap();
        let b = Closure((*run).start);
        b.set_info(info!(stg_ARR_WORDS_info));
        b.set_word(ARR_BYTES, 20_000);
        let copy = packed(&mut w, b);
        assert!(copy != b && !is_fixed(b));
        let contents = w.object(info!(base_GHCziForeignPtr_PlainPtr_con_info), &[b.0]).with_tag(4);
        let graph = pack(w.hec, &[contents], PLENTY).unwrap();
        assert!(is_fixed(b));
        assert_eq!(graph.roots()[0].untag().field(1), b);
        assert!(graph.objects().contains(&b));
    }
}
