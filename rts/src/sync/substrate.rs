//! The substrate of schedulers written in Haskell [SHMP14, §3]: SConts, and switching between them.
//!
//! *Protocol* of `switch f`
//! 1. `switch#` begins a transaction that applies `f` to the SCont of the running thread. The frame below it is
//!    {hec_switch_frame, transaction}. Ticks are held off until it has ended ([`holds_off`]).
//! 2. [`hec_switch_end`] gets the SCont that `f` has chosen. If that is the thread's own, the transaction commits, and
//!    the thread goes on. Otherwise the thread leaves to wait for [`BlockedOnScheduler`], with the choice on top of its
//!    stack.
//! 3. The thread comes to rest. If that cuts off work, or raises an exception that was pending, the transaction is void
//!    or is ended again later.
//! 4. [`park()`] commits ([`crate::sync::stm::scont_protocol`]): the thread becomes passive, and the chosen one is
//!    claimed, takes the user slot of this HEC ([`crate::hec::user_slot`]), and runs next. The frame of the switch
//!    gives way to one that returns, so the thread continues behind its `switch`.
//! 5. If the choice is stale, the transaction stands. An upcall thread ([`crate::sync::upcall`]) runs the dequeue
//!    activation of the thread that has become passive, and switches to what that chooses.
//! 6. An exception in the transaction aborts it. After `retry#` the thread waits as after that of any transaction,
//!    stays in the slot, and begins the switch again on the same HEC.
//!
//! A thread that is in no slot, because it belongs to the built-in scheduler, needs the slot of its HEC to switch to an
//! SCont, and to set its activations. If the slot is used, it gets an exception.
//!
//! A thread without activations of its own belongs to the built-in scheduler. Its dequeue activation chooses no SCont:
//! the HEC goes on with its run queue. Its enqueue activation only writes the status `Ready`, and the commit that
//! publishes it queues the thread ([`crate::sync::stm::retry`]).
//!
//! *Invariants*
//! - A thread that has no record and is in a `switch` is an upcall thread. It never becomes passive.
//! - A passive thread is on no queue of the runtime. What keeps it alive is a reference to its SCont.
//!
//! *Checked by*: the unit tests in `rts/src/sync/substrate_tests.rs`.
use crate::abi::tso::{BlockedOnScheduler, TSO_PASSES_ON, TSO_SLOT, TSO_SWITCHES, TSO_UNSTARTED, TSO_UPCALL, TSO_USER};
use crate::abi::{Closure, Tso};
use crate::base::clock::getMonotonicNSec;
use crate::eval::blackhole::awaited_owner;
use crate::eval::frames::{restart_at, set_top, Frame, ATOMICALLY_WORDS};
use crate::eval::raise_async::{raise_async, restart_transaction};
use crate::eval::thunk_copy;
use crate::hec::sched_groups::Group;
use crate::hec::{self, many, priority, Hec, SLICE_ENDED};
use crate::observe::eventlog::classes::measure_run_times;
use crate::observe::stats::Dequeue;
use crate::sync::stm::commit;
use crate::sync::stm::retry::{
    add_permanent_entry, ensure_permanent_entry, new_preemption, publish_alone, publish_if, unlock_alone, RecordLog,
};
use crate::sync::stm::scont_protocol::{commit_switch, Status, NO_SCONT};
use crate::sync::stm::trec::Record;
use crate::sync::stm::{self, thread_status, tvar};
use crate::sync::upcall::Subject;
use crate::sync::{faults, thread_ops, upcall};
use crate::thread::park;
use crate::thread::park::Claim;
use crate::thread::sched_record::{Activation, Membership, SchedRecord};
use crate::{info, static_closure};

/// What the package gets of this runtime: a tuple of functions.
#[no_mangle]
pub extern "C" fn hec_substrate() -> Closure {
    static_closure!(hecatonzmrts_Substrate_forLibrary_closure)
}

// ---- Records
// ---------------------------------------------------------------------------------------------------------

