//! Models of threads that evaluate one thunk, stop, are cut off, and wait for each other.
//!
//! *Checked*: no thread waits for ever, no value is read before it is made, and suspended work is not lost.
//!
//! What the Cmm update frame does with plain loads and stores is read from its source ([`crate::cmm`]), and
//! [`World::return_plainly`] does it step by step. [`World::enter_eagerly`] mirrors compiled code. The rest is the
//! runtime's own code.
use crate::atomics::{AtomicUsize, Ordering::*};
use crate::cmm::{Code, Machine, Source};
use crate::explore;
use crate::thunk::*;
use loom::cell::UnsafeCell;
use loom::sync::{Arc, Mutex};
use loom::thread;
use std::sync::OnceLock;

/// Headers.
const THUNK: usize = 1;
const WHITEHOLE: usize = 2;
const BLACKHOLE: usize = 3;
const EAGER: usize = 4;
const IND: usize = 5;
/// Addresses: of the thunk, and where the addresses of threads, queues, entries and values begin.
const X: usize = 10;
const THREADS: usize = 20;
const QUEUES: usize = 40;
const ENTRIES: usize = 60;
const VALUES: usize = 80;
/// How often a thread may have to try to wait.
const TRIES: usize = 4;
const N: usize = 3;

struct World {
    header: AtomicUsize,
    indirectee: AtomicUsize,
    hanging: Vec<AtomicUsize>,
    entries: Vec<AtomicUsize>,
    next_hanging: Vec<AtomicUsize>,
    owners: Vec<AtomicUsize>,
    next_entry: Vec<AtomicUsize>,
    /// The contents of each thread's value, written before the value is published.
    contents: Vec<UnsafeCell<usize>>,
    /// The entry on which each thread is blocked (0 for none), under the thread's lock.
    blocked: Vec<Mutex<usize>>,
}

// SAFETY: loom verifies it.
unsafe impl Sync for World {}
unsafe impl Send for World {}

impl Memory for World {
    fn end(&self) -> usize {
        0
    }
    fn shared(&self) -> bool {
        true
    }
    fn headers(&self) -> Headers {
        Headers { ind: IND, blackhole: BLACKHOLE, whitehole: WHITEHOLE }
    }
    fn indirectee_decides(&self, header: usize) -> bool {
        matches!(header, IND | BLACKHOLE | EAGER)
    }
    fn claim(&self, indirectee: usize) -> Claim {
        match indirectee {
            VALUES.. => Claim::Value,
            QUEUES..ENTRIES => Claim::Queue(indirectee),
            THREADS..QUEUES => Claim::By(indirectee),
            other => panic!("a thunk's indirectee is {other}"),
        }
    }
    fn header(&self, _: usize) -> &AtomicUsize {
        &self.header
    }
    fn indirectee(&self, _: usize) -> &AtomicUsize {
        &self.indirectee
    }
    fn entries(&self, queue: usize) -> &AtomicUsize {
        &self.entries[queue - QUEUES]
    }
    fn next_entry(&self, entry: usize) -> &AtomicUsize {
        &self.next_entry[entry - ENTRIES]
    }
    fn thunk_of(&self, _: usize) -> usize {
        X
    }
    fn owner_of(&self, queue: usize) -> usize {
        self.owners[queue - QUEUES].load(Relaxed)
    }
    fn hanging(&self, thread: usize) -> &AtomicUsize {
        &self.hanging[thread - THREADS]
    }
    fn next_hanging(&self, queue: usize) -> &AtomicUsize {
        &self.next_hanging[queue - QUEUES]
    }
}

#[derive(Clone, Copy)]
enum Condition {
    /// The header that was loaded says that there was a claim or a value.
    Claimed,
    Old,
}

#[derive(Clone, Copy)]
enum Statement {
    LoadHeader,
    StoreIndirectee,
    StoreHeader,
    /// Leaves the rest to Rust.
    UpdateClaimed,
    Return,
}

enum Updated {
    Plainly,
    ByRust,
}

