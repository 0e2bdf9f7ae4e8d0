//! Tells updatable thunks from single-entry ones, by their code.
//!
//! The info table does not. An updatable thunk pushes its update frame right after the checks of stack and heap. As a
//! compiler for this machine writes them (GHC 9.0.2, native code generator):
//!
//! ```text
//!   48 8d 45 d8            lea -40(%rbp),%rax         (or a longer displacement: 48 8d 85)
//!   4c 39 f8               cmp %r15,%rax
//!   0f 82 rel32            jb  (or 72 rel8)
//!   49 83 c4 10            add $16,%r12               (or 49 81 c4 imm32)
//!   4d 3b a5 disp32        cmp 856(%r13),%r12
//!   0f 87 rel32            ja  (or 77 rel8)
//!   48 c7 45 f0 imm32      movq $stg_upd_frame_info,-16(%rbp)
//! ```
//!
//! With `-fno-omit-yields`, code that does not allocate has in the place of the check of the heap:
//!
//! ```text
//!   49 83 bd disp32 00     cmpq $0,856(%r13)
//!   0f 84 rel32            je (or 74 rel8)
//! ```
//!
//! With `-feager-blackholing`, as in the library `parallel`, it claims the thunk before:
//!
//! ```text
//!   48 83 3c 25 addr32 00  cmpq $0,nonmoving_write_barrier_enabled
//!   0f 85 rel32            jne (or 75 rel8)
//!   49 8b 85 disp32        mov 872(%r13),%rax
//!   48 89 43 08            mov %rax,8(%rbx)
//!   49 8b 45 e8            mov -24(%r13),%rax
//!   48 89 03               mov %rax,(%rbx)
//! ```
//!
//! The standard thunks of `cmm/StdThunks.cmm` are updatable, and are known by their headers.
//!
//! Code that does not continue so is that of a single-entry thunk, unless the address of an update frame occurs later
//! in it, and not in that of another thunk. Then nothing is known: the code may be from another code generator.
//!
//! *Checked by* `thunk_census.rs` for all thunks of the compiler and its libraries.
use crate::abi::layout::{THUNK, THUNK_STATIC};
use crate::abi::Info;
use crate::info;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThunkKind {
    /// Entered through its header only.
    Updatable,
    /// Where it is a known free variable, code jumps to its code directly.
    SingleEntry,
    Unknown,
}

/// Bytes after the checks in which an update frame is looked for.
const SEARCHED: usize = 96;

/// Examines the code of a thunk.
/// # Safety
/// `info` is the header of a thunk, and at least 160 bytes from there on can be read.
pub unsafe fn classify(info: Info) -> ThunkKind {
    if [info!(stg_raise_info), info!(stg_AP_NOUPD_info)].contains(&info) {
        return ThunkKind::Unknown;
    }
    let standard = [
        info!(stg_ap_1_upd_info),
        info!(stg_ap_2_upd_info),
        info!(stg_ap_3_upd_info),
        info!(stg_ap_4_upd_info),
        info!(stg_ap_5_upd_info),
        info!(stg_ap_6_upd_info),
        info!(stg_ap_7_upd_info),
    ];
    if standard.contains(&info) {
        return ThunkKind::Updatable;
    }
    let code = std::slice::from_raw_parts(info.0 as *const u8, 48 + SEARCHED);
    let frames = [info!(stg_upd_frame_info), info!(stg_bh_upd_frame_info)].map(|frame| (frame.0 as u32).to_le_bytes());
    let checks = length_of_checks(code);
    let body = &code[checks + length_of_claim(&code[checks..])..];
    if body.starts_with(&[0x48, 0xc7, 0x45, 0xf0]) && frames.iter().any(|frame| body[4..8] == *frame) {
        return ThunkKind::Updatable;
    }
    let mut pushed =
        (checks..checks + SEARCHED - 4).filter(|&at| frames.iter().any(|frame| code[at..at + 4] == *frame));
    if pushed.next().is_some_and(|at| !is_in_next_thunk(code, at)) {
        ThunkKind::Unknown
    } else {
        ThunkKind::SingleEntry
    }
}

/// Does another thunk begin before this place in the code? Those with short code lie close together.
fn is_in_next_thunk(code: &[u8], at: usize) -> bool {
    let word = |at: usize| u32::from_le_bytes([code[at], code[at + 1], code[at + 2], code[at + 3]]) as usize;
    // Tables are aligned. Each has the numbers of pointers and of other words, and the closure type.
    let is_table = |table: usize| {
        word(table) < 1000 && word(table + 4) < 1000 && (THUNK..=THUNK_STATIC).contains(&word(table + 8))
    };
    (0..at.saturating_sub(16)).step_by(8).any(is_table)
}

/// Where the code of an updatable thunk names the update frame that it pushes.
/// # Safety
/// As for [`classify`].
pub unsafe fn place_of_frame(info: Info) -> usize {
    let code = std::slice::from_raw_parts(info.0 as *const u8, 48 + SEARCHED);
    let checks = length_of_checks(code);
    info.0 + checks + length_of_claim(&code[checks..]) + 4
}

