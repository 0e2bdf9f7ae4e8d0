//! Adjustors: C function pointers for Haskell functions (`foreign import "wrapper"`).
//!
//! For each such import the compiler makes a C stub. The stub takes the function's stable pointer, and then the
//! arguments. A callback is a piece of code that C calls with the arguments alone, and that calls the stub.
//!
//! *Protocol* of a call
//!
//! 1. Integer arguments are in rdi, rsi, rdx, rcx, r8 and r9. The callback moves each of them to the next register, and
//!    puts the stable pointer into rdi.
//! 2. A sixth integer argument moves to the stack. For this case the stub has one more parameter after it, where a
//!    return address would be if the callback had just pushed the register. The callback fills that place.
//! 3. Floating-point arguments stay where they are, except those on the stack.
//!
//! *Invariants*
//!
//! - Code and data are in pairs of pages with 128 slots each. The code of all slots is the same: it loads the address
//!   of the slot with the same number in the next page into r10, and jumps to the routine that this slot names.
//! - So code pages are written once, and never while they are executable.
//!
//! *Locking*: one lock for the free slots.
use crate::base::fatal::broken;
use crate::hec::out_of_memory;
use crate::prims::stable_ptr::hs_free_stable_ptr;
use std::arch::global_asm;
use std::sync::{Mutex, PoisonError};

/// The data of a callback, which the routines below read.
#[repr(C)]
struct Slot {
    stable_ptr: usize,
    /// The routine that rearranges the arguments; null while the slot is free.
    routine: usize,
    stub: usize,
    /// For `hec_callback_stack`: see [`stack_shape`]. Owned by the slot.
    shape: *mut Vec<i64>,
    /// The elements of `shape`.
    words: *const i64,
    spare: [usize; 3],
}

const PAGE: usize = 4096;
const SLOT_BYTES: usize = std::mem::size_of::<Slot>();
const SLOTS: usize = PAGE / SLOT_BYTES;

/// `lea r10, [rip + PAGE - 7]; jmp [r10 + 8]`.
const CODE: [u8; 11] = {
    let d = ((PAGE - 7) as u32).to_le_bytes();
    [0x4c, 0x8d, 0x15, d[0], d[1], d[2], d[3], 0x41, 0xff, 0x62, 0x08]
};

global_asm!(
    ".globl hec_callback_registers",
    ".hidden hec_callback_registers",
    "hec_callback_registers:",
    "  .cfi_startproc",
    "  mov r9, r8",
    "  mov r8, rcx",
    "  mov rcx, rdx",
    "  mov rdx, rsi",
    "  mov rsi, rdi",
    "  mov rdi, [r10]",
    "  jmp [r10 + 16]",
    "  .cfi_endproc",
    // Pushes the stub's stack arguments, each from its place in the shape.
    ".globl hec_callback_stack",
    ".hidden hec_callback_stack",
    "hec_callback_stack:",
    "  .cfi_startproc",
    "  push rbp",
    "  .cfi_def_cfa_offset 16",
    "  .cfi_offset rbp, -16",
    "  mov rbp, rsp",
    "  .cfi_def_cfa_register rbp",
    "  push r9",
    "  push r10",
    "  mov r11, [r10 + 32]",
    "  mov rax, [r11]",
    "2:",
    "  mov r9, [r11 + rax * 8]",
    "  push [rbp + r9]",
    "  dec rax",
    "  jnz 2b",
    "  mov r9, r8",
    "  mov r8, rcx",
    "  mov rcx, rdx",
    "  mov rdx, rsi",
    "  mov rsi, rdi",
    "  mov rdi, [r10]",
    "  call [r10 + 16]",
    "  leave",
    "  .cfi_def_cfa rsp, 8",
    "  ret",
    "  .cfi_endproc",
);

extern "C" {
    fn hec_callback_registers();
    fn hec_callback_stack();
}

/// Offsets from the frame pointer of `hec_callback_stack`.
const SAVED_R9: i64 = -8;
const RETURN_ADDRESS: i64 = 8;
const FIRST_STACK_ARGUMENT: i64 = 16;

