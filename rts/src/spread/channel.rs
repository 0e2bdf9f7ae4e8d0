//! A channel between two processing elements of one host: a socket that keeps messages apart.
//!
//! Messages arrive in order and whole, or not at all if the other process has ended. A receiver sleeps in the system.
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

/// Bytes of the longest message: those of the handshake are far shorter.
const MAX_BYTES: usize = 4096;

pub struct Channel(OwnedFd);

/// What a receiver gets.
#[derive(Debug, PartialEq)]
pub enum Received {
    Message(Vec<u8>),
    /// The other process has closed its end, by ending as a rule.
    Closed,
    TimedOut,
}

impl Channel {
    /// The channel on an inherited descriptor, which this process's children will not inherit. `None` if it is not an
    /// open socket.
    /// # Safety
    /// The caller gives the descriptor away.
    pub unsafe fn inherited(fd: RawFd) -> Option<Channel> {
        let (mut kind, mut length) = (0i32, size_of::<i32>() as libc::socklen_t);
        let asked = libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_TYPE, (&raw mut kind).cast(), &mut length);
        if asked != 0 || kind != libc::SOCK_SEQPACKET {
            return None;
        }
        (libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) == 0).then(|| Channel(OwnedFd::from_raw_fd(fd)))
    }

    /// Sends a message, which is not empty. That the other process has ended is no error: the next receive says so.
    pub fn send(&self, message: &[u8]) {
        debug_assert!(!message.is_empty() && message.len() <= MAX_BYTES);
        // SAFETY: the bytes live until the call returns.
        while unsafe { libc::send(self.0.as_raw_fd(), message.as_ptr().cast(), message.len(), libc::MSG_NOSIGNAL) } < 0
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
    }

    /// Waits for a message until `deadline`, or for ever.
    pub fn receive(&self, deadline: Option<Instant>) -> Received {
        let mut bytes = vec![0u8; MAX_BYTES];
        loop {
            if !self.is_readable(deadline) {
                return Received::TimedOut;
            }
            // SAFETY: the buffer has that length.
            match unsafe { libc::recv(self.0.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len(), 0) } {
                n if n > 0 => {
                    bytes.truncate(n as usize);
                    return Received::Message(bytes);
                }
                n if n < 0 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                _ => return Received::Closed,
            }
        }
    }

    /// Sleeps until there is a message or the end; false at the deadline.
    fn is_readable(&self, deadline: Option<Instant>) -> bool {
        let mut one = libc::pollfd { fd: self.0.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        loop {
            let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
            // Rounded up, so that it does not spin in the last millisecond.
            let rounded =
                left.map_or(-1, |l| (l + Duration::from_micros(999)).as_millis().min(i32::MAX as u128) as i32);
            // SAFETY: the pointer is to a live local.
            if unsafe { libc::poll(&mut one, 1, rounded) } > 0 {
                return true;
            }
            if left.is_some_and(|l| l.is_zero()) {
                return false;
            }
        }
    }
}

#[cfg(test)]
pub fn pair() -> (Channel, Channel) {
    let mut ends = [0; 2];
    // SAFETY: the array has room for two descriptors, which are new.
    unsafe {
        assert_eq!(libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET, 0, ends.as_mut_ptr()), 0);
        (Channel::inherited(ends[0]).unwrap(), Channel::inherited(ends[1]).unwrap())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_whole_and_in_order_until_the_end() {
        let (a, b) = pair();
        a.send(b"one");
        a.send(&[7; MAX_BYTES]);
        assert_eq!(b.receive(None), Received::Message(b"one".to_vec()));
        assert_eq!(b.receive(None), Received::Message(vec![7; MAX_BYTES]));
        let soon = || Some(Instant::now() + Duration::from_millis(20));
        let begun = Instant::now();
        assert_eq!(b.receive(soon()), Received::TimedOut);
        assert!(begun.elapsed() >= Duration::from_millis(20));
        a.send(b"last");
        drop(a);
        b.send(b"nobody hears it");
        assert_eq!(b.receive(soon()), Received::Message(b"last".to_vec()));
        assert_eq!(b.receive(None), Received::Closed);
    }

    #[test]
    fn other_descriptors_are_refused() {
        // SAFETY: neither is taken over.
        unsafe {
            assert!(Channel::inherited(1 << 20).is_none());
            assert!(Channel::inherited(2).is_none());
        }
    }
}
