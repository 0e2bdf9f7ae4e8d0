//! A pipe that is written as far as it takes, and keeps the rest; and reading from what others may own, too.
use std::{
    fs::File,
    io::{self, ErrorKind, Read, Write},
    mem::ManuallyDrop,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
};

pub struct Pipe {
    /// `None` when the reader has closed it, or it was closed here.
    file: Option<File>,
    waiting: Vec<u8>,
    /// It is closed as soon as all is written.
    is_ending: bool,
}

impl Pipe {
    pub fn new(end: Option<OwnedFd>) -> Pipe {
        if let Some(end) = &end {
            // SAFETY: the descriptor is open.
            unsafe { libc::fcntl(end.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
        }
        Pipe { file: end.map(File::from), waiting: vec![], is_ending: false }
    }

    /// Adds bytes to what is to be written. Nothing is written yet.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.waiting
    }

    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Closes it after what is to be written.
    pub fn end(&mut self) {
        self.is_ending = true;
    }

    /// Closes it now.
    pub fn close(&mut self) {
        self.file = None;
        self.waiting.clear();
    }

    /// What to wait for, if there is something to be written.
    pub fn watched(&self) -> Option<libc::pollfd> {
        let file = self.file.as_ref().filter(|_| !self.waiting.is_empty())?;
        Some(libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLOUT, revents: 0 })
    }

    /// Writes what it takes. The signal of a pipe that has no reader must be ignored.
    pub fn flush(&mut self) {
        while let (Some(file), false) = (&mut self.file, self.waiting.is_empty()) {
            match file.write(&self.waiting) {
                Ok(written) => drop(self.waiting.drain(..written)),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => self.close(),
            }
        }
        if self.file.is_none() || self.is_ending {
            self.close();
        }
    }
}

fn polled(fd: i32, events: i16) -> i16 {
    let mut one = libc::pollfd { fd, events, revents: 0 };
    // SAFETY: the pointer is to a live local.
    unsafe { libc::poll(&mut one, 1, 0) };
    one.revents
}

/// Can something be read at once, be it the end?
pub fn is_readable(fd: i32) -> bool {
    polled(fd, libc::POLLIN) != 0
}

/// Has all that could write to it closed it?
pub fn has_hung_up(fd: i32) -> bool {
    polled(fd, 0) & libc::POLLHUP != 0
}

/// Reads from a descriptor that is not this process's to close.
pub fn read_from(fd: i32, bytes: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the file is not closed.
    let mut file = ManuallyDrop::new(unsafe { File::from_raw_fd(fd) });
    file.read(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    #[test]
    fn what_is_not_taken_is_kept() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let mut pipe = Pipe::new(Some(ours.into()));
        assert!(pipe.watched().is_none());
        let all: Vec<u8> = (0..3_000_000).map(|n| n as u8).collect();
        pipe.buffer().extend(&all);
        pipe.end();
        let mut got: Vec<u8> = vec![];
        while got.len() < all.len() {
            pipe.flush();
            assert_eq!(pipe.watched().is_some(), pipe.waiting() > 0);
            let mut bytes = [0; 100_000];
            let length = theirs.read(&mut bytes).unwrap();
            got.extend(&bytes[..length]);
        }
        assert!(got == all);
        pipe.flush();
        // Waits for processes that other tests start at this moment: they have the socket until they run their program.
        assert_eq!(theirs.read(&mut [0; 9]).unwrap(), 0);
        assert!(is_readable(theirs.as_raw_fd()) && has_hung_up(theirs.as_raw_fd()));
    }

    #[test]
    fn a_reader_that_has_gone_is_forgotten() {
        let mut pipe = Pipe::new(None);
        pipe.buffer().push(1);
        pipe.flush();
        assert_eq!(pipe.waiting(), 0);
    }
}
