//! Fibers: native stacks for Haskell threads that run on an OS thread to which they are not bound.
//!
//! A task in an in-call must be ready to run its bound thread, because no other task may. While the bound thread waits,
//! the task runs other threads itself. So a bound thread that communicates with others needs no switch of OS threads.
//! (\[OT10\] and \[SHMP14\] describe that cost of bound threads; the stock runtime switches twice per exchange.)
//!
//! *Protocol*: these threads run on a fiber, because one of them may make a long foreign call:
//! ```text
//!            new                 the thread returns
//!     FREE -------> RUN BY TASK ---------------------> FREE
//!                       | the thread leaves for a foreign call
//!                       v          take_up                  the thread returns
//!                     LEFT -------------------> RUN BY WORKER -----------------> FREE
//! ```
//! A worker takes up a fiber that was left: it makes the call, acquires a HEC of its own, and continues the thread.
use crate::abi::RegTable;
use crate::base::poison::unpoisoned;
use crate::sched::stg_run;
use std::ptr::null_mut;
use std::sync::Mutex;

/// The size of a fiber's stack in bytes: that of a worker, because foreign calls run on both.
const STACK_BYTES: usize = 2 << 20;
/// The size of the guard page below the stack in bytes: one page, so that an overflow faults.
const GUARD_BYTES: usize = 4096;
/// The most free fibers that are kept. A task needs a new one only when a thread leaves for a foreign call.
const MAX_FREE: usize = 8;

/// A native stack. The owner of the fiber owns the stack.
pub struct Fiber {
    base: usize,
    /// The stack pointer with which its thread left it.
    saved_sp: usize,
}

static FREE: Mutex<Vec<Fiber>> = Mutex::new(Vec::new());

impl Fiber {
    /// Takes a free fiber, or makes one.
    pub fn new() -> Fiber {
        let free = unpoisoned(FREE.lock()).pop();
        free.unwrap_or_else(Fiber::map)
    }

    fn map() -> Fiber {
        // SAFETY: the memory is new and belongs to the fiber.
        let base = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
            let prot = libc::PROT_READ | libc::PROT_WRITE;
            let base = libc::mmap(null_mut(), STACK_BYTES, prot, flags, -1, 0);
            if base == libc::MAP_FAILED || libc::mprotect(base, GUARD_BYTES, libc::PROT_NONE) != 0 {
                crate::hec::out_of_memory(STACK_BYTES);
            }
            base as usize
        };
        Fiber { base, saved_sp: 0 }
    }

    /// The address of the word that holds the stack pointer of the OS thread that entered the fiber.
    fn anchor(&self) -> usize {
        self.base + STACK_BYTES - 16
    }

    /// Runs the current thread of `reg` on this fiber. Returns null if the thread has left for a foreign call.
    /// # Safety
    /// As for [`stg_run::run_current`].
    pub unsafe fn run(&mut self, reg: *mut RegTable) -> *mut RegTable {
        stg_run::run_on(reg, self.anchor())
    }

    /// Leaves the fiber: see [`stg_run::leave`].
    /// # Safety
    /// The caller runs on the fiber.
    pub unsafe fn leave(this: *mut Fiber) {
        stg_run::leave((*this).anchor(), std::ptr::addr_of_mut!((*this).saved_sp))
    }

    /// Continues where the fiber was left: see [`stg_run::take_up`].
    /// # Safety
    /// The fiber was left by [`Fiber::leave`].
    pub unsafe fn take_up(&mut self) -> *mut RegTable {
        stg_run::take_up(self.anchor(), self.saved_sp)
    }

    /// Frees the fiber, on which nothing runs any more.
    pub fn free(self) {
        let mut free = unpoisoned(FREE.lock());
        if free.len() < MAX_FREE {
            return free.push(self);
        }
        drop(free);
        // SAFETY: `map` mapped the memory, and it is no longer used.
        unsafe { libc::munmap(self.base as *mut libc::c_void, STACK_BYTES) };
    }
}
