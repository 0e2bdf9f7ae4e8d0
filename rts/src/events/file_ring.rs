//! Rings for batches of file operations on io_uring(7), for the package `hecaton`
//! (`library/src/Hecaton/Event/Ring.hs`).
//!
//! *Protocol*
//!
//! 1. There is one ring for each HEC, made when it is first used. Where the system denies it there is none, and the
//!    package uses OS threads.
//! 2. A request has a number that its submitter chooses. The kernel reads and writes the request's memory until it has
//!    completed it.
//! 3. No more requests are under way than the ring has room for completions. What does not fit is not taken.
//! 4. The ring's descriptor is readable while there are completions.
//! 5. The kernel ties a request to the OS thread that has submitted it, and cancels it when that thread exits. The
//!    package performs such a request again, by itself.
//! 6. The child of a fork does not have the ring's memory, so it makes new rings.
//!
//! *Locking*: entries are written under `submitter`, completions read under `reaper`. No lock is taken under them.
use crate::base::fatal;
use crate::base::once_ptr::get_or_try_make;
use crate::base::poison::unpoisoned;
use crate::hec::MAX_HECS;
use ::io_uring::opcode::{Fsync, Read, Write};
use ::io_uring::squeue::Entry;
use ::io_uring::types::{Fd, FsyncFlags};
use ::io_uring::{IoUring, Probe};
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::Mutex;

const SUBMISSIONS: u32 = 256;
const COMPLETIONS: u32 = 4096;
/// The most bytes that the system moves in one operation.
const MAX_LENGTH: usize = 0x7fff_f000;

pub struct FileRing {
    ring: IoUring,
    submitter: Mutex<()>,
    reaper: Mutex<()>,
    /// How many requests are under way.
    taken: AtomicUsize,
}

/// What `Hecaton.Event.Ring` writes.
#[repr(C)]
pub struct Request {
    number: u64,
    memory: *mut u8,
    length: usize,
    offset: u64,
    fd: i32,
    operation: i32,
}

const READ: i32 = 0;
const WRITE: i32 = 1;

/// What it reads: a number of bytes, or minus an error number.
#[repr(C)]
pub struct Completion {
    number: u64,
    result: i64,
}

static RINGS: [AtomicPtr<FileRing>; MAX_HECS] = [const { AtomicPtr::new(null_mut()) }; MAX_HECS];

impl FileRing {
    fn new() -> io::Result<FileRing> {
        let mut builder = IoUring::builder();
        // A child must not write into the ring of its parent.
        builder.dontfork().setup_cqsize(COMPLETIONS).setup_clamp().setup_submit_all();
        let ring = builder.build(SUBMISSIONS)?;
        let mut probe = Probe::new();
        ring.submitter().register_probe(&mut probe)?;
        if ![Read::CODE, Write::CODE, Fsync::CODE].into_iter().all(|code| probe.is_supported(code)) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(FileRing { ring, submitter: Mutex::new(()), reaper: Mutex::new(()), taken: AtomicUsize::new(0) })
    }

    /// Hands requests to the kernel. Returns how many it has taken.
    fn submit(&self, requests: &[Request]) -> usize {
        let _lock = unpoisoned(self.submitter.lock());
        let room = COMPLETIONS as usize - self.taken.load(Ordering::Relaxed);
        let requests = &requests[..requests.len().min(room)];
        self.taken.fetch_add(requests.len(), Ordering::Relaxed);
        for request in requests {
            // SAFETY: the lock is held, and the memory lives until the request has completed.
            while unsafe { self.ring.submission_shared().push(&request.entry()) }.is_err() {
                self.enter();
            }
        }
        self.enter();
        requests.len()
    }

    /// Has the kernel take what is in the ring.
    fn enter(&self) {
        // SAFETY: the caller holds the lock.
        while !unsafe { self.ring.submission_shared() }.is_empty() {
            let Err(e) = self.ring.submitter().submit() else { continue };
            match e.raw_os_error() {
                Some(libc::EINTR) => {}
                // The system has no memory for now.
                Some(libc::EAGAIN | libc::EBUSY) => std::thread::yield_now(),
                _ => fatal::broken("a ring takes no requests"),
            }
        }
    }

    /// Takes completions. Returns how many.
    fn reap(&self, completions: &mut [Completion]) -> usize {
        let _lock = unpoisoned(self.reaper.lock());
        // SAFETY: the lock is held.
        let found = completions.iter_mut().zip(unsafe { self.ring.completion_shared() }).map(|(slot, completion)| {
            *slot = Completion { number: completion.user_data(), result: completion.result().into() };
        });
        let found = found.count();
        self.taken.fetch_sub(found, Ordering::Relaxed);
        found
    }
}

impl Request {
    fn entry(&self) -> Entry {
        let length = self.length.min(MAX_LENGTH) as u32;
        let entry = match self.operation {
            READ => Read::new(Fd(self.fd), self.memory, length).offset(self.offset).build(),
            WRITE => Write::new(Fd(self.fd), self.memory, length).offset(self.offset).build(),
            _ => Fsync::new(Fd(self.fd)).flags(FsyncFlags::DATASYNC).build(),
        };
        entry.user_data(self.number)
    }
}

/// The ring of HEC `no`, or null if the system does not offer any.
/// # Safety
/// `no` is the number of a HEC.
#[no_mangle]
pub unsafe extern "C" fn hec_file_ring(no: usize) -> *const FileRing {
    get_or_try_make(&RINGS[no], FileRing::new).map_or(null(), |ring| ring)
}

/// The descriptor of a ring.
#[no_mangle]
pub extern "C" fn hec_file_ring_fd(ring: &FileRing) -> i32 {
    ring.ring.as_raw_fd()
}

