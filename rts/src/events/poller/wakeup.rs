//! The descriptor through which any OS thread, and a signal handler, ends the wait of another.
use super::descriptor::{check, Descriptor};
use super::wake_flag::WakeFlag;
use std::io;

pub struct Wakeup {
    flag: WakeFlag,
    /// The eventfd, or the end of a pipe that is read.
    read: Descriptor,
    /// The end of the pipe that is written, where there is no eventfd.
    write: Option<Descriptor>,
}

impl Wakeup {
    pub fn new() -> io::Result<Wakeup> {
        // SAFETY: no memory is touched.
        match check(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) }) {
            Ok(fd) => Ok(Wakeup { flag: WakeFlag::new(), read: Descriptor(fd), write: None }),
            Err(e) if e.raw_os_error() == Some(libc::ENOSYS) => Wakeup::with_pipe(),
            Err(e) => Err(e),
        }
    }

    pub(super) fn with_pipe() -> io::Result<Wakeup> {
        let mut ends = [-1; 2];
        // SAFETY: writes both ends.
        check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK) })?;
        let [read, write] = ends.map(Descriptor);
        Ok(Wakeup { flag: WakeFlag::new(), read, write: Some(write) })
    }

    /// What becomes readable when a waiter must wake up.
    pub fn fd(&self) -> i32 {
        self.read.0
    }

    /// Ends the wait that is going on, or the next one. May be called by a signal handler.
    pub fn wake(&self) {
        if self.flag.raise() {
            self.signal();
        }
    }

    /// Makes the descriptor readable without a wake-up: the waiter goes on waiting when it has seen it.
    pub fn signal(&self) {
        let one = 1u64.to_ne_bytes();
        let fd = self.write.as_ref().unwrap_or(&self.read).0;
        // A full pipe is readable already.
        // SAFETY: reads `one`. A signal handler must leave `errno` as it was.
        unsafe {
            let errno = libc::__errno_location();
            let before = *errno;
            libc::write(fd, one.as_ptr().cast(), one.len());
            *errno = before;
        }
    }

    /// The descriptor is readable. Was it a wake-up?
    pub fn take(&self) -> bool {
        self.drain();
        self.flag.lower()
    }

    /// As [`Wakeup::take`], for a waiter that sees edges. Each write to an eventfd is one, so it need not be read.
    pub fn take_edge(&self) -> bool {
        if self.write.is_some() {
            self.drain();
        }
        self.flag.lower()
    }

    fn drain(&self) {
        let mut buffer = [0u8; 512];
        loop {
            // SAFETY: writes `buffer`.
            let n = unsafe { libc::read(self.fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
            if n != buffer.len() as isize {
                break;
            }
        }
    }
}
