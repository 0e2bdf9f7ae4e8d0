//! Descriptors that a poller owns, and what system calls return.
use std::io;

/// A descriptor that is closed when it is dropped.
pub struct Descriptor(pub i32);

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: nobody else uses the descriptor.
        unsafe { libc::close(self.0) };
    }
}

/// The result of a system call that returns a negative number and sets `errno` when it fails.
pub fn check(result: i32) -> io::Result<i32> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

/// Fails with EBADF if the number is no open descriptor.
pub fn check_open(fd: i32) -> io::Result<()> {
    // SAFETY: no memory is touched.
    check(unsafe { libc::fcntl(fd, libc::F_GETFD) }).map(drop)
}
