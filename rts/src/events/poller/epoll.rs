//! The back end on epoll(7).
use super::descriptor::{check, Descriptor};
use super::event::{Interest, Ready, Waited, MAX_READY};
use super::timeout::Timespec;
use super::wakeup::Wakeup;
use std::io;
use std::mem::MaybeUninit;
use std::ptr::null;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The wake-up's data.
const WAKE: u64 = u64::MAX;

/// What the kernel is asked for. It reports errors and a hang-up in any case.
fn events(want: Interest) -> u32 {
    want.to_poll() as u32 | libc::EPOLLET as u32
}

pub struct Epoll {
    set: Descriptor,
    wakeup: Wakeup,
    /// `epoll_pwait2` is missing (before Linux 5.11) or denied.
    no_pwait2: AtomicBool,
}

impl Epoll {
    /// The set is made first. If a program is started with its standard input closed, the set gets that number, and the
    /// program's reads fail, as on the stock runtime. A read of the wake-up would wait.
    pub fn new() -> io::Result<Epoll> {
        // SAFETY: no memory is touched.
        let set = Descriptor(check(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?);
        let epoll = Epoll { set, wakeup: Wakeup::new()?, no_pwait2: AtomicBool::new(false) };
        epoll.control(libc::EPOLL_CTL_ADD, epoll.wakeup.fd(), libc::EPOLLIN as u32, WAKE)?;
        Ok(epoll)
    }

    pub fn add(&self, fd: i32, data: u64, want: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, events(want), data)
    }

    /// The kernel looks at the descriptor again, and queues it if it is ready.
    pub fn verify(&self, fd: i32, data: u64, want: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, events(want), data)
    }

    pub fn remove(&self, fd: i32) {
        let _ = self.control(libc::EPOLL_CTL_DEL, fd, 0, 0);
    }

    fn control(&self, operation: i32, fd: i32, events: u32, data: u64) -> io::Result<()> {
        debug_assert!(data != WAKE || fd == self.wakeup.fd());
        let mut event = libc::epoll_event { events, u64: data };
        // SAFETY: reads `event`.
        check(unsafe { libc::epoll_ctl(self.set.0, operation, fd, &mut event) }).map(drop)
    }

    pub fn wait(&self, ready: &mut Vec<Ready>, timeout: Option<Duration>) -> io::Result<Waited> {
        let mut events = [MaybeUninit::<libc::epoll_event>::uninit(); MAX_READY];
        let n = match self.wait_for(&mut events, timeout) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => return Ok(Waited::Interrupted),
            n => n?,
        };
        let mut woken = false;
        let blocks = timeout.is_none_or(|timeout| !timeout.is_zero());
        for event in &events[..n] {
            // SAFETY: the kernel has written the first `n`.
            let libc::epoll_event { events, u64: data } = unsafe { event.assume_init() };
            if data == WAKE {
                // A wait that does not block leaves the wake-up to the task that sleeps or is about to.
                woken |= blocks && self.wakeup.take();
            } else {
                ready.push(Ready { data, events: Interest::from_poll(events as i16) });
            }
        }
        Ok(Waited::from(ready, woken))
    }

    /// How many events there are.
    fn wait_for(&self, events: &mut [MaybeUninit<libc::epoll_event>], timeout: Option<Duration>) -> io::Result<usize> {
        let no_wait = timeout.is_some_and(|timeout| timeout.is_zero());
        if !no_wait && timeout.is_some() && !self.no_pwait2.load(Ordering::Relaxed) {
            match self.pwait2(events, timeout) {
                Err(e) if matches!(e.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => {
                    self.no_pwait2.store(true, Ordering::Relaxed);
                }
                n => return n,
            }
        }
        if !no_wait && timeout.is_some() {
            self.sleep(timeout)?;
        }
        let (first, n) = (events.as_mut_ptr().cast(), events.len() as i32);
        let millis = if timeout.is_some() { 0 } else { -1 };
        // SAFETY: the kernel writes at most `n` events.
        check(unsafe { libc::epoll_wait(self.set.0, first, n, millis) }).map(|n| n as usize)
    }

    fn pwait2(&self, events: &mut [MaybeUninit<libc::epoll_event>], timeout: Option<Duration>) -> io::Result<usize> {
        let timeout = Timespec::new(timeout);
        let (first, n) = (events.as_mut_ptr(), events.len() as i32);
        let mask = null::<libc::sigset_t>();
        // SAFETY: the kernel writes at most `n` events, and reads the timeout.
        let n = unsafe { libc::syscall(libc::SYS_epoll_pwait2, self.set.0, first, n, timeout.as_ptr(), mask, 0usize) };
        check(n as i32).map(|n| n as usize)
    }

    /// Waits until the set has an event, as exactly as `epoll_pwait2` does and `epoll_wait` does not.
    fn sleep(&self, timeout: Option<Duration>) -> io::Result<()> {
        let timeout = Timespec::new(timeout);
        let mut set = libc::pollfd { fd: self.set.0, events: libc::POLLIN, revents: 0 };
        // SAFETY: writes `set`, and reads the timeout.
        check(unsafe { libc::ppoll(&mut set, 1, timeout.as_ptr(), null()) }).map(drop)
    }

    pub fn wake(&self) {
        self.wakeup.wake();
    }

    /// The set can be watched in another set.
    pub fn descriptor(&self) -> i32 {
        self.set.0
    }
}
