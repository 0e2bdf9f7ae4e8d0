//! The record of a transaction (TRec): a log of TVars, an index into it, and undo notes.
//!
//! All parts are heap objects, which the collector moves and scans like any others:
//!
//! * The record itself (hec_TREC, a MUT_PRIM), which the thread's `trec` names.
//! * The log (MUT_ARR_PTRS), with TVar and value for each entry. A byte array beside it holds the version that was read
//!   and the entry's *mark*. That is twice the serial number (from 1) of the latest undo note about the entry, plus 1
//!   if the entry has been written.
//! * The index (byte array of 32-bit slots, open addressing, entry number + 1), for logs of more than
//!   [`MAX_LINEAR_SEARCH`] entries. TVars are hashed by address, so the index is rebuilt after a collection. Smaller
//!   logs are searched linearly from the latest entry, because a TVar that is written has mostly just been read.
//! * Undo notes (MUT_ARR_PTRS of old values, byte array of entry and old mark). The first write to an entry in a nested
//!   transaction makes one.
//!
//! *Nested transactions*
//! 1. A nested transaction is named by a serial number. `NESTED` is the number of notes that existed when the innermost
//!    one began ([`OUTERMOST`] outside any). Its frame keeps that number and the number of the enclosing one.
//! 2. A write needs a note if the entry's latest note is older than `NESTED`.
//! 3. Rolling back removes notes until their count is the frame's number again.
//! 4. Cmm begins and ends nested transactions by itself (`Stm.cmm`, which knows `NESTED`, `NOTES` and `BASE`). When the
//!    outermost of them ends, its notes are dropped by moving `BASE`, the serial number of the first note in the
//!    arrays.
//!
//! *Reuse*: a transaction that has ended leaves its record and log to the HEC's next transaction ([`Record::keep`]).
//! What the log holds beyond its entries is left from earlier transactions, and stays alive until the next collection
//! or until the new transaction ends. A transaction that waits, perhaps for ever, clears it ([`Record::clear_stale`]).
//!
//! Most transactions touch few TVars. The operations for those are inlined into the primitive operations, which then
//! call no function.
//!
//! *Checked by*: the unit tests in `rts/src/sync/stm/tests.rs`.
use crate::abi::closure::fields::*;
use crate::abi::layout::MUT_ARR_PTRS_CARD_BITS;
use crate::abi::{words, Closure, Tso};
use crate::hec::Hec;
use crate::info;
use crate::memory::{age_of, heap, Age};
use crate::sync::stm::tvar;

pub(super) const LOG: usize = 1;
const NUMBERS: usize = 2;
pub(super) const INDEX: usize = 3;
const UNDO: usize = 4;
const UNDO_NUMBERS: usize = 5;
const COUNT: usize = 6;
/// The collection count when the index was made.
const INDEXED_AT: usize = 7;
pub(super) const NESTED: usize = 8;
pub(super) const NOTES: usize = 9;
const BASE: usize = 10;
const WAITING: usize = 11;
const RECORD_WORDS: usize = 12;

/// `NESTED` outside any nested transaction.
pub(super) const OUTERMOST: usize = usize::MAX;
/// The most entries that are searched linearly. Up to here a linear search is as fast as hashing.
const MAX_LINEAR_SEARCH: usize = 16;
/// The number of entries that a new log has room for. Most transactions touch no more TVars.
const FIRST_CAPACITY: usize = 4;
/// The most entries for which a log has room and is still kept for the next transaction. Larger logs are rare and would
/// retain much memory.
const MAX_KEPT_CAPACITY: usize = 64;
/// `INDEXED_AT` if the index is of an earlier transaction.
const NOT_INDEXED: usize = usize::MAX;

/// A transaction's record.
#[derive(Clone, Copy)]
pub struct Record(pub Closure);

fn absent() -> Closure {
    Tso::end().closure()
}

