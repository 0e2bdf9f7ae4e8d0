//! A timer on a descriptor, which any OS thread may set earlier, and which ends the sleep of the one that waits for it.
use super::owned;
use crate::base::poison::unpoisoned;
use crate::cluster::ids::Micros;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::Mutex;

pub struct Timer {
    fd: OwnedFd,
    /// When it ends, by the monotonic clock.
    set: Mutex<Option<Micros>>,
}

impl Timer {
    /// # Errors
    /// If the system refuses the descriptor.
    pub fn new() -> io::Result<Timer> {
        let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
        // SAFETY: the descriptor is new.
        let fd = unsafe { owned(libc::timerfd_create(libc::CLOCK_MONOTONIC, flags))? };
        Ok(Timer { fd, set: Mutex::new(None) })
    }

    pub fn descriptor(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// It ends at this time, or before.
    pub fn end_by(&self, time: Micros) {
        let mut set = unpoisoned(self.set.lock());
        if set.is_some_and(|earlier| earlier <= time) {
            return;
        }
        *set = Some(time);
        let none = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // A time of 0 would stop it.
        let time = time.max(1);
        let end = libc::timespec { tv_sec: (time / 1_000_000) as _, tv_nsec: (time % 1_000_000 * 1_000) as _ };
        let ends = libc::itimerspec { it_interval: none, it_value: end };
        // SAFETY: the time is a live local; the system refuses no valid one.
        unsafe { libc::timerfd_settime(self.fd.as_raw_fd(), libc::TFD_TIMER_ABSTIME, &ends, std::ptr::null_mut()) };
    }

    /// Has it ended? Then it is not set any more.
    pub fn take(&self) -> bool {
        let mut set = unpoisoned(self.set.lock());
        let mut count = 0u64;
        // SAFETY: the count is a live local of that size.
        let got = unsafe { libc::read(self.fd.as_raw_fd(), (&raw mut count).cast(), size_of::<u64>()) };
        if got > 0 {
            *set = None;
        }
        got > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::getMonotonicNSec;

    #[test]
    fn the_earliest_time_counts() {
        let timer = Timer::new().unwrap();
        let begun = getMonotonicNSec() / 1_000;
        timer.end_by(begun + 60_000_000);
        assert!(!timer.take());
        timer.end_by(begun + 20_000);
        timer.end_by(begun + 60_000_000);
        let mut one = libc::pollfd { fd: timer.descriptor(), events: libc::POLLIN, revents: 0 };
        // SAFETY: the pointer is to a live local.
        assert_eq!(unsafe { libc::poll(&mut one, 1, 30_000) }, 1);
        assert!(getMonotonicNSec() / 1_000 >= begun + 20_000);
        assert!(timer.take() && !timer.take());
        // One that has passed.
        timer.end_by(0);
        // SAFETY: as above.
        assert_eq!(unsafe { libc::poll(&mut one, 1, 30_000) }, 1);
    }
}
