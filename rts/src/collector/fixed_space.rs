//! Fixed objects in a full collection. They are marked and swept where they are, because other processing elements
//! (PEs) may refer to them.
//!
//! *Protocol*
//! 1. [`condemn`] asks for the runs whose objects are to be marked: this PE's runs to which no other refers, and all
//!    blocks of others that hold something. Each gets a bit for each word. The flag COMPACT beside CONDEMNED leads
//!    evacuation to [`mark`].
//! 2. A worker that reaches such an object sets its bit, and scavenges it where it is. Runs to which others refer are
//!    no from-space: all that they lead to are roots (`rts/src/spread/collect.rs`).
//! 3. [`sweep`] frees own runs without marks. In others what is not marked is overwritten by byte arrays of zeros: they
//!    can be walked, and lead nowhere.
//! 4. If memory is short, copies of others' objects are *evicted*: of a constructor that is reached only those
//!    references are traced which may not be cut ([`each_traced`]). The others, if nothing else has reached their
//!    targets, are cut in the end: absent objects are there instead.
//! 5. In blocks of others all words but those of marked objects are cleared. So nothing old looks present: it could
//!    refer to what has been dropped. Exits in what was cleared or freed are forgotten.
//!
//! *Collections over several processes*: no weight makes a root, so [`condemn`] gets all runs. What is marked in blocks
//! of others is noted, for their owners to trace it, and [`exchange`] brings what others have marked here. One worker
//! collects.
//!
//! *Invariants*: between collections no run is condemned. A minor collection never condemns one.
//!
//! *Locking*: the world is stopped. Workers set bits by atomic operations, if there are several.
use crate::abi::closure::fields::{ARR_BYTES, ARR_BYTES_PAYLOAD};
use crate::abi::layout::*;
use crate::abi::{Closure, TAG_MASK, WORD};
use crate::base::atomics::{AtomicUsize, Ordering};
use crate::collector::policy::max_heap;
use crate::info;
use crate::memory::address_space::{is_own, run_of};
use crate::memory::object_size::size_of_object;
use crate::memory::{age_of, block_alloc, exits, fixed_blocks, in_heap, Age, Run, BLOCK_BYTES, BLOCK_WORDS};
use std::ptr;

/// What the layer above knows of fixed objects.
pub struct FixedObjects {
    /// The runs whose objects are to be marked; in a collection over several processes if so.
    pub condemned: fn(bool) -> Vec<Run>,
    /// Tells the owners what has been marked of theirs, and waits for what others have marked here. `None` if nobody
    /// will mark anything more before the next decision about weak pointers and threads.
    pub exchange: fn(Vec<usize>) -> Option<Vec<usize>>,
    /// A full collection frees these own runs, and has reached these blocks of others.
    pub on_swept: fn(&Swept),
    /// May a copy of another process's object be dropped, because its owner brings it again?
    pub is_evictable: fn(usize) -> bool,
    /// Calls a function with each reference of a constructor, and with whether that may be cut.
    pub each_reference: unsafe fn(Closure, &mut dyn FnMut(*mut usize, bool)),
    /// For the heap checker: may this PE refer to the block of another that holds an address?
    pub is_held: fn(usize) -> bool,
}

#[derive(Default)]
pub struct Swept {
    pub dead: Vec<Run>,
    pub reached: Vec<Run>,
}

static mut ABOVE: Option<FixedObjects> = None;

/// The runs of the running collection, and those that it frees.
static mut CONDEMNED: Vec<Run> = Vec::new();
static mut DEAD: Vec<Run> = Vec::new();
/// The bits of all condemned runs. A run's descriptor says where its own are.
static mut MARKS: Vec<usize> = Vec::new();
/// Does the collection go over several processes? Then the objects of others that have been marked since the last
/// exchange.
static mut IS_GLOBAL: bool = false;
static mut FOUND: Vec<usize> = Vec::new();
/// Does the collection drop copies of others' objects?
static mut EVICTS: bool = false;

const WORD_BITS: usize = usize::BITS as usize;

/// # Safety
/// Called at start, by the one OS thread there is.
pub unsafe fn register(above: FixedObjects) {
    *ptr::addr_of_mut!(ABOVE) = Some(above);
}

/// May this PE refer to an object of another one?
/// # Safety
/// The world is stopped.
pub(super) unsafe fn is_held(address: usize) -> bool {
    (*ptr::addr_of!(ABOVE)).as_ref().is_none_or(|above| (above.is_held)(address))
}