/// Gives a thread a record with this membership. `aux` is the first value of its TVar for the program.
unsafe fn make_record(
    hec: &mut Hec,
    t: Tso,
    membership: Option<Membership>,
    aux: Closure,
    status: Status,
) -> SchedRecord {
    let aux = tvar::new(hec, aux);
    let status = thread_status::boxed(hec, status);
    let status = tvar::new(hec, status);
    let record = SchedRecord::make(hec, t, membership, aux, status);
    if !record.has_activations() {
        add_permanent_entry(hec, status, t);
    }
    measure_run_times();
    record
}

/// The record of the running thread, which is made if there is none.
unsafe fn own_record(hec: &mut Hec, aux: Closure) -> SchedRecord {
    let me = hec.current();
    match SchedRecord::of(me) {
        Some(record) => record,
        None => {
            let record = make_record(hec, me, None, aux, Status::running(0));
            record.start(getMonotonicNSec());
            record
        }
    }
}

unsafe fn record(t: Tso) -> SchedRecord {
    match SchedRecord::of(t) {
        Some(record) => record,
        None => crate::base::fatal::broken("a thread without a scheduling record has an SCont"),
    }
}

/// The number of the running thread's SCont. `aux` is the first value of its aux field, if it has no record yet.
/// # Safety
/// Called from Cmm with Hp saved.
#[no_mangle]
pub unsafe extern "C" fn hec_own_scont(hec: &mut Hec, aux: Closure) -> usize {
    thread_status::of(own_record(hec, aux)).number()
}

/// Makes a passive thread for an IO action, with the activations of the running thread. Its SCont has number 0.
/// # Safety
/// Called from Cmm with Hp saved.
#[no_mangle]
pub unsafe extern "C" fn hec_new_scont(hec: &mut Hec, action: Closure, aux: Closure) -> Tso {
    let inherited = SchedRecord::of(hec.current()).map(|parent| parent.membership());
    new_passive(hec, action, aux, inherited)
}

unsafe fn new_passive(hec: &mut Hec, action: Closure, aux: Closure, membership: Option<Membership>) -> Tso {
    let t = thread_ops::child(hec, action);
    let record = make_record(hec, t, membership, aux, Status::waiting(0));
    t.obj().flags |= if record.has_activations() { TSO_UNSTARTED | TSO_USER } else { TSO_UNSTARTED };
    park::block(hec, t, BlockedOnScheduler, 0);
    t
}

/// Makes a passive thread as [`hec_new_scont`] does, but with these activations, of a group. When it ends in the user
/// slot of a HEC, its scheduler chooses the next thread there. If the group is ejected, it is a thread of the built-in
/// scheduler.
/// # Safety
/// Called from Cmm with Hp saved. `group` is the word of a group.
#[no_mangle]
pub unsafe extern "C" fn hec_new_member(
    hec: &mut Hec,
    action: Closure,
    aux: Closure,
    dequeue: Closure,
    enqueue: Closure,
    group: usize,
) -> Tso {
    let group = Group::of_word(group).filter(|group| !group.is_ejected());
    let t = new_passive(hec, action, aux, group.map(|_| ([dequeue, enqueue], group)));
    t.obj().flags |= TSO_PASSES_ON;
    if priority::named_queue(t).is_some() {
        // That of the thread that makes it.
        priority::join(t, 0, 0);
    }
    t
}

/// Sets the activations that the running thread gets when a switch has made it passive: a pair (2), or none (1), so
/// that the thread belongs to the built-in scheduler. 0: it keeps those that it has.
/// # Safety
/// Called from Cmm with Hp saved. The pair is evaluated. `group` is the word of its group, or 0.
#[no_mangle]
pub unsafe extern "C" fn hec_set_next_activations(
    hec: &mut Hec,
    which: usize,
    pair: Closure,
    aux: Closure,
    group: usize,
) {
    let unit = static_closure!(ghczmprim_GHCziTuple_Z0T_closure);
    let next = [None, Some(unit), Some(pair)][which];
    own_record(hec, aux).set_next(hec, next, Group::of_word(group));
}