/// What the frame in cmm/Update.cmm does to a thunk that it updates.
fn plain_update() -> &'static Code<Condition, Statement> {
    static CODE: OnceLock<Code<Condition, Statement>> = OnceLock::new();
    CODE.get_or_init(|| {
        let update = include_str!("../../../cmm/Update.cmm");
        let evaluation = include_str!("../../../cmm/evaluation/lock-free/Evaluation.h");
        Source::new("", &[update, evaluation]).procedure(
            "stg_upd_frame",
            &[
                ("info == stg_IND_info || info == stg_BLACKHOLE_info", Condition::Claimed),
                ("HEC_IS_OLD(updatee)", Condition::Old),
            ],
            &[
                ("info = GET_INFO(updatee)", Some(Statement::LoadHeader)),
                ("StgInd_indirectee(updatee) = R1", Some(Statement::StoreIndirectee)),
                ("SET_INFO(updatee, stg_IND_info)", Some(Statement::StoreHeader)),
                ("jump hec_update_claimed [R1]", Some(Statement::UpdateClaimed)),
                ("RETURN_R1()", Some(Statement::Return)),
                ("updatee = Sp(1)", None),
                ("Sp_adj(2)", None),
                // On x86-64 stores stay in their order.
                ("prim_write_barrier", None),
                (r#"ccall hec_remember(MyCapability() "ptr", updatee "ptr")"#, None),
            ],
        )
    })
}

/// A thread in the frame.
struct Update<'a> {
    w: &'a World,
    me: usize,
    info: usize,
}

impl Machine<Condition, Statement, Updated> for Update<'_> {
    fn holds(&mut self, condition: Condition) -> bool {
        match condition {
            Condition::Claimed => self.info == IND || self.info == BLACKHOLE,
            Condition::Old => true,
        }
    }

    fn act(&mut self, statement: Statement) -> Option<Updated> {
        // On x86-64 every load is an Acquire, and every store a Release.
        match statement {
            Statement::LoadHeader => self.info = self.w.header.load(Acquire),
            Statement::StoreIndirectee => self.w.indirectee.store(self.w.value(self.me), Release),
            Statement::StoreHeader => self.w.header.store(IND, Release),
            Statement::UpdateClaimed => return Some(Updated::ByRust),
            Statement::Return => return Some(Updated::Plainly),
        }
        None
    }
}

fn words(n: usize) -> Vec<AtomicUsize> {
    (0..n).map(|_| AtomicUsize::new(0)).collect()
}

impl World {
    fn new() -> Arc<World> {
        Arc::new(World {
            header: AtomicUsize::new(THUNK),
            // The spare word of a new thunk has never been written.
            indirectee: AtomicUsize::new(0),
            hanging: words(N),
            entries: words(N * TRIES),
            next_hanging: words(N * TRIES),
            owners: words(N * TRIES),
            next_entry: words(N * TRIES),
            contents: (0..N).map(|_| UnsafeCell::new(0)).collect(),
            blocked: (0..N).map(|_| Mutex::new(0)).collect(),
        })
    }

    /// Makes the value that thread `me` computes.
    fn value(&self, me: usize) -> usize {
        // SAFETY: loom verifies it.
        self.contents[me].with_mut(|c| unsafe { *c = 7 });
        VALUES + me
    }

    fn read(&self, value: usize) {
        // SAFETY: loom verifies it.
        assert_eq!(self.contents[value - VALUES].with(|c| unsafe { *c }), 7);
    }

    fn discharge(&self, pending: Pending) {
        let Pending::Wake(mut entry) = pending else { return };
        while entry != 0 {
            let mut blocked = self.blocked[(entry - ENTRIES) / TRIES].lock().unwrap();
            if *blocked == entry {
                *blocked = 0;
            }
            drop(blocked);
            entry = self.next_entry(entry).load(Relaxed);
        }
    }

    fn pending(&self, me: usize, outcome: Outcome) {
        if let Outcome::Kept(value) = outcome {
            self.read(value);
        }
        after_update(self, THREADS + me, outcome, |pending| self.discharge(pending));
    }

    /// As `stg_marked_upd_frame` and `stg_bh_upd_frame`.
    fn return_claimed(&self, me: usize) {
        let value = self.value(me);
        self.pending(me, finish(self, X, value));
    }

    /// As `stg_upd_frame`.
    fn return_plainly(&self, me: usize) {
        match plain_update().run(&mut Update { w: self, me, info: THUNK }) {
            Updated::Plainly => {}
            Updated::ByRust => self.return_claimed(me),
        }
    }

    /// As code compiled with -feager-blackholing, when it is entered.
    fn enter_eagerly(&self, me: usize) {
        self.indirectee.store(THREADS + me, Release);
        self.header.store(EAGER, Release);
    }

    /// The thread stops with an unmarked frame and claims the thunk. If it cannot, it loses the frame.
    fn pause(&self, me: usize) -> bool {
        let mine = match inspect(self, X) {
            State::Unclaimed => claim(self, X, THREADS + me).is_some(),
            State::BeingClaimed => false,
            State::Claimed(_, claim) => owner(self, claim) == Some(THREADS + me),
        };
        if !mine {
            release_queues(self, THREADS + me, |pending| self.discharge(pending));
        }
        mine
    }