/// Begins the first of these requests. Returns how many. May take as long as the operations.
/// # Safety
/// There are `n` requests. Their memory lives until they have completed.
#[no_mangle]
pub unsafe extern "C" fn hec_file_ring_submit(ring: &FileRing, requests: *const Request, n: usize) -> usize {
    ring.submit(std::slice::from_raw_parts(requests, n))
}

/// Takes up to `n` completions. Returns how many there were.
/// # Safety
/// There is memory for `n` completions.
#[no_mangle]
pub unsafe extern "C" fn hec_file_ring_reap(ring: &FileRing, completions: *mut Completion, n: usize) -> usize {
    ring.reap(std::slice::from_raw_parts_mut(completions, n))
}

/// In the child of a fork: forgets the rings of the parent, and closes their descriptors.
/// # Safety
/// No other OS thread exists.
pub unsafe fn after_fork() {
    for slot in &RINGS {
        let ring = slot.swap(null_mut(), Ordering::AcqRel);
        if !ring.is_null() {
            libc::close((*ring).ring.as_raw_fd());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write as _;

    fn request(number: u64, fd: i32, operation: i32, memory: &mut [u8]) -> Request {
        Request { number, memory: memory.as_mut_ptr(), length: memory.len(), offset: 0, fd, operation }
    }

    /// A ring, where the system offers one.
    fn ring() -> Option<FileRing> {
        FileRing::new().map_err(|e| println!("skipped: io_uring is not available here: {e}")).ok()
    }

    /// The results of `n` requests with these numbers.
    fn results(ring: &FileRing, n: usize) -> Vec<(u64, i64)> {
        let mut found = Vec::new();
        while found.len() < n {
            let mut poll = libc::pollfd { fd: ring.ring.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            assert_eq!(unsafe { libc::poll(&mut poll, 1, 10_000) }, 1, "completions are missing");
            let mut slots = [const { Completion { number: 0, result: 0 } }; 3];
            let taken = ring.reap(&mut slots);
            found.extend(slots[..taken].iter().map(|c| (c.number, c.result)));
        }
        found.sort_unstable();
        found
    }

    #[test]
    fn a_batch_is_completed() {
        let Some(ring) = ring() else { return };
        let path = std::env::temp_dir().join(format!("hecaton-file-ring-{}", std::process::id()));
        let mut file = File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        file.write_all(b"0123456789").unwrap();
        let fd = file.as_raw_fd();
        let mut memory = [[0u8; 4]; 600];
        let requests: Vec<_> = memory.iter_mut().zip(0..).map(|(m, i)| request(i, fd, READ, m)).collect();
        assert_eq!(ring.submit(&requests), 600);
        assert_eq!(results(&ring, 600), (0..600).map(|i| (i, 4)).collect::<Vec<_>>());
        assert!(memory.iter().all(|m| m == b"0123"));
        let mut text = *b"ab";
        let write = Request { offset: 3, ..request(7, fd, WRITE, &mut text) };
        assert_eq!(ring.submit(&[write, request(8, fd, 2, &mut []), request(9, -1, READ, &mut [0; 1])]), 3);
        assert_eq!(results(&ring, 3), [(7, 2), (8, 0), (9, -libc::EBADF as i64)]);
        let mut all = [0u8; 20];
        assert_eq!(ring.submit(&[request(10, fd, READ, &mut all)]), 1);
        assert_eq!((results(&ring, 1), &all[..10]), (vec![(10, 10)], &b"012ab56789"[..]));
    }

    #[test]
    fn a_ring_takes_what_it_has_room_for() {
        let Some(ring) = ring() else { return };
        let mut ends = [0; 2];
        assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
        let mut memory = vec![[0u8; 1]; COMPLETIONS as usize + 10];
        let mut requests = memory.iter_mut().zip(0..).map(|(m, i)| request(i, ends[0], READ, m));
        let (first, second): (Vec<_>, Vec<_>) =
            (requests.by_ref().take(COMPLETIONS as usize - 5).collect(), requests.collect());
        assert_eq!(ring.submit(&first), first.len());
        assert_eq!(ring.submit(&second), 5);
        unsafe { libc::write(ends[1], [1u8; 3].as_ptr().cast(), 3) };
        assert_eq!(results(&ring, 3).len(), 3);
        assert_eq!(ring.submit(&second[5..]), 3);
        for end in ends.into_iter().rev() {
            unsafe { libc::close(end) };
        }
        // The end of the pipe ends the rest.
        assert_eq!(results(&ring, COMPLETIONS as usize).len(), COMPLETIONS as usize);
    }

    #[test]
    fn what_an_ended_thread_has_submitted_is_given_back() {
        let Some(ring) = ring() else { return };
        let mut ends = [0; 2];
        assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
        let mut memory = [0u8; 1];
        std::thread::scope(|s| {
            let submitter = s.spawn(|| ring.submit(&[request(1, ends[0], READ, &mut memory)]));
            // The scope alone waits for the closure, but not for the end of its OS thread.
            assert_eq!(submitter.join().unwrap(), 1);
        });
        unsafe { libc::write(ends[1], [1u8].as_ptr().cast(), 1) };
        assert_eq!(results(&ring, 1), [(1, -libc::ECANCELED as i64)]);
        for end in ends {
            unsafe { libc::close(end) };
        }
    }

    #[test]
    fn the_child_of_a_fork_makes_its_own_rings() {
        if ring().is_none() {
            return;
        }
        unsafe {
            let parents = hec_file_ring(0);
            assert_eq!(hec_file_ring(0), parents);
            assert_ne!(hec_file_ring(1), parents);
            after_fork();
            assert_ne!(hec_file_ring(0), parents);
        }
    }
}
