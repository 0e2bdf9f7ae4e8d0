//! Into Haskell and back: the only place where Rust enters compiled code.
//!
//! `StgRun` saves the C world's registers, leaves room on the C stack for the spill slots that
//! compiled code takes for granted, and jumps. Compiled code jumps to `StgReturn` to come back.
//! At entry to Haskell code the C stack pointer is 8 below a multiple of 16, as after a call.
use crate::contract::{layout::*, RegTable};
use crate::static_closure;

std::arch::global_asm!(
    ".globl StgRun",
    ".type StgRun, @function",
    "StgRun:",
    "push rbx",
    "push rbp",
    "push r12",
    "push r13",
    "push r14",
    "push r15",
    "sub rsp, {reserved}",
    "mov r13, rsi",
    "jmp rdi",
    ".size StgRun, .-StgRun",
    ".globl StgReturn",
    ".type StgReturn, @function",
    "StgReturn:",
    "mov rax, rbx",
    "add rsp, {reserved}",
    "pop r15",
    "pop r14",
    "pop r13",
    "pop r12",
    "pop rbp",
    "pop rbx",
    "ret",
    ".size StgReturn, .-StgReturn",
    reserved = const RESERVED_C_STACK_BYTES,
);

extern "C" {
    fn StgRun(entry: usize, reg: *mut RegTable) -> *mut RegTable;
}

/// Runs the thread that is current in `reg` until it returns to the scheduler. The result is the
/// register table of the HEC that it returns on; the reason is in the table's `ret`.
/// # Safety
/// The HEC is held and its current thread is ready to run.
pub unsafe fn run_current(reg: *mut RegTable) -> *mut RegTable {
    StgRun(static_closure!(stg_returnToStackTop).0, reg)
}
