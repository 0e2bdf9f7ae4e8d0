//! Each back end that is available here, against a plain model.
mod cases;
mod kqueue_model;
mod model;

use super::*;
use libc::c_int;
use std::time::Instant;

const ZERO: Option<Duration> = Some(Duration::ZERO);

/// Makes a poller for a test. The back end on kqueue is tested on a model of its library, and on the library where
/// there is one.
fn make(kind: Kind) -> io::Result<Poller> {
    match Poller::new(kind) {
        Err(_) if kind == Kind::Kqueue => Ok(Poller::Kqueue(Kqueue::with_library(kqueue_model::library())?)),
        p => p,
    }
}

/// The back ends that can be tested here. The others are named in the output.
fn kinds() -> Vec<Kind> {
    let (testable, absent): (Vec<_>, Vec<_>) = Kind::ALL.into_iter().partition(|kind| make(*kind).is_ok());
    for kind in absent {
        println!("{}: {}", kind.name(), available(kind).unwrap_err());
    }
    testable
}

fn for_each_kind(mut test: impl FnMut(Kind, Poller)) {
    for kind in kinds() {
        println!("{}", kind.name());
        test(kind, make(kind).unwrap());
    }
}

/// A descriptor of a test, closed when it is dropped.
struct Fd(c_int);

impl Drop for Fd {
    fn drop(&mut self) {
        close(self.0);
    }
}

fn close(fd: c_int) {
    assert_eq!(unsafe { libc::close(fd) }, 0);
}

const FLAGS: c_int = libc::O_NONBLOCK | libc::O_CLOEXEC;

fn pipe() -> (Fd, Fd) {
    let mut ends = [-1; 2];
    assert_eq!(unsafe { libc::pipe2(ends.as_mut_ptr(), FLAGS) }, 0);
    (Fd(ends[0]), Fd(ends[1]))
}

fn socketpair() -> (Fd, Fd) {
    let mut ends = [-1; 2];
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    assert_eq!(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) }, 0);
    (Fd(ends[0]), Fd(ends[1]))
}

/// Writes at most `n` bytes. The reader may be gone: tests run with SIGPIPE ignored.
fn write(fd: c_int, n: usize) {
    let bytes = vec![0u8; n];
    unsafe { libc::write(fd, bytes.as_ptr().cast(), n) };
}

/// Reads at most `n` bytes, and returns what the system call returns.
fn read(fd: c_int, n: usize) -> isize {
    let mut bytes = vec![0u8; n];
    unsafe { libc::read(fd, bytes.as_mut_ptr().cast(), n) }
}

/// What a descriptor is ready for.
fn ready_now(fd: c_int) -> Interest {
    let mut polled = libc::pollfd { fd, events: Interest::BOTH.to_poll(), revents: 0 };
    assert!(unsafe { libc::poll(&mut polled, 1, 0) } >= 0);
    Interest::from_poll(polled.revents)
}

fn errno(result: io::Result<()>) -> c_int {
    result.err().map_or(0, |e| e.raw_os_error().unwrap())
}

/// Waits as a poller does. The kernel may interrupt an OS thread for work of its own, as when a ring is closed.
fn wait(p: &Poller, ready: &mut Vec<Ready>, timeout: Option<Duration>) -> Waited {
    loop {
        match p.wait(ready, timeout).unwrap() {
            Waited::Interrupted => continue,
            waited => return waited,
        }
    }
}

/// Waits until a report of this data contains one of the directions.
fn expect(p: &Poller, data: u64, events: Interest) {
    let mut ready = Vec::new();
    let end = Instant::now() + Duration::from_secs(10);
    while Instant::now() < end {
        wait(p, &mut ready, Some(Duration::from_millis(100)));
        if ready.iter().any(|r| r.data == data && r.events.intersects(events)) {
            return;
        }
    }
    panic!("no event for {data}");
}

/// Takes all that is ready, and returns what does not come to an end.
fn drain(p: &Poller) {
    let mut ready = Vec::new();
    for _ in 0..100 {
        if wait(p, &mut ready, ZERO) == Waited::TimedOut {
            return;
        }
    }
    panic!("events do not end");
}
