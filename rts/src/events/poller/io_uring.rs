//! The back end on io_uring(7).
//!
//! Each registered descriptor has a *poll request* in the ring. It is a multishot request: it completes whenever the
//! descriptor becomes ready, so it has edges. Requests are queued here and handed to the kernel all at once.
//!
//! *Protocol*
//!
//! 1. A request's number is that of its descriptor with a generation. Completions of another generation are dropped.
//! 2. `verify` cancels the request and makes a new one of the next generation, for the file that has the number now.
//!    A new request completes at once if the file is ready.
//! 3. Queued requests are submitted by the next wait or by `flush`, or at once if a waiter sleeps.
//! 4. `remove` cancels at once. A request keeps its file open: without this, the peer would not see a close.
//! 5. The kernel ties a request to the OS thread that has submitted it, and cancels it when that thread exits. The
//!    waiter makes such a request again. It does the same if the kernel ends a multishot request for a reason of its
//!    own. If the descriptor has hung up, the request is only made again when the descriptor is verified.
//! 6. A completion says what was true when it was posted. So what was posted before a wait began is compared with
//!    poll(2) before it is reported.
//!
//! *Locking*: `waiter` is held through a wait, `set` for moments, also under `waiter`. Submission entries are written
//! under `set`, completions read under `waiter`.
use super::descriptor::{check_open, Descriptor};
use super::event::{Interest, Ready, Waited, MAX_READY};
use super::timeout::{Deadline, Timespec};
use super::wakeup::Wakeup;
use crate::base::poison::unpoisoned;
use ::io_uring::cqueue::{self, more};
use ::io_uring::opcode::{AsyncCancel, PollAdd};
use ::io_uring::squeue::{Entry, Flags};
use ::io_uring::types::{Fd, SubmitArgs, Timespec as RingTimespec};
use ::io_uring::{EnterFlags, IoUring as Ring, Probe};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::mem::forget;
use std::os::fd::AsRawFd;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

/// The sizes of the ring's queues. 16 KB and 64 KB. What does not fit is queued here, or kept by the kernel.
const SUBMISSIONS: u32 = 256;
const COMPLETIONS: u32 = 4096;

/// The request that polls the wake-up.
const WAKE: u64 = u64::MAX;
/// Cancellations, whose completions say nothing.
const CANCEL: u64 = u64::MAX - 1;

pub struct IoUring {
    ring: Ring,
    wakeup: Wakeup,
    set: Mutex<Set>,
    waiter: Mutex<Waiter>,
}

/// What is registered.
#[derive(Default)]
struct Set {
    registrations: HashMap<i32, Registration>,
    generation: u32,
    /// What is to be submitted, in this order.
    queued: VecDeque<Entry>,
    /// The waiter sleeps or is about to.
    asleep: bool,
}

struct Registration {
    data: u64,
    want: Interest,
    generation: u32,
    /// Is a request in the ring or queued?
    requested: bool,
}

/// What one wait has found.
#[derive(Default)]
struct Waiter {
    found: Vec<(i32, Ready)>,
    woken: bool,
    /// A wait that did not block has seen a wake-up. It is for the next one that does.
    kept_wakeup: bool,
}

/// The number of a descriptor's request.
fn request(fd: i32, generation: u32) -> u64 {
    (generation as u64) << 32 | fd as u32 as u64
}

fn error(errno: i32) -> io::Error {
    io::Error::from_raw_os_error(errno)
}

impl IoUring {
    pub fn new() -> io::Result<IoUring> {
        let mut builder = Ring::builder();
        // A child must not write into the ring of its parent.
        builder.dontfork().setup_cqsize(COMPLETIONS).setup_clamp();
        // An entry in error must not hold up those behind it.
        builder.setup_submit_all();
        let ring = builder.build(SUBMISSIONS).map_err(explain)?;
        let parameters = ring.params();
        let mut probe = Probe::new();
        ring.submitter().register_probe(&mut probe)?;
        if !(parameters.is_feature_nodrop()
            && parameters.is_feature_ext_arg()
            && parameters.is_feature_skip_cqe_on_success()
            && probe.is_supported(PollAdd::CODE)
            && probe.is_supported(AsyncCancel::CODE))
        {
            return Err(explain(error(libc::EINVAL)));
        }
        let new = IoUring { ring, wakeup: Wakeup::new()?, set: Mutex::default(), waiter: Mutex::default() };
        new.poll_wakeup(&mut new.set());
        Ok(new)
    }

