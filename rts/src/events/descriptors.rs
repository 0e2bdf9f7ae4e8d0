//! What is known of each descriptor: with which event loop it is registered, and which nodes wait for it.
//!
//! *Protocol*: the *home* of a descriptor is the loop with which it is registered, or none. A HEC on which a thread
//! waits for a descriptor without a home makes its own loop the home. Only the holder of the home's lock changes the
//! rest of the state.
//!
//! 1. To use a descriptor, read its home, take that loop's lock, and check that the home is still the same.
//! 2. To give it a home, take the lock of that loop, and change the home from none by a compare-and-swap.
//! 3. The home becomes none under its lock, when nothing waits for the descriptor.
use crate::base::once_ptr::get_or_make;
use crate::events::poller::Interest;
use crate::events::timer_wheel::NONE;
use crate::events::wait_nodes::Handle;
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU16, Ordering};

const NO_HOME: u16 = u16::MAX;

pub struct Descriptor {
    home: AtomicU16,
    // The rest is accessed under the lock of the home.
    /// The poller has it.
    pub registered: Cell<bool>,
    /// The events for which the poller has it.
    pub interest: Cell<Interest>,
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
            home: AtomicU16::new(NO_HOME),
            registered: Cell::new(false),
            interest: Cell::new(Interest::NONE),
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

    /// The number of the loop that is its home.
    pub fn home(&self) -> Option<usize> {
        let home = self.home.load(Ordering::Acquire);
        (home != NO_HOME).then_some(home as usize)
    }

    /// Makes loop `no` its home. False if it has another one already. The caller holds that loop's lock.
    pub fn claim(&self, no: usize) -> bool {
        let claimed = self.home.compare_exchange(NO_HOME, no as u16, Ordering::AcqRel, Ordering::Acquire);
        claimed.is_ok() || claimed == Err(no as u16)
    }

    /// It has no home any more. The caller holds the lock of its home, and no node waits for it.
    pub fn leave_home(&self) {
        self.home.store(NO_HOME, Ordering::Release);
    }
}

const CHUNK: usize = 1024;
const CHUNKS: usize = 1 << 14;

static TABLE: [AtomicPtr<[Descriptor; CHUNK]>; CHUNKS] = [const { AtomicPtr::new(null_mut()) }; CHUNKS];

/// The descriptor of this number. `None` if the number is negative or too large.
pub fn of(fd: i32) -> Option<&'static Descriptor> {
    let n = usize::try_from(fd).ok().filter(|&n| n < CHUNK * CHUNKS)?;
    let chunk = get_or_make(&TABLE[n / CHUNK], || std::array::from_fn(|_| Descriptor::new()));
    Some(&chunk[n % CHUNK])
}

/// In the child of a fork: no descriptor is registered.
/// # Safety
/// No other OS thread exists.
pub unsafe fn after_fork() {
    for chunk in &TABLE {
        if let Some(chunk) = chunk.load(Ordering::Acquire).as_ref() {
            for d in chunk {
                d.leave_home();
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
