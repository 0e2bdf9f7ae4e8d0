//! The back end on kqueue(2), by way of libkqueue, which is loaded when it is asked for.
//!
//! A descriptor has a filter for each direction, with `EV_CLEAR`: it reports edges. All changes have
//! `EV_RECEIPT`, so the call answers each change with its error and waits for nothing.
//!
//! *Protocol*
//!
//! 1. Libraries differ in whether a filter that is added again reports again. So it is deleted and then added.
//! 2. Filters end with the close of their number. Deleting them then fails with ENOENT, which tells a number that was
//!    closed and given out again.
//! 3. A filter that has seen the end of its stream says so for its own direction only. poll(2) tells whether the
//!    descriptor has hung up.
//! 4. The wake-up is a pipe: libraries know pipes, but not eventfd.
use super::descriptor::{check, check_open, Descriptor};
use super::event::{Interest, Ready, Waited, MAX_READY};
use super::timeout::{Deadline, Timespec};
use super::wakeup::Wakeup;
use std::ffi::{c_int, c_void, CStr};
use std::io;
use std::mem::{transmute, MaybeUninit};
use std::ptr::null;
use std::sync::OnceLock;
use std::time::Duration;

pub(super) const EVFILT_READ: i16 = -1;
pub(super) const EVFILT_WRITE: i16 = -2;
pub(super) const EV_ADD: u16 = 0x0001;
pub(super) const EV_DELETE: u16 = 0x0002;
pub(super) const EV_CLEAR: u16 = 0x0020;
pub(super) const EV_RECEIPT: u16 = 0x0040;
pub(super) const EV_ERROR: u16 = 0x4000;
pub(super) const EV_EOF: u16 = 0x8000;

/// The wake-up's data.
const WAKE: u64 = u64::MAX;

/// `struct kevent`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Kevent {
    pub ident: usize,
    pub filter: i16,
    pub flags: u16,
    pub fflags: u32,
    pub data: isize,
    pub udata: usize,
}

type KqueueFn = unsafe extern "C" fn() -> c_int;
/// Takes a queue; changes and their number; room for events and its size; a timeout.
type KeventFn = unsafe extern "C" fn(c_int, *const Kevent, c_int, *mut Kevent, c_int, *const libc::timespec) -> c_int;

/// The library's two functions.
#[derive(Clone, Copy)]
pub(super) struct Library {
    pub kqueue: KqueueFn,
    pub kevent: KeventFn,
}

const LIBRARY: &CStr = c"libkqueue.so.0";

