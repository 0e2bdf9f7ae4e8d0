//! Terminal settings that `base` changed and that are restored at the end.
use crate::base::poison::unpoisoned;
use libc::{c_void, termios};
use std::ptr;
use std::sync::Mutex;

struct Saved([*mut termios; 3]);
// SAFETY: plain memory, allocated by malloc and owned by this table.
unsafe impl Send for Saved {}

/// The settings of the standard descriptors before the first change.
static SAVED: Mutex<Saved> = Mutex::new(Saved([ptr::null_mut(); 3]));

fn with<R>(f: impl FnOnce(&mut [*mut termios; 3]) -> R) -> R {
    f(&mut unpoisoned(SAVED.lock()).0)
}

/// The saved settings of a descriptor, or null.
#[no_mangle]
pub extern "C" fn __hscore_get_saved_termios(fd: i32) -> *mut c_void {
    with(|saved| saved.get(fd as usize).map_or(ptr::null_mut(), |&t| t as *mut c_void))
}

/// Saves settings. They stay where the caller allocated them.
#[no_mangle]
pub extern "C" fn __hscore_set_saved_termios(fd: i32, settings: *mut c_void) {
    with(|saved| {
        if let Some(t) = saved.get_mut(fd as usize) {
            *t = settings as *mut termios;
        }
    })
}

/// Restores the saved settings at the end of the program.
pub fn restore() {
    with(|saved| {
        for (fd, &t) in saved.iter().enumerate().filter(|(_, t)| !t.is_null()) {
            // A background process that changes the terminal would be stopped.
            // SAFETY: `base` saved a termios here; the signal calls take and return plain values.
            unsafe {
                let old = libc::signal(libc::SIGTTOU, libc::SIG_IGN);
                libc::tcsetattr(fd as i32, libc::TCSANOW, t);
                libc::signal(libc::SIGTTOU, old);
            }
        }
    })
}