/// A mutable array of `n` pointers, all absent.
unsafe fn new_array(hec: &mut Hec, n: usize) -> Closure {
    let cards = n.div_ceil(1 << MUT_ARR_PTRS_CARD_BITS);
    let size = n + words(cards);
    let a = hec.allocate(MUT_ARR_PAYLOAD + size);
    a.set_info(info!(stg_MUT_ARR_PTRS_DIRTY_info));
    a.set_word(MUT_ARR_PTRS, n);
    a.set_word(MUT_ARR_SIZE, size);
    for i in 0..n {
        a.set_word(MUT_ARR_PAYLOAD + i, absent().0);
    }
    std::ptr::write_bytes(a.slot(MUT_ARR_PAYLOAD + n), 0, size - n);
    a
}

unsafe fn array_get(a: Closure, i: usize) -> Closure {
    a.field(MUT_ARR_PAYLOAD + i)
}

unsafe fn array_set(a: Closure, i: usize, c: Closure) {
    a.set_word(MUT_ARR_PAYLOAD + i, c.0);
    a.set_info(info!(stg_MUT_ARR_PTRS_DIRTY_info));
    let cards = a.slot(MUT_ARR_PAYLOAD + a.word(MUT_ARR_PTRS)) as *mut u8;
    *cards.add(i >> MUT_ARR_PTRS_CARD_BITS) = 1;
}

unsafe fn new_bytes(hec: &mut Hec, n_words: usize) -> Closure {
    let b = hec.allocate(ARR_BYTES_PAYLOAD + n_words);
    b.set_info(info!(stg_ARR_WORDS_info));
    b.set_word(ARR_BYTES, n_words * 8);
    b
}

unsafe fn number(b: Closure, i: usize) -> usize {
    b.word(ARR_BYTES_PAYLOAD + i)
}

unsafe fn set_number(b: Closure, i: usize, v: usize) {
    b.set_word(ARR_BYTES_PAYLOAD + i, v)
}

/// The number of collections so far. Every collection changes it, and none is under way when this is called.
unsafe fn collections() -> usize {
    heap().gens.iter().map(|g| g.collections).sum()
}

/// Pointers to a record's entries, valid until a collection moves them or the log grows.
#[derive(Clone, Copy)]
pub struct Entries {
    /// TVar and value.
    log: *const [Closure; 2],
    /// Version and mark.
    numbers: *const [usize; 2],
}

/// # Safety
/// For all methods: the record has not moved, and entry numbers are less than its [`Record::len`].
#[expect(clippy::missing_safety_doc, reason = "the section above is about all methods")]
impl Entries {
    #[inline(always)]
    pub unsafe fn tvar(self, i: usize) -> Closure {
        (*self.log.add(i))[0]
    }
    /// The value that the transaction sees; while it waits, its entry in the TVar's queue.
    #[inline(always)]
    pub unsafe fn value(self, i: usize) -> Closure {
        (*self.log.add(i))[1]
    }
    /// The version of the TVar that the transaction saw.
    #[inline(always)]
    pub unsafe fn version(self, i: usize) -> usize {
        (*self.numbers.add(i))[0]
    }
    #[inline(always)]
    unsafe fn mark(self, i: usize) -> usize {
        (*self.numbers.add(i))[1]
    }
    #[inline(always)]
    pub unsafe fn is_written(self, i: usize) -> bool {
        self.mark(i) & 1 != 0
    }
}

/// # Safety
/// For all methods: the record is live, and entry numbers are less than [`Record::len`].
#[expect(clippy::missing_safety_doc, reason = "the section above is about all methods")]
impl Record {
    #[cold]
    #[inline(never)]
    pub unsafe fn new(hec: &mut Hec) -> Record {
        let log = new_array(hec, 2 * FIRST_CAPACITY);
        let numbers = new_bytes(hec, 2 * FIRST_CAPACITY);
        let r = hec.allocate(RECORD_WORDS);
        r.set_info(info!(hec_TREC_info));
        r.set_word(LOG, log.0);
        r.set_word(NUMBERS, numbers.0);
        for field in [INDEX, UNDO, UNDO_NUMBERS] {
            r.set_word(field, absent().0);
        }
        for field in [COUNT, INDEXED_AT, NOTES, BASE, WAITING] {
            r.set_word(field, 0);
        }
        r.set_word(NESTED, OUTERMOST);
        Record(r)
    }