/// Begins a full collection.
pub(super) unsafe fn condemn() {
    let Some(above) = &*ptr::addr_of!(ABOVE) else { return };
    let runs = (above.condemned)(IS_GLOBAL);
    EVICTS = !IS_GLOBAL && max_heap::must_evict();
    let bits_of = |run: Run| (*run).len as usize * BLOCK_WORDS / WORD_BITS;
    let mut marks = vec![0; runs.iter().map(|&run| bits_of(run)).sum()];
    let mut at = marks.as_mut_ptr();
    for &run in &runs {
        (*run).back = at as usize;
        at = at.add(bits_of(run));
        block_alloc::set_age(run, Age(block_alloc::run_age(run).0 | Age::CONDEMNED | Age::COMPACT));
    }
    *ptr::addr_of_mut!(CONDEMNED) = runs;
    *ptr::addr_of_mut!(MARKS) = marks;
}

/// The word and the bit for an object.
unsafe fn bit(c: usize) -> (*mut usize, usize) {
    let run = run_of(c);
    let no = (c - (*run).start) / WORD;
    (((*run).back as *mut usize).add(no / WORD_BITS), 1 << (no % WORD_BITS))
}

/// Marks a condemned fixed object. True if it was not marked before.
#[inline]
pub(super) unsafe fn mark<const PARALLEL: bool>(p: usize) -> bool {
    let (word, bit) = bit(p & !TAG_MASK);
    let before = if PARALLEL {
        AtomicUsize::from_ptr(word).fetch_or(bit, Ordering::Relaxed)
    } else {
        std::mem::replace(&mut *word, *word | bit)
    };
    before & bit == 0
}

/// A fixed object has been marked for the first time.
pub(super) unsafe fn note_marked(c: Closure) {
    if IS_GLOBAL && !is_own(c.0) {
        (*ptr::addr_of_mut!(FOUND)).push(c.0);
    }
}

/// Is it a copy of another process's constructor, of which the references that may be cut are not traced?
pub(super) unsafe fn is_evicted(c: Closure) -> bool {
    let may_be = |above: &FixedObjects| is_constructor(c.info().kind()) && (above.is_evictable)(c.0);
    EVICTS && !is_own(c.0) && (*ptr::addr_of!(ABOVE)).as_ref().is_some_and(may_be)
}

/// Calls a function with the references of such a constructor that are traced: those that may not be cut, and those to
/// what is not dropped.
pub(super) unsafe fn each_traced(c: Closure, mut f: impl FnMut(*mut usize)) {
    let Some(above) = &*ptr::addr_of!(ABOVE) else { return };
    (above.each_reference)(c, &mut |slot, may_be_cut| {
        if !(may_be_cut && is_droppable(above, *slot)) {
            f(slot);
        }
    });
}

unsafe fn is_droppable(above: &FixedObjects, p: usize) -> bool {
    let target = p & !TAG_MASK;
    in_heap(target) && age_of(target).is_fixed() && !is_own(target) && (above.is_evictable)(target)
}

/// Cuts the references of the retained constructors of a block of another process that lead to what was dropped: an
/// absent object takes its place. Adds the blocks that these are in.
unsafe fn cut(above: &FixedObjects, block: Run, with_absent: &mut Vec<Run>) {
    let mut cut_reference = |slot: *mut usize, may_be_cut| {
        let target = Closure(*slot & !TAG_MASK);
        if may_be_cut && is_droppable(above, target.0) && !is_marked(target.0) {
            target.set_info(info!(hec_ABSENT_info));
            *slot = target.0;
            with_absent.push(run_of(target.0));
        }
    };
    each_marked(block, |c| {
        if is_evicted(c) {
            (above.each_reference)(c, &mut cut_reference);
        }
    });
}

/// Does the collection that begins go over several processes?
pub(super) unsafe fn set_global(is_global: bool) {
    IS_GLOBAL = is_global;
}

/// What others have marked here, when there is nothing more to trace; `None` when nobody has anything to trace, or if
/// the collection is of this process alone.
pub(super) unsafe fn exchange() -> Option<Vec<usize>> {
    let above = (*ptr::addr_of!(ABOVE)).as_ref().filter(|_| IS_GLOBAL)?;
    (above.exchange)(std::mem::take(&mut *ptr::addr_of_mut!(FOUND)))
}

/// Keeps a condemned run whatever is reached in it. It has byte arrays, or all its objects are traced.
/// # Safety
/// The world is stopped, for a full collection.
pub unsafe fn keep_run(run: Run) {
    mark::<false>((*run).start);
}

/// Is a condemned fixed object marked?
pub(super) unsafe fn is_marked(p: usize) -> bool {
    let (word, bit) = bit(p & !TAG_MASK);
    *word & bit != 0
}

fn is_constructor(kind: usize) -> bool {
    matches!(kind, CONSTR..=CONSTR_NOCAF)
}