/// The running thread, which belongs to a user scheduler, has made this one: it belongs to the same scheduler.
/// # Safety
/// As for [`Hec::allocate`]. The thread is new, and has not run.
pub(super) unsafe fn inherit(hec: &mut Hec, t: Tso) {
    let membership = SchedRecord::of(hec.current()).map(|parent| parent.membership());
    let aux = static_closure!(hecatonzmrts_Substrate_noAux_closure);
    make_record(hec, t, membership, aux, Status::running(0));
    t.obj().flags |= TSO_USER | TSO_PASSES_ON;
}

/// Sets an activation of the running thread: the dequeue activation (0) or the enqueue activation (1). Returns 0 if it
/// would then belong to a user scheduler, but another thread uses the HEC.
/// # Safety
/// Called from Cmm with Sp and Hp saved.
#[no_mangle]
pub unsafe extern "C" fn hec_set_activation(hec: &mut Hec, which: usize, to: Closure, aux: Closure) -> usize {
    let record = own_record(hec, aux);
    let flags = hec.current().obj().flags;
    if flags & TSO_USER == 0 && record.will_have_activations(activation(which)) {
        if flags & TSO_SLOT == 0 && !hec.user_slot.take() {
            return 0;
        }
        hec.current().obj().flags = flags | TSO_USER | TSO_SLOT;
        thunk_copy::becomes_user(hec.current());
    }
    record.set_activation(hec, activation(which), to);
    1
}

/// The running thread, and those that it makes, belong to a group, if that is not ejected.
/// # Safety
/// Called from Cmm with Hp saved. The group is one, as a word.
#[no_mangle]
pub unsafe extern "C" fn hec_set_group(hec: &mut Hec, group: usize, aux: Closure) {
    let record = own_record(hec, aux);
    if let Some(group) = Group::of_word(group).filter(|group| !group.is_ejected()) {
        record.set_group(group);
    }
}

/// An activation of the thread of an SCont, or null if it belongs to the built-in scheduler.
/// # Safety
/// Called from Cmm.
#[no_mangle]
pub unsafe extern "C" fn hec_activation(t: Tso, which: usize) -> Closure {
    record(t).activation(activation(which)).unwrap_or(Closure::NULL)
}

fn activation(which: usize) -> Activation {
    [Activation::Dequeue, Activation::Enqueue][which]
}

/// The TVar that is the aux field of the thread of an SCont.
/// # Safety
/// Called from Cmm.
#[no_mangle]
pub unsafe extern "C" fn hec_aux_tvar(t: Tso) -> Closure {
    record(t).aux()
}

/// Nanoseconds for which the thread of an SCont has run.
/// # Safety
/// Called from Cmm.
#[no_mangle]
pub unsafe extern "C" fn hec_run_time(t: Tso) -> u64 {
    record(t).run_time(getMonotonicNSec())
}

unsafe fn is_switching(t: Tso) -> bool {
    t.obj().flags & TSO_SWITCHES != 0
}

/// The runtime has claimed a passive thread without a switch, or the thread has ended: its SConts are stale now.
/// # Safety
/// This HEC owns the thread, and the caller holds no lock.
pub unsafe fn claimed(hec: &mut Hec, t: Tso) {
    let Some(record) = SchedRecord::of(t) else { return };
    let status = thread_status::of(record).claimed();
    let status = thread_status::boxed(hec, status);
    publish_alone(hec, record.status(), status, |_| ());
}

/// Locks the status of a passive thread. Returns its version.
/// # Safety
/// The thread was passive, and the caller holds no lock.
pub(super) unsafe fn lock_status(t: Tso) -> usize {
    tvar::version(record(t).status()).lock()
}

