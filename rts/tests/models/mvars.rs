//! Models of threads that take, put and read an MVar concurrently.
//!
//! `cmm/MVar.cmm` is read and run here ([`crate::cmm`]). The Rust that it calls (`sync/mvar.rs`) is a short form,
//! under the same lock (`sync/header_lock.rs`).
//!
//! As on x86-64, every load is an Acquire, and an atomic instruction is a barrier. Stores are Relaxed, though x86-64
//! has them in order: so a barrier that the Cmm leaves out is found.
//!
//! *Checked*: no value is lost or taken twice, no thread waits for an operation that is possible, and a reader sees
//! what a value holds.
use crate::atomics::{fence, AtomicUsize, Ordering, Ordering::*};
use crate::cmm::{Code, Machine, Source};
use crate::explore;
use crate::shipped::header_lock::Header;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use std::collections::VecDeque;
use std::sync::OnceLock;

/// Headers.
const CLEAN: usize = 1;
const DIRTY: usize = 2;
const WHITEHOLE: usize = 3;
/// No value; values come after it.
const EMPTY: usize = 0;
const VALUES: usize = 4;

#[derive(Clone, Copy)]
enum Condition {
    ManyHecs,
    /// Is the register or the field the empty mark?
    NoValue,
    NoValueInMVar,
    ValueInMVar,
    NobodyWaits,
    WasLocked,
    WasClean,
    IsTheValueComing,
    IsRemote,
}

#[derive(Clone, Copy)]
enum Statement {
    Lock,
    LockInRust,
    OneHec,
    LoadValue,
    StoreEmpty,
    StoreValue,
    Barrier,
    StoreInfo,
    StoreDirty,
    Remember,
    TakenInRust,
    PutInRust,
    AwaitValue,
    Again,
    Wait,
    Done,
    DoneWithout,
    /// The owner of a remote MVar performs the operation.
    Elsewhere,
}

#[derive(Debug, PartialEq)]
enum End {
    Done,
    /// One that only tries has not found what it needs.
    DoneWithout,
    Again,
    Wait,
}

struct Programs {
    take: Code<Condition, Statement>,
    put: Code<Condition, Statement>,
    read: Code<Condition, Statement>,
    try_take: Code<Condition, Statement>,
    try_put: Code<Condition, Statement>,
}

fn programs() -> &'static Programs {
    static PROGRAMS: OnceLock<Programs> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let source = Source::new("", &[include_str!("../../../cmm/MVar.cmm")]);
        let code = |name, mvar: &str, value: &str| {
            // The registers are called by the procedure's own names.
            let named = |text: &str| text.replace("$M", mvar).replace("$V", value);
            let conditions: Vec<(String, Condition)> = CONDITIONS.iter().map(|(t, c)| (named(t), *c)).collect();
            let statements: Vec<(String, Option<Statement>)> = STATEMENTS.iter().map(|(t, s)| (named(t), *s)).collect();
            let conditions: Vec<(&str, Condition)> = conditions.iter().map(|(t, c)| (t.as_str(), *c)).collect();
            let statements: Vec<(&str, Option<Statement>)> = statements.iter().map(|(t, s)| (t.as_str(), *s)).collect();
            source.procedure(name, &conditions, &statements)
        };
        Programs {
            take: code("stg_takeMVarzh", "R1", "value"),
            put: code("stg_putMVarzh", "mvar", "value"),
            read: code("stg_readMVarzh", "R1", "value"),
            try_take: code("stg_tryTakeMVarzh", "mvar", "value"),
            try_put: code("stg_tryPutMVarzh", "mvar", "value"),
        }
    })
}

const CONDITIONS: [(&str, Condition); 9] = [
    ("MANY_HECS", Condition::ManyHecs),
    ("$V == EMPTY", Condition::NoValue),
    ("StgMVar_value($M) == EMPTY", Condition::NoValueInMVar),
    ("StgMVar_value($M) != EMPTY", Condition::ValueInMVar),
    ("StgMVar_head($M) == EMPTY", Condition::NobodyWaits),
    ("info == stg_WHITEHOLE_info", Condition::WasLocked),
    ("info == stg_MVAR_CLEAN_info", Condition::WasClean),
    ("info != 0", Condition::IsTheValueComing),
    ("IS_REMOTE($M, hec_REMOTE_MVAR_info)", Condition::IsRemote),
];