    /// A record for a new transaction: one that the HEC has kept, or a new one.
    #[inline]
    pub unsafe fn begin(hec: &mut Hec) -> Record {
        let r = std::mem::replace(&mut hec.spare_record, Closure::NULL);
        if r.is_null() {
            return Record::new(hec);
        }
        for field in [COUNT, NOTES, BASE] {
            r.set_word(field, 0);
        }
        r.set_word(INDEXED_AT, NOT_INDEXED);
        r.set_word(NESTED, OUTERMOST);
        Record(r)
    }

    /// Keeps the record, which is in the cache, for the HEC's next transaction. It must be young, so that no write to
    /// it need be remembered, and not large. What it refers to stays alive until the next collection at most.
    #[inline]
    pub unsafe fn keep(self, hec: &mut Hec) {
        if self.capacity() <= MAX_KEPT_CAPACITY && age_of(self.0 .0) == Age::NURSERY {
            hec.spare_record = self.0;
        }
    }

    /// Clears everything but the entries, in a record of a transaction that will write nothing more.
    pub unsafe fn clear_stale(self) {
        let log = self.0.field(LOG);
        (2 * self.len()..log.word(MUT_ARR_PTRS)).for_each(|k| log.set_word(MUT_ARR_PAYLOAD + k, absent().0));
        for field in [UNDO, UNDO_NUMBERS] {
            self.0.set_word(field, absent().0);
        }
    }

    unsafe fn set_field(self, hec: &mut Hec, field: usize, c: Closure) {
        self.0.set_word(field, c.0);
        hec.remember(self.0);
    }
    #[inline(always)]
    pub unsafe fn len(self) -> usize {
        self.0.word(COUNT)
    }
    pub unsafe fn has_written(self) -> bool {
        let entries = self.entries();
        (0..self.len()).any(|i| entries.is_written(i))
    }
    /// The number of entries that the log has room for.
    #[inline(always)]
    unsafe fn capacity(self) -> usize {
        self.0.field(LOG).word(MUT_ARR_PTRS) / 2
    }
    #[inline(always)]
    pub unsafe fn entries(self) -> Entries {
        let (log, numbers) = (self.0.field(LOG), self.0.field(NUMBERS));
        Entries { log: log.slot(MUT_ARR_PAYLOAD) as _, numbers: numbers.slot(ARR_BYTES_PAYLOAD) as _ }
    }
    #[inline(always)]
    pub unsafe fn set_value(self, i: usize, c: Closure) {
        array_set(self.0.field(LOG), 2 * i + 1, c)
    }
    pub unsafe fn is_waiting(self) -> bool {
        self.0.word(WAITING) != 0
    }
    pub unsafe fn set_waiting(self, w: bool) {
        self.0.set_word(WAITING, w as usize)
    }

    /// Is every TVar as it was read? Waits until each TVar is unlocked.
    pub unsafe fn is_valid(self) -> bool {
        let entries = self.entries();
        (0..self.len()).all(|i| tvar::version(entries.tvar(i)).wait_unlocked() == entries.version(i))
    }

    /// Reads a TVar that has no entry into a new entry. Returns the entry's number.
    pub unsafe fn read(self, hec: &mut Hec, tvar: Closure) -> usize {
        let i = self.len();
        self.make_room(hec, i);
        self.add(i, tvar, tvar::read(tvar));
        if i >= MAX_LINEAR_SEARCH && self.is_index_current() {
            self.insert(i);
        }
        i
    }

    /// Adds entry number `i`, the next one, for which there is room.
    #[inline(always)]
    unsafe fn add(self, i: usize, tvar: Closure, (version, value): (usize, Closure)) {
        let (log, numbers) = (self.0.field(LOG), self.0.field(NUMBERS));
        array_set(log, 2 * i, tvar);
        // Both words are on the same card.
        log.set_word(MUT_ARR_PAYLOAD + 2 * i + 1, value.0);
        set_number(numbers, 2 * i, version);
        set_number(numbers, 2 * i + 1, 0);
        self.0.set_word(COUNT, i + 1);
    }