/// Takes work from a passive thread by `steal`, under the lock of its status. If that fails, the thread is claimed and
/// runs next on this HEC, beside its user slot. Returns whether the work was taken, or `None` if the thread is not
/// passive.
/// # Safety
/// The thread is live, and the caller holds no lock.
pub(super) unsafe fn take_from_passive(hec: &mut Hec, t: Tso, steal: &mut dyn FnMut(&mut Hec) -> bool) -> Option<bool> {
    if SchedRecord::of(t).is_none() || park::why(t) != BlockedOnScheduler {
        return None;
    }
    let version = lock_status(t);
    // Without the version no HEC claims it.
    if park::why(t) != BlockedOnScheduler {
        unlock_status(hec, t, version, false);
        return None;
    }
    let stolen = steal(hec);
    let claim = if stolen { None } else { park::claim(hec, t, |why, _| why == BlockedOnScheduler) };
    unlock_status(hec, t, version, claim.is_some());
    if let Some(claim) = claim {
        claim.resume_here(hec, true);
    }
    Some(stolen)
}

/// Unlocks the status of a thread, which was locked at this version. If this HEC has claimed the thread, its SConts are
/// stale.
/// # Safety
/// The caller holds no other lock.
pub(super) unsafe fn unlock_status(hec: &mut Hec, t: Tso, version: usize, claimed: bool) {
    let status = record(t).status();
    let value = claimed.then(|| thread_status::in_locked(status).claimed());
    let value = value.map(|value| thread_status::boxed(hec, value));
    unlock_alone(hec, status, version, value);
}

/// A thread has ended, perhaps in the user slot of this HEC.
/// # Safety
/// As for [`claimed`].
pub(super) unsafe fn finished(hec: &mut Hec, t: Tso) {
    claimed(hec, t);
    if t.obj().flags & TSO_SLOT != 0 {
        t.obj().flags &= !TSO_SLOT;
        match Subject::of(t).filter(|_| t.obj().flags & TSO_PASSES_ON != 0) {
            Some(subject) => upcall::start_dequeue(hec, subject, Dequeue::End),
            None => hec.user_slot.leave(),
        }
    }
}

/// Has the thread, which is passive or about to be, been given to its scheduler?
/// # Safety
/// The thread is passive, and the caller has locked its status or the world is stopped; or it is at rest, and owned by
/// this HEC.
pub unsafe fn is_given(t: Tso) -> bool {
    let Some(record) = SchedRecord::of(t) else { return false };
    if !is_switching(t) {
        return thread_status::in_locked(record.status()).is_ready();
    }
    let own = stm::current(t).and_then(|log| log.value_of(record.status()));
    own.is_some_and(|value| thread_status::unboxed(value).is_ready())
}

// ---- Statuses in a transaction --------------------------------------------------------------------------------------

/// The entry in the log for the status of the thread of an SCont, and the status.
unsafe fn status_in(hec: &mut Hec, log: Record, t: Tso) -> (usize, Status) {
    let status = record(t).status();
    let i = match log.find_or_add(status) {
        Some(i) => i,
        // Not validated here: the thread may be at rest.
        None => log.find(hec, status).unwrap_or_else(|| log.read(hec, status)),
    };
    (i, thread_status::unboxed(log.entries().value(i)))
}

/// The number of the current SCont of a thread.
/// # Safety
/// Called from Cmm with Hp saved, in a transaction.
#[no_mangle]
pub unsafe extern "C" fn hec_scont_number(hec: &mut Hec, t: Tso) -> usize {
    let log = stm::running(hec);
    status_in(hec, log, t).1.number()
}

/// If the thread of an SCont waits for a thunk in the runtime: the thread that evaluates it, if that has SConts.
/// Otherwise null.
/// # Safety
/// Called from Cmm with Hp saved, in a transaction.
#[no_mangle]
pub unsafe extern "C" fn hec_awaits(hec: &mut Hec, t: Tso, number: usize) -> Tso {
    let log = stm::running(hec);
    // In the log, so that the transaction is overtaken when the thread is given to its scheduler.
    if status_in(hec, log, t).1 != Status::running(number) {
        return Tso::NULL;
    }
    awaited_owner(t).filter(|&owner| SchedRecord::of(owner).is_some()).unwrap_or(Tso::NULL)
}

