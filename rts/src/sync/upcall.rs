//! Upcalls: the runtime runs the activations of threads of user schedulers.
//!
//! An *upcall thread* is a thread of the built-in scheduler that runs one upcall on one HEC, masked uninterruptibly. It
//! has a stack of its own, because the thread that the upcall is about may have blocked in the middle of anything.
//!
//! *Protocol*
//! 1. *Dequeue*. A thread in the user slot of its HEC blocks in the runtime. It leaves the slot before it blocks
//!    ([`leaves_slot`]). From then on any HEC may wake it. The slot passes to an upcall thread, which
//!    switches to what the dequeue activation of the blocked thread chooses ([`after_block`]). Its transaction also
//!    gives the threads to their schedulers that the HEC owes (2). If an activation waits, it does that first, in a
//!    transaction of its own.
//! 2. *Enqueue*. A thread of a user scheduler that is woken outside a slot is *owed* to its scheduler
//!    ([`crate::thread::park::Claim::resume`]). It is not blocked, and the HEC that has woken it owns it. Between
//!    threads the scheduler's loop makes it passive, and starts an upcall thread that gives it to its enqueue
//!    activation ([`start_enqueues`]). One transaction does that for all threads that are owed then, up to a limit. If
//!    an activation raises an exception or waits, each of these threads gets an upcall of its own.
//! 3. *Tick*. The time slice of a thread in a slot ends, or it yields. It leaves the slot and is owed, and a dequeue
//!    upcall takes the slot when the threads on the run queue have had their turn ([`preempt`]).
//! 4. *Fork*. A thread that `forkIO` makes for a user scheduler is owed. When it ends in a slot, another one takes it.
//!
//! 5. *Foreign call*. The slot of a thread in a safe call waits for it. If the call takes longer than a tick, the
//!    holder of the HEC gives the slot to a dequeue upcall ([`take_from_call`]). Then the thread runs beside the slot
//!    when the call has ended, until its next heap check.
//!
//! A thread of a user scheduler may also run beside the slot because another one needs a thunk that it evaluates. When
//! it stops it is owed, and there is no dequeue upcall.
//!
//! An upcall thread that has done its work has an empty stack again, and its HEC keeps it for another upcall
//! ([`keep`]).
//!
//! *Invariants*
//! - An upcall thread stays on its HEC, and ticks do not end its turn. An unreachable one gets no exception: what it
//!   waits for may be in a scheduler that only its own threads know.
//! - A thread is made passive under the lock of its status. So a HEC that claims it does so at a version at which the
//!   thread has blocked.
//!
//! *Checked by*: the unit tests in `rts/src/sync/upcall_tests.rs`, and the loom models in
//! `rts/tests/models/slots.rs`.
use crate::abi::layout::*;
use crate::abi::tso::{BlockedOnAbsent, BlockedOnScheduler, TSO_SLOT, TSO_SWITCHES, TSO_UPCALL, TSO_USER};
use crate::abi::{Closure, Tso, WORD};
use crate::base::fatal::broken;
use crate::hec::sched_groups::Group;
use crate::hec::{Hec, SLICE_ENDED};
use crate::observe::stats::{Dequeue, Enqueue};
use crate::sync::stm::retry::publish_alone;
use crate::sync::stm::scont_protocol::Status;
use crate::sync::stm::thread_status;
use crate::sync::thread_ops;
use crate::thread::create::{self, push};
use crate::thread::park;
use crate::thread::sched_record::{Activation, SchedRecord};
use crate::thread::stack::underflow_frame;
use crate::thread::stack_shrink::make_ready;
use crate::{info, static_closure};
use std::sync::atomic::Ordering;

/// The most upcall threads that a HEC keeps for later upcalls. At a time one has the slot, and the others wait.
const MAX_KEPT: usize = 4;
/// The most threads that one transaction gives to their schedulers.
const MAX_BATCH: usize = 64;

/// An upcall thread, which is on no queue: one that the HEC has kept, or a new one. It makes the call that these words
/// on its stack say.
unsafe fn new_thread(hec: &mut Hec, call: &[usize]) -> Tso {
    hec.blame.begin();
    let t = match kept(hec) {
        Some(t) => t,
        None => create::new_thread(hec, &thread_ops::settings().stacks),
    };
    t.obj().flags = TSO_BLOCKEX as u32 | TSO_UPCALL;
    push(t.obj().stackobj, call);
    t
}

