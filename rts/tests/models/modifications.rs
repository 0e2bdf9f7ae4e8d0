//! Models of threads that modify one variable in different ways (`eval/atomic_modify.rs`).
//!
//! A value stands for the modification that made it of another value. Evaluation is a short form.
//!
//! *Checked*: no modification is lost, and none counts twice.
//! *Shipped code*: `cmm/AtomicModify.cmm`, read and run here ([`crate::cmm`]), for threads that run to the end;
//! `eval/mut_var.rs` for those that are stopped.
//!
//! As on x86-64, every load is an Acquire.
use crate::atomics::{AtomicUsize, Ordering};
use crate::cmm::{Code, Machine, Source};
use crate::explore;
use crate::shipped::mut_var::{prepend, replace};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;
use std::sync::OnceLock;

/// The initial value, which no modification has made.
const FIRST: usize = 0;
/// Headers of the variable.
const CLEAN: usize = 0;
const DIRTY: usize = 1;

#[derive(Clone, Copy)]
enum Condition {
    /// Always so in the model.
    Is(bool),
    Clean,
    FoundAnother,
    FoundTheSame,
    MayTryAgain,
}

#[derive(Clone, Copy)]
enum Statement {
    /// A register, or the value in the frame, is set.
    SetX(Place),
    SetExpected(Place),
    SetR1(Place),
    SetR2(Place),
    /// A thunk refers to the value in X.
    Link,
    Exchange,
    Dirty,
    CountTry,
    PopFrame,
    Apply,
    Lazily,
    Return,
    ReturnLazily,
}

#[derive(Clone, Copy)]
enum Place {
    Variable,
    X,
    Found,
    /// The value in the frame.
    Expected,
    R1,
    /// The variable's address, and the function.
    Other,
}

enum End {
    /// The function is to be applied to the value in R2, and the result returned to the frame.
    Apply,
    Lazily,
    Return,
}

type Procedure = Code<Condition, Statement>;

/// `atomicModifyMutVar2#`, whose new value is the first component of the result, or `atomicModifyMutVar_#`.
struct Operation {
    /// As it is called.
    begin: Procedure,
    /// When the result has been evaluated.
    publish: Procedure,
    lazily: Procedure,
}

fn operation(of: usize) -> &'static Operation {
    static OPERATIONS: OnceLock<[Operation; 2]> = OnceLock::new();
    let both = OPERATIONS.get_or_init(|| {
        // What the model does not look into.
        let own = "#define HEC_ALLOC_FIXED(to, words, retry)\n#define NOTE_IF_UNFINISHED(thunk)\n#define POP_FRAME() pop_frame;\n";
        let source = Source::new(own, &[include_str!("../../../cmm/AtomicModify.cmm")]);
        let operation = |begin, publish, lazily| {
            let code = |name| source.procedure(name, &CONDITIONS, &STATEMENTS);
            Operation { begin: code(begin), publish: code(publish), lazily: code(lazily) }
        };
        [
            operation("stg_atomicModifyMutVar2zh", "hec_modifying_component", "hec_modify_component"),
            operation("stg_atomicModifyMutVarzuzh", "hec_modifying_whole", "hec_modify_whole"),
        ]
    });
    &both[of % 2]
}

const CONDITIONS: [(&str, Condition); 9] = [
    ("MANY_HECS", Condition::Is(true)),
    ("Sp - WDS(FRAME_WORDS) >= SpLim", Condition::Is(true)),
    ("first != 0", Condition::Is(true)),
    ("(TO_ZXW_(StgTSO_flags(CurrentTSO)) & MODIFIES) == 0", Condition::Is(true)),
    ("GETTAG(x) == 0 && %INFO_PTR(x) == stg_sel_0_upd_info", Condition::Is(false)),
    ("%INFO_PTR(mv) == stg_MUT_VAR_CLEAN_info", Condition::Clean),
    ("found != x", Condition::FoundAnother),
    ("found == x", Condition::FoundTheSame),
    ("((Sp(1)) & 0xffffffff) < MAX_TRIES", Condition::MayTryAgain),
];