/// The sources of the stub's stack arguments, after their number, which is even. `types` are the argument types: `f`
/// and `d` are floating point, all others integers. `None` if the stub finds its stack arguments where C put them.
fn stack_shape(types: &[u8]) -> Option<Vec<i64>> {
    let (mut integers, mut floats, mut on_stack) = (0, 0, 0);
    let mut next_on_stack = || {
        on_stack += 1;
        FIRST_STACK_ARGUMENT + 8 * (on_stack - 1)
    };
    let mut shape = vec![0];
    for t in types {
        if matches!(t, b'f' | b'd') {
            floats += 1;
            if floats > 8 {
                shape.push(next_on_stack());
            }
        } else {
            integers += 1;
            match integers {
                0..=5 => {}
                6 => shape.extend([SAVED_R9, RETURN_ADDRESS]),
                _ => shape.push(next_on_stack()),
            }
        }
    }
    if integers < 6 {
        return None;
    }
    if shape.len() % 2 == 0 {
        // Padding beyond the last argument keeps the stack aligned.
        shape.push(RETURN_ADDRESS);
    }
    shape[0] = shape.len() as i64 - 1;
    Some(shape)
}

/// Addresses of free code slots.
static FREE: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Runs `f` with the free slots locked. Around a fork, so that the child does not find the lock taken.
pub fn with_locked<R>(f: impl FnOnce() -> R) -> R {
    let _free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    f()
}

/// A new pair of pages, with all slots free.
unsafe fn new_pages(free: &mut Vec<usize>) {
    let rw = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let at = libc::mmap(std::ptr::null_mut(), 2 * PAGE, rw, flags, -1, 0);
    if at == libc::MAP_FAILED {
        out_of_memory(2 * PAGE);
    }
    for i in (0..SLOTS).rev() {
        let code = at as usize + i * SLOT_BYTES;
        std::ptr::copy_nonoverlapping(CODE.as_ptr(), code as *mut u8, CODE.len());
        free.push(code);
    }
    if libc::mprotect(at, PAGE, libc::PROT_READ | libc::PROT_EXEC) != 0 {
        crate::base::fatal::exit_with(1, "the system does not allow new code for callbacks");
    }
}

unsafe fn slot_of<'a>(code: usize) -> &'a mut Slot {
    &mut *((code + PAGE) as *mut Slot)
}

/// A C function that calls `stub` with `stable_ptr` before its arguments. This machine has only one calling convention,
/// so `_convention` is ignored.
/// # Safety
/// `types` is a string with the argument types of `stub`.
#[no_mangle]
pub unsafe extern "C" fn createAdjustor(
    _convention: i32,
    stable_ptr: usize,
    stub: usize,
    types: *const libc::c_char,
) -> usize {
    let types = std::ffi::CStr::from_ptr(types).to_bytes();
    let code = {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        if free.is_empty() {
            new_pages(&mut free);
        }
        free.pop().unwrap_or_else(|| broken("no free callback slot in a new page"))
    };
    let slot = slot_of(code);
    slot.stable_ptr = stable_ptr;
    slot.stub = stub;
    match stack_shape(types) {
        None => slot.routine = hec_callback_registers as *const () as usize,
        Some(shape) => {
            slot.words = shape.as_ptr();
            slot.shape = Box::into_raw(Box::new(shape));
            slot.routine = hec_callback_stack as *const () as usize;
        }
    }
    code
}

/// Frees a callback and the stable pointer to its Haskell function.
/// # Safety
/// `callback` came from [`createAdjustor`], and is not called any more.
#[no_mangle]
pub unsafe extern "C" fn freeHaskellFunctionPtr(callback: usize) {
    let slot = slot_of(callback);
    if slot.routine == 0 {
        broken("a callback was freed twice");
    }
    slot.routine = 0;
    hs_free_stable_ptr(slot.stable_ptr);
    if !slot.shape.is_null() {
        drop(Box::from_raw(slot.shape));
        slot.shape = std::ptr::null_mut();
    }
    FREE.lock().unwrap_or_else(PoisonError::into_inner).push(callback);
}

