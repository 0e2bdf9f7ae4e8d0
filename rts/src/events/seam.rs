//! The seam: puts the runtime's event manager in the place of `base`'s, under unmodified programs and libraries.
//!
//! *Protocol*: before any Haskell runs, a jump to our function is written over the beginning of each function by which
//! programs enter `base`'s manager (`rts/c/seam.c` has the list). Each begins with GHC's check for stack space:
//! ```text
//!     48 8d 45 dd    lea  dd(%rbp), %rax
//!     4c 39 f8       cmp  %r15, %rax
//!     ...            jb   ...
//! ```
//! The jump takes five of these seven bytes. A *stub* does what they did and continues behind them, so the original can
//! still be called.
//!
//! A function that only some static programs have is passed over in the others. If another function is missing, or one
//! begins with other code, or is too far away, or its page may not be written, none is changed, and `base`'s manager
//! runs as it does on GHC's own runtime.
use crate::abi::Closure;
use crate::collector::roots::Visitor;
use std::arch::global_asm;

/// A function of `base` and its replacement.
#[repr(C)]
struct Function {
    /// Null if this `base` does not have it.
    base: *mut u8,
    ours: *const u8,
    /// Which of the stubs calls the original, or -1.
    original: isize,
    /// It is replaced in the non-threaded way, too. A static program may lack it.
    both_ways: isize,
}

extern "C" {
    static hec_seam: [Function; 0];
    static hec_seam_length: isize;
    static hec_seam_roots: [Closure; 0];
    static hec_seam_roots_length: isize;
}

const PROLOGUE: usize = 7;
/// The functions whose originals are called.
const STUBS: usize = 4;

/// For each stub: how far the function grows the stack, and where its code continues.
#[no_mangle]
static mut hec_original_growth: [isize; STUBS] = [0; STUBS];
#[no_mangle]
static mut hec_original_rest: [*const u8; STUBS] = [std::ptr::null(); STUBS];

macro_rules! stub {
    ($name:literal, $n:literal, $shuffle:literal) => {
        global_asm!(
            concat!(".globl ", $name),
            concat!($name, ":"),
            $shuffle,
            concat!("movq hec_original_growth+8*", $n, "(%rip), %rax"),
            "addq %rbp, %rax",
            "cmpq %r15, %rax",
            concat!("jmp *hec_original_rest+8*", $n, "(%rip)"),
            options(att_syntax)
        );
    };
}

// Called as primitive operations, with arguments in R1 and R2. Functions take them in R2 and R3.
stub!("hec_original_closeFdWith", "0", "movq %r14, %rsi; movq %rbx, %r14");
stub!("hec_original_ensureEventManagers", "1", "movq %rbx, %r14");
stub!("hec_original_capabilitiesChanged", "2", "");
stub!("hec_original_getSystemEventManager", "3", "");

/// The functions that are to be replaced.
fn functions(threaded: bool) -> impl Iterator<Item = &'static Function> {
    // SAFETY: the table and its length are constants.
    let all = unsafe { std::slice::from_raw_parts(hec_seam.as_ptr(), hec_seam_length as usize) };
    all.iter().filter(move |f| if f.both_ways == 0 { threaded } else { !f.base.is_null() })
}

/// Redirects `base`'s functions. The error says in one line why that is not possible; then nothing has changed.
/// # Safety
/// No Haskell runs, and none has run.
pub unsafe fn take_over(threaded: bool) -> Result<(), String> {
    for f in functions(threaded) {
        check(f)?;
    }
    let pages = Pages::of(functions(threaded));
    pages
        .protect(libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC)
        .map_err(|e| format!("the system does not let code be changed: {e}"))?;
    for f in functions(threaded) {
        if let Ok(stub) = usize::try_from(f.original) {
            hec_original_growth[stub] = *f.base.add(3) as i8 as isize;
            hec_original_rest[stub] = f.base.add(PROLOGUE);
        }
        f.base.write(0xe9);
        f.base.add(1).cast::<i32>().write_unaligned(distance(f).unwrap_or(0));
    }
    // Writable code would be no error, but an invitation to attacks.
    let _ = pages.protect(libc::PROT_READ | libc::PROT_EXEC);
    Ok(())
}

/// Visits what keeps the constants of our functions alive: `base`'s code, which the collector knows, does not refer to
/// them.
pub fn roots(visit: &mut Visitor) {
    // SAFETY: the table and its length are constants.
    let roots = unsafe { std::slice::from_raw_parts(hec_seam_roots.as_ptr(), hec_seam_roots_length as usize) };
    for &root in roots.iter().filter(|root| root.0 != 0) {
        visit(&mut { root });
    }
}

unsafe fn check(f: &Function) -> Result<(), String> {
    if f.base.is_null() {
        return Err("the program's base library is another version".to_owned());
    }
    let code = std::slice::from_raw_parts(f.base, PROLOGUE);
    if code[..3] != [0x48, 0x8d, 0x45] || code[4..] != [0x4c, 0x39, 0xf8] {
        return Err("the program's base library was compiled in an unknown way".to_owned());
    }
    if distance(f).is_none() {
        return Err("the program's base library is too far away in memory".to_owned());
    }
    Ok(())
}

/// The operand of a jump from one to the other.
fn distance(f: &Function) -> Option<i32> {
    i32::try_from(f.ours as isize - (f.base as isize + 5)).ok()
}

/// The pages of all functions.
struct Pages(Vec<usize>);

impl Pages {
    fn of(functions: impl Iterator<Item = &'static Function>) -> Pages {
        let size = page_size();
        let first_and_last = |f: &Function| [f.base as usize, f.base as usize + 4].map(|at| at / size * size);
        let mut pages: Vec<usize> = functions.flat_map(first_and_last).collect();
        pages.sort_unstable();
        pages.dedup();
        Pages(pages)
    }

    /// Changes the protection of all pages. If one cannot be changed, those before it are as they were.
    unsafe fn protect(&self, protection: i32) -> std::io::Result<()> {
        for (n, &page) in self.0.iter().enumerate() {
            if libc::mprotect(page as *mut libc::c_void, page_size(), protection) != 0 {
                let error = std::io::Error::last_os_error();
                for &page in &self.0[..n] {
                    libc::mprotect(page as *mut libc::c_void, page_size(), libc::PROT_READ | libc::PROT_EXEC);
                }
                return Err(error);
            }
        }
        Ok(())
    }
}

fn page_size() -> usize {
    // SAFETY: no memory is touched.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}