const STATEMENTS: [(&str, Option<Statement>); 44] = [
    ("x = StgMutVar_var(mv)", Some(Statement::SetX(Place::Variable))),
    ("x = StgMutVar_var(R1)", Some(Statement::SetX(Place::Variable))),
    ("x = Sp(3)", Some(Statement::SetX(Place::Expected))),
    ("Sp(3) = x", Some(Statement::SetExpected(Place::X))),
    ("Sp(3) = found", Some(Statement::SetExpected(Place::Found))),
    ("R2 = x", Some(Statement::SetR2(Place::X))),
    ("R2 = found", Some(Statement::SetR2(Place::Found))),
    ("R2 = R1", Some(Statement::SetR2(Place::R1))),
    ("R2 = Sp(4)", Some(Statement::SetR2(Place::Other))),
    ("R1 = x", Some(Statement::SetR1(Place::X))),
    ("R1 = mv", Some(Statement::SetR1(Place::Other))),
    ("R1 = R2", Some(Statement::SetR1(Place::Other))),
    ("R1 = Sp(4)", Some(Statement::SetR1(Place::Other))),
    ("StgThunk_payload(z, 1) = x", Some(Statement::Link)),
    ("(found) = prim %cmpxchgW((mv + SIZEOF_StgHeader + OFFSET_StgMutVar_var), x, y)", Some(Statement::Exchange)),
    ("(found) = prim %cmpxchgW((mv + SIZEOF_StgHeader + OFFSET_StgMutVar_var), x, z)", Some(Statement::Exchange)),
    ("(found) = prim %cmpxchgW((mv + SIZEOF_StgHeader + OFFSET_StgMutVar_var), x, R1)", Some(Statement::Exchange)),
    (
        "(found) = prim %cmpxchgW((mv + SIZEOF_StgHeader + OFFSET_StgMutVar_var), x, StgClosure_payload(UNTAG(R1), 0))",
        Some(Statement::Exchange),
    ),
    (r#"ccall dirty_MUT_VAR(BaseReg "ptr", mv "ptr", x "ptr")"#, Some(Statement::Dirty)),
    ("Sp(1) = Sp(1) + 1", Some(Statement::CountTry)),
    ("pop_frame", Some(Statement::PopFrame)),
    ("jump stg_ap_p_fast [R1, R2]", Some(Statement::Apply)),
    ("jump hec_modify_component [R1, R2]", Some(Statement::Lazily)),
    ("jump hec_modify_whole [R1, R2]", Some(Statement::Lazily)),
    ("jump %ENTRY_CODE(Sp(0)) [R1, R2]", Some(Statement::Return)),
    ("return (x, z)", Some(Statement::ReturnLazily)),
    // The thunks that are put in lazily, but for the value that they are made of.
    ("SET_HDR(z, hec_modify_info, CCCS)", None),
    ("StgThunk_payload(z, 0) = f", None),
    ("y = z + WDS(APPLY_WDS)", None),
    ("SET_HDR(y, stg_sel_0_upd_info, CCCS)", None),
    ("StgThunk_payload(y, 0) = z", None),
    ("before = StgThunk_payload(x, 0)", None),
    // The frame of a modification that is evaluated, but for the value that it is made of.
    (r#"(first) = ccall hec_should_modify_first(MyCapability() "ptr", Sp "ptr", Hp)"#, None),
    (r#"ccall hec_modification_wasted(MyCapability() "ptr")"#, None),
    ("nested = NESTED", None),
    ("nested = 0", None),
    ("StgTSO_flags(CurrentTSO) = %lobits32(TO_ZXW_(StgTSO_flags(CurrentTSO)) | MODIFIES)", None),
    ("Sp_adj(-FRAME_WORDS)", None),
    ("Sp(4) = R2", None),
    ("mv = Sp(2)", None),
    ("Sp(2) = R1", None),
    ("Sp(1) = nested", None),
    ("Sp(0) = hec_modifying_component_info", None),
    ("Sp(0) = hec_modifying_whole_info", None),
];

struct World {
    variable: AtomicUsize,
    /// No part of the protocol: loom need not try every order.
    header: std::sync::atomic::AtomicUsize,
    /// The value of which each was made. Written before the new value is published.
    made_of: Vec<UnsafeCell<usize>>,
}

unsafe impl Sync for World {}

/// A thread in one of the procedures, which makes the value `new`.
struct Thread<'a> {
    w: &'a World,
    new: usize,
    most_tries: usize,
    tries: usize,
    x: usize,
    found: usize,
    expected: usize,
    r1: usize,
    r2: usize,
    has_frame: bool,
}

impl Thread<'_> {
    fn get(&self, place: Place) -> usize {
        match place {
            Place::Variable => self.w.read(),
            Place::X => self.x,
            Place::Found => self.found,
            Place::Expected => self.expected,
            Place::R1 => self.r1,
            Place::Other => usize::MAX,
        }
    }
}

impl Machine<Condition, Statement, End> for Thread<'_> {
    fn holds(&mut self, condition: Condition) -> bool {
        match condition {
            Condition::Is(so) => so,
            Condition::Clean => self.w.header.load(Ordering::Acquire) == CLEAN,
            Condition::FoundAnother => self.found != self.x,
            Condition::FoundTheSame => self.found == self.x,
            Condition::MayTryAgain => self.tries < self.most_tries,
        }
    }

    fn act(&mut self, statement: Statement) -> Option<End> {
        match statement {
            Statement::SetX(place) => self.x = self.get(place),
            Statement::SetExpected(place) => self.expected = self.get(place),
            Statement::SetR1(place) => self.r1 = self.get(place),
            Statement::SetR2(place) => self.r2 = self.get(place),
            Statement::Link => self.w.make(self.new, self.x),
            Statement::Exchange => {
                let (old, new) = (self.x, self.new);
                let found = self.w.variable.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire);
                self.found = found.unwrap_or_else(|found| found);
            }
            Statement::Dirty => self.w.header.store(DIRTY, Ordering::Release),
            Statement::CountTry => self.tries += 1,
            Statement::PopFrame => assert!(std::mem::take(&mut self.has_frame)),
            Statement::Apply => {
                self.has_frame = true;
                return Some(End::Apply);
            }
            Statement::Lazily => return Some(End::Lazily),
            Statement::Return => {
                assert_eq!(self.r2, self.new, "the result is returned");
                return Some(End::Return);
            }
            Statement::ReturnLazily => {
                self.r1 = self.x;
                return Some(End::Return);
            }
        }
        None
    }
}