/// Is an SCont that of another thread which is not passive? With [`NO_SCONT`] for a number: is the thread another one
/// that is not passive? In an upcall it counts as passive then, because the thread that the upcall is about may have
/// been woken, and run, by now.
/// # Safety
/// Called from Cmm with Hp saved, in a transaction.
#[no_mangle]
pub unsafe extern "C" fn hec_runs_elsewhere(hec: &mut Hec, t: Tso, number: usize) -> usize {
    let me = hec.current();
    let any = number == NO_SCONT;
    if t == me || any && me.obj().flags & TSO_UPCALL != 0 {
        return 0;
    }
    let log = stm::running(hec);
    let status = status_in(hec, log, t).1;
    (status == Status::running(if any { status.number() } else { number })) as usize
}

/// The status of an SCont's thread becomes `Ready`, because the thread is given to its scheduler. [`STALE`]: the SCont
/// is, and nothing has been written. [`RUNS`]: the thread is not passive.
/// # Safety
/// Called from Cmm with Hp saved, in a transaction.
#[no_mangle]
pub unsafe extern "C" fn hec_give(hec: &mut Hec, t: Tso, number: usize) -> usize {
    let log = stm::running(hec);
    let (i, status) = status_in(hec, log, t);
    if status.number() != number {
        return STALE;
    }
    // A thread that switches is passive when its transaction takes effect.
    let will_be_passive = t == hec.current() && is_switching(t);
    if !will_be_passive && !status.is_claimable(number) {
        return RUNS;
    }
    // The commit that writes the status of a thread without activations queues it.
    if status != Status::ready(number) || !record(t).has_activations() {
        let ready = thread_status::boxed(hec, Status::ready(number));
        log.write(hec, i, ready);
    }
    GIVEN
}

/// An enqueue upcall gives a thread to its scheduler. Returns the enqueue activation to run, or null if there is
/// nothing to do.
/// # Safety
/// Called from Cmm with Hp saved, in a transaction.
#[no_mangle]
pub unsafe extern "C" fn hec_give_in_upcall(hec: &mut Hec, t: Tso, number: usize) -> Closure {
    if hec_give(hec, t, number) != GIVEN {
        return Closure::NULL;
    }
    let record = record(t);
    hec.blame.on_behalf(hec.current().obj().id, record.group());
    record.activation(Activation::Enqueue).unwrap_or(Closure::NULL)
}

// Results of `hec_give` and `hec_run_on_idle_hec`, also known to `library/src/Hecaton/Substrate.hs`.
const STALE: usize = 0;
const GIVEN: usize = 1;
const RUNS: usize = 2;
const ALL_USED: usize = 3;

/// May the running thread, which is in a `switch`, choose another SCont? Not if another thread uses the HEC.
/// # Safety
/// Called from Cmm.
#[no_mangle]
pub unsafe extern "C" fn hec_may_switch_to(hec: &mut Hec) -> usize {
    (hec.current().obj().flags & (TSO_SLOT | TSO_USER) != 0 || !hec.user_slot.is_used()) as usize
}

// ---- HECs
// -----------------------------------------------------------------------------------------------------------

/// Starts an SCont on the first HEC that no thread of a user scheduler uses.
/// # Safety
/// Called from Cmm with Hp saved.
#[no_mangle]
pub unsafe extern "C" fn hec_run_on_idle_hec(hec: &mut Hec, t: Tso, number: usize) -> usize {
    let hecs = || (0..hec::enabled()).map(|no| &*hec::address(no));
    let Some(there) = hecs().find(|there| there.user_slot.take()) else { return ALL_USED };
    let Some(claim) = claim_alone(hec, t, number) else {
        there.user_slot.leave();
        return RUNS;
    };
    if !enter_slot(t) {
        there.user_slot.leave();
    }
    if std::ptr::eq(there, hec) {
        claim.resume_here(hec, false);
    } else {
        claim.resume_there(hec, there);
    }
    GIVEN
}