    fn set(&self) -> MutexGuard<'_, Set> {
        unpoisoned(self.set.lock())
    }

    fn poll_wakeup(&self, set: &mut Set) {
        set.queued.push_back(poll_entry(self.wakeup.fd(), libc::POLLIN as u32, WAKE));
    }

    pub fn add(&self, fd: i32, data: u64, want: Interest) -> io::Result<()> {
        check_open(fd)?;
        let mut set = self.set();
        if set.registrations.contains_key(&fd) {
            return Err(error(libc::EEXIST));
        }
        set.registrations.insert(fd, Registration { data, want, generation: 0, requested: false });
        set.request(fd);
        self.submit_if_asleep(set)
    }

    pub fn verify(&self, fd: i32, data: u64, want: Interest) -> io::Result<()> {
        check_open(fd)?;
        let mut set = self.set();
        let registration = set.registrations.get_mut(&fd).ok_or_else(|| error(libc::ENOENT))?;
        (registration.data, registration.want) = (data, want);
        set.cancel(fd);
        set.request(fd);
        self.submit_if_asleep(set)
    }

    pub fn remove(&self, fd: i32) {
        let mut set = self.set();
        set.cancel(fd);
        if set.registrations.remove(&fd).is_some() {
            self.submit(set);
        }
    }

    /// Hands over what is queued, and shows a wake-up that has been kept. Another OS thread that waits does so itself.
    pub fn flush(&self) {
        self.submit(self.set());
        let kept = self.waiter.try_lock().is_ok_and(|mut waiter| std::mem::take(&mut waiter.kept_wakeup));
        if kept {
            self.wake();
        }
    }

    fn submit_if_asleep(&self, set: MutexGuard<'_, Set>) -> io::Result<()> {
        if set.asleep {
            self.submit(set);
        }
        Ok(())
    }

    /// Submits all that is queued.
    fn submit(&self, mut set: MutexGuard<'_, Set>) {
        loop {
            if self.fill(&mut set) == 0 {
                return;
            }
            if self.ring.submitter().submit().is_err() {
                // The kernel holds completions that have no room. The waiter makes room and then submits.
                drop(set);
                return self.wakeup.signal();
            }
        }
    }

    /// Moves queued requests to the ring, as many as fit. How many does it hold then?
    fn fill(&self, set: &mut Set) -> u32 {
        // SAFETY: the caller holds the lock.
        let mut submissions = unsafe { self.ring.submission_shared() };
        while let Some(entry) = set.queued.front() {
            // SAFETY: an entry has no pointers.
            if unsafe { submissions.push(entry) }.is_err() {
                break;
            }
            set.queued.pop_front();
        }
        submissions.sync();
        submissions.len() as u32
    }

    pub fn wait(&self, ready: &mut Vec<Ready>, timeout: Option<Duration>) -> io::Result<Waited> {
        let sleeps = timeout.is_none_or(|timeout| !timeout.is_zero());
        let mut waiter = match self.waiter.try_lock() {
            Ok(waiter) => waiter,
            Err(_) if sleeps => unpoisoned(self.waiter.lock()),
            // The other waiter reports what is ready.
            Err(_) => return Ok(Waited::TimedOut),
        };
        waiter.found.clear();
        waiter.woken = sleeps && std::mem::take(&mut waiter.kept_wakeup);
        self.reap(&mut waiter, sleeps);
        waiter.drop_outdated();
        let deadline = Deadline::new(timeout);
        let may_sleep = sleeps;
        let ended = loop {
            let sleeps = may_sleep && waiter.is_empty();
            let ended = self.enter(sleeps, &deadline)?;
            self.reap(&mut waiter, may_sleep);
            if !sleeps || !waiter.is_empty() || ended != Waited::Ready {
                break ended;
            }
        };
        if !self.set().queued.is_empty() {
            // Requests that must be made again. Nobody may wait here for some time.
            self.flush();
        }
        ready.extend(waiter.found.iter().map(|(_, ready)| *ready));
        match Waited::from(ready, waiter.woken) {
            Waited::TimedOut if ended == Waited::Interrupted => Ok(ended),
            waited => Ok(waited),
        }
    }

    /// Submits what is queued and, if the waiter sleeps, waits for a completion: says how that ended.
    fn enter(&self, sleeps: bool, deadline: &Deadline) -> io::Result<Waited> {
        let mut set = self.set();
        let mut entries = self.fill(&mut set);
        while !set.queued.is_empty() && self.ring.submitter().submit().is_ok() {
            entries = self.fill(&mut set);
        }
        // SAFETY: the lock is held.
        let overflow = unsafe { self.ring.submission_shared() }.cq_overflow();
        // If nothing is queued, the kernel has already posted what has completed.
        if entries == 0 && !sleeps && !overflow {
            return Ok(Waited::Ready);
        }
        set.asleep = sleeps;
        drop(set);
        let entered = self.enter_for(entries, sleeps, deadline);
        self.set().asleep = false;
        match entered {
            Ok(n) if n < entries as usize => Ok(Waited::Ready),
            // The kernel counts what it has submitted, and does not say how its wait ended.
            Ok(n) if n > 0 && sleeps && self.has_no_completion() => match deadline.left() {
                Some(Duration::ZERO) => Ok(Waited::TimedOut),
                _ => Ok(Waited::Interrupted),
            },
            Ok(_) => Ok(Waited::Ready),
            Err(e) => match e.raw_os_error() {
                Some(libc::ETIME) => Ok(Waited::TimedOut),
                Some(libc::EINTR) => Ok(Waited::Interrupted),
                // Completions must be read first.
                Some(libc::EBUSY) => Ok(Waited::Ready),
                _ => Err(e),
            },
        }
    }

    fn enter_for(&self, entries: u32, sleeps: bool, deadline: &Deadline) -> io::Result<usize> {
        let flags = EnterFlags::GETEVENTS.bits();
        let submitter = self.ring.submitter();
        let left = deadline.left().filter(|_| sleeps);
        // SAFETY: the arguments live until the call returns.
        unsafe {
            let Some(left) = Timespec::new(left).get() else {
                return submitter.enter::<libc::sigset_t>(entries, sleeps as u32, flags, None);
            };
            let time = RingTimespec::new().sec(left.tv_sec as u64).nsec(left.tv_nsec as u32);
            let arguments = SubmitArgs::new().timespec(&time);
            submitter.enter(entries, sleeps as u32, flags | EnterFlags::EXT_ARG.bits(), Some(&arguments))
        }
    }

    /// Only the waiter asks.
    fn has_no_completion(&self) -> bool {
        // SAFETY: the caller holds the waiter's lock.
        unsafe { self.ring.completion_shared() }.is_empty()
    }

    /// Reads completions, for a wait that may block or not.
    fn reap(&self, waiter: &mut Waiter, may_sleep: bool) {
        // SAFETY: the caller holds the waiter's lock.
        let mut completions = unsafe { self.ring.completion_shared() };
        if completions.is_empty() {
            return;
        }
        let mut set = self.set();
        while waiter.found.len() < MAX_READY {
            let Some(completion) = completions.next() else { break };
            match completion.user_data() {
                CANCEL => {}
                WAKE => {
                    let woken = self.wakeup.take_edge();
                    waiter.woken |= may_sleep && woken;
                    waiter.kept_wakeup |= !may_sleep && woken;
                    if !more(completion.flags()) {
                        self.poll_wakeup(&mut set);
                    }
                }
                _ => waiter.found.extend(set.complete(&completion)),
            }
        }
    }

    pub fn wake(&self) {
        self.wakeup.wake();
    }

    /// Readable while the ring has completions.
    pub fn descriptor(&self) -> i32 {
        self.ring.as_raw_fd()
    }

    /// Closes the descriptors in the child of a fork. The ring's memory is not mapped there, and the tables may be as
    /// another thread of the parent was changing them.
    pub fn close_after_fork(self) {
        drop(Descriptor(self.ring.as_raw_fd()));
        forget((self.ring, self.set, self.waiter));
    }
}