    /// Finds the TVar's entry in a small log, or adds one if there is room. Returns `None` if the slow path is needed.
    #[inline(always)]
    pub unsafe fn find_or_add(self, tvar: Closure) -> Option<usize> {
        let n = self.len();
        if n >= MAX_LINEAR_SEARCH {
            return None;
        }
        let found = self.find_among(n, tvar);
        if found.is_some() {
            return found;
        }
        if n >= self.capacity() {
            return None;
        }
        self.add(n, tvar, tvar::try_read(tvar)?);
        Some(n)
    }

    /// Writes an entry, and notes what a nested transaction needs to undo the write.
    #[inline(always)]
    pub unsafe fn write(self, hec: &mut Hec, i: usize, value: Closure) {
        let mark = self.entries().mark(i);
        let nested = self.0.word(NESTED);
        if nested != OUTERMOST && mark >> 1 <= nested {
            return self.note_and_write(hec, i, value);
        }
        set_number(self.0.field(NUMBERS), 2 * i + 1, mark | 1);
        self.set_value(i, value);
    }

    #[inline(never)]
    unsafe fn note_and_write(self, hec: &mut Hec, i: usize, value: Closure) {
        self.note(hec, i, self.entries().mark(i));
        set_number(self.0.field(NUMBERS), 2 * i + 1, self.0.word(NOTES) << 1 | 1);
        self.set_value(i, value);
    }

    unsafe fn note(self, hec: &mut Hec, i: usize, mark: usize) {
        let at = self.0.word(NOTES) - self.0.word(BASE);
        let undo = self.0.field(UNDO);
        let capacity = if undo == absent() { 0 } else { undo.word(MUT_ARR_PTRS) };
        if at == capacity {
            let more = new_array(hec, (2 * capacity).max(FIRST_CAPACITY));
            let numbers = new_bytes(hec, 2 * (2 * capacity).max(FIRST_CAPACITY));
            for k in 0..at {
                array_set(more, k, array_get(undo, k));
            }
            for k in 0..2 * at {
                set_number(numbers, k, number(self.0.field(UNDO_NUMBERS), k));
            }
            self.set_field(hec, UNDO, more);
            self.set_field(hec, UNDO_NUMBERS, numbers);
        }
        array_set(self.0.field(UNDO), at, self.entries().value(i));
        set_number(self.0.field(UNDO_NUMBERS), 2 * at, i);
        set_number(self.0.field(UNDO_NUMBERS), 2 * at + 1, mark);
        self.0.set_word(NOTES, self.0.word(NOTES) + 1);
    }

    /// Undoes all writes since there were `begin` notes. The innermost nested transaction is then the one that began at
    /// `enclosing`.
    pub unsafe fn roll_back(self, begin: usize, enclosing: usize) {
        while self.0.word(NOTES) > begin {
            let serial = self.0.word(NOTES) - 1;
            let at = serial - self.0.word(BASE);
            let i = number(self.0.field(UNDO_NUMBERS), 2 * at);
            self.set_value(i, array_get(self.0.field(UNDO), at));
            let mark = number(self.0.field(UNDO_NUMBERS), 2 * at + 1);
            set_number(self.0.field(NUMBERS), 2 * i + 1, mark);
            self.0.set_word(NOTES, serial);
        }
        self.0.set_word(NESTED, enclosing);
    }