    /// The thread enters the thunk and waits if it is under evaluation, as in `wait_for_thunk::park`.
    fn enter(&self, me: usize) {
        for try_no in me * TRIES..(me + 1) * TRIES {
            let State::Claimed(indirectee, claim) = inspect(self, X) else { return };
            let mut blocked = self.blocked[me].lock().unwrap();
            let entry = ENTRIES + try_no;
            let joined = match claim {
                Claim::Value => return self.read(indirectee),
                Claim::By(owner) => {
                    self.owners[try_no].store(owner, Relaxed);
                    self.entries[try_no].store(entry, Relaxed);
                    open(self, QUEUES + try_no)
                }
                Claim::Queue(queue) => enqueue(self, queue, entry),
            };
            if joined {
                *blocked = entry;
                return;
            }
        }
        panic!("thread {me} tries too often");
    }

    /// Verifies the thunk and the threads after all evaluators are done.
    fn verify(&self) {
        let State::Claimed(value, Claim::Value) = inspect(self, X) else { panic!("no value") };
        self.read(value);
        for blocked in &self.blocked {
            assert_eq!(*blocked.lock().unwrap(), 0, "a thread waits for ever");
        }
    }
}

/// Runs the acts of three threads, and verifies what they leave.
fn together(preemptions: usize, acts: [fn(&World); 3], verify: fn(&World)) {
    explore(preemptions, move || {
        let w = World::new();
        let others: Vec<_> = acts[1..]
            .iter()
            .map(|&act| {
                let w = w.clone();
                thread::spawn(move || act(&w))
            })
            .collect();
        acts[0](&w);
        others.into_iter().for_each(|o| o.join().unwrap());
        verify(&w);
    });
}

/// Claims the thunk when the thread stops, and continues with the evaluation if it may.
fn claims(w: &World, me: usize) {
    if w.pause(me) {
        w.return_claimed(me);
    } else {
        w.enter(me);
    }
}

/// Enters eagerly, then does as [`claims`].
fn eager(w: &World, me: usize) {
    w.enter_eagerly(me);
    if w.pause(me) {
        w.return_claimed(me);
    } else {
        w.enter(me);
    }
}

#[test]
fn a_waiter_survives_a_plain_update_over_its_queue() {
    together(3, [|w| w.return_plainly(0), |w| claims(w, 1), |w| w.enter(2)], World::verify);
}

#[test]
fn two_waiters_share_a_queue() {
    together(3, [|w| claims(w, 0), |w| w.enter(1), |w| w.enter(2)], World::verify);
}

#[test]
fn two_plain_updates_and_a_claim() {
    let acts: [fn(&World); 3] = [|w| w.return_plainly(0), |w| w.return_plainly(1), |w| claims(w, 2)];
    together(3, acts, World::verify);
}

#[test]
fn one_of_two_claimants_continues() {
    together(3, [|w| claims(w, 0), |w| claims(w, 1), |w| w.enter(2)], World::verify);
}

#[test]
fn eager_claims_overwrite_each_other_and_a_queue() {
    together(3, [|w| eager(w, 0), |w| eager(w, 1), |w| w.enter(2)], World::verify);
}

#[test]
fn a_second_waiter_meets_a_queue_that_is_overwritten() {
    together(
        3,
        [
            |w| eager(w, 0),
            |w| eager(w, 1),
            |w| {
                w.enter(2);
                // Woken or not, it goes away: an entry left behind is harmless.
                *w.blocked[2].lock().unwrap() = 0;
            },
        ],
        World::verify,
    );
}

#[test]
fn work_set_aside_is_resumed_unless_another_has_claimed() {
    // One freezes its work for the thunk without having claimed it; the other claims.
    together(
        3,
        [
            |w| {
                let frozen = w.value(0);
                if !fill(w, X, frozen) {
                    assert!(inspect(w, X) != State::Unclaimed);
                }
            },
            |w| {
                // Cut off, it enters the frozen work.
                if !w.pause(1) {
                    return w.enter(1);
                }
                w.return_claimed(1);
            },
            |w| w.enter(2),
        ],
        World::verify,
    );
}

#[test]
fn a_frozen_computation_is_claimed_by_one() {
    explore(3, || {
        let w = World::new();
        let other = {
            let w = w.clone();
            thread::spawn(move || claim(&*w, X, THREADS + 1).is_some())
        };
        let mine = claim(&*w, X, THREADS).is_some();
        assert!(mine != other.join().unwrap());
    });
}