/// Loads the library, once. It stays loaded.
fn load() -> Option<Library> {
    static LOADED: OnceLock<Option<Library>> = OnceLock::new();
    *LOADED.get_or_init(|| {
        // SAFETY: both functions have these types since there is kqueue.
        unsafe {
            let library = libc::dlopen(LIBRARY.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
            if library.is_null() {
                return None;
            }
            let symbol = |name: &CStr| Some(libc::dlsym(library, name.as_ptr())).filter(|f| !f.is_null());
            Some(Library {
                kqueue: transmute::<*mut c_void, KqueueFn>(symbol(c"kqueue")?),
                kevent: transmute::<*mut c_void, KeventFn>(symbol(c"kevent")?),
            })
        }
    })
}

pub struct Kqueue {
    library: Library,
    queue: Descriptor,
    wakeup: Wakeup,
}

impl Kqueue {
    pub fn new() -> io::Result<Kqueue> {
        let absent = || io::Error::new(io::ErrorKind::NotFound, "libkqueue.so.0 is not installed");
        Kqueue::with_library(load().ok_or_else(absent)?)
    }

    pub(super) fn with_library(library: Library) -> io::Result<Kqueue> {
        // SAFETY: the library has made this function for that.
        let queue = Descriptor(check(unsafe { (library.kqueue)() })?);
        // SAFETY: no memory is touched.
        check(unsafe { libc::fcntl(queue.0, libc::F_SETFD, libc::FD_CLOEXEC) })?;
        let new = Kqueue { library, queue, wakeup: Wakeup::with_pipe()? };
        let [error] = new.change([change(new.wakeup.fd(), EVFILT_READ, EV_ADD, WAKE)])?;
        succeed(error)?;
        Ok(new)
    }

    pub fn add(&self, fd: i32, data: u64, want: Interest) -> io::Result<()> {
        check_open(fd)?;
        self.delete(fd)?;
        for (direction, filter) in [(Interest::READ, EVFILT_READ), (Interest::WRITE, EVFILT_WRITE)] {
            if want.intersects(direction) {
                let [error] = self.change([change(fd, filter, EV_ADD | EV_CLEAR, data)])?;
                succeed(error).inspect_err(|_| self.remove(fd))?;
            }
        }
        Ok(())
    }

    pub fn verify(&self, fd: i32, data: u64, want: Interest) -> io::Result<()> {
        check_open(fd)?;
        if self.delete(fd)? == [libc::ENOENT; 2] {
            return succeed(libc::ENOENT);
        }
        self.add(fd, data, want)
    }

    pub fn remove(&self, fd: i32) {
        let _ = self.delete(fd);
    }

    /// Deletes both filters, and returns the errors.
    fn delete(&self, fd: i32) -> io::Result<[i32; 2]> {
        self.change([EVFILT_READ, EVFILT_WRITE].map(|filter| change(fd, filter, EV_DELETE, 0)))
    }

    /// Makes changes. Returns the error of each, or 0.
    fn change<const N: usize>(&self, changes: [Kevent; N]) -> io::Result<[i32; N]> {
        let mut receipts = changes;
        // SAFETY: reads the changes and writes as many receipts.
        let n = check(unsafe {
            let (changes, n) = (changes.as_ptr(), N as c_int);
            (self.library.kevent)(self.queue.0, changes, n, receipts.as_mut_ptr(), n, null())
        })?;
        let mut errors = [0; N];
        for receipt in &receipts[..n as usize] {
            let changed = changes.iter().position(|c| (c.ident, c.filter) == (receipt.ident, receipt.filter));
            if let Some(i) = changed.filter(|_| receipt.flags & EV_ERROR != 0) {
                errors[i] = receipt.data as i32;
            }
        }
        Ok(errors)
    }

    pub fn wait(&self, ready: &mut Vec<Ready>, timeout: Option<Duration>) -> io::Result<Waited> {
        let sleeps = timeout.is_none_or(|timeout| !timeout.is_zero());
        let deadline = Deadline::new(timeout);
        loop {
            let left = deadline.left();
            let mut events = [MaybeUninit::<Kevent>::uninit(); MAX_READY];
            let n = match self.wait_for(&mut events, left) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => return Ok(Waited::Interrupted),
                n => n?,
            };
            let mut woken = false;
            for event in &events[..n] {
                // SAFETY: the library has written the first `n`.
                let event = unsafe { event.assume_init() };
                if event.udata as u64 == WAKE {
                    // A wait that does not block leaves the wake-up to one that does.
                    woken |= sleeps && self.wakeup.take();
                } else {
                    ready.push(Ready { data: event.udata as u64, events: reported(&event) });
                }
            }
            // A library may round the timeout down.
            if woken || !ready.is_empty() || left == Some(Duration::ZERO) {
                return Ok(Waited::from(ready, woken));
            }
        }
    }

    fn wait_for(&self, events: &mut [MaybeUninit<Kevent>], timeout: Option<Duration>) -> io::Result<usize> {
        let timeout = Timespec::new(timeout);
        let (first, n) = (events.as_mut_ptr().cast(), events.len() as c_int);
        // SAFETY: writes at most `n` events, and reads the timeout.
        let n = unsafe { (self.library.kevent)(self.queue.0, null(), 0, first, n, timeout.as_ptr()) };
        check(n).map(|n| n as usize)
    }

    pub fn wake(&self) {
        self.wakeup.wake();
    }
}

fn change(fd: i32, filter: i16, flags: u16, data: u64) -> Kevent {
    Kevent { ident: fd as usize, filter, flags: flags | EV_RECEIPT, fflags: 0, data: 0, udata: data as usize }
}

fn succeed(error: i32) -> io::Result<()> {
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    Ok(())
}

/// What the descriptor of an event is ready for.
fn reported(event: &Kevent) -> Interest {
    if event.flags & EV_ERROR != 0 {
        return Interest::BOTH;
    }
    let direction = if event.filter == EVFILT_WRITE { Interest::WRITE } else { Interest::READ };
    if event.flags & EV_EOF == 0 {
        return direction;
    }
    let mut polled = libc::pollfd { fd: event.ident as i32, events: direction.to_poll(), revents: 0 };
    // SAFETY: writes `polled`.
    unsafe { libc::poll(&mut polled, 1, 0) };
    direction | Interest::from_poll(polled.revents)
}