    /// Makes room in the log for entry number `n`.
    unsafe fn make_room(self, hec: &mut Hec, n: usize) {
        let (log, numbers) = (self.0.field(LOG), self.0.field(NUMBERS));
        if 2 * n < log.word(MUT_ARR_PTRS) {
            return;
        }
        let more = new_array(hec, 4 * n);
        let more_numbers = new_bytes(hec, 4 * n);
        let (from, to) = (log.slot(MUT_ARR_PAYLOAD), more.slot(MUT_ARR_PAYLOAD));
        std::ptr::copy_nonoverlapping(from, to, 2 * n);
        let cards = more.slot(MUT_ARR_PAYLOAD + 4 * n) as *mut u8;
        std::ptr::write_bytes(cards, 1, (4 * n).div_ceil(1 << MUT_ARR_PTRS_CARD_BITS));
        let (from, to) = (numbers.slot(ARR_BYTES_PAYLOAD), more_numbers.slot(ARR_BYTES_PAYLOAD));
        std::ptr::copy_nonoverlapping(from, to, 2 * n);
        self.set_field(hec, LOG, more);
        self.set_field(hec, NUMBERS, more_numbers);
    }

    /// Finds the TVar's entry.
    pub unsafe fn find(self, hec: &mut Hec, tvar: Closure) -> Option<usize> {
        let n = self.len();
        if n > MAX_LINEAR_SEARCH {
            return self.find_by_index(hec, tvar);
        }
        self.find_among(n, tvar)
    }

    /// The value that the transaction sees in a TVar, if it has touched it.
    pub unsafe fn value_of(self, tvar: Closure) -> Option<Closure> {
        self.find_among(self.len(), tvar).map(|i| self.entries().value(i))
    }

    /// Finds the TVar's entry among the first `n`, latest first.
    #[inline(always)]
    unsafe fn find_among(self, n: usize, tvar: Closure) -> Option<usize> {
        let entries = self.entries();
        (0..n).rev().find(|&i| entries.tvar(i) == tvar)
    }

    unsafe fn find_by_index(self, hec: &mut Hec, tvar: Closure) -> Option<usize> {
        if !self.is_index_current() {
            self.make_index(hec);
        }
        let slots = self.slots();
        let mut at = hash(tvar) & (slots.len() - 1);
        loop {
            match slots[at] as usize {
                0 => return None,
                e if self.entries().tvar(e - 1) == tvar => return Some(e - 1),
                _ => at = (at + 1) & (slots.len() - 1),
            }
        }
    }

    #[allow(clippy::mut_from_ref)]
    unsafe fn slots<'a>(self) -> &'a mut [u32] {
        let b = self.0.field(INDEX);
        std::slice::from_raw_parts_mut(b.slot(ARR_BYTES_PAYLOAD) as *mut u32, b.word(ARR_BYTES) / 4)
    }

    /// Does the index hold current addresses, and have room for one more entry?
    unsafe fn is_index_current(self) -> bool {
        self.has_index_room() && self.0.word(INDEXED_AT) == collections()
    }

    /// Is there an index with room for one more entry?
    unsafe fn has_index_room(self) -> bool {
        self.0.field(INDEX) != absent() && 2 * (self.len() + 1) <= self.slots().len()
    }

    unsafe fn make_index(self, hec: &mut Hec) {
        if self.has_index_room() {
            // In place: a new index as large as the nursery would cause the next collection.
            self.slots().fill(0);
        } else {
            let words = (4 * self.len()).next_power_of_two() / 2;
            let index = new_bytes(hec, words);
            std::ptr::write_bytes(index.slot(ARR_BYTES_PAYLOAD), 0, words);
            self.set_field(hec, INDEX, index);
        }
        self.0.set_word(INDEXED_AT, collections());
        for i in 0..self.len() {
            self.insert(i);
        }
    }

    unsafe fn insert(self, i: usize) {
        let slots = self.slots();
        let mut at = hash(self.entries().tvar(i)) & (slots.len() - 1);
        while slots[at] != 0 {
            at = (at + 1) & (slots.len() - 1);
        }
        slots[at] = i as u32 + 1;
    }
}

/// Spreads addresses, which differ mostly in their middle bits.
fn hash(tvar: Closure) -> usize {
    ((tvar.0 >> 3).wrapping_mul(0x9E37_79B9_7F4A_7C15)) >> 24
}
