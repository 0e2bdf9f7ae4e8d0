//! The Haskell Execution Context: what a thread needs while it runs, one for each core used.
//!
//! BaseReg points at `r`; compiled code reaches `fun_table` at negative offsets. Everything
//! after the register table is our own. A HEC is used by one OS thread at a time, the one that
//! holds it (`sched::task`); the exceptions are atomics, marked as such.
use crate::contract::layout::*;
use crate::contract::{Closure, FunTable, RegTable, Tso};
use crate::memory::{nursery::AllocArea, remember::RememberedSet};
use crate::thread::queue::ThreadQueue;
use std::mem::offset_of;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

#[repr(C)]
pub struct Hec {
    pub fun_table: FunTable,
    pub r: RegTable,
    pub no: u32,
    /// Asked to give way: set by the ticker, by wake-ups and by collections.
    pub context_switch: AtomicU32,
    pub alloc: AllocArea,
    pub remembered: RememberedSet,
    pub run_queue: ThreadQueue,
    /// Threads made since the last collection.
    pub new_threads: Vec<Tso>,
    /// Weak pointers made since the last collection.
    pub new_weaks: Vec<Closure>,
    /// Why the running thread was stopped from outside (a collection was asked for).
    pub gc_requested: Option<GcRequest>,
}

/// A collection somebody asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GcRequest {
    Minor,
    Major,
}

const _: () = assert!(offset_of!(Hec, r) == OFFSET_Capability_r);

impl Hec {
    pub const fn new(no: u32) -> Hec {
        // SAFETY: the register table is plain numbers, for which zero is a value.
        let zeroed = unsafe { std::mem::zeroed::<(FunTable, RegTable)>() };
        Hec {
            fun_table: zeroed.0,
            r: zeroed.1,
            no,
            context_switch: AtomicU32::new(0),
            alloc: AllocArea::new(),
            remembered: RememberedSet::new(),
            run_queue: ThreadQueue::new(),
            new_threads: Vec::new(),
            new_weaks: Vec::new(),
            gc_requested: None,
        }
    }

    /// The HEC whose register table BaseReg points to.
    /// # Safety
    /// `reg` came from a HEC that this OS thread holds.
    pub unsafe fn of_reg<'a>(reg: *mut RegTable) -> &'a mut Hec {
        &mut *((reg as usize - offset_of!(Hec, r)) as *mut Hec)
    }

    /// The running thread.
    pub fn current(&self) -> Tso {
        Tso(self.r.current_tso)
    }

    fn hp_lim(&self) -> &AtomicUsize {
        // SAFETY: a naturally aligned word that compiled code reads with plain loads.
        unsafe { &*(&self.r.hp_lim as *const usize as *const AtomicUsize) }
    }

    /// Makes the running thread return to the scheduler at its next heap check. Any OS thread
    /// may call this at any time.
    pub fn interrupt(&self) {
        self.hp_lim().store(0, Ordering::Relaxed);
    }

    /// Lets the thread that is about to run allocate up to the nursery's end.
    pub fn open_nursery(&mut self) {
        self.r.current_nursery = self.alloc.run;
        let end = if self.alloc.full || self.gc_requested.is_some() { 0 } else { self.alloc.limit() - 1 };
        self.hp_lim().store(end, Ordering::Relaxed);
        if self.context_switch.load(Ordering::Relaxed) != 0 {
            self.interrupt();
        }
    }

    /// Asks for a collection at the next heap check.
    pub fn request_gc(&mut self, r: GcRequest) {
        if self.gc_requested != Some(GcRequest::Major) {
            self.gc_requested = Some(r);
        }
        self.interrupt();
    }

    /// Room for an object of `words`, uninitialised. `None`: the system is out of memory.
    /// # Safety
    /// As for [`AllocArea::allocate`].
    #[inline]
    pub unsafe fn try_allocate(&mut self, words: usize) -> Option<Closure> {
        let c = self.alloc.allocate(words);
        if self.alloc.full {
            self.interrupt();
        }
        c
    }

    /// Room for an object of `words`; ends the program when memory is exhausted.
    /// # Safety
    /// As for [`AllocArea::allocate`].
    #[inline]
    pub unsafe fn allocate(&mut self, words: usize) -> Closure {
        match self.try_allocate(words) {
            Some(c) => c,
            None => out_of_memory(words * 8),
        }
    }

    /// Lists an untagged closure in the remembered set if it is old.
    #[inline]
    pub fn remember(&mut self, c: Closure) {
        self.remembered.remember(c)
    }
}

/// Ends the program: the system has no memory for us.
#[cold]
pub fn out_of_memory(bytes: usize) -> ! {
    crate::observe::fatal::out_of_memory(bytes)
}

/// Lists `closure` in the remembered set if it is old.
/// # Safety
/// Called from Cmm with the HEC held.
#[no_mangle]
pub unsafe extern "C" fn hec_remember(hec: &mut Hec, closure: Closure) {
    hec.remember(closure.untag())
}
