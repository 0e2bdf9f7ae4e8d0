//! Entering and leaving compiled code: the only place where Rust enters Haskell.
//!
//! *Protocol*
//! 1. `StgRun` saves the callee-saved registers of C, reserves the spill slots that compiled code expects on the C
//!    stack, and jumps to compiled code.
//! 2. Compiled code jumps to `StgReturn` to return to the scheduler.
//! 3. The word above the spill slots is the address where the registers were saved. That is on the same stack or, for
//!    [`run_on`], on the OS thread's stack while the Haskell thread has a stack of its own, a *fiber*
//!    ([`crate::sched::fiber`]).
//! 4. So a fiber can be left during a call out of Haskell ([`leave`]), and another OS thread can take it up
//!    ([`take_up`]). `StgReturn` then returns to that one.
//!
//! *Invariant*: at entry to Haskell code the C stack pointer is 8 below a multiple of 16, as after a call.
use crate::abi::layout::*;
use crate::abi::RegTable;
use crate::static_closure;

/// The bytes of the spill slots, and 8 more that align the stack pointer.
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
    // hec_leave(anchor, saved_sp): returns null to the OS thread that entered the fiber
    ".type hec_leave, @function",
    "hec_leave:",
    save!(),
    "mov [rsi], rsp",
    "mov rsp, [rdi]",
    "xor eax, eax",
    restore!(),
    ".size hec_leave, .-hec_leave",
    // hec_take_up(anchor, saved_sp)
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
    fn hec_leave(anchor: usize, saved_sp: *mut usize);
    fn hec_take_up(anchor: usize, saved_sp: usize) -> *mut RegTable;
}

/// Runs the current thread of `reg` until it returns to the scheduler. Returns the register table of the HEC on which
/// it returns; the table's `ret` says why.
/// # Safety
/// The caller holds the HEC, and its current thread is ready to run.
pub unsafe fn run_current(reg: *mut RegTable) -> *mut RegTable {
    StgRun(static_closure!(stg_returnToStackTop).0, reg)
}

/// As [`run_current`], on another native stack. Returns null if the thread has left for a foreign call; its stack must
/// then be taken up.
/// # Safety
/// As for [`run_current`]; `anchor` is the 16-byte aligned address of the highest word of an unused stack.
pub unsafe fn run_on(reg: *mut RegTable, anchor: usize) -> *mut RegTable {
    hec_run_on(static_closure!(stg_returnToStackTop).0, reg, anchor)
}

/// Leaves the stack that [`run_on`] entered, and stores the stack pointer in `saved_sp`. Returns when another OS thread
/// takes the stack up, so anything read from thread-local storage before is no longer valid.
/// # Safety
/// The caller runs on the stack that `anchor` belongs to.
pub unsafe fn leave(anchor: usize, saved_sp: *mut usize) {
    hec_leave(anchor, saved_sp)
}

/// Takes up a stack where [`leave`] left it, until its thread returns to the scheduler. Returns as [`run_current`]
/// does.
/// # Safety
/// No other OS thread uses that stack.
pub unsafe fn take_up(anchor: usize, saved_sp: usize) -> *mut RegTable {
    hec_take_up(anchor, saved_sp)
}
