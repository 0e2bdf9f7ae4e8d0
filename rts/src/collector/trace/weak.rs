//! Resolves weak pointers and threads, which are alive only if something else is.
//!
//! *Protocol*, after all that the roots lead to has been evacuated:
//! 1. A weak pointer with a live key keeps its value and finalizers alive, which may make other keys live. This repeats
//!    until nothing changes.
//! 2. An unreachable thread that has not finished can never run again by itself. It is resurrected, so that the
//!    scheduler can throw an exception to it. Then step 1 is repeated. A thread of `newSCont` that has never run is
//!    dropped, and so is a lenient one (`sched/lenient.rs`).
//! 3. The remaining weak pointers have dead keys. They, their finalizers, and the values of those with C finalizers are
//!    kept alive once more, and handed out to be finalized.
//!
//! In a collection over several processes each of these three decisions is made when all processes have finished what
//! comes before.
//!
//! *Invariants*: weak pointers of generations that are not collected count as alive. What they refer to in younger
//! generations is found through the remembered set.
//!
//! *Locking*: the collecting thread does this while other workers only help to scavenge.
//!
//! *Checked by*: the unit tests `weak_pointers_follow_their_keys` and
//! `lost_threads_are_resurrected_and_finished_ones_dropped`.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::tso::{BlockedOnScheduler, TSO_LENIENT, TSO_UNSTARTED};
use crate::abi::{Closure, Info, Tso, TAG_MASK};
use crate::collector::fixed_space;
use crate::collector::trace::header::FORWARDED;
use crate::collector::trace::worker::Worker;
use crate::memory::{heap, Age};
use crate::{info, static_closure};

