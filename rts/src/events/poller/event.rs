//! What a poller is asked for and what it reports.
use std::ops::BitOr;

/// The most descriptors that one wait reports. The next wait reports the others.
pub const MAX_READY: usize = 256;

/// Directions in which a descriptor is ready, or should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest(pub u8);

impl Interest {
    pub const NONE: Interest = Interest(0);
    pub const READ: Interest = Interest(1);
    pub const WRITE: Interest = Interest(2);
    pub const BOTH: Interest = Interest(3);

    pub fn is_none(self) -> bool {
        self.0 == 0
    }
    /// Does it have all directions of the other?
    pub fn contains(self, other: Interest) -> bool {
        self.0 & other.0 == other.0
    }
    /// Has the two a direction in common?
    pub fn intersects(self, other: Interest) -> bool {
        self.0 & other.0 != 0
    }
    pub fn and(self, other: Interest) -> Interest {
        Interest(self.0 & other.0)
    }
    pub fn without(self, other: Interest) -> Interest {
        Interest(self.0 & !other.0)
    }
    /// The directions that an answer of poll(2) stands for. A descriptor that is closed, hung up or in error is ready
    /// in both: an operation on it does not block.
    pub fn from_poll(revents: i16) -> Interest {
        if revents & (libc::POLLHUP | libc::POLLERR | libc::POLLNVAL) != 0 {
            return Interest::BOTH;
        }
        let mut events = Interest::NONE;
        if revents & (libc::POLLIN | libc::POLLPRI | libc::POLLRDHUP) != 0 {
            events = events | Interest::READ;
        }
        if revents & libc::POLLOUT != 0 {
            events = events | Interest::WRITE;
        }
        events
    }
    /// The same directions for poll(2).
    pub fn to_poll(self) -> i16 {
        let read = if self.intersects(Interest::READ) { libc::POLLIN | libc::POLLRDHUP } else { 0 };
        let write = if self.intersects(Interest::WRITE) { libc::POLLOUT } else { 0 };
        read | write
    }
}

impl BitOr for Interest {
    type Output = Interest;
    fn bitor(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }
}

/// A descriptor that is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// What the caller gave when it registered the descriptor or verified it last.
    pub data: u64,
    pub events: Interest,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// Descriptors are ready.
    Ready,
    TimedOut,
    /// By a signal.
    Interrupted,
    /// By a wake-up. Descriptors may be ready as well.
    Woken,
}

impl Waited {
    /// How a wait ended that returned because of what is in `ready`, a wake-up, or its timeout.
    pub fn from(ready: &[Ready], woken: bool) -> Waited {
        match (woken, ready.is_empty()) {
            (true, _) => Waited::Woken,
            (false, false) => Waited::Ready,
            (false, true) => Waited::TimedOut,
        }
    }
}
