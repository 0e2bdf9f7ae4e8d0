//! The record of a transaction: a log of TVars, an index into it, and what undoes writes.
//!
//! All of it is heap objects, which the collector moves and scans like any others:
//!
//! * the record itself (hec_TREC, a MUT_PRIM), the thread's `trec`;
//! * the log (MUT_ARR_PTRS): TVar and value for each entry; beside it a byte array with the
//!   version that was read and the entry's *mark*: twice the serial number (from 1) of the
//!   latest undo note about the entry, plus 1 if it has been written;
//! * the index (byte array of 32-bit slots, open addressing, entry number + 1): made for logs of
//!   more than [`LINEAR`] entries. TVars are hashed by address, so it is made anew when there
//!   has been a collection since. Smaller logs are searched one by one, latest first: what is written has mostly just
//!   been read;
//! * undo notes (MUT_ARR_PTRS of old values, byte array of entry and old mark): made by the
//!   first write to each entry in each nested transaction.
//!
//! Nested transactions are serial numbers: `NESTED` is the number of notes that there were when
//! the innermost began ([`OUTERMOST`] outside any), and its frame keeps that and the one that
//! encloses it. An entry needs a note if its latest is older than `NESTED`. Rolling back takes
//! notes off until the count is the frame's again. Cmm begins and ends nested transactions by
//! itself (`Stm.cmm`, which knows `NESTED`, `NOTES` and `BASE`); when the outermost of them ends,
//! its notes are dropped by moving `BASE`, the serial number of the first note in the arrays.
//!
//! A transaction that has ended leaves its record, with log and all, to the HEC's next one ([`Record::keep`]). What the log holds beyond
//! its entries is left from earlier transactions, and keeps alive what they have touched, until the next collection, or that of the
//! transaction's end; one that waits, which may be for ever, gets rid of it ([`Record::forget_the_past`]).
//!
//! Most transactions touch few TVars, so what those do is inlined into the primitive operations, which then call nothing.
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
/// Up to this many entries are searched one by one.
const LINEAR: usize = 16;
const FIRST_CAPACITY: usize = 4;
/// Logs with room for more entries are not kept for the next transaction.
const MOST_KEPT: usize = 64;
/// `INDEXED_AT` if what the index holds is another transaction's.
const NEVER: usize = usize::MAX;

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

/// Collections so far: none of any generation leaves it as it was, and while one is under way
/// nobody asks.
unsafe fn collections() -> usize {
    heap().gens.iter().map(|g| g.collections).sum()
}

/// A record's entries, where they are until a collection moves them or the log grows.
#[derive(Clone, Copy)]
pub struct Entries {
    /// TVar and value.
    log: *const [Closure; 2],
    /// Version and mark.
    numbers: *const [usize; 2],
}

/// # Safety
/// For all methods: the record is where it was, and entry numbers are below its [`Record::len`].
impl Entries {
    #[inline(always)]
    pub unsafe fn tvar(self, i: usize) -> Closure {
        (*self.log.add(i))[0]
    }
    /// The value that the transaction sees (or its place in the TVar's queue, while it waits).
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
    pub unsafe fn written(self, i: usize) -> bool {
        self.mark(i) & 1 != 0
    }
}