/// Ends the time slice of HEC `no`, if there is one, when the running transaction commits.
/// # Safety
/// Called from Cmm with Hp saved, in a transaction.
#[no_mangle]
pub unsafe extern "C" fn hec_preempt(hec: &mut Hec, no: usize) {
    if no < hec::count() {
        let log = stm::running(hec);
        let tvar = new_preemption(hec, no);
        let i = stm::find_or_read(hec, log, tvar);
        let value = log.entries().value(i);
        log.write(hec, i, value);
    }
}

/// Claims the thread of an SCont without a switch, if it is passive and the SCont is current.
unsafe fn claim_alone(hec: &mut Hec, t: Tso, number: usize) -> Option<Claim> {
    let status = record(t).status();
    publish_if(hec, status, |hec| {
        let now = thread_status::in_locked(status);
        let passive = |why, _| why == BlockedOnScheduler;
        let claim = now.is_claimable(number).then(|| park::claim(hec, t, passive)).flatten()?;
        Some((thread_status::boxed(hec, now.claimed()), claim))
    })
}

// ---- Switching
// -------------------------------------------------------------------------------------------------------

/// Begins the transaction of a `switch`.
/// # Safety
/// Called from Cmm with Hp saved; the thread is in no transaction.
#[no_mangle]
pub unsafe extern "C" fn hec_switch_begin(hec: &mut Hec) {
    hec.activation_time.begin();
    stm::hec_stm_begin(hec);
    hec.blame.begin();
    hec.current().obj().flags |= TSO_SWITCHES;
}

/// What a transaction has chosen.
struct Choice {
    thread: Tso,
    number: usize,
}

impl Choice {
    /// # Safety
    /// `scont` is an evaluated SCont: a thread, and a number.
    unsafe fn of(scont: Closure) -> Choice {
        let scont = thread_status::constructor(scont);
        Choice { thread: Tso(scont.word(1)), number: scont.word(2) }
    }
}

/// The thread of the SCont that a `switch` has chosen, if there is one.
/// # Safety
/// `scont` is an evaluated SCont.
pub unsafe fn chosen_thread(scont: Closure) -> Option<Tso> {
    let choice = Choice::of(scont);
    (choice.number != NO_SCONT).then_some(choice.thread)
}

/// The transaction of a `switch` has chosen an SCont. [`DONE`]: it was the thread's own, and the transaction has been
/// committed. [`AGAIN`]: it must run again, and a new one has begun. [`SWITCH`]: the thread must leave to wait.
/// # Safety
/// Called from Cmm with Hp saved, in the transaction of a `switch`, with an evaluated SCont.
#[no_mangle]
pub unsafe extern "C" fn hec_switch_end(hec: &mut Hec, scont: Closure) -> usize {
    let me = hec.current();
    let choice = Choice::of(scont);
    let own = SchedRecord::of(me);
    // An upcall thread has no record. Its SCont has number 0.
    if choice.thread != me || choice.number != own.map_or(0, |own| thread_status::of(own).number()) {
        park::hec_about_to_wait(hec, BlockedOnScheduler, scont.0);
        return SWITCH;
    }
    let log = stm::running(hec);
    let status = own.and_then(|own| log.find(hec, own.status()));
    if let Some(i) = status.filter(|&i| log.entries().is_written(i)) {
        // The thread has been given to its scheduler, but it goes on.
        let status = thread_status::boxed(hec, Status::running(choice.number));
        log.write(hec, i, status);
    }
    if commit::commit(&mut RecordLog::new(hec, log, me), many()) {
        end(hec, me);
        log.keep(hec);
        return DONE;
    }
    log.keep(hec);
    stm::hec_stm_begin(hec);
    AGAIN
}

// Results of `hec_switch_end`, also defined in Substrate.cmm.
const AGAIN: usize = 0;
const DONE: usize = 1;
const SWITCH: usize = 2;

/// The thread's transaction has ended.
unsafe fn end(hec: &mut Hec, t: Tso) {
    t.obj().flags &= !TSO_SWITCHES;
    stm::set_current(hec, t, static_closure!(stg_NO_TREC_closure));
    hec.end_hold_off();
    hec.activation_time.end();
}