impl World {
    fn new(modifications: usize) -> Arc<World> {
        let made_of = (0..=modifications).map(|_| UnsafeCell::new(FIRST)).collect();
        Arc::new(World {
            variable: AtomicUsize::new(FIRST),
            header: std::sync::atomic::AtomicUsize::new(CLEAN),
            made_of,
        })
    }
    fn read(&self) -> usize {
        self.variable.load(Ordering::Acquire)
    }
    fn make(&self, new: usize, of: usize) {
        self.made_of[new].with_mut(|before| unsafe { *before = of });
    }
    fn before(&self, value: usize) -> usize {
        self.made_of[value].with(|before| unsafe { *before })
    }
    fn thread(&self, new: usize, most_tries: usize) -> Thread<'_> {
        let (tries, has_frame) = (0, false);
        Thread {
            w: self,
            new,
            most_tries,
            tries,
            x: FIRST,
            found: FIRST,
            expected: FIRST,
            r1: FIRST,
            r2: FIRST,
            has_frame,
        }
    }
    /// Modifies lazily.
    fn modify_lazily(&self, new: usize) {
        let mut thread = self.thread(new, 0);
        let end = operation(new).lazily.run(&mut thread);
        assert!(matches!(end, End::Return));
        // The caller may look at the value that it is given.
        assert_eq!(thread.r1, self.before(new));
        self.before(thread.r1);
    }
    /// Evaluates the new value first, with at most `tries` attempts.
    fn modify_eagerly(&self, new: usize, tries: usize) {
        let mut thread = self.thread(new, tries);
        let mut end = operation(new).begin.run(&mut thread);
        while let End::Apply = end {
            self.make(new, thread.r2);
            thread.r1 = new;
            end = operation(new).publish.run(&mut thread);
        }
        match end {
            End::Lazily => {
                assert!(!thread.has_frame);
                self.modify_lazily(new);
            }
            _ => {
                assert!(!thread.has_frame);
                assert_eq!(thread.r1, self.before(new), "the value before is returned");
            }
        }
    }
    /// Modifies by a thread that is stopped during the evaluation.
    fn modify_stopped(&self, new: usize) {
        let found = self.read();
        self.make(new, found);
        thread::yield_now();
        if !replace(&self.variable, found, new) {
            prepend(&self.variable, new, |found| self.make(new, found));
        }
        self.header.store(DIRTY, Ordering::Release);
    }
    /// Returns all modifications, the latest first.
    fn history(&self) -> Vec<usize> {
        let mut all = Vec::new();
        let mut value = self.read();
        while value != FIRST {
            all.push(value);
            assert!(all.len() < self.made_of.len(), "made of itself: {all:?}");
            value = self.before(value);
        }
        all
    }
}

fn check(w: &World, modifications: usize) {
    let mut all = w.history();
    all.sort();
    assert_eq!(all, (1..=modifications).collect::<Vec<_>>());
    assert_eq!(w.header.load(Ordering::Relaxed), DIRTY);
}

#[test]
fn lazy_eager_and_stopped_modifications_are_all_kept() {
    explore(3, || {
        let w = World::new(3);
        let (a, b) = (w.clone(), w.clone());
        let eager = thread::spawn(move || a.modify_eagerly(1, 2));
        let lazy = thread::spawn(move || b.modify_lazily(2));
        w.modify_stopped(3);
        eager.join().unwrap();
        lazy.join().unwrap();
        check(&w, 3);
    });
}

#[test]
fn modifications_of_one_thread_stay_in_order() {
    explore(3, || {
        let w = World::new(4);
        let a = w.clone();
        let other = thread::spawn(move || {
            a.modify_eagerly(1, 1);
            a.modify_eagerly(2, 2);
        });
        w.modify_eagerly(3, 2);
        w.modify_stopped(4);
        other.join().unwrap();
        check(&w, 4);
        // Modifications of each thread are in order.
        let all = w.history();
        let at = |value| all.iter().position(|&v| v == value).unwrap();
        assert!(at(2) < at(1) && at(4) < at(3));
    });
}

#[test]
fn a_reader_sees_what_a_value_is_made_of() {
    explore(3, || {
        let w = World::new(2);
        let (a, b) = (w.clone(), w.clone());
        let one = thread::spawn(move || a.modify_stopped(1));
        let two = thread::spawn(move || b.modify_lazily(2));
        let seen = w.read();
        if seen != FIRST {
            let before = w.before(seen);
            assert!(before == FIRST || before == 3 - seen);
        }
        one.join().unwrap();
        two.join().unwrap();
        check(&w, 2);
    });
}
