//! Waits for descriptors to become ready, by one of several system interfaces.
//!
//! *Protocol*
//!
//! 1. A descriptor is registered once, for some directions: [`Poller::add`]. What is ready then is reported by the next
//!    wait. Verifying it may change the directions.
//! 2. Descriptors are edge-triggered: a direction is reported when it becomes ready. A caller that cannot know whether
//!    it has seen the last edge *verifies* the descriptor: what is ready then, or becomes so, is reported (again).
//! 3. Back ends that know edges may also report directions for which nobody waits. The back end on poll(2) reports a
//!    direction once for each time that it was asked for.
//! 4. A descriptor is removed before it is closed. If foreign code closes it and the number is given out again, the
//!    back end either says so when the number is verified (ENOENT), or verifies what has the number now.
//! 5. [`Poller::wake`] ends the wait that is going on, or the next one.
//!
//! *Locking*: all methods may be called by several OS threads at once. One thread at a time waits. What it gets for a
//! descriptor that another thread removes or verifies meanwhile may be from before: the caller puts something into
//! `data` that tells registrations apart.
//!
//! *Checked by* `tests.rs`: each back end against a plain model.
mod descriptor;
mod epoll;
mod event;
mod io_uring;
mod kqueue;
mod poll;
#[cfg(test)]
mod tests;
mod timeout;
mod wake_flag;
mod wakeup;

use self::io_uring::IoUring;
use epoll::Epoll;
pub use event::{Interest, Ready, Waited, MAX_READY};
use kqueue::Kqueue;
use poll::Poll;
use std::io;
use std::time::Duration;

/// A back end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Epoll,
    Poll,
    IoUring,
    Kqueue,
}

impl Kind {
    pub const ALL: [Kind; 4] = [Kind::Epoll, Kind::Poll, Kind::IoUring, Kind::Kqueue];

    /// Is a direction reported whenever it becomes ready? Otherwise only once for each time that it was asked for, so a
    /// caller that waits must verify.
    pub fn has_edges(self) -> bool {
        self != Kind::Poll
    }
    pub fn name(self) -> &'static str {
        match self {
            Kind::Epoll => "epoll",
            Kind::Poll => "poll",
            Kind::IoUring => "io_uring",
            Kind::Kqueue => "kqueue",
        }
    }
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Says in one line why a back end is not available here, if it is not.
pub fn available(kind: Kind) -> Result<(), String> {
    match Poller::new(kind) {
        Ok(_) => Ok(()),
        Err(e) => Err(e.to_string()),
    }
}

/// A set of registered descriptors, and a way to wait for them.
pub enum Poller {
    Epoll(Epoll),
    Poll(Box<Poll>),
    IoUring(Box<IoUring>),
    Kqueue(Kqueue),
}

impl Poller {
    pub fn new(kind: Kind) -> io::Result<Poller> {
        Ok(match kind {
            Kind::Epoll => Poller::Epoll(Epoll::new()?),
            Kind::Poll => Poller::Poll(Box::new(Poll::new()?)),
            Kind::IoUring => Poller::IoUring(Box::new(IoUring::new()?)),
            Kind::Kqueue => Poller::Kqueue(Kqueue::new()?),
        })
    }

    /// A poller of the first of these back ends that is available here. Those before it are refused, each for a reason.
    pub fn first_of(
        kinds: impl Iterator<Item = Kind>,
        mut refused: impl FnMut(Kind, &io::Error),
    ) -> io::Result<Poller> {
        let mut first_error = None;
        for kind in kinds {
            match Poller::new(kind) {
                Ok(poller) => return Ok(poller),
                Err(e) => {
                    refused(kind, &e);
                    first_error.get_or_insert(e);
                }
            }
        }
        Err(first_error.unwrap_or_else(|| io::ErrorKind::Unsupported.into()))
    }

    pub fn kind(&self) -> Kind {
        match self {
            Poller::Epoll(_) => Kind::Epoll,
            Poller::Poll(_) => Kind::Poll,
            Poller::IoUring(_) => Kind::IoUring,
            Poller::Kqueue(_) => Kind::Kqueue,
        }
    }