/// Commits the transaction of a thread that switches, and makes it passive. Returns false if the thread is to run now:
/// its transaction must run again, or it is an upcall thread.
/// # Safety
/// The thread is at rest, with the evaluated choice `scont` on top of its stack.
pub(super) unsafe fn park(hec: &mut Hec, s: Tso, scont: Closure) -> bool {
    let choice = Choice::of(scont);
    let has_slot = s.obj().flags & TSO_SLOT != 0;
    let takes_slot = !has_slot && choice.number != NO_SCONT;
    if takes_slot && park::needs_enqueue(s) {
        // It runs beside the slot, and switches when its scheduler has chosen it.
        restart_transaction(hec, s);
        upcall::owe(hec, s);
        return true;
    }
    // If the slot has been taken since the choice, the transaction finds that when it runs again.
    if takes_slot && !hec.user_slot.take() {
        restart_transaction(hec, s);
        return false;
    }
    let done = commit_choice(hec, s, &choice);
    match done {
        Some(Done { in_slot: false, .. }) if has_slot || takes_slot => hec.user_slot.leave(),
        None if takes_slot => hec.user_slot.leave(),
        _ => {}
    }
    done.is_some_and(|done| !done.goes_on)
}

/// What follows a switch.
struct Done {
    /// A thread is in the user slot.
    in_slot: bool,
    /// The thread that has switched is to run: it makes an upcall, or is about to end.
    goes_on: bool,
}

/// The commit of [`park()`], with the slot for the chosen thread. Returns `None` if the transaction must run again.
unsafe fn commit_choice(hec: &mut Hec, s: Tso, choice: &Choice) -> Option<Done> {
    let Some(log) = stm::current(s) else { crate::base::fatal::broken("a switch outside a transaction") };
    let own = SchedRecord::of(s);
    if own.is_some() {
        let (i, status) = status_in(hec, log, s);
        let passive = thread_status::boxed(hec, status.passive());
        log.write(hec, i, passive);
    }
    let next = if choice.number == NO_SCONT { None } else { claim_in_log(hec, log, s, choice) };
    let is_stale = next.is_none() && choice.number != NO_SCONT;
    let (mut claim, mut subject) = (None, None);
    // Of the thread that leaves the slot. One that comes after the commit is meant for the chosen thread.
    let was_preempted = hec.user_slot.take_preemption();
    let done = commit_switch(
        &mut RecordLog::new(hec, log, s),
        many(),
        |log| {
            if own.is_some() {
                block(log.hec(), s);
                subject = Subject::of(s);
            }
        },
        |log| claim = next.and_then(|t| park::claim(log.hec(), t, |why, _| why == BlockedOnScheduler)),
    );
    if !done {
        if was_preempted {
            hec.user_slot.preempt();
        }
        restart_transaction(hec, s);
        return None;
    }
    log.keep(hec);
    if claim.is_none() && next.is_some() {
        crate::base::fatal::broken("a passive thread cannot be claimed under its status");
    }
    let mut goes_on = false;
    if own.is_none() {
        // An upcall thread.
        if is_stale {
            let frame = switch_frame(s);
            restart_at(frame);
            set_top(s, frame, &[]);
            end(hec, s);
            hec.upcalls.count_dequeue(Dequeue::Stale);
            hec.blame.repeat();
            return Some(Done { in_slot: true, goes_on: true });
        }
        go_on(hec, s);
        s.obj().flags &= !TSO_SLOT;
        goes_on = !upcall::keep(hec, s);
        if goes_on {
            // To end. What follows its switch is for a switch that was not possible.
            raise_async(hec, s, None);
        }
    }
    if let Some(claim) = claim {
        let in_slot = enter_slot(claim.thread);
        if !hec.user_slot.is_used() {
            crate::base::fatal::broken("a thread comes into a user slot that is empty");
        }
        // If the time slice has ended, other threads have a turn.
        let first = hec.request() == 0;
        claim.resume_here(hec, first);
        return Some(Done { in_slot, goes_on });
    }
    let subject = subject.filter(|_| is_stale);
    let in_slot = subject.is_some();
    if let Some(subject) = subject {
        upcall::start_dequeue(hec, subject, Dequeue::Stale);
    }
    Some(Done { in_slot, goes_on })
}

