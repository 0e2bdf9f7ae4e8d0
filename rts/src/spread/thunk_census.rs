//! Classifies all thunks of the program, for a test of `thunk_kind.rs` (`tests/commands/thunks.sh`).
//!
//! Nothing lists local info tables, but code that makes a closure names its table: by an absolute address of four
//! bytes, or one relative to the next instruction; static closures have eight bytes. So all such numbers in the program
//! are looked at that lead to what looks like the info table of a thunk. The other way round, each place where code
//! pushes an update frame must be that of a thunk that was found to be updatable.
use crate::abi::layout::*;
use crate::abi::Info;
use crate::info;
use crate::spread::fields;
use crate::spread::program::{self, Segment};
use crate::spread::thunk_kind::{classify, place_of_frame, ThunkKind};
use std::collections::{BTreeSet, HashSet};

/// Is it the info table of a thunk, as far as its numbers say?
unsafe fn looks_like_thunk(at: usize, code: &[Segment]) -> bool {
    let is_code = |at: usize| code.iter().any(|segment| segment.holds(at));
    if !at.is_multiple_of(8) || !is_code(at - 16) || !is_code(at + 160) {
        return false;
    }
    let info = Info(at);
    let (kind, ptrs, nptrs) = (info.kind(), info.ptrs(), info.nptrs());
    let fits = match kind {
        THUNK_1_0 => (ptrs, nptrs) == (1, 0),
        THUNK_0_1 => (ptrs, nptrs) == (0, 1),
        THUNK_2_0 => (ptrs, nptrs) == (2, 0),
        THUNK_1_1 => (ptrs, nptrs) == (1, 1),
        THUNK_0_2 => (ptrs, nptrs) == (0, 2),
        THUNK => ptrs + nptrs < 1000,
        _ => false,
    };
    fits && fields::is_thunk(kind) && info.srt().is_none_or(|srt| program::holds(srt.0))
}

/// Is this the beginning of code that enters a CAF? It has asked `newCAF`, and examines the answer:
/// `test %rax,%rax; je; movq $frame,-16(%rbp)`.
fn is_in_caf(before: &[u8]) -> bool {
    let Some(before) = before.strip_suffix(&[0x48, 0xc7, 0x45, 0xf0]) else { return false };
    matches!(before, [.., 0x48, 0x85, 0xc0, 0x74, _] | [.., 0x48, 0x85, 0xc0, 0x0f, 0x84, _, _, _, _])
}

/// Prints a line for each kind of thunk with how many there are, one for each thunk of unknown kind, and one for each
/// place that pushes an update frame and belongs to no updatable thunk.
/// # Safety
/// Called from Haskell.
#[no_mangle]
pub unsafe extern "C" fn hec_print_thunk_kinds() {
    let all = program::segments();
    let code: Vec<Segment> = all.iter().copied().filter(|segment| segment.executable).collect();
    let mut thunks = BTreeSet::new();
    let mut pushes = BTreeSet::new();
    let frames = [info!(stg_upd_frame_info).0, info!(stg_bh_upd_frame_info).0];
    for segment in &all {
        for (i, bytes) in segment.bytes().windows(4).enumerate() {
            let number = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            let place = segment.from + i;
            let relative = (place + 4).wrapping_add_signed(number as i32 as isize);
            let named = [number as usize, relative].into_iter().filter(|&at| looks_like_thunk(at, &code));
            thunks.extend(named);
            let pushes_frame = segment.executable && frames.contains(&(number as usize));
            if pushes_frame && !is_in_caf(&segment.bytes()[..i]) {
                pushes.insert(place);
            }
        }
    }
    let mut counts = [0; 3];
    let mut known = HashSet::new();
    for &thunk in &thunks {
        let kind = classify(Info(thunk));
        counts[kind as usize] += 1;
        match kind {
            ThunkKind::Updatable => drop(known.insert(place_of_frame(Info(thunk)))),
            ThunkKind::Unknown => println!("unknown {thunk:x}"),
            ThunkKind::SingleEntry => {}
        }
    }
    pushes.iter().filter(|place| !known.contains(place)).for_each(|place| println!("pushes {place:x}"));
    let [updatable, single_entry, unknown] = counts;
    println!("updatable {updatable}\nsingle-entry {single_entry}\nunknown-kind {unknown}");
}
