//! Native stacks for Haskell threads that run on an OS thread which is not theirs.
//!
//! A task in an in-call has to be at hand for its bound thread: only it may run that. While the
//! bound thread waits, the task runs other threads itself, so that a bound thread that talks to
//! others costs no switch of OS threads. These run on a *fiber*, because one of them may leave for
//! a foreign call that takes its time. Then the task leaves the fiber as it is, and a worker takes
//! it up: it makes the call, comes back to a HEC of its own and goes on with the thread. (2010
//! and 2014 papers meet this as the price of bound threads; stock pays two OS switches a lap.)
//!
//! Life of a fiber: free → run by a task → free again, or left → taken up by one worker → free.
use crate::abi::RegTable;
use crate::base::poison::unpoisoned;
use crate::sched::stg_run;
use std::ptr::null_mut;
use std::sync::Mutex;

/// As much as a worker has.
const STACK_BYTES: usize = 2 << 20;
const GUARD_BYTES: usize = 4096;
/// Free fibers kept for later.
const MAX_FREE: usize = 8;

/// A native stack; who has the fiber has the stack.
pub struct Fiber {
    base: usize,
    /// Where its thread left it.
    priority: usize,
}

static FREE: Mutex<Vec<Fiber>> = Mutex::new(Vec::new());

impl Fiber {
    /// A free fiber.
    pub fn new() -> Fiber {
        let free = unpoisoned(FREE.lock()).pop();
        free.unwrap_or_else(Fiber::map)
    }

    fn map() -> Fiber {
        // SAFETY: fresh memory of our own.
        let base = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
            let prot = libc::PROT_READ | libc::PROT_WRITE;
            let base = libc::mmap(null_mut(), STACK_BYTES, prot, flags, -1, 0);
            if base == libc::MAP_FAILED || libc::mprotect(base, GUARD_BYTES, libc::PROT_NONE) != 0 {
                crate::hec::out_of_memory(STACK_BYTES);
            }
            base as usize
        };
        Fiber { base, priority: 0 }
    }

    /// The word that says who entered it.
    fn anchor(&self) -> usize {
        self.base + STACK_BYTES - 16
    }

    /// Runs the current thread of `reg` here; null if it has left for a foreign call.
    /// # Safety
    /// As for [`stg_run::run_current`].
    pub unsafe fn run(&mut self, reg: *mut RegTable) -> *mut RegTable {
        stg_run::run_on(reg, self.anchor())
    }

    /// Leaves the fiber: see [`stg_run::leave`].
    /// # Safety
    /// Called on it.
    pub unsafe fn leave(this: *mut Fiber) {
        stg_run::leave((*this).anchor(), std::ptr::addr_of_mut!((*this).priority))
    }

    /// Goes on where it was left: see [`stg_run::take_up`].
    /// # Safety
    /// It was left, by [`Fiber::leave`].
    pub unsafe fn take_up(&mut self) -> *mut RegTable {
        stg_run::take_up(self.anchor(), self.priority)
    }

    /// Nothing runs here any more.
    pub fn free(self) {
        let mut free = unpoisoned(FREE.lock());
        if free.len() < MAX_FREE {
            return free.push(self);
        }
        drop(free);
        // SAFETY: mapped above; nobody uses it.
        unsafe { libc::munmap(self.base as *mut libc::c_void, STACK_BYTES) };
    }
}
