//! The interface of the runtime's object linker.
//!
//! Shared libraries are loaded by the system's linker. Loading object files and archives into a running program is not
//! supported, and ends the program with a message. Queries about objects are answered as for a program that has loaded
//! none.
use crate::base::fatal::unsupported;
use libc::{c_char, c_void};
use std::ffi::{CStr, CString};
use std::ptr;

/// `OBJECT_NOT_LOADED` of `OStatus`.
const OBJECT_NOT_LOADED: i32 = 5;
const SUCCESS: isize = 1;

fn no_object_linker() -> ! {
    unsupported("the object linker")
}

/// Prepares for loading code. Loaded code may later enter any CAF, so CAFs can be retained.
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

/// Loads a shared library, or the one that a linker script of this name refers to. Returns null, or an error message.
/// # Safety
/// `name` is a string.
#[no_mangle]
pub unsafe extern "C" fn addDLL(name: *const c_char) -> *const c_char {
    let Some(message) = open_globally(name) else { return ptr::null() };
    match script_target(&message) {
        Some(library) => open_globally(library.as_ptr()),
        None => Some(message),
    }
    // The caller frees nothing.
    .map_or(ptr::null(), |m| m.into_raw())
}

/// Opens a library with global symbols. Returns the system linker's message if that fails.
unsafe fn open_globally(name: *const c_char) -> Option<CString> {
    let opened = libc::dlopen(name, libc::RTLD_LAZY | libc::RTLD_GLOBAL);
    opened.is_null().then(|| CStr::from_ptr(libc::dlerror()).to_owned())
}

/// `libc.so` and some others are scripts for the static linker, which name the library. For these the system linker
/// reports `FILE: invalid ELF header`, or that FILE is too short.
fn script_target(message: &CStr) -> Option<CString> {
    let (file, why) = message.to_str().ok()?.rsplit_once(": ")?;
    if why != "invalid ELF header" && why != "file too short" {
        return None;
    }
    let script = std::fs::read_to_string(file).ok()?;
    first_input(&script).and_then(|f| CString::new(f).ok())
}

/// The first input file of a linker script.
fn first_input(script: &str) -> Option<&str> {
    let at = |command| script.find(command).map(|i| &script[i + str::len(command)..]);
    let inputs = at("GROUP").or_else(|| at("INPUT"))?.trim_start().strip_prefix('(')?;
    inputs.split(|c: char| c.is_whitespace() || "(),".contains(c)).find(|word| !word.is_empty())
}

/// Loads a shared library. Returns its handle, or null and an error message that the caller frees.
/// # Safety
/// `path` is a string, and `message` may be written.
#[no_mangle]
pub unsafe extern "C" fn loadNativeObj(path: *const c_char, message: *mut *mut c_char) -> *mut c_void {
    let handle = libc::dlopen(path, libc::RTLD_NOW);
    *message = if handle.is_null() { libc::strdup(libc::dlerror()) } else { ptr::null_mut() };
    handle
}

/// Keeps the library: it is unknown when the heap no longer refers to it.
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

/// There are no unresolved objects.
#[no_mangle]
pub extern "C" fn resolveObjs() -> isize {
    SUCCESS
}

#[no_mangle]
pub extern "C" fn getObjectLoadStatus(_path: *const c_char) -> i32 {
    OBJECT_NOT_LOADED
}

/// The system linker has its own search path. This one is for other systems.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linker_scripts_name_libraries() {
        let script = "/* GNU ld script */\nOUTPUT_FORMAT(elf64-x86-64)\n\
                      GROUP ( /lib/libc.so.6 /usr/lib/libc_nonshared.a  AS_NEEDED ( /lib/ld.so ) )";
        assert_eq!(first_input(script), Some("/lib/libc.so.6"));
        assert_eq!(first_input("INPUT(libncurses.so.6 -ltinfo)"), Some("libncurses.so.6"));
        assert_eq!(first_input("no script"), None);
    }

    #[test]
    fn other_messages_of_the_system_linker_are_no_scripts() {
        let target = |m: &str| script_target(&CString::new(m).unwrap());
        assert_eq!(target("libx.so: cannot open shared object file: No such file or directory"), None);
        assert_eq!(target("/no/such/file: invalid ELF header"), None);
    }
}