/// # Safety
/// For all methods: the record is live, and entry numbers are below [`Record::len`].
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

    /// A record for a transaction that begins: that of one which has ended, or a new one.
    #[inline]
    pub unsafe fn begin(hec: &mut Hec) -> Record {
        let r = std::mem::replace(&mut hec.spare_record, Closure::NULL);
        if r.is_null() {
            return Record::new(hec);
        }
        for field in [COUNT, NOTES, BASE] {
            r.set_word(field, 0);
        }
        r.set_word(INDEXED_AT, NEVER);
        r.set_word(NESTED, OUTERMOST);
        Record(r)
    }

    /// Keeps the record for the next transaction, which finds it in the cache: if it is young, so
    /// that no write to it need be remembered, and not much larger than most need. What it
    /// refers to stays alive no longer than until the next collection.
    #[inline]
    pub unsafe fn keep(self, hec: &mut Hec) {
        if self.capacity() <= MOST_KEPT && age_of(self.0 .0) == Age::NURSERY {
            hec.spare_record = self.0;
        }
    }

    /// Lets go of all but the entries, of a transaction that will write nothing more.
    pub unsafe fn forget_the_past(self) {
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
        (0..self.len()).any(|i| entries.written(i))
    }
    /// The entries that the log has room for.
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
    pub unsafe fn waiting(self) -> bool {
        self.0.word(WAITING) != 0
    }
    pub unsafe fn set_waiting(self, w: bool) {
        self.0.set_word(WAITING, w as usize)
    }

    /// Is every TVar as it was read? Waits for commits that are writing one.
    pub unsafe fn valid(self) -> bool {
        let entries = self.entries();
        (0..self.len()).all(|i| tvar::version(entries.tvar(i)).settled() == entries.version(i))
    }

    /// Reads the TVar, which has no entry, into a new one.
    pub unsafe fn read(self, hec: &mut Hec, tvar: Closure) -> usize {
        let i = self.len();
        self.make_room(hec, i);
        self.add(i, tvar, tvar::read(tvar));
        if i >= LINEAR && self.index_serves() {
            self.insert(i);
        }
        i
    }

    /// Adds entry number `i`, the next, for which there is room.
    #[inline(always)]
    unsafe fn add(self, i: usize, tvar: Closure, (version, value): (usize, Closure)) {
        let (log, numbers) = (self.0.field(LOG), self.0.field(NUMBERS));
        array_set(log, 2 * i, tvar);
        // On the same card.
        log.set_word(MUT_ARR_PAYLOAD + 2 * i + 1, value.0);
        set_number(numbers, 2 * i, version);
        set_number(numbers, 2 * i + 1, 0);
        self.0.set_word(COUNT, i + 1);
    }

    /// The TVar's entry in a log that is small and has room: found, or read into a new one. `None` if it takes more than that.
    #[inline(always)]
    pub unsafe fn find_or_add(self, tvar: Closure) -> Option<usize> {
        let n = self.len();
        if n >= LINEAR {
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

    /// Writes an entry, keeping what a nested transaction needs to undo it.
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

    /// Undoes all writes since there were `begin` notes; the innermost nested transaction is
    /// then the one that began at `enclosing`.
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

    /// Makes room in the log for one entry more than `n`.
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

    /// The TVar's entry.
    pub unsafe fn find(self, hec: &mut Hec, tvar: Closure) -> Option<usize> {
        let n = self.len();
        if n > LINEAR {
            return self.find_by_index(hec, tvar);
        }
        self.find_among(n, tvar)
    }

    /// The TVar's entry among the first `n`, latest first.
    #[inline(always)]
    unsafe fn find_among(self, n: usize, tvar: Closure) -> Option<usize> {
        let entries = self.entries();
        (0..n).rev().find(|&i| entries.tvar(i) == tvar)
    }

    unsafe fn find_by_index(self, hec: &mut Hec, tvar: Closure) -> Option<usize> {
        if !self.index_serves() {
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

    /// Is there an index of the present addresses, with room for another entry?
    unsafe fn index_serves(self) -> bool {
        self.index_has_room() && self.0.word(INDEXED_AT) == collections()
    }

    /// Is there an index with room for another entry?
    unsafe fn index_has_room(self) -> bool {
        self.0.field(INDEX) != absent() && 2 * (self.len() + 1) <= self.slots().len()
    }

    unsafe fn make_index(self, hec: &mut Hec) {
        if self.index_has_room() {
            // In place: a new one as large as the nursery would bring on the next collection.
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

/// Spreads addresses, which differ little and in their middle bits.
fn hash(tvar: Closure) -> usize {
    ((tvar.0 >> 3).wrapping_mul(0x9E37_79B9_7F4A_7C15)) >> 24
}