    /// Registers a descriptor. `data` is less than `u64::MAX`.
    ///
    /// Fails with EEXIST if the number is registered, unless the back end registers it anew; with EBADF if it is not
    /// open; with EPERM if the back end cannot wait for such a file, which is always ready; with ENOMEM or ENOSPC if
    /// the system lacks memory for it.
    pub fn add(&self, fd: i32, data: u64, want: Interest) -> io::Result<()> {
        match self {
            Poller::Epoll(p) => p.add(fd, data, want),
            Poller::Poll(p) => p.add(fd, data, want),
            Poller::IoUring(p) => p.add(fd, data, want),
            Poller::Kqueue(p) => p.add(fd, data, want),
        }
    }

    /// Has what is ready now reported by the next wait, and what becomes ready later. Fails with ENOENT if the
    /// descriptor that has the number now is not registered, and with EBADF if it is not open.
    pub fn verify(&self, fd: i32, data: u64, want: Interest) -> io::Result<()> {
        match self {
            Poller::Epoll(p) => p.verify(fd, data, want),
            Poller::Poll(p) => p.verify(fd, data, want),
            Poller::IoUring(p) => p.verify(fd, data, want),
            Poller::Kqueue(p) => p.verify(fd, data, want),
        }
    }

    /// Removes a descriptor that is about to be closed. Does nothing if it is not registered.
    pub fn remove(&self, fd: i32) {
        match self {
            Poller::Epoll(p) => p.remove(fd),
            Poller::Poll(p) => p.remove(fd),
            Poller::IoUring(p) => p.remove(fd),
            Poller::Kqueue(p) => p.remove(fd),
        }
    }

    /// Waits until descriptors are ready or a wake-up comes, at most for the timeout. A timeout of zero does not block,
    /// and leaves a wake-up to a wait that does; none waits for ever. `ready` gets what is ready now, instead of what
    /// it had, at most [`MAX_READY`].
    pub fn wait(&self, ready: &mut Vec<Ready>, timeout: Option<Duration>) -> io::Result<Waited> {
        ready.clear();
        match self {
            Poller::Epoll(p) => p.wait(ready, timeout),
            Poller::Poll(p) => p.wait(ready, timeout),
            Poller::IoUring(p) => p.wait(ready, timeout),
            Poller::Kqueue(p) => p.wait(ready, timeout),
        }
    }

    /// Ends the wait that is going on, or the next one. Several wake-ups may be seen as one. A signal handler may call
    /// this.
    pub fn wake(&self) {
        match self {
            Poller::Epoll(p) => p.wake(),
            Poller::Poll(p) => p.wake(),
            Poller::IoUring(p) => p.wake(),
            Poller::Kqueue(p) => p.wake(),
        }
    }

    /// A descriptor that is readable while a wait would not block, if there is one.
    pub fn descriptor(&self) -> Option<i32> {
        match self {
            Poller::Epoll(p) => Some(p.descriptor()),
            Poller::Poll(_) | Poller::Kqueue(_) => None,
            Poller::IoUring(p) => Some(p.descriptor()),
        }
    }

    /// Makes sure that what was registered and verified takes effect, though nobody waits here for now but through
    /// [`Poller::descriptor`]. Costs a system call if something is queued, and nothing for most back ends.
    pub fn flush(&self) {
        match self {
            Poller::Epoll(_) | Poller::Poll(_) | Poller::Kqueue(_) => {}
            Poller::IoUring(p) => p.flush(),
        }
    }

    /// Closes the descriptors in the child of a fork, which shares what they stand for with its parent. The parent's
    /// set stays as it is.
    pub fn close_after_fork(self) {
        match self {
            Poller::Epoll(p) => drop(p),
            Poller::Poll(p) => p.close_after_fork(),
            Poller::IoUring(p) => p.close_after_fork(),
            Poller::Kqueue(p) => drop(p),
        }
    }
}
