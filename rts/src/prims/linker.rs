//! The interface of the runtime's object linker.
//!
//! Shared libraries are the system linker's business and work. Loading object files and
//! archives into a running program is left out: it ends the program with a line that says so.
//! What merely asks about objects is answered as for a program that has loaded none.
use crate::observe::fatal::unsupported;
use libc::{c_char, c_void};
use std::ptr;

/// `OBJECT_NOT_LOADED` of `OStatus`.
const OBJECT_NOT_LOADED: i32 = 5;
const SUCCESS: isize = 1;

fn no_object_linker() -> ! {
    unsupported("the object linker")
}

/// Prepares for loading code. Code that is loaded may enter any CAF later on.
/// # Safety
/// The HEC is held.
#[no_mangle]
pub unsafe extern "C" fn initLinker_(retain_cafs: i32) {
    if retain_cafs != 0 {
        crate::collector::caf::setKeepCAFs();
    }
}

/// # Safety
/// As for [`initLinker_`].
#[no_mangle]
pub unsafe extern "C" fn initLinker() {
    initLinker_(1)
}

/// Loads a shared library. Returns null, or an error message.
/// # Safety
/// `name` is a string.
#[no_mangle]
pub unsafe extern "C" fn addDLL(name: *const c_char) -> *const c_char {
    if libc::dlopen(name, libc::RTLD_LAZY | libc::RTLD_GLOBAL).is_null() {
        // The next call of the system linker overwrites its message; the caller frees nothing.
        libc::strdup(libc::dlerror())
    } else {
        ptr::null()
    }
}

/// Loads a shared library. Returns its handle, or null and an error message for the caller to
/// free.
/// # Safety
/// `path` is a string, and `message` may be written.
#[no_mangle]
pub unsafe extern "C" fn loadNativeObj(
    path: *const c_char,
    message: *mut *mut c_char,
) -> *mut c_void {
    let handle = libc::dlopen(path, libc::RTLD_NOW);
    *message = if handle.is_null() { libc::strdup(libc::dlerror()) } else { ptr::null_mut() };
    handle
}

/// Keeps the library: nothing says when the heap refers to it no more.
#[no_mangle]
pub extern "C" fn unloadNativeObj(_handle: *mut c_void) -> isize {
    SUCCESS
}

/// The address of a symbol of the program or of a loaded library, or null.
/// # Safety
/// `name` is a string.
#[no_mangle]
pub unsafe extern "C" fn lookupSymbol(name: *const c_char) -> *mut c_void {
    libc::dlsym(libc::RTLD_DEFAULT, name)
}

#[no_mangle]
pub extern "C" fn insertSymbol(_object: *const c_char, _key: *const c_char, _at: usize) -> isize {
    no_object_linker()
}

#[no_mangle]
pub extern "C" fn loadObj(_path: *const c_char) -> isize {
    no_object_linker()
}

#[no_mangle]
pub extern "C" fn loadArchive(_path: *const c_char) -> isize {
    no_object_linker()
}

#[no_mangle]
pub extern "C" fn unloadObj(_path: *const c_char) -> isize {
    no_object_linker()
}

#[no_mangle]
pub extern "C" fn purgeObj(_path: *const c_char) -> isize {
    no_object_linker()
}

/// Nothing is left to resolve.
#[no_mangle]
pub extern "C" fn resolveObjs() -> isize {
    SUCCESS
}

#[no_mangle]
pub extern "C" fn getObjectLoadStatus(_path: *const c_char) -> i32 {
    OBJECT_NOT_LOADED
}

/// The system linker has its own search path; this one is for other systems.
#[no_mangle]
pub extern "C" fn addLibrarySearchPath(_path: *const c_char) -> *mut c_void {
    ptr::null_mut()
}

#[no_mangle]
pub extern "C" fn removeLibrarySearchPath(_index: *mut c_void) -> isize {
    SUCCESS
}

#[no_mangle]
pub extern "C" fn findSystemLibrary(_name: *const c_char) -> *mut c_char {
    ptr::null_mut()
}

#[no_mangle]
pub extern "C" fn warnMissingKBLibraryPaths() {}
