//! Into Haskell and back: the only place where Rust enters compiled code.
//!
//! `StgRun` saves the C world's registers, leaves room on the C stack for the spill slots that
//! compiled code takes for granted, and jumps. Compiled code jumps to `StgReturn` to come back.
//! At entry to Haskell code the C stack pointer is 8 below a multiple of 16, as after a call.
//!
//! The word above the spill slots says where the registers were saved: on the same stack, or, for
//! [`run_on`], on that of the OS thread, while the Haskell thread has a stack of its own (a *fiber*,
//! `fiber.rs`). So a fiber can be left in the middle of a call out of Haskell ([`leave`]) and taken
//! up by another OS thread ([`take_up`]), to which `StgReturn` then comes back.
use crate::abi::layout::*;
use crate::abi::RegTable;
use crate::static_closure;

/// The spill slots, and what makes the stack pointer right.
const ROOM: usize = RESERVED_C_STACK_BYTES + 8;

macro_rules! save {
    () => {
        "push rbx\npush rbp\npush r12\npush r13\npush r14\npush r15"
    };
}
macro_rules! restore {
    () => {
        "pop r15\npop r14\npop r13\npop r12\npop rbp\npop rbx\nret"
    };
}

std::arch::global_asm!(
    // StgRun(entry, reg)
    ".globl StgRun",
    ".type StgRun, @function",
    "StgRun:",
    save!(),
    "mov rax, rsp",
    "push rax",
    "sub rsp, {room}",
    "mov r13, rsi",
    "jmp rdi",
    ".size StgRun, .-StgRun",
    // hec_run_on(entry, reg, anchor)
    ".type hec_run_on, @function",
    "hec_run_on:",
    save!(),
    "mov [rdx], rsp",
    "lea rsp, [rdx - {room}]",
    "mov r13, rsi",
    "jmp rdi",
    ".size hec_run_on, .-hec_run_on",
    ".globl StgReturn",
    ".type StgReturn, @function",
    "StgReturn:",
    "mov rax, rbx",
    "add rsp, {room}",
    "pop rsp",
    restore!(),
    ".size StgReturn, .-StgReturn",
    // hec_leave(anchor, place): back to who entered the fiber, with a null result
    ".type hec_leave, @function",
    "hec_leave:",
    save!(),
    "mov [rsi], rsp",
    "mov rsp, [rdi]",
    "xor eax, eax",
    restore!(),
    ".size hec_leave, .-hec_leave",
    // hec_take_up(anchor, place)
    ".type hec_take_up, @function",
    "hec_take_up:",
    save!(),
    "mov [rdi], rsp",
    "mov rsp, rsi",
    restore!(),
    ".size hec_take_up, .-hec_take_up",
    room = const ROOM,
);

extern "C" {
    fn StgRun(entry: usize, reg: *mut RegTable) -> *mut RegTable;
    fn hec_run_on(entry: usize, reg: *mut RegTable, anchor: usize) -> *mut RegTable;
    fn hec_leave(anchor: usize, priority: *mut usize);
    fn hec_take_up(anchor: usize, priority: usize) -> *mut RegTable;
}

/// Runs the thread that is current in `reg` until it returns to the scheduler. The result is the
/// register table of the HEC that it returns on; the reason is in the table's `ret`.
/// # Safety
/// The HEC is held and its current thread is ready to run.
pub unsafe fn run_current(reg: *mut RegTable) -> *mut RegTable {
    StgRun(static_closure!(stg_returnToStackTop).0, reg)
}

/// The same on another native stack. Null if the thread has left for a foreign call: then its stack
/// has to be taken up.
/// # Safety
/// As for [`run_current`]; `anchor` is the 16-byte aligned address of the highest word of a stack
/// that nobody uses.
pub unsafe fn run_on(reg: *mut RegTable, anchor: usize) -> *mut RegTable {
    hec_run_on(static_closure!(stg_returnToStackTop).0, reg, anchor)
}

/// Leaves the stack that [`run_on`] entered, having noted the place; returns when somebody takes it
/// up, which is on another OS thread: nothing that was read from thread-local storage before is good
/// any more.
/// # Safety
/// The caller runs on the stack that `anchor` belongs to.
pub unsafe fn leave(anchor: usize, priority: *mut usize) {
    hec_leave(anchor, priority)
}

/// Takes up a stack where [`leave`] left it, until its thread returns to the scheduler. As
/// [`run_current`].
/// # Safety
/// Nobody else is on that stack.
pub unsafe fn take_up(anchor: usize, priority: usize) -> *mut RegTable {
    hec_take_up(anchor, priority)
}
