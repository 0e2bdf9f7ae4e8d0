//! What is known of each descriptor: with which event loop it is registered, and which nodes wait for it.
//!
//! *Locking*: the lock of the loop that is the descriptor's home (`home.rs`).
use crate::base::once_ptr::get_or_make;
use crate::events::home::Home;
use crate::events::poller::Interest;
use crate::events::timer_wheel::NONE;
use crate::events::wait_nodes::Handle;
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

pub struct Descriptor {
    pub home: Home,
    // The rest is accessed under the lock of the home.
    /// The poller has it.
    pub registered: Cell<bool>,
    /// The events for which the poller has it.
    pub interest: Cell<Interest>,
    /// Reported while nothing waited for it.
    pub missed: Cell<Interest>,
    /// How many threads are closing it. Nodes that wait meanwhile are not registered.
    pub closing: Cell<u16>,
    /// Tells this registration from earlier ones of the number.
    pub generation: Cell<u32>,
    /// The nodes that wait for it, oldest first.
    pub first: Cell<u32>,
    pub last: Cell<u32>,
    /// The nodes that waited when it began to close.
    pub closed: Cell<Vec<Handle>>,
}

// SAFETY: the cells are accessed under the lock of the home.
unsafe impl Sync for Descriptor {}

impl Descriptor {
    fn new() -> Descriptor {
        Descriptor {
            home: Home::new(),
            registered: Cell::new(false),
            interest: Cell::new(Interest::NONE),
            missed: Cell::new(Interest::NONE),
            closing: Cell::new(0),
            generation: Cell::new(0),
            first: Cell::new(NONE),
            last: Cell::new(NONE),
            closed: Cell::new(Vec::new()),
        }
    }

    /// Begins a new generation: events of earlier registrations are dropped.
    pub fn next_generation(&self) {
        self.generation.set(self.generation.get().wrapping_add(1));
    }
}

const CHUNK: usize = 1024;
const CHUNKS: usize = 1 << 14;

static TABLE: [AtomicPtr<[Descriptor; CHUNK]>; CHUNKS] = [const { AtomicPtr::new(null_mut()) }; CHUNKS];

/// The number of chunks, up to the last that was made.
static USED_CHUNKS: AtomicUsize = AtomicUsize::new(0);

/// The descriptor of this number. `None` if the number is negative or too large.
pub fn of(fd: i32) -> Option<&'static Descriptor> {
    let n = usize::try_from(fd).ok().filter(|&n| n < CHUNK * CHUNKS)?;
    let chunk = get_or_make(&TABLE[n / CHUNK], || {
        USED_CHUNKS.fetch_max(n / CHUNK + 1, Ordering::Relaxed);
        std::array::from_fn(|_| Descriptor::new())
    });
    Some(&chunk[n % CHUNK])
}

/// The descriptors that are registered with loop `no` and waited for, with their numbers. The caller holds its lock.
pub fn waited_for(no: usize) -> impl Iterator<Item = (i32, &'static Descriptor)> {
    let numbers = 0..USED_CHUNKS.load(Ordering::Relaxed) * CHUNK;
    numbers.filter_map(move |n| {
        // SAFETY: a chunk is never freed.
        let d = unsafe { TABLE[n / CHUNK].load(Ordering::Acquire).as_ref() }.map(|chunk| &chunk[n % CHUNK])?;
        (d.home.get() == Some(no) && d.registered.get() && d.first.get() != NONE).then_some((n as i32, d))
    })
}

/// In the child of a fork: no descriptor is registered.
/// # Safety
/// No other OS thread exists.
pub unsafe fn after_fork() {
    for chunk in &TABLE {
        if let Some(chunk) = chunk.load(Ordering::Acquire).as_ref() {
            for d in chunk {
                d.home.leave();
                d.registered.set(false);
                d.interest.set(Interest::NONE);
                d.closing.set(0);
                d.next_generation();
                d.first.set(NONE);
                d.last.set(NONE);
                d.closed.set(Vec::new());
            }
        }
    }
}
