//! The program's name and arguments, which C code and `base` read and set.
//!
//! *Invariants*
//!
//! - `prog_argv` is what `getArgs` returns: the arguments without RTS options, or what the program set last
//!   (`withArgs`). The full arguments are those that the program was started with.
//! - Both are copies, and are replaced as a whole. A replaced vector is never freed: some caller may still read it, and
//!   programs replace theirs a handful of times.
//!
//! *Locking*: none. As in C, the caller sees to it that no other OS thread uses them at the same time.
use libc::{c_char, c_int};
use std::ffi::{CStr, CString};
use std::ptr::{null_mut, NonNull};

#[no_mangle]
pub static mut prog_argc: c_int = 0;
#[no_mangle]
pub static mut prog_argv: *mut *mut c_char = null_mut();
#[no_mangle]
pub static mut prog_name: *mut c_char = null_mut();
#[no_mangle]
pub static mut rts_argc: c_int = 0;
#[no_mangle]
pub static mut rts_argv: *mut *mut c_char = null_mut();

static mut FULL_ARGC: c_int = 0;
static mut FULL_ARGV: *mut *mut c_char = null_mut();

/// A null-terminated vector of copies, which is never freed.
fn vector(args: &[CString]) -> *mut *mut c_char {
    let pointers = args.iter().map(|a| a.clone().into_raw());
    let v: Vec<*mut c_char> = pointers.chain([null_mut()]).collect();
    Box::leak(v.into_boxed_slice()).as_mut_ptr()
}

/// Copies C's arguments.
/// # Safety
/// `argv` has `argc` strings, or is null.
pub unsafe fn copy_args(argc: c_int, argv: *const *mut c_char) -> Vec<CString> {
    if argv.is_null() {
        return Vec::new();
    }
    (0..argc.max(0) as usize).map(|i| CStr::from_ptr(*argv.add(i)).to_owned()).collect()
}

/// The last part of a path.
pub fn base_name(path: &[u8]) -> &[u8] {
    path.rsplit(|&b| b == b'/').next().unwrap_or(path)
}

/// Sets what `getArgs` and `getProgName` return, and how messages begin.
/// # Safety
/// No other OS thread sets or reads them at the same time.
pub unsafe fn set_program(args: &[CString]) {
    let name = args.first().map_or(&[][..], |a| base_name(a.as_bytes()));
    prog_argv = vector(args);
    prog_argc = args.len() as c_int;
    prog_name = CString::new(name).unwrap_or_default().into_raw();
}

/// Sets the RTS options that were found, and all arguments.
/// # Safety
/// As for [`set_program`].
pub unsafe fn set_full(full: &[CString], rts: &[CString]) {
    FULL_ARGV = vector(full);
    FULL_ARGC = full.len() as c_int;
    rts_argv = vector(rts);
    rts_argc = rts.len() as c_int;
}

/// The program's name, if it is known.
pub fn name() -> Option<String> {
    name_bytes().map(|name| String::from_utf8_lossy(name).into_owned())
}

/// The name as it was given. Does not allocate.
pub fn name_bytes() -> Option<&'static [u8]> {
    // SAFETY: null or a string that is never freed.
    let name = NonNull::new(unsafe { prog_name })?;
    Some(unsafe { CStr::from_ptr(name.as_ptr()) }.to_bytes())
}

/// The RTS options in force.
pub fn rts_args() -> Vec<CString> {
    // SAFETY: the runtime's own vector.
    unsafe { copy_args(rts_argc, rts_argv) }
}

/// All arguments, including RTS options.
pub fn full_args() -> Vec<CString> {
    // SAFETY: the runtime's own vector.
    unsafe { copy_args(FULL_ARGC, FULL_ARGV) }
}

/// The arguments that `getArgs` returns, after the program's path.
pub fn args() -> Vec<CString> {
    // SAFETY: the runtime's own vector.
    unsafe { copy_args(prog_argc, prog_argv) }
}

/// # Safety
/// The arguments are null or may be written.
#[no_mangle]
pub unsafe extern "C" fn getProgArgv(argc: *mut c_int, argv: *mut *mut *mut c_char) {
    if !argc.is_null() {
        *argc = prog_argc;
    }
    if !argv.is_null() {
        *argv = prog_argv;
    }
}

/// # Safety
/// `argv` has `argc` strings.
#[no_mangle]
pub unsafe extern "C" fn setProgArgv(argc: c_int, argv: *mut *mut c_char) {
    set_program(&copy_args(argc, argv));
}

/// The name of the same function in the Haskell 98 interface.
/// # Safety
/// `argv` has `argc` strings.
#[no_mangle]
pub unsafe extern "C" fn hs_set_argv(argc: c_int, argv: *mut *mut c_char) {
    setProgArgv(argc, argv);
}

/// # Safety
/// The arguments are null or may be written.
#[no_mangle]
pub unsafe extern "C" fn getFullProgArgv(argc: *mut c_int, argv: *mut *mut *mut c_char) {
    if !argc.is_null() {
        *argc = FULL_ARGC;
    }
    if !argv.is_null() {
        *argv = FULL_ARGV;
    }
}

/// # Safety
/// `argv` has `argc` strings.
#[no_mangle]
pub unsafe extern "C" fn setFullProgArgv(argc: c_int, argv: *mut *mut c_char) {
    FULL_ARGV = vector(&copy_args(argc, argv));
    FULL_ARGC = argc;
}

/// # Safety
/// No caller uses the full arguments any more.
#[no_mangle]
pub unsafe extern "C" fn freeFullProgArgv() {
    FULL_ARGV = null_mut();
    FULL_ARGC = 0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_names() {
        assert_eq!(base_name(b"/usr/bin/ghc"), b"ghc");
        assert_eq!(base_name(b"ghc"), b"ghc");
        assert_eq!(base_name(b"dir/"), b"");
    }
}
