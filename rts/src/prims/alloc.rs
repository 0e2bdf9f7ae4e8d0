//! Allocation for primitive operations: arrays that may be large or pinned, and filler.
//!
//! A large array is granted only if the system can give as much (`memory/available.rs`), and the limit on the heap leaves room for it
//! (`collector/policy/max_heap.rs`). Where only a full collection will tell, the primitive operation has it done and asks again; meanwhile other
//! threads may run and take what there is. Code in C cannot wait.
use crate::abi::closure::fields::*;
use crate::abi::{words, Closure, WORD};
use crate::base::poison::unpoisoned;
use crate::collector::policy::max_heap;
use crate::collector::policy::max_heap::Fit;
use crate::hec::{GcRequest, Hec};
use crate::info;
use crate::memory::{age_of, available, in_heap, Age, LARGE_OBJECT_WORDS};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// No array is larger: the address range ends before. Keeps sizes from overflowing.
const MAX_WORDS: usize = 1 << 40;

/// Counts what does not come out of the nursery towards the running thread's allocation limit;
/// what does is counted whenever the thread stops.
unsafe fn count_towards_limit(hec: &Hec, words: usize) {
    let t = hec.current();
    if !t.is_null() {
        t.obj().alloc_limit -= (words * WORD) as i64;
    }
}

/// Objects of fewer bytes are counted by the collection that they make due, as small ones are.
const WORTH_ASKING_BYTES: usize = 1 << 20;

/// Threads that wait for a full collection to tell whether they get what they want, with what [`max_heap::fit`] has said.
static ASKED: Mutex<BTreeMap<u64, usize>> = Mutex::new(BTreeMap::new());

/// The answer to a request for an array: its address, or what Prims.h says.
pub type Answer = usize;
pub const NO: Answer = 0;
const COLLECT_FIRST: Answer = 1;

/// Is there room for an object of so many bytes? `Err` is the answer for who wants it.
/// # Safety
/// Called from Cmm with the HEC held and Hp saved.
pub unsafe fn admit(hec: &mut Hec, bytes: usize) -> Result<(), Answer> {
    if bytes < WORTH_ASKING_BYTES || !max_heap::is_set() {
        return if can_be_had(bytes) { Ok(()) } else { Err(NO) };
    }
    if !available::can_grant(bytes) {
        return Err(NO);
    }
    let mut asked = unpoisoned(ASKED.lock());
    let thread = hec.current().obj().id;
    match max_heap::fit(bytes, asked.remove(&thread)) {
        Fit::Fits => Ok(()),
        Fit::Never => Err(NO),
        Fit::AfterCollection(before) => {
            // A thread that is killed while it waits never comes back.
            asked.retain(|_, other| *other >= before);
            asked.insert(thread, before);
            hec.request_gc(GcRequest::Major);
            Err(COLLECT_FIRST)
        }
    }
}

/// Can an object of so many bytes be had, if collections free enough?
fn can_be_had(bytes: usize) -> bool {
    bytes < WORTH_ASKING_BYTES || available::can_grant(bytes) && max_heap::fit(bytes, None) != Fit::Never
}

/// Room for an object of `words` that cannot be large.
/// # Safety
/// Called from Cmm with the HEC held and Hp saved.
#[no_mangle]
pub unsafe extern "C" fn hec_allocate(hec: &mut Hec, words: usize) -> Closure {
    debug_assert!(words <= LARGE_OBJECT_WORDS);
    hec.allocate(words)
}

/// Room for an object of `words`, however many, or another [`Answer`].
/// # Safety
/// As for [`hec_allocate`].
#[no_mangle]
pub unsafe extern "C" fn hec_request_array(hec: &mut Hec, words: usize) -> Answer {
    if words > MAX_WORDS {
        return NO;
    }
    match admit(hec, words * WORD) {
        Ok(()) => array(hec, words).0,
        Err(answer) => answer,
    }
}

/// Room for an object of `words`, however many; null when there is no memory for it. Who asks for more than is free does not wait for a
/// collection.
/// # Safety
/// The HEC is held; the caller writes a whole object before anything else looks at the heap.
pub unsafe fn array(hec: &mut Hec, words: usize) -> Closure {
    if words > MAX_WORDS || !can_be_had(words * WORD) {
        return Closure::NULL;
    }
    let Some(c) = hec.try_allocate(words) else { return Closure::NULL };
    if words > LARGE_OBJECT_WORDS {
        count_towards_limit(hec, words);
    }
    c
}

/// A byte array that never moves, whose contents begin at a multiple of `alignment`, a power
/// of two, or another [`Answer`].
/// # Safety
/// As for [`hec_allocate`].
#[no_mangle]
pub unsafe extern "C" fn hec_request_pinned(hec: &mut Hec, bytes: usize, alignment: usize) -> Answer {
    if bytes > MAX_WORDS * WORD || alignment > MAX_WORDS {
        return NO;
    }
    if let Err(answer) = admit(hec, bytes + alignment) {
        return answer;
    }
    let c = pinned(hec, ARR_BYTES_PAYLOAD + words(bytes), alignment, ARR_BYTES_PAYLOAD * WORD);
    if !c.is_null() {
        c.set_info(info!(stg_ARR_WORDS_info));
        c.set_word(ARR_BYTES, bytes);
    }
    c.0
}

/// Room for a byte array of `size` words, header included, that never moves, such that its byte `offset` is at a multiple of `alignment`,
/// a power of two; null when there is no memory for it. As for [`fn@array`], nobody waits.
/// # Safety
/// The HEC is held; the caller writes a whole array before anything else looks at the heap.
pub unsafe fn pinned(hec: &mut Hec, size: usize, alignment: usize, offset: usize) -> Closure {
    if size > 2 * MAX_WORDS || alignment > MAX_WORDS || !can_be_had(size * WORD + alignment) {
        return Closure::NULL;
    }
    let Some(c) = hec.alloc.allocate_pinned(size, alignment.max(WORD), offset) else {
        return Closure::NULL;
    };
    hec.publish_open_pinned();
    if hec.alloc.must_stop() {
        hec.interrupt();
    }
    count_towards_limit(hec, size);
    c
}

/// Does this object stay where it is for as long as it lives?
#[no_mangle]
pub extern "C" fn hec_is_pinned(c: Closure) -> usize {
    let stays = !in_heap(c.0) || !age_of(c.0).is_plain();
    debug_assert!(!in_heap(c.0) || age_of(c.0).step() != Age::FREE.step());
    stays as usize
}

/// Writes objects that nobody refers to over `words` words, so that a walk over the block
/// finds whole objects: a byte array, or a lone header.
/// # Safety
/// Nothing refers to the words.
#[no_mangle]
pub unsafe extern "C" fn hec_fill(at: Closure, words: usize) {
    match words {
        0 => {}
        1 => at.set_info(info!(stg_NO_FINALIZER_info)),
        _ => {
            at.set_info(info!(stg_ARR_WORDS_info));
            at.set_word(ARR_BYTES, (words - ARR_BYTES_PAYLOAD) * WORD);
        }
    }
}
