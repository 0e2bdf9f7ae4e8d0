//! What is alive only if something else is: weak pointers and threads.
//!
//! After everything reachable from the roots has been saved:
//! 1. A weak pointer whose key is alive keeps its value and finalizers alive, which may bring
//!    other keys to life: repeat until nothing changes.
//! 2. A thread that nothing refers to and that has not finished can never run again by itself.
//!    It is resurrected, for the floors above to throw an exception to it; then 1 again.
//! 3. Weak pointers that remain have dead keys. They and their finalizers, with the values of those that have
//!    finalizers in C, are kept for this once, and handed out to be finalized.
//! Weak pointers of generations that are not collected count as alive; what they refer to in
//! younger generations is found through the remembered set.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, Tso, TAG_MASK};
use crate::collector::trace::evacuate::FORWARDED;
use crate::collector::trace::worker::Worker;
use crate::memory::{heap, Age};
use crate::{info, static_closure};

/// The weak pointers and threads of the generations that are being collected.
pub(in crate::collector) struct Uncertain {
    pub weaks: Vec<Closure>,
    pub threads: Vec<Tso>,
    pub resurrected: Vec<Tso>,
    pub dead_weaks: Vec<Closure>,
}

impl<const MAJOR: bool, const PARALLEL: bool> Worker<MAJOR, PARALLEL> {
    /// Where an object is now, if it has been saved.
    pub(in crate::collector) unsafe fn alive(&self, c: Closure) -> Option<Closure> {
        let mut p = c.0;
        loop {
            if !self.in_heap(p) {
                return Some(Closure(p));
            }
            let age = self.age(p);
            if age & Age::CONDEMNED == 0 {
                return Some(Closure(p));
            }
            if !Age(age).is_plain() {
                return None;
            }
            let old = (p & !TAG_MASK) as *mut usize;
            let header = *old;
            if header & FORWARDED != 0 {
                return Some(Closure(header - FORWARDED | p & TAG_MASK));
            }
            p = match Info(header).kind() {
                IND | BLACKHOLE => self.value_of_blackhole(old)?,
                _ => return None,
            };
        }
    }

    /// Where an object's fields are to be read: in its copy if there is one.
    unsafe fn present(&self, c: Closure) -> Closure {
        if self.in_heap(c.0) && c.word(0) & FORWARDED != 0 {
            Closure(c.word(0) - FORWARDED)
        } else {
            c
        }
    }

    /// Evacuates all that a weak pointer refers to.
    pub(in crate::collector) unsafe fn scan_weak(&mut self, c: *mut usize) {
        self.fields(c, WEAK_CFINALIZERS, WEAK_FINALIZER + 1);
    }

    /// Saves a weak pointer whose key is dead. Nobody will ask for its key and value; but with C finalizers, `base` has
    /// for the value what holds the memory that they are called with.
    unsafe fn save_dead_weak(&mut self, weak: Closure) -> Closure {
        let now = self.present(weak);
        let none = static_closure!(stg_NO_FINALIZER_closure);
        now.set_word(WEAK_KEY, none.0);
        if now.field(WEAK_CFINALIZERS) == none {
            now.set_word(WEAK_VALUE, none.0);
        }
        self.save_weak(weak)
    }

    /// Saves a weak pointer with all that it refers to.
    unsafe fn save_weak(&mut self, weak: Closure) -> Closure {
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

    pub(in crate::collector) unsafe fn settle_uncertain(&mut self, u: &mut Uncertain) {
        self.settle_weaks(&mut u.weaks);
        let mut lost = Vec::new();
        for t in std::mem::take(&mut u.threads) {
            match self.alive(t.closure()) {
                Some(new) => self.keep_thread(Tso(new.0)),
                None => {
                    let state = t.obj().what_next as usize;
                    if state != ThreadComplete && state != ThreadKilled {
                        lost.push(t);
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
        self.settle_weaks(&mut u.weaks);
        for weak in std::mem::take(&mut u.weaks) {
            let new = self.save_dead_weak(weak);
            u.dead_weaks.push(new);
        }
        self.drain();
    }

    unsafe fn keep_thread(&self, t: Tso) {
        let gen = Age(self.age(t.0)).generation();
        heap().gens[gen].threads.push(t);
    }

    /// Saves what live keys keep alive. Those with keys not known to be alive remain.
    unsafe fn settle_weaks(&mut self, weaks: &mut Vec<Closure>) {
        loop {
            let before = weaks.len();
            let mut i = 0;
            while i < weaks.len() {
                let now = self.present(weaks[i]);
                if now.info() == info!(stg_DEAD_WEAK_info) {
                    weaks.swap_remove(i);
                    continue;
                }
                if self.alive(now.field(WEAK_KEY)).is_none() {
                    i += 1;
                    continue;
                }
                let new = self.save_weak(weaks[i]);
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