/// Bytes of the checks of stack and heap that the code begins with.
fn length_of_checks(code: &[u8]) -> usize {
    let mut at = 0;
    let stack = displacement(&code[at..], &[0x48, 0x8d], 0x45, 0x85);
    if stack > 0 && code[at + stack..].starts_with(&[0x4c, 0x39, 0xf8]) {
        at += stack + 3;
        at += jump(&code[at..], 0x72, 0x82);
    }
    let heap = displacement(&code[at..], &[0x49], 0x83, 0x81);
    // The register comes after the kind of the operand.
    let heap = if heap > 0 && code[at + 2] == 0xc4 { heap + 1 } else { 0 };
    if heap > 0 && code[at + heap..].starts_with(&[0x4d, 0x3b, 0xa5]) {
        at += heap + 7;
        at += jump(&code[at..], 0x77, 0x87);
    } else if code[at..].starts_with(&[0x49, 0x83, 0xbd]) && code[at + 7] == 0 {
        at += 8 + jump(&code[at + 8..], 0x74, 0x84);
    }
    at
}

/// Bytes of the claim that follows the checks, if there is one.
fn length_of_claim(code: &[u8]) -> usize {
    const CLAIM: [u8; 11] = [0x48, 0x89, 0x43, 0x08, 0x49, 0x8b, 0x45, 0xe8, 0x48, 0x89, 0x03];
    if !code.starts_with(&[0x48, 0x83, 0x3c, 0x25]) || code[8] != 0 {
        return 0;
    }
    let mut at = 9;
    at += jump(&code[at..], 0x75, 0x85);
    let owner = displacement(&code[at..], &[0x49, 0x8b], 0x45, 0x85);
    if owner > 0 && code[at + owner..].starts_with(&CLAIM) {
        at + owner + CLAIM.len()
    } else {
        0
    }
}

/// Bytes of an instruction that begins so, and whose next byte says whether its operand has one byte or four.
fn displacement(code: &[u8], begin: &[u8], short: u8, long: u8) -> usize {
    match code.strip_prefix(begin) {
        Some([next, ..]) if *next == short => begin.len() + 2,
        Some([next, ..]) if *next == long => begin.len() + 5,
        _ => 0,
    }
}

/// Bytes of a conditional jump.
fn jump(code: &[u8], short: u8, long: u8) -> usize {
    match code {
        [first, ..] if *first == short => 2,
        [0x0f, second, ..] if *second == long => 6,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(parts: &[&[u8]]) -> Vec<u8> {
        let mut all = parts.concat();
        all.resize(48 + SEARCHED, 0x90);
        all
    }

    const STACK: [u8; 13] = [0x48, 0x8d, 0x45, 0xd8, 0x4c, 0x39, 0xf8, 0x0f, 0x82, 1, 0, 0, 0];
    const HEAP: [u8; 17] = [0x49, 0x83, 0xc4, 0x10, 0x4d, 0x3b, 0xa5, 0x58, 3, 0, 0, 0x0f, 0x87, 1, 0, 0, 0];

    const YIELD: [u8; 10] = [0x49, 0x83, 0xbd, 0x58, 3, 0, 0, 0, 0x74, 5];
    const CLAIM: [u8; 33] = [
        0x48, 0x83, 0x3c, 0x25, 1, 2, 3, 4, 0, 0x0f, 0x85, 1, 0, 0, 0, 0x49, 0x8b, 0x85, 0x68, 3, 0, 0, 0x48, 0x89,
        0x43, 8, 0x49, 0x8b, 0x45, 0xe8, 0x48, 0x89, 3,
    ];

    #[test]
    fn thunks_are_told_apart_by_their_code() {
        let frame = (info!(stg_upd_frame_info).0 as u32).to_le_bytes();
        let push = [&[0x48, 0xc7, 0x45, 0xf0][..], &frame].concat();
        let push_elsewhere = [&[0x48, 0xc7, 0x45, 0xe8][..], &frame].concat();
        let kind = |parts: &[&[u8]]| unsafe { classify(Info(code(parts).leak().as_ptr() as usize)) };
        assert_eq!(kind(&[&push]), ThunkKind::Updatable);
        assert_eq!(kind(&[&STACK, &push]), ThunkKind::Updatable);
        assert_eq!(kind(&[&STACK, &HEAP, &push]), ThunkKind::Updatable);
        assert_eq!(kind(&[&HEAP, &push]), ThunkKind::Updatable);
        assert_eq!(kind(&[&STACK, &HEAP, &CLAIM, &push]), ThunkKind::Updatable);
        assert_eq!(kind(&[&CLAIM[..9], &[0x75, 5], &CLAIM[15..], &push]), ThunkKind::Updatable);
        assert_eq!(kind(&[&CLAIM[..32], &push]), ThunkKind::Unknown);
        assert_eq!(kind(&[&STACK, &YIELD, &push]), ThunkKind::Updatable);
        assert_eq!(kind(&[&YIELD, &CLAIM, &push]), ThunkKind::Updatable);
        assert_eq!(kind(&[&STACK, &HEAP]), ThunkKind::SingleEntry);
        assert_eq!(kind(&[&YIELD]), ThunkKind::SingleEntry);
        assert_eq!(kind(&[]), ThunkKind::SingleEntry);
        assert_eq!(kind(&[&STACK, &push_elsewhere]), ThunkKind::Unknown);
        assert_eq!(kind(&[&[0x90], &push]), ThunkKind::Unknown);
        // A short one is followed by the table and code of another one.
        let table: Vec<u8> = [2, 0, THUNK as u32, 0].iter().flat_map(|n| n.to_le_bytes()).collect();
        assert_eq!(kind(&[&[0x90; 16], &table, &STACK, &push]), ThunkKind::SingleEntry);
    }
}