/// The thread, which this HEC has claimed, will run in a user slot. Returns false if it runs outside: with several
/// HECs, a bound thread of the built-in scheduler may have to follow its task to another HEC.
unsafe fn enter_slot(t: Tso) -> bool {
    let o = t.obj();
    let enters = o.flags & TSO_USER != 0 || o.bound == 0 || !many();
    if enters {
        o.flags |= TSO_SLOT;
    }
    enters
}

/// Enters the claim of the chosen thread in the log. Returns `None` if the choice is stale.
unsafe fn claim_in_log(hec: &mut Hec, log: Record, s: Tso, choice: &Choice) -> Option<Tso> {
    let (i, status) = status_in(hec, log, choice.thread);
    if choice.thread == s || !status.is_claimable(choice.number) {
        return None;
    }
    let claimed = thread_status::boxed(hec, status.claimed());
    log.write(hec, i, claimed);
    Some(choice.thread)
}

/// Words on top of the stack of a thread that waits for its switch: {stg_ret_p, the choice}.
const CHOICE_WORDS: usize = 2;

/// The frame of the switch that a thread waits for.
unsafe fn switch_frame(s: Tso) -> Frame {
    Frame(Frame::youngest(s.obj().stackobj).0.add(CHOICE_WORDS))
}

/// Ends the thread's transaction, and makes it continue behind its `switch`.
unsafe fn go_on(hec: &mut Hec, s: Tso) {
    let unit = static_closure!(ghczmprim_GHCziTuple_Z0T_closure).with_tag(1);
    let below = Frame(switch_frame(s).0.add(ATOMICALLY_WORDS));
    set_top(s, below, &[info!(stg_ret_p_info).0, unit.0]);
    end(hec, s);
}

/// The thread belongs to the built-in scheduler from now on.
/// # Safety
/// The world is stopped, and the thread has a record.
pub unsafe fn leave_group(hec: &mut Hec, t: Tso) {
    let record = record(t);
    record.leave_group();
    ensure_permanent_entry(hec, record.status(), t);
    t.obj().flags &= !(TSO_USER | TSO_SLOT | TSO_PASSES_ON);
}

/// The thread gets its next activations, if they have been set. Its status is locked.
unsafe fn change_scheduler(hec: &mut Hec, s: Tso) {
    let Some(record) = SchedRecord::of(s).filter(|record| record.advance(hec)) else { return };
    if record.has_activations() {
        if s.obj().flags & TSO_USER == 0 {
            thunk_copy::becomes_user(s);
        }
        s.obj().flags |= TSO_USER;
    } else {
        s.obj().flags &= !TSO_USER;
        ensure_permanent_entry(hec, record.status(), s);
    }
}

/// Makes the thread passive. It continues behind its `switch` when it is claimed.
unsafe fn block(hec: &mut Hec, s: Tso) {
    go_on(hec, s);
    s.obj().flags &= !(TSO_UNSTARTED | TSO_SLOT);
    change_scheduler(hec, s);
    let held = park::lock(s);
    park::block(hec, s, BlockedOnScheduler, 0);
    drop(held);
}

/// Is the thread in the transaction of a `switch`, or does it make an upcall? Then it does not yield, and the request
/// `asked` is kept until it has ended. If the transaction has been overtaken, it begins again.
/// # Safety
/// The thread is at rest, and owned by this HEC.
#[inline]
pub unsafe fn holds_off(hec: &mut Hec, t: Tso, asked: u32) -> bool {
    if t.obj().flags & (TSO_SWITCHES | TSO_UPCALL) == 0 {
        return false;
    }
    hec.hold_off(asked);
    if !stm::validate(t) {
        hec.blame.begin();
        restart_transaction(hec, t);
    } else if asked == SLICE_ENDED {
        faults::check_overtime(hec, t);
    }
    true
}