const STATEMENTS: [(&str, Option<Statement>); 42] = [
    ("(info) = prim %xchg64($M, stg_WHITEHOLE_info)", Some(Statement::Lock)),
    (r#"(info) = ccall hec_lock_header($M "ptr")"#, Some(Statement::LockInRust)),
    ("info = GET_INFO($M)", Some(Statement::OneHec)),
    ("$V = StgMVar_value($M)", Some(Statement::LoadValue)),
    ("StgMVar_value($M) = EMPTY", Some(Statement::StoreEmpty)),
    ("StgMVar_value($M) = $V", Some(Statement::StoreValue)),
    ("prim_write_barrier", Some(Statement::Barrier)),
    ("SET_INFO($M, info)", Some(Statement::StoreInfo)),
    ("SET_INFO($M, stg_MVAR_DIRTY_info)", Some(Statement::StoreDirty)),
    (r#"ccall hec_remember(MyCapability() "ptr", $M "ptr")"#, Some(Statement::Remember)),
    (r#"ccall hec_mvar_taken(MyCapability() "ptr", $M "ptr", info)"#, Some(Statement::TakenInRust)),
    (r#"ccall hec_mvar_put(MyCapability() "ptr", $M "ptr", $V "ptr", info)"#, Some(Statement::PutInRust)),
    (r#"(info) = ccall hec_await_value(MyCapability() "ptr", $M "ptr")"#, Some(Statement::AwaitValue)),
    ("jump stg_takeMVarzh [R1]", Some(Statement::Again)),
    ("LEAVE_TO_WAIT(BlockedOnMVar, $M)", Some(Statement::Wait)),
    ("LEAVE_TO_WAIT(BlockedOnMVarRead, $M)", Some(Statement::Wait)),
    ("RETURN_R1()", Some(Statement::Done)),
    ("jump %ENTRY_CODE(Sp(0)) []", Some(Statement::Done)),
    ("return (1)", Some(Statement::Done)),
    ("return (1, $V)", Some(Statement::Done)),
    ("return (0)", Some(Statement::DoneWithout)),
    ("return (0, EMPTY)", Some(Statement::DoneWithout)),
    ("jump stg_ap_pv_fast [R1, R2]", Some(Statement::Elsewhere)),
    ("jump stg_ap_ppv_fast [R1, R2, R3]", Some(Statement::Elsewhere)),
    ("ON_OWNER(tryTakeMVarRemote, $M)", Some(Statement::Elsewhere)),
    ("ON_OWNER_WITH(tryPutMVarRemote, $M, $V)", Some(Statement::Elsewhere)),
    ("R1 = hecatonzmrts_Spread_takeMVarRemote_closure", None),
    ("R1 = hecatonzmrts_Spread_readMVarRemote_closure", None),
    ("R1 = hecatonzmrts_Spread_putMVarRemote_closure", None),
    ("R2 = R1", None),
    ("R2 = mvar", None),
    ("R3 = $V", None),
    ("R1 = $V", None),
    ("mvar = R1", None),
    ("value = R2", None),
    // The frame of a thread that waits: it does the operation again.
    ("Sp_adj(-2)", None),
    ("Sp_adj(-3)", None),
    ("Sp(2) = $V", None),
    ("Sp(1) = $M", None),
    ("Sp(0) = stg_block_takemvar_info", None),
    ("Sp(0) = stg_block_readmvar_info", None),
    ("Sp(0) = stg_block_putmvar_info", None),
];

enum Waiter {
    Taker,
    Putter(usize),
}

struct World {
    header: Header,
    value: AtomicUsize,
    /// Under the lock.
    queue: UnsafeCell<VecDeque<Waiter>>,
    remembered: UnsafeCell<usize>,
    /// What takers have been handed that waited.
    handed: UnsafeCell<Vec<usize>>,
    /// What each value holds, written before it is put.
    contents: [UnsafeCell<usize>; 2],
}

// SAFETY: what loom is to verify.
unsafe impl Sync for World {}
unsafe impl Send for World {}

/// A thread in one of the procedures.
struct Thread<'a> {
    w: &'a World,
    value: usize,
    info: usize,
}

impl Machine<Condition, Statement, End> for Thread<'_> {
    fn holds(&mut self, condition: Condition) -> bool {
        match condition {
            Condition::ManyHecs => true,
            Condition::NoValue => self.value == EMPTY,
            Condition::NoValueInMVar => self.w.value.load(Acquire) == EMPTY,
            Condition::ValueInMVar => self.w.value.load(Acquire) != EMPTY,
            Condition::NobodyWaits => self.w.queue.with(|q| unsafe { (*q).is_empty() }),
            Condition::WasLocked => self.info == WHITEHOLE,
            Condition::WasClean => self.info == CLEAN,
            Condition::IsTheValueComing => self.info != 0,
            // All MVars here are this process's own, and no header ever becomes that of a remote one.
            Condition::IsRemote => false,
        }
    }

    fn act(&mut self, statement: Statement) -> Option<End> {
        match statement {
            Statement::Lock => {
                // Stores that come after it come after what was stored before.
                fence(Release);
                self.info = self.w.header.0.swap(WHITEHOLE, AcqRel);
            }
            Statement::LockInRust => self.info = self.w.header.lock(WHITEHOLE),
            Statement::OneHec => panic!("there are several HECs"),
            Statement::LoadValue => self.value = self.w.value.load(Acquire),
            Statement::StoreEmpty => self.w.value.store(EMPTY, Relaxed),
            Statement::StoreValue => self.w.value.store(self.value, Relaxed),
            Statement::Barrier => fence(Release),
            Statement::StoreInfo => self.w.store_header(self.info, Relaxed),
            Statement::StoreDirty => self.w.store_header(DIRTY, Relaxed),
            Statement::Remember => self.w.remember(),
            Statement::TakenInRust => self.w.taken(self.info),
            Statement::PutInRust => self.w.put(self.value, self.info),
            Statement::AwaitValue => self.info = usize::from(self.w.value.load(Relaxed) != EMPTY),
            Statement::Again => return Some(End::Again),
            Statement::Wait => return Some(End::Wait),
            Statement::Done => return Some(End::Done),
            Statement::DoneWithout => return Some(End::DoneWithout),
            Statement::Elsewhere => panic!("an MVar of this process is taken for a remote one"),
        }
        None
    }
}

impl World {
    fn new(header: usize, value: usize) -> Arc<World> {
        Arc::new(World {
            header: Header(AtomicUsize::new(header)),
            value: AtomicUsize::new(value),
            queue: UnsafeCell::new(VecDeque::new()),
            remembered: UnsafeCell::new(0),
            handed: UnsafeCell::new(Vec::new()),
            contents: [UnsafeCell::new(0), UnsafeCell::new(0)],
        })
    }
    fn new_value(&self, n: usize) -> usize {
        self.contents[n].with_mut(|c| unsafe { *c = 7 });
        VALUES + n
    }
    fn look_at(&self, value: usize) {
        assert_eq!(self.contents[value - VALUES].with(|c| unsafe { *c }), 7);
    }
    fn remember(&self) {
        self.remembered.with_mut(|r| unsafe { *r += 1 });
    }
    fn waiters<R>(&self, f: impl FnOnce(&mut VecDeque<Waiter>) -> R) -> R {
        self.queue.with_mut(|q| f(unsafe { &mut *q }))
    }
    /// Stores a header by an exchange. Cmm exchanges the header of a locked MVar too, and loom does not order a store
    /// with a concurrent exchange: a later exchange might find either.
    fn store_header(&self, header: usize, order: Ordering) {
        self.header.0.swap(header, order);
    }
    fn unlock(&self, header: usize) {
        self.store_header(header, Release);
    }
    /// `Locked::dirty`: the header from now on.
    fn dirty(&self, info: usize) -> usize {
        if info == CLEAN {
            self.remember();
        }
        DIRTY
    }

    /// `hec_mvar_taken`.
    fn taken(&self, info: usize) {
        let Some(Waiter::Putter(value)) = self.waiters(VecDeque::pop_front) else {
            panic!("a full MVar has a taker wait")
        };
        self.value.store(value, Release);
        self.unlock(self.dirty(info));
    }
    /// `hec_mvar_put`.
    fn put(&self, value: usize, info: usize) {
        let Some(Waiter::Taker) = self.waiters(VecDeque::pop_front) else { panic!("an empty MVar has a putter wait") };
        self.handed.with_mut(|h| unsafe { (*h).push(value) });
        self.unlock(self.dirty(info));
    }
    /// `park`. False if the operation has become possible.
    fn park(&self, waiter: Waiter) -> bool {
        let info = self.header.lock(WHITEHOLE);
        let full = self.value.load(Relaxed) != EMPTY;
        if full != matches!(waiter, Waiter::Putter(_)) {
            self.unlock(info);
            return false;
        }
        self.waiters(|q| q.push_back(waiter));
        self.unlock(self.dirty(info));
        true
    }

    fn run(&self, code: &Code<Condition, Statement>, value: usize) -> (End, usize) {
        let mut thread = Thread { w: self, value, info: 0 };
        let end = code.run(&mut thread);
        (end, thread.value)
    }
    /// The value, unless the thread waits for it in the end.
    fn take(&self) -> Option<usize> {
        loop {
            match self.run(&programs().take, EMPTY) {
                (End::Done, value) => {
                    self.look_at(value);
                    return Some(value);
                }
                (End::Wait, _) if self.park(Waiter::Taker) => return None,
                (end, _) => assert!(end != End::DoneWithout),
            }
        }
    }
    fn put_value(&self, value: usize) {
        while self.run(&programs().put, value).0 == End::Wait && !self.park(Waiter::Putter(value)) {}
    }

    /// Where each value is in the end: `taken`, handed to one that waits, in the MVar, or with a putter that waits.
    fn verify(&self, puts: usize, taken: &[Option<usize>], clean_at_first: bool) {
        let info = self.header.lock(WHITEHOLE);
        assert!(info == DIRTY && self.remembered.with(|r| unsafe { *r }) == usize::from(clean_at_first));
        let mut all: Vec<usize> = taken.iter().flatten().copied().collect();
        all.extend(self.handed.with(|h| unsafe { (*h).clone() }));
        let inside = self.value.load(Relaxed);
        all.extend(Some(inside).filter(|&v| v != EMPTY));
        self.waiters(|q| {
            for waiter in q.iter() {
                match waiter {
                    Waiter::Taker => assert_eq!(inside, EMPTY, "a taker waits at a full MVar"),
                    Waiter::Putter(value) => {
                        assert_ne!(inside, EMPTY, "a putter waits at an empty MVar");
                        all.push(*value);
                    }
                }
            }
        });
        all.sort();
        assert_eq!(all, (VALUES..VALUES + puts).collect::<Vec<_>>(), "every value is in one place");
    }
}

#[test]
fn one_of_two_takers_has_the_value() {
    explore(2, || {
        let w = World::new(CLEAN, EMPTY);
        let (a, b) = (w.clone(), w.clone());
        let putter = thread::spawn(move || a.put_value(a.new_value(0)));
        let taker = thread::spawn(move || b.take());
        let mine = w.take();
        putter.join().unwrap();
        let theirs = taker.join().unwrap();
        w.verify(1, &[mine, theirs], true);
    });
}

#[test]
fn of_two_values_none_is_lost() {
    explore(2, || {
        let w = World::new(DIRTY, EMPTY);
        let (a, b) = (w.clone(), w.clone());
        let one = thread::spawn(move || a.put_value(a.new_value(0)));
        let two = thread::spawn(move || b.put_value(b.new_value(1)));
        let taken = w.take();
        one.join().unwrap();
        two.join().unwrap();
        w.verify(2, &[taken], false);
    });
}

#[test]
fn one_that_tries_takes_and_puts_as_others_do() {
    explore(2, || {
        let w = World::new(CLEAN, EMPTY);
        let (a, b) = (w.clone(), w.clone());
        let tries = thread::spawn(move || match a.run(&programs().try_take, EMPTY) {
            (End::Done, value) => Some(value),
            _ => None,
        });
        let putter = thread::spawn(move || b.put_value(b.new_value(0)));
        let put = w.run(&programs().try_put, w.new_value(1)).0 == End::Done;
        let taken = tries.join().unwrap();
        putter.join().unwrap();
        if put {
            w.verify(2, &[taken], true);
        } else {
            w.verify(2, &[taken, Some(VALUES + 1)], true);
        }
    });
}

#[test]
fn one_that_reads_sees_what_the_value_holds() {
    explore(3, || {
        let w = World::new(DIRTY, EMPTY);
        let (a, b) = (w.clone(), w.clone());
        let putter = thread::spawn(move || a.put_value(a.new_value(0)));
        let taker = thread::spawn(move || b.take());
        if let (End::Done, value) = w.run(&programs().read, EMPTY) {
            w.look_at(value);
        }
        putter.join().unwrap();
        let taken = taker.join().unwrap();
        w.verify(1, &[taken], false);
    });
}
