//! Loan: a thunk that another PE evaluates.
//!
//! *States at the lender*: `LENT → CLOSED`. The loan's record has the thunk and its *clone*: the words as they were
//! lent. A closed loan has no record.
//!
//! | message or event | what the lender does |
//! |---|---|
//! | RESULT, complete | updates the thunk with the value, and drops the clone |
//! | RESULT with parts that are absent here | updates the thunk with the value, and keeps both |
//! | UNAVAILABLE: such a part may not leave its owner | the part becomes a thunk, which evaluates the clone |
//! | FAILED | evaluates the clone itself |
//! | the borrower is lost | evaluates the clone itself |
//! | the thunk is lent for lenient evaluation, and a thread waits for it | sends DEMAND |
//!
//! *States at the borrower*: `RUNNING → CLOSED`, for a thunk of its own with the words that were lent.
//!
//! | event | what the borrower does |
//! |---|---|
//! | the thunk is evaluated | sends RESULT, with the whole value. If it was wanted, the absent object has the value |
//! | its evaluation met something of a lost PE, or that stays on another one | sends FAILED |
//! | its value stays here | sends FAILED |
//! | it is evaluated leniently, and frozen | sends FAILED |
//! | DEMAND | evaluates it by an ordinary thread |
//! | the lender is lost | kills the work |
//!
//! *Who is right after a loss*: a PE declared lost is not listened to any more. So of a lost borrower's RESULT and the
//! second evaluation only one ever reaches the thunk.
//!
//! *Why FAILED comes to an end*: borrowed work refers to what its lender refers to or has made, and to complete
//! results. So one of the lenders in a row above it owns what may not travel. A lender that does not own it meets it,
//! too, and fails in turn. A part of a result that may not travel is found by the lender that has the clone: it walks
//! from the thunk's value to the part. No message has the way.
//!
//! *Invariant*: a lent thunk is claimed at the lender, and unclaimed nowhere but in the borrower's copy.
//!
//! *Checked by*: `rts/tests/simulation`.
use super::ids::{Address, Pe};
use std::collections::BTreeMap;

/// The number of a loan, which its lender has given it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number(pub u64);

/// A thunk that is to be evaluated here after all.
#[derive(Debug, PartialEq)]
pub struct Recall<G> {
    pub thunk: Address,
    pub clone: G,
}

struct Lent<G> {
    borrower: Pe,
    thunk: Address,
    clone: G,
}

/// The lender's side.
pub struct Loans<G> {
    lent: BTreeMap<Number, Lent<G>>,
    last: u64,
    partial: BTreeMap<Address, G>,
}

impl<G> Loans<G> {
    pub fn new() -> Loans<G> {
        Loans { lent: BTreeMap::new(), last: 0, partial: BTreeMap::new() }
    }

    pub fn lend(&mut self, borrower: Pe, thunk: Address, clone: G) -> Number {
        self.last += 1;
        self.lent.insert(Number(self.last), Lent { borrower, thunk, clone });
        Number(self.last)
    }

    /// RESULT has come: the thunk to update.
    pub fn on_result(&mut self, from: Pe, loan: Number) -> Option<Recall<G>> {
        self.close(from, loan).map(recall)
    }

    /// Its value has parts that are absent here: the clone is kept.
    pub fn keep(&mut self, thunk: Address, clone: G) {
        self.partial.insert(thunk, clone);
    }

    /// Thunks whose values have parts that were absent, with their clones.
    pub fn partial(&self) -> impl Iterator<Item = (Address, &G)> {
        self.partial.iter().map(|(thunk, clone)| (*thunk, clone))
    }

    /// No part is left: the clone is dropped.
    pub fn drop_clone(&mut self, thunk: Address) {
        self.partial.remove(&thunk);
    }

    /// FAILED has come.
    pub fn on_failed(&mut self, from: Pe, loan: Number) -> Option<Recall<G>> {
        self.close(from, loan).map(recall)
    }

    /// The loan of a thunk, and who has borrowed it.
    pub fn of(&self, thunk: Address) -> Option<(Pe, Number)> {
        let lent = self.lent.iter().find(|(_, lent)| lent.thunk == thunk);
        lent.map(|(&loan, lent)| (lent.borrower, loan))
    }

    pub fn on_lost(&mut self, pe: Pe) -> Vec<Recall<G>> {
        self.lent.extract_if(.., |_, lent| lent.borrower == pe).map(|(_, lent)| recall(lent)).collect()
    }

    fn close(&mut self, from: Pe, loan: Number) -> Option<Lent<G>> {
        let is_open = self.lent.get(&loan).is_some_and(|lent| lent.borrower == from);
        is_open.then(|| self.lent.remove(&loan)).flatten()
    }

    /// Thunks whose values have not come.
    pub fn lent(&self) -> impl Iterator<Item = Address> + '_ {
        self.lent.values().map(|lent| lent.thunk)
    }

    /// Thunks and clones, which are roots.
    pub fn roots(&self) -> impl Iterator<Item = (Address, &G)> {
        self.lent.values().map(|lent| (lent.thunk, &lent.clone)).chain(self.partial())
    }
}

fn recall<G>(lent: Lent<G>) -> Recall<G> {
    Recall { thunk: lent.thunk, clone: lent.clone }
}

/// Whose thunk a borrower evaluates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Debt {
    pub lender: Pe,
    pub loan: Number,
    /// The absent object here that will have the thunk's value.
    pub wanted: Option<Address>,
}

/// The borrower's side: loans by the addresses of its own thunks.
pub struct Debts {
    running: BTreeMap<Address, Debt>,
}

impl Debts {
    pub fn new() -> Debts {
        Debts { running: BTreeMap::new() }
    }

    pub fn begin(&mut self, thunk: Address, debt: Debt) {
        self.running.insert(thunk, debt);
    }

    /// The thunk has a value, or its evaluation has failed: whom to tell, if it was borrowed.
    pub fn end(&mut self, thunk: Address) -> Option<Debt> {
        self.running.remove(&thunk)
    }

    /// The thunk of a loan, if its work has not ended.
    pub fn thunk(&self, lender: Pe, loan: Number) -> Option<Address> {
        let is_it = |debt: &Debt| (debt.lender, debt.loan) == (lender, loan);
        self.running.iter().find(|(_, debt)| is_it(debt)).map(|(&thunk, _)| thunk)
    }

    /// Forgets the loans of a lost lender. The work on these thunks is to be killed.
    pub fn on_lost(&mut self, pe: Pe) -> Vec<Address> {
        self.running.extract_if(.., |_, debt| debt.lender == pe).map(|(thunk, _)| thunk).collect()
    }

    /// Borrowed thunks that are still to be evaluated. They are roots.
    pub fn thunks(&self) -> impl Iterator<Item = Address> + '_ {
        self.running.keys().copied()
    }

    pub fn is_empty(&self) -> bool {
        self.running.is_empty()
    }
}