/// Takes an upcall thread that the HEC has kept, if there is one. Its stack is ready to be written.
unsafe fn kept(hec: &mut Hec) -> Option<Tso> {
    while let Some(t) = hec.idle_upcalls.pop() {
        // All threads may have been ended meanwhile.
        if t.obj().what_next as usize == ThreadRunGHC {
            make_ready(hec, t);
            return Some(t);
        }
    }
    None
}

/// An upcall thread has done its work: the HEC keeps it for another upcall, and its stack is empty then. Returns false
/// if it ends instead: there are enough, its stack has several chunks, or a thread waits to throw to it.
/// # Safety
/// The HEC owns the thread, which is at rest or has finished, and is in no transaction. Its frames are not needed.
pub unsafe fn keep(hec: &mut Hec, t: Tso) -> bool {
    let o = t.obj();
    let stack = o.stackobj;
    let ends = o.what_next as usize == ThreadKilled || o.blocked_exceptions != Tso::end().closure();
    if ends || hec.idle_upcalls.len() >= MAX_KEPT || underflow_frame(stack).is_some() {
        return false;
    }
    // The stop frame is left.
    stack.obj().sp = stack.top() - WORD;
    o.what_next = ThreadRunGHC as u16;
    hec.idle_upcalls.push(t);
    true
}

/// A thread that leaves a user slot, its dequeue activation then, and the group to which this belongs. Before the
/// upcall runs, another HEC may have run the thread, and it may have got other activations.
pub struct Subject {
    thread: Tso,
    dequeue: Closure,
    group: &'static Group,
}

impl Subject {
    /// Of a thread, if it belongs to a user scheduler.
    /// # Safety
    /// This HEC owns the thread.
    pub unsafe fn of(thread: Tso) -> Option<Subject> {
        let record = SchedRecord::of(thread)?;
        let dequeue = record.activation(Activation::Dequeue)?;
        let Some(group) = record.group() else { broken("a thread has activations and no group") };
        Some(Subject { thread, dequeue, group: group.of_dequeue() })
    }

    /// Is the group ejected? Then its dequeue activation is not run.
    pub fn is_ejected(&self) -> bool {
        self.group.is_ejected()
    }
}

/// Makes an upcall thread for the user slot of the HEC. It gives the threads of a batch to their schedulers, runs the
/// dequeue activation of a thread that has left the slot, and switches to what that chooses.
unsafe fn new_dequeue(hec: &mut Hec, subject: Subject, batch: Closure, why: Dequeue) -> Tso {
    let upcall = static_closure!(hecatonzmrts_Substrate_dequeueUpcall_closure);
    let Subject { thread, dequeue, group } = subject;
    hec.dequeue_group = Some(group);
    let apply = info!(stg_ap_pppv_info);
    let t = new_thread(hec, &[info!(stg_ret_p_info).0, upcall.0, apply.0, thread.0, dequeue.0, batch.0]);
    t.obj().flags |= TSO_SLOT;
    hec.upcalls.count_dequeue(why);
    t
}

/// Gives the user slot of the HEC to a dequeue upcall, which runs next and makes the owed enqueue upcalls, too.
/// # Safety
/// The slot is used, and no thread is in it. The caller holds no lock.
pub(super) unsafe fn start_dequeue(hec: &mut Hec, subject: Subject, why: Dequeue) {
    let batch = if hec.to_enqueue.is_empty() { no_more() } else { take_batch(hec) };
    let t = new_dequeue(hec, subject, batch, why);
    hec.run_queue.push_front(&mut hec.remembered, t);
}

/// The thread in the user slot of this HEC, whose group is ejected, has left it: a dequeue upcall takes the slot.
/// # Safety
/// As for [`start_dequeue`].
pub unsafe fn start_dequeue_here(hec: &mut Hec, subject: Subject) {
    let upcall = new_dequeue(hec, subject, no_more(), Dequeue::End);
    hec.run_queue.push_front(&mut hec.remembered, upcall);
}

/// The same, where that is the slot of another HEC.
/// # Safety
/// The world is stopped, and the slot is used. No thread is in it.
pub unsafe fn start_dequeue_on(hec: &mut Hec, there: &mut Hec, subject: Subject) {
    let (group, own) = (subject.group, hec.dequeue_group);
    let upcall = new_dequeue(hec, subject, no_more(), Dequeue::End);
    (hec.dequeue_group, there.dequeue_group) = (own, Some(group));
    park::migrate(upcall, there);
}