unsafe fn has_marks(run: Run) -> bool {
    let words = (*run).len as usize * BLOCK_WORDS / WORD_BITS;
    std::slice::from_raw_parts((*run).back as *const usize, words).iter().any(|&word| word != 0)
}

/// Ends the tracing of fixed objects. Runs without marks stay condemned until they are freed.
pub(super) unsafe fn sweep() {
    let Some(above) = &*ptr::addr_of!(ABOVE) else { return };
    let condemned = std::mem::take(&mut *ptr::addr_of_mut!(CONDEMNED));
    let mut swept = Swept::default();
    let mut swept_runs = Vec::new();
    for run in condemned {
        match (is_own((*run).start), has_marks(run)) {
            (true, false) => {
                swept.dead.push(run);
                continue;
            }
            (true, true) => bury(run),
            (false, true) => {
                clear_gaps(run);
                swept.reached.push(run);
            }
            (false, false) => clear(run),
        }
        swept_runs.push(run);
    }
    if EVICTS {
        let mut with_absent = Vec::new();
        swept.reached.iter().for_each(|&block| cut(above, block, &mut with_absent));
        with_absent.sort_unstable();
        with_absent.dedup();
        with_absent.retain(|&block| !has_marks(block));
        swept.reached.append(&mut with_absent);
    }
    for run in swept_runs {
        block_alloc::set_age(run, uncondemned(run));
        (*run).back = 0;
    }
    exits::retain(|exit| !age_of(exit as usize).is(Age::CONDEMNED));
    (above.on_swept)(&swept);
    let kept = fixed_blocks::own_runs().into_iter().filter(|&run| !block_alloc::run_age(run).is(Age::CONDEMNED));
    fixed_blocks::on_collected(kept.collect(), swept.reached.len() * BLOCK_BYTES);
    *ptr::addr_of_mut!(DEAD) = swept.dead;
    *ptr::addr_of_mut!(MARKS) = Vec::new();
}

unsafe fn uncondemned(run: Run) -> Age {
    Age(block_alloc::run_age(run).0 & !(Age::CONDEMNED | Age::COMPACT))
}

/// Frees the runs of this PE in which nothing was reached.
pub(super) unsafe fn free_dead(release: impl Fn(Run)) {
    for run in std::mem::take(&mut *ptr::addr_of_mut!(DEAD)) {
        block_alloc::set_age(run, uncondemned(run));
        (*run).back = 0;
        release(run);
    }
}

/// Makes byte arrays of the objects of a run that are not marked.
unsafe fn bury(run: Run) {
    // What has become fixed in place are byte arrays, with gaps between them.
    if uncondemned(run).is(Age::LARGE | Age::PINNED) {
        return;
    }
    fixed_blocks::each_object(run, |c, words| {
        if !is_marked(c.0) {
            c.set_info(info!(stg_ARR_WORDS_info));
            c.set_word(ARR_BYTES, (words - ARR_BYTES_PAYLOAD) * WORD);
            ptr::write_bytes(c.slot(ARR_BYTES_PAYLOAD), 0, words - ARR_BYTES_PAYLOAD);
        }
    });
}

/// Clears what is not marked in a block of another PE.
unsafe fn clear_gaps(block: Run) {
    walk(block, |_| {}, |at| Closure(at).set_word(0, 0));
}

/// Calls a function with each marked object of a block of another PE.
unsafe fn each_marked(block: Run, f: impl FnMut(Closure)) {
    walk(block, f, |_| {});
}

/// Shows the marked objects of a block of another PE, and the words between them.
unsafe fn walk(block: Run, mut marked: impl FnMut(Closure), mut gap: impl FnMut(usize)) {
    let (mut at, end) = ((*block).start, (*block).start + BLOCK_BYTES);
    while at < end {
        let c = Closure(at);
        if !is_marked(at) {
            gap(at);
            at += WORD;
            continue;
        }
        marked(c);
        // Behind the header of an absent object nothing is valid.
        at += if c.info() == info!(hec_ABSENT_info) { WORD } else { size_of_object(c, c.info()) * WORD };
    }
}

/// Clears a block of another PE. A large object ends behind it.
unsafe fn clear(block: Run) {
    let (start, end) = ((*block).start, (*block).start + BLOCK_BYTES);
    let first = (start..end).step_by(WORD).map(Closure).find(|c| c.word(0) != 0);
    let Some(first) = first else { return };
    let ends = first.0 + size_of_object(first, first.info()) * WORD;
    // The system gives pages of zeros for these.
    let pages = ends.max(end).next_multiple_of(BLOCK_BYTES) - start;
    if libc::madvise(start as *mut libc::c_void, pages, libc::MADV_DONTNEED) != 0 {
        ptr::write_bytes(start as *mut u8, 0, pages);
    }
}
