//! Allocation for primitive operations: arrays that may be large or pinned, and filler objects.
//!
//! *Protocol*
//!
//! 1. A large array is granted only if the system can give the memory (`memory/available.rs`) and the heap limit leaves
//!    room for it (`collector/policy/max_heap.rs`).
//! 2. If only a full collection can tell, the primitive operation requests one and asks again. Other threads may run in
//!    between, and take the room.
//! 3. C code cannot wait for a collection.
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

/// Words of the largest array: beyond every address range, and small enough that sizes do not overflow.
const MAX_WORDS: usize = 1 << 40;

/// Counts words outside the nursery towards the running thread's allocation limit. Words in the nursery are counted
/// when the thread stops.
unsafe fn count_towards_limit(hec: &Hec, words: usize) {
    let t = hec.current();
    if !t.is_null() {
        t.obj().alloc_limit -= (words * WORD) as i64;
    }
}

/// Objects of fewer bytes are not checked. Reading the system's limits costs as much as touching some pages, and the
/// collections that such objects cause account for them, as for small objects.
const MIN_CHECKED_BYTES: usize = 1 << 20;

/// Threads that wait for a full collection to decide their request, with the earlier result of [`max_heap::fit`].
static WAITING: Mutex<BTreeMap<u64, usize>> = Mutex::new(BTreeMap::new());

/// The answer to a request for an array: its address, or a constant of Prims.h.
pub type Answer = usize;
pub const REFUSED: Answer = 0;
const COLLECT_FIRST: Answer = 1;

/// Is there room for an object of `bytes` bytes? The error is the answer to the requester.
/// # Safety
/// Called from Cmm with the HEC held and Hp saved.
pub unsafe fn admit(hec: &mut Hec, bytes: usize) -> Result<(), Answer> {
    if bytes < MIN_CHECKED_BYTES || !max_heap::is_set() {
        return if can_allocate(bytes) { Ok(()) } else { Err(REFUSED) };
    }
    if !available::can_grant(bytes) {
        return Err(REFUSED);
    }
    let mut waiting = unpoisoned(WAITING.lock());
    let thread = hec.current().obj().id;
    match max_heap::fit(bytes, waiting.remove(&thread)) {
        Fit::Fits => Ok(()),
        Fit::Never => Err(REFUSED),
        Fit::AfterCollection(before) => {
            // A thread that was killed while it waited has left an entry behind.
            waiting.retain(|_, other| *other >= before);
            waiting.insert(thread, before);
            hec.request_gc(GcRequest::Major);
            Err(COLLECT_FIRST)
        }
    }
}

/// Can an object of `bytes` bytes be allocated if collections free enough?
fn can_allocate(bytes: usize) -> bool {
    bytes < MIN_CHECKED_BYTES || available::can_grant(bytes) && max_heap::fit(bytes, None) != Fit::Never
}

/// Room for an object of `words` words that is not large.
/// # Safety
/// Called from Cmm with the HEC held and Hp saved.
#[no_mangle]
pub unsafe extern "C" fn hec_allocate(hec: &mut Hec, words: usize) -> Closure {
    debug_assert!(words <= LARGE_OBJECT_WORDS);
    hec.allocate(words)
}

/// Room for an object of any size, or another [`Answer`].
/// # Safety
/// As for [`hec_allocate`].
#[no_mangle]
pub unsafe extern "C" fn hec_request_array(hec: &mut Hec, words: usize) -> Answer {
    if words > MAX_WORDS {
        return REFUSED;
    }
    match admit(hec, words * WORD) {
        Ok(()) => array(hec, words).0,
        Err(answer) => answer,
    }
}

/// Room for an object of any size; null if there is no memory for it. Does not wait for a collection.
/// # Safety
/// The HEC is held. The caller writes a whole object before anything else reads the heap.
pub unsafe fn array(hec: &mut Hec, words: usize) -> Closure {
    if words > MAX_WORDS || !can_allocate(words * WORD) {
        return Closure::NULL;
    }
    let Some(c) = hec.try_allocate(words) else { return Closure::NULL };
    if words > LARGE_OBJECT_WORDS {
        count_towards_limit(hec, words);
    }
    c
}

/// A byte array that never moves, or another [`Answer`]. Its contents begin at a multiple of `alignment`, a power of
/// two.
/// # Safety
/// As for [`hec_allocate`].
#[no_mangle]
pub unsafe extern "C" fn hec_request_pinned(hec: &mut Hec, bytes: usize, alignment: usize) -> Answer {
    if bytes > MAX_WORDS * WORD || alignment > MAX_WORDS {
        return REFUSED;
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

/// Room for a byte array of `size` words, header included, that never moves; null if there is no memory for it. Its
/// byte `offset` is at a multiple of `alignment`, a power of two. Does not wait for a collection.
/// # Safety
/// The HEC is held. The caller writes a whole array before anything else reads the heap.
pub unsafe fn pinned(hec: &mut Hec, size: usize, alignment: usize, offset: usize) -> Closure {
    if size > 2 * MAX_WORDS || alignment > MAX_WORDS || !can_allocate(size * WORD + alignment) {
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

/// Does this object never move?
#[no_mangle]
pub extern "C" fn hec_is_pinned(c: Closure) -> usize {
    let is_pinned = !in_heap(c.0) || !age_of(c.0).is_plain();
    debug_assert!(!in_heap(c.0) || age_of(c.0).step() != Age::FREE.step());
    is_pinned as usize
}

/// Fills `words` words with unreferenced objects: a byte array, or a single header. So a walk over the block finds
/// whole objects.
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