/// An enqueue upcall for a thread is owed.
/// # Safety
/// This HEC owns the thread, which is runnable, at rest and on no queue.
pub unsafe fn owe(hec: &mut Hec, t: Tso) {
    hec.to_enqueue.push(t);
}

/// The time slice of a thread has ended, or it yields. Returns true if a user scheduler decides when it runs again.
/// Then another thread of this scheduler has its slot when those on the run queue have had their turn.
/// # Safety
/// As for [`owe`].
pub unsafe fn preempt(hec: &mut Hec, t: Tso) -> bool {
    if t.obj().flags & (TSO_USER | TSO_SWITCHES) != TSO_USER {
        return false;
    }
    if t.obj().flags & TSO_SLOT != 0 {
        t.obj().flags &= !TSO_SLOT;
        hec.user_slot.take_preemption();
        let upcall = new_dequeue(hec, user(t), no_more(), Dequeue::Tick);
        hec.run_queue.push_again(&mut hec.remembered, upcall);
    }
    owe(hec, t);
    true
}

/// Has the time slice of a thread, which is in the user slot of the HEC, been ended while another thread ran?
/// # Safety
/// The thread is at rest, and owned by this HEC.
pub unsafe fn is_preempted(hec: &Hec, t: Tso) -> bool {
    t.obj().flags & (TSO_USER | TSO_SLOT | TSO_SWITCHES) == TSO_USER | TSO_SLOT && hec.user_slot.take_preemption()
}

/// If the thread blocks in the runtime now, does an upcall thread follow it in the user slot?
/// # Safety
/// This HEC owns the thread.
#[inline]
pub unsafe fn follows(t: Tso) -> bool {
    t.obj().flags & (TSO_SLOT | TSO_USER | TSO_SWITCHES | TSO_UPCALL) == TSO_SLOT | TSO_USER
}

/// A thread that has `TSO_USER`.
unsafe fn user(t: Tso) -> Subject {
    let Some(subject) = Subject::of(t) else { broken("a thread of a user scheduler has no activations") };
    subject
}

/// How a thread that blocks leaves the user slot of its HEC: as one of a user scheduler, or not.
pub(super) struct Leaves(Option<Subject>);

/// A thread in a user slot is about to wait for `why`. Does it leave the slot? Then it is no longer in it, and after it
/// has blocked comes [`after_block`], or [`stay`] if it has not.
/// # Safety
/// The thread is at rest, and this HEC owns it.
pub(super) unsafe fn leaves_slot(t: Tso, why: usize) -> Option<Leaves> {
    let flags = t.obj().flags;
    let leaves = match why {
        // In the transaction of a switch: the HEC sleeps.
        BlockedOnSTM | BlockedOnBlackHole | BlockedOnAbsent => flags & TSO_SWITCHES == 0,
        BlockedOnScheduler => false,
        _ => true,
    };
    if !leaves || flags & TSO_UPCALL != 0 {
        return None;
    }
    t.obj().flags = flags & !TSO_SLOT;
    Some(Leaves((flags & TSO_USER != 0).then(|| user(t))))
}

/// A thread has blocked outside the slot, which it had: another one of its scheduler takes the slot.
/// # Safety
/// As for [`start_dequeue`]. Another HEC may own the thread.
pub(super) unsafe fn after_block(hec: &mut Hec, how: Leaves) {
    match how.0 {
        Some(subject) => start_dequeue(hec, subject, Dequeue::Block),
        None => hec.user_slot.leave(),
    }
}

/// A thread has not blocked after all.
/// # Safety
/// As for [`leaves_slot`].
pub(super) unsafe fn stay(t: Tso) {
    t.obj().flags |= TSO_SLOT;
}

/// A thread leaves for a safe foreign call. If it is in the slot, that waits for it.
/// # Safety
/// The thread is at rest, and the caller holds its HEC.
pub unsafe fn begin_call(hec: &mut Hec, t: Tso) {
    if t.obj().flags & (TSO_USER | TSO_SLOT | TSO_SWITCHES) == TSO_USER | TSO_SLOT {
        hec.in_call = t;
        hec.user_slot.begin_call();
    }
}