/// The weak pointers and threads of the collected generations.
pub(in crate::collector) struct Uncertain {
    pub weaks: Vec<Closure>,
    pub threads: Vec<Tso>,
    pub resurrected: Vec<Tso>,
    pub dead_weaks: Vec<Closure>,
}

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    /// Returns where an object is now, if it is alive.
    pub(in crate::collector) unsafe fn live_copy(&self, c: Closure) -> Option<Closure> {
        let mut p = c.0;
        loop {
            if !self.in_heap(p) {
                return Some(Closure(p));
            }
            let age = self.age(p);
            if age & Age::CONDEMNED == 0 {
                return Some(Closure(p));
            }
            if Age(age).is_fixed() {
                return fixed_space::is_marked(p).then_some(Closure(p));
            }
            if !Age(age).is_plain() {
                return None;
            }
            let old = (p & !TAG_MASK) as *mut usize;
            let header = *old;
            if header & FORWARDED != 0 {
                return Some(Closure((header - FORWARDED) | (p & TAG_MASK)));
            }
            p = match Info(header).kind() {
                IND | BLACKHOLE => self.value_of_blackhole(old)?,
                _ => return None,
            };
        }
    }

    /// Returns where an object's fields are to be read: in its copy if there is one.
    unsafe fn current(&self, c: Closure) -> Closure {
        if self.in_heap(c.0) && c.word(0) & FORWARDED != 0 {
            Closure(c.word(0) - FORWARDED)
        } else {
            c
        }
    }

    /// Evacuates all that a weak pointer refers to.
    pub(in crate::collector) unsafe fn scan_weak(&mut self, c: *mut usize) {
        self.evacuate_fields(c, WEAK_CFINALIZERS, WEAK_FINALIZER + 1);
    }

    /// Keeps a weak pointer with a dead key. Its key and value are not needed any more. But `base` stores in the value
    /// of one with C finalizers what holds the memory that they are called with.
    unsafe fn keep_dead_weak(&mut self, weak: Closure) -> Closure {
        let now = self.current(weak);
        let none = static_closure!(stg_NO_FINALIZER_closure);
        now.set_word(WEAK_KEY, none.0);
        if now.field(WEAK_CFINALIZERS) == none {
            now.set_word(WEAK_VALUE, none.0);
        }
        self.evacuate_weak(weak)
    }

    /// Evacuates a weak pointer and all that it refers to.
    unsafe fn evacuate_weak(&mut self, weak: Closure) -> Closure {
        let mut new = weak;
        self.set_owner(0);
        self.evacuate(&mut new.0);
        let step = self.step_of(new);
        self.set_owner(step);
        self.failed_to_evac = false;
        self.scan_weak(new.slot(0));
        if self.take_failed_to_evac() && step > 1 {
            self.remember(new.slot(0));
        }
        self.set_owner(0);
        new
    }

    /// Resolves the weak pointers and threads of the collected generations.
    pub(in crate::collector) unsafe fn resolve_uncertain(&mut self, u: &mut Uncertain) {
        self.resolve_weaks(&mut u.weaks);
        self.trace_for_others(&mut u.weaks);
        let (mut lost, mut droppable) = (Vec::new(), Vec::new());
        for t in std::mem::take(&mut u.threads) {
            match self.live_copy(t.closure()) {
                Some(new) => self.keep_thread(Tso(new.0)),
                None => {
                    let state = t.obj().what_next as usize;
                    if state != ThreadComplete && state != ThreadKilled {
                        if is_droppable(t) { &mut droppable } else { &mut lost }.push(t);
                    }
                }
            }
        }
        for t in lost {
            let mut c = t.closure();
            self.set_owner(0);
            self.evacuate(&mut c.0);
            self.keep_thread(Tso(c.0));
            u.resurrected.push(Tso(c.0));
        }
        self.drain();
        self.resolve_weaks(&mut u.weaks);
        self.trace_for_others(&mut u.weaks);
        for weak in std::mem::take(&mut u.weaks) {
            let new = self.keep_dead_weak(weak);
            u.dead_weaks.push(new);
        }
        self.drain();
        self.trace_for_others(&mut u.weaks);
        // What has been kept alive may refer to one.
        for new in droppable.into_iter().filter_map(|t| self.live_copy(t.closure())) {
            self.keep_thread(Tso(new.0));
        }
    }

    /// In a collection over several processes: traces what others have found here, until nobody finds anything more.
    unsafe fn trace_for_others(&mut self, weaks: &mut Vec<Closure>) {
        while let Some(found) = fixed_space::exchange() {
            self.set_owner(0);
            for mut address in found {
                self.evacuate(&mut address);
            }
            self.drain();
            self.resolve_weaks(weaks);
        }
    }

    /// Lists a live thread with its generation.
    unsafe fn keep_thread(&self, t: Tso) {
        let gen = Age(self.age(t.0)).generation();
        heap().gens[gen].threads.push(t);
    }

    /// Evacuates what live keys keep alive. Weak pointers with keys not known to be alive remain in the list.
    unsafe fn resolve_weaks(&mut self, weaks: &mut Vec<Closure>) {
        loop {
            let before = weaks.len();
            let mut i = 0;
            while i < weaks.len() {
                let now = self.current(weaks[i]);
                if now.info() == info!(stg_DEAD_WEAK_info) {
                    weaks.swap_remove(i);
                    continue;
                }
                if self.live_copy(now.field(WEAK_KEY)).is_none() {
                    i += 1;
                    continue;
                }
                let new = self.evacuate_weak(weaks[i]);
                let gen = Age(self.age(new.0)).generation();
                heap().gens[gen].weaks.push(new);
                weaks.swap_remove(i);
            }
            self.drain();
            if weaks.len() == before {
                return;
            }
        }
    }
}

/// Need nobody hear that nothing refers to the thread? It is of `newSCont` and has never run, or evaluates what nothing
/// needs any more.
unsafe fn is_droppable(t: Tso) -> bool {
    let flags = t.obj().flags;
    flags & TSO_LENIENT != 0 || flags & TSO_UNSTARTED != 0 && t.obj().why_blocked as usize == BlockedOnScheduler
}