impl Set {
    /// Makes a request for a registered descriptor, of a new generation.
    fn request(&mut self, fd: i32) {
        self.generation = self.generation.wrapping_add(1);
        let Some(registration) = self.registrations.get_mut(&fd) else { return };
        registration.generation = self.generation;
        registration.requested = true;
        let number = request(fd, self.generation);
        self.queued.push_back(poll_entry(fd, registration.want.to_poll() as u32, number));
    }

    /// Cancels the request of a descriptor, if there is one.
    fn cancel(&mut self, fd: i32) {
        let Some(registration) = self.registrations.get_mut(&fd).filter(|r| r.requested) else { return };
        registration.requested = false;
        // A "poll remove" would fail if the request is about to complete, and a multishot request would go on.
        let cancel = AsyncCancel::new(request(fd, registration.generation)).build();
        self.queued.push_back(cancel.user_data(CANCEL).flags(Flags::SKIP_SUCCESS));
    }

    /// What a completion of a poll request reports.
    fn complete(&mut self, completion: &cqueue::Entry) -> Option<(i32, Ready)> {
        let fd = completion.user_data() as i32;
        let registration = self.registrations.get_mut(&fd)?;
        if request(fd, registration.generation) != completion.user_data() {
            return None;
        }
        let events = match completion.result() {
            mask if mask >= 0 => Interest::from_poll(mask as i16),
            error if error == -libc::ECANCELED => Interest::NONE,
            // The caller's next operation on the descriptor finds the error.
            _ => Interest::BOTH,
        };
        let ready = Ready { data: registration.data, events };
        if !more(completion.flags()) {
            registration.requested = false;
            let hung_up = (libc::POLLHUP | libc::POLLERR) as i32;
            match completion.result() {
                mask if mask >= 0 && mask & hung_up == 0 => self.request(fd),
                error if error == -libc::ECANCELED => self.request(fd),
                _ => {}
            }
        }
        (!events.is_none()).then_some((fd, ready))
    }
}