/// The foreign call of the slot's thread takes long: another thread of its scheduler takes the slot.
/// # Safety
/// The slot is overdue. The caller holds the HEC, and no thread runs on it.
#[cold]
pub unsafe fn take_from_call(hec: &mut Hec) {
    let t = std::mem::replace(&mut hec.in_call, Tso::NULL);
    t.obj().flags &= !TSO_SLOT;
    hec.user_slot.end_call();
    start_dequeue(hec, user(t), Dequeue::Block);
}

/// The foreign call of a thread has ended on this HEC. If another thread has its slot, it stops at its next heap check,
/// and is owed: its result may be in registers until then.
/// # Safety
/// The caller holds the HEC, which owns the thread, and opens the nursery afterwards.
pub unsafe fn end_call(hec: &mut Hec, t: Tso) {
    if hec.in_call == t {
        hec.in_call = Tso::NULL;
        hec.user_slot.end_call();
    } else if park::needs_enqueue(t) {
        hec.upcalls.count_enqueue(Enqueue::Call);
        hec.context_switch.store(SLICE_ENDED, Ordering::Relaxed);
    }
}

/// Makes an upcall thread that gives threads to their schedulers.
unsafe fn new_enqueue(hec: &mut Hec, batch: Closure) -> Tso {
    let upcall = static_closure!(hecatonzmrts_Substrate_enqueueUpcall_closure);
    new_thread(hec, &[info!(stg_ret_p_info).0, upcall.0, info!(stg_ap_pv_info).0, batch.0])
}

/// Starts an upcall for threads that this HEC owes to their schedulers. It runs next.
/// # Safety
/// The caller holds the HEC, and no thread runs on it.
#[cold]
pub unsafe fn start_enqueues(hec: &mut Hec) {
    let batch = take_batch(hec);
    if !is_empty(batch) {
        let upcall = new_enqueue(hec, batch);
        hec.run_queue.push_front(&mut hec.remembered, upcall);
    }
}

/// Makes an upcall that gives one passive thread to its scheduler.
/// # Safety
/// Called from Cmm with Hp saved. The number is that of an SCont of the thread.
#[no_mangle]
pub unsafe extern "C" fn hec_enqueue_alone(hec: &mut Hec, t: Tso, number: usize) {
    let batch = with_thread(hec, t, number, no_more());
    let upcall = new_enqueue(hec, batch);
    hec.run_queue.push_back(&mut hec.remembered, upcall);
}

fn no_more() -> Closure {
    static_closure!(hecatonzmrts_Substrate_NoMore_closure).with_tag(1)
}

fn is_empty(batch: Closure) -> bool {
    batch == no_more()
}

/// A batch with one more thread, as the first.
unsafe fn with_thread(hec: &mut Hec, t: Tso, number: usize, others: Closure) -> Closure {
    let batch = hec.allocate(4);
    batch.set_info(info!(hecatonzmrts_Substrate_Batch_con_info));
    batch.set_word(1, t.0);
    batch.set_word(2, others.0);
    batch.set_word(3, number);
    batch.with_tag(2)
}

/// Makes threads passive that are owed to their schedulers, in the order in which they were woken. One that an
/// exception has ended meanwhile just ends.
unsafe fn take_batch(hec: &mut Hec) -> Closure {
    let n = hec.to_enqueue.len().min(MAX_BATCH);
    let mut batch = no_more();
    for i in (0..n).rev() {
        let t = hec.to_enqueue[i];
        if t.obj().what_next as usize == ThreadKilled {
            hec.run_queue.push_front(&mut hec.remembered, t);
        } else {
            let number = make_passive(hec, t);
            batch = with_thread(hec, t, number, batch);
        }
    }
    hec.to_enqueue.drain(..n);
    batch
}

/// Makes a thread that has been woken passive. Its SCont is the current one already. Returns its number.
unsafe fn make_passive(hec: &mut Hec, t: Tso) -> usize {
    let Some(record) = SchedRecord::of(t) else { broken("a thread without a record is owed") };
    // It waits for nothing: if it is masked, it is not interruptible.
    let ready = Status::ready(thread_status::of(record).number());
    let ready = thread_status::boxed(hec, ready);
    publish_alone(hec, record.status(), ready, |hec| {
        let held = park::lock(t);
        park::block(hec, t, BlockedOnScheduler, 0);
        drop(held);
    });
    thread_status::unboxed(ready).number()
}
