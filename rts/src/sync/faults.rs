//! Faults of user schedulers: how one is found, and who is to blame.
//!
//! *Protocol*
//! 1. An activation that an upcall runs raises an exception. The upcall thread asks for the culprit, notes the fault,
//!    and yields ([`hec_culprit`], [`hec_fault`]).
//! 2. Or a transaction that holds off ticks takes too long ([`check_overtime`]).
//! 3. The loop of the scheduler finds the fault and ejects the group (`sched/eject.rs`) before it runs another thread.
//!    Then the upcall is made again, or the transaction begins again.
//!
//! The exception of an activation that a thread runs itself, in a `switch`, is for that thread to handle.
//!
//! *Invariant*: an exception leaves a transaction only if that has seen a consistent state. So the record of a passive
//! thread, read in the transaction, is that of the thread at this number.
//!
//! *Checked by*: the conformance program `schedulers_faults`.
use crate::abi::tso::{TSO_SLOT, TSO_UPCALL};
use crate::abi::Tso;
use crate::base::clock::getCurrentThreadCPUTime;
use crate::hec::blame::{Fault, Kind, Usage};
use crate::hec::sched_groups::{Group, GroupRef, Promise};
use crate::hec::Hec;
use crate::memory::heap;
use crate::thread::sched_record::SchedRecord;

/// Bytes of a text of the program that a message has at most.
const MAX_TEXT: usize = 400;

/// A dequeue upcall is about to run the activation. Returns 0 if the scheduler is ejected.
/// # Safety
/// Called from Cmm, by an upcall thread that has the slot, in its transaction.
#[no_mangle]
pub unsafe extern "C" fn hec_begin_dequeue(hec: &mut Hec) -> usize {
    hec.blame.on_behalf(hec.current().obj().id, hec.dequeue_group);
    hec.dequeue_group.is_none_or(|group| !group.is_ejected()) as usize
}

/// The transaction of the running thread goes on on behalf of this group. Returns 0 if that is ejected.
/// # Safety
/// Called from Cmm. The group is one, as a word.
#[no_mangle]
pub unsafe extern "C" fn hec_on_behalf(hec: &mut Hec, group: usize) -> usize {
    let group = Group::of_word(group);
    hec.blame.on_behalf(hec.current().obj().id, group);
    group.is_none_or(|group| !group.is_ejected()) as usize
}

/// Is the group ejected?
/// # Safety
/// As for [`hec_on_behalf`].
#[no_mangle]
pub unsafe extern "C" fn hec_is_ejected(group: usize) -> usize {
    Group::of_word(group).is_some_and(Group::is_ejected) as usize
}

/// The group on whose behalf the transaction of an upcall thread has run, or 0. If that is ejected, it is the group of
/// the dequeue activation, which has run it none the less.
/// # Safety
/// Called from Cmm, when an exception has ended the transaction.
#[no_mangle]
pub unsafe extern "C" fn hec_culprit(hec: &mut Hec) -> usize {
    Group::word(culprit(hec, hec.current()))
}

unsafe fn culprit(hec: &Hec, t: Tso) -> GroupRef {
    let dequeues = t.obj().flags & (TSO_UPCALL | TSO_SLOT) == TSO_UPCALL | TSO_SLOT;
    let of_dequeue = hec.dequeue_group.filter(|_| dequeues);
    let own = || SchedRecord::of(t).and_then(|record| record.group());
    match hec.blame.culprit(t.obj().id) {
        Some(group) if of_dequeue.is_none() || !group.is_ejected() => Some(group),
        _ => of_dequeue.or_else(own),
    }
}

/// An activation of a group, dequeue (0) or enqueue (1), has raised an exception with this text.
/// # Safety
/// Called from Cmm by an upcall thread. The group is one, as a word, and the text has this length.
#[no_mangle]
pub unsafe extern "C" fn hec_fault(hec: &mut Hec, group: usize, which: usize, text: *const u8, length: usize) {
    let bytes = std::slice::from_raw_parts(text, length.min(MAX_TEXT));
    // It is one line of a message.
    let text = String::from_utf8_lossy(bytes).split_whitespace().collect::<Vec<_>>().join(" ");
    let kind = [Kind::DequeueRaised, Kind::EnqueueRaised][which](text);
    if let Some(group) = Group::of_word(group) {
        note(hec, Fault { group, kind });
    }
}

/// The loop of the scheduler acts on the fault when the running thread has stopped, which is soon.
fn note(hec: &mut Hec, fault: Fault) {
    hec.fault = Some(fault);
    hec.request_yield();
}

/// A tick has come in the transaction of a `switch`, or in an upcall: does that take too long?
/// # Safety
/// The thread is at rest, and this HEC owns it.
pub(super) unsafe fn check_overtime(hec: &mut Hec, t: Tso) {
    let Some(group) = culprit(hec, t) else { return };
    let now = Usage {
        os_thread: libc::gettid(),
        collections: heap().gens.iter().map(|g| g.collections).sum(),
        cpu_time: getCurrentThreadCPUTime() as u64,
        allocated: hec.alloc.allocated(),
    };
    if let Some(kind) = hec.blame.overtime(t.obj().id, now, &group.promise) {
        hec.fault = Some(Fault { group, kind });
    }
}

/// Makes a group with a name, a parent (or 0), and what it promises.
/// # Safety
/// Called from Cmm. The parent is a group, as a word, and the name has this length.
#[no_mangle]
pub unsafe extern "C" fn hec_new_group(
    name: *const u8,
    length: usize,
    parent: usize,
    cpu_time: u64,
    allocation: u64,
    rest: u64,
) -> usize {
    let name = String::from_utf8_lossy(std::slice::from_raw_parts(name, length));
    let promise = Promise { cpu_time, allocation, rest };
    Group::word(Some(Group::new(&name, Group::of_word(parent), promise)))
}