impl Waiter {
    fn is_empty(&self) -> bool {
        self.found.is_empty() && !self.woken
    }

    /// Drops what is no longer ready.
    fn drop_outdated(&mut self) {
        if self.found.is_empty() {
            return;
        }
        let events = Interest::BOTH.to_poll();
        let mut polled: Vec<_> =
            self.found.iter().map(|(fd, _)| libc::pollfd { fd: *fd, events, revents: 0 }).collect();
        // SAFETY: the kernel writes the answers.
        if unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, 0) } < 0 {
            return;
        }
        for ((_, ready), polled) in self.found.iter_mut().zip(&polled) {
            ready.events = ready.events.and(Interest::from_poll(polled.revents));
        }
        self.found.retain(|(_, ready)| !ready.events.is_none());
    }
}

/// A request that completes whenever the descriptor becomes ready.
fn poll_entry(fd: i32, events: u32, number: u64) -> Entry {
    PollAdd::new(Fd(fd), events).multi(true).build().user_data(number)
}

/// Says why there is no ring.
fn explain(e: io::Error) -> io::Error {
    let reason = match e.raw_os_error() {
        Some(libc::EPERM) => "denied by a seccomp filter or the sysctl kernel.io_uring_disabled",
        Some(libc::ENOSYS) => "not in this kernel, or denied by a seccomp filter",
        Some(libc::EINVAL) => "this kernel is too old: Linux 5.18 is needed",
        _ => return e,
    };
    io::Error::new(e.kind(), reason)
}