/// The name of [`freeHaskellFunctionPtr`] for C code.
/// # Safety
/// As for that.
#[no_mangle]
pub unsafe extern "C" fn hs_free_fun_ptr(callback: usize) {
    freeHaskellFunctionPtr(callback)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::transmute;

    unsafe fn make(stub: usize, types: &std::ffi::CStr) -> usize {
        createAdjustor(1, usize::MAX, stub, types.as_ptr())
    }

    extern "C" fn few(sp: usize, a: u8, x: f64, b: i64) -> f64 {
        assert_eq!(sp, usize::MAX);
        a as f64 + x + b as f64
    }

    extern "C" fn six(sp: usize, a: i64, b: i64, c: i64, d: i64, e: i64, f: i64, _: usize) -> i64 {
        assert_eq!(sp, usize::MAX);
        ((((a * 10 + b) * 10 + c) * 10 + d) * 10 + e) * 10 + f
    }

    type F = f64;
    #[rustfmt::skip]
    extern "C" fn many(
        sp: usize, x1: F, x2: F, x3: F, x4: F, x5: F, x6: F, x7: F, x8: F, x9: F, a: i64, b: i64,
        c: i64, d: i64, e: i64, f: i64, _: usize, x10: F, g: i64,
    ) -> f64 {
        assert_eq!(sp, usize::MAX);
        assert_eq!([a, b, c, d, e, f, g], [1, 2, 3, 4, 5, 6, 7]);
        [x1, x2, x3, x4, x5, x6, x7, x8, x9, x10].iter().fold(0.0, |sum, x| sum * 10.0 + x)
    }

    extern "C" fn to_buffer(
        sp: usize,
        a: i64,
        b: i64,
        c: i64,
        d: i64,
        e: i64,
        buffer: *mut [i64; 8],
        _: usize,
        g: i64,
        h: i64,
    ) {
        unsafe { *buffer = [sp as i64, a, b, c, d, e, g, h] };
    }

    #[test]
    fn arguments_are_passed_on() {
        unsafe {
            let f: extern "C" fn(u8, f64, i64) -> f64 = transmute(make(few as *const () as usize, c"Ldl"));
            assert_eq!(f(3, 0.5, -10), -6.5);
            let g: extern "C" fn(i64, i64, i64, i64, i64, i64) -> i64 =
                transmute(make(six as *const () as usize, c"LLLLLL"));
            assert_eq!(g(1, 2, 3, 4, 5, 6), 123456);
            let mut buffer = [0; 8];
            let h: extern "C" fn(i64, i64, i64, i64, i64, *mut [i64; 8], i64, i64) =
                transmute(make(to_buffer as *const () as usize, c"LLLLLpLL"));
            h(1, 2, 3, 4, 5, &mut buffer, 6, 7);
            assert_eq!(buffer, [-1, 1, 2, 3, 4, 5, 6, 7]);
        }
    }

    #[test]
    fn floats_and_integers_share_the_stack() {
        let types = [b"ddddddddd".as_slice(), b"LLLLLL", b"dL"].concat();
        let shape = stack_shape(&types).unwrap_or_default();
        assert_eq!(shape, [6, 16, SAVED_R9, RETURN_ADDRESS, 24, 32, RETURN_ADDRESS]);
        #[rustfmt::skip]
        type Many = extern "C" fn(
            F, F, F, F, F, F, F, F, F, i64, i64, i64, i64, i64, i64, F, i64
        ) -> f64;
        let types = c"dddddddddLLLLLLdL";
        let f: Many = unsafe { transmute(make(many as *const () as usize, types)) };
        let sum = f(1., 2., 3., 4., 5., 6., 7., 8., 9., 1, 2, 3, 4, 5, 6, 0., 7);
        assert_eq!(sum, 1234567890.0);
    }

    #[test]
    fn slots_are_reused() {
        unsafe {
            let all: Vec<usize> = (0..300).map(|_| make(few as *const () as usize, c"Ldl")).collect();
            all.iter().for_each(|&c| freeHaskellFunctionPtr(c));
        }
    }
}
