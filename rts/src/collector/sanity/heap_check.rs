//! The heap checker: traces all reachable objects and verifies the heap's invariants.
//!
//! *Invariants*
//! - Every pointer leads to an object inside a run in use, or to a static closure. No object is condemned, forwarded or
//!   poisoned, and every header names a mapped info table.
//! - Tags match their objects. A tagged pointer never leads to a thunk. A constructor's tag is its number, a function's
//!   its arity.
//! - Stacks can be walked to their end.
//! - An object of an old generation that refers to a younger one is in a remembered set of its generation. It is marked
//!   dirty if its kind has such a mark, down to the card.
//! - An old object that is marked dirty is in a remembered set, because the write barrier relies on the mark. So is an
//!   old mutable array.
//! - Entries of remembered sets, and of the generations' lists of weak pointers and threads, are of their generation.
//!   Otherwise a collection of that generation would forget them.
//! - Objects of a compact region refer to no heap object outside of it.
//! - Fixed objects refer to fixed and static objects only, but for exits, which are listed. No tagged pointer leads to
//!   an absent object. A weight is held on each block of another processing element that something refers to.
//!
//! The checker shares no code with the collector but the layouts. It ends the program at the first violation.
//!
//! *Locking*: the world is stopped. `MAPPED` is locked during a check.
//!
//! *Checked by*: mutants in `tests/mutants` that break an invariant.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::{Closure, Info, Stack, Tso, TAG_MASK, WORD};
use crate::base::fatal;
use crate::base::poison::unpoisoned;
use crate::collector::caf;
use crate::collector::fixed_space;
use crate::collector::roots;
use crate::collector::roots::Visitor;
use crate::collector::sanity::{check_backoff, pointer_fields};
use crate::collector::trace::static_objects;
use crate::hec::Hec;
use crate::info;
use crate::memory::address_space::{block_index, is_own, run_of};
use crate::memory::{age_of, exits, heap, in_heap, Age, Heap, BLOCK_BYTES, BLOCK_WORDS};
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};

struct Checker<'a> {
    when: &'a str,
    /// For each block, the words that start an object that has been seen.
    seen: HashMap<usize, Box<[u64; BLOCK_WORDS / 64]>>,
    seen_statics: HashSet<usize>,
    /// Old objects listed in remembered sets, and static ones.
    remembered: HashSet<usize>,
    /// The addresses of exits.
    exits: HashSet<usize>,
    todo: Vec<Closure>,
    /// The number of verified pointers.
    pointers: usize,
    /// The fields of the object under examination.
    fields: Vec<*mut usize>,
    mapped: MutexGuard<'static, Mapped>,
}

/// The memory that this process can read: `/proc/self/maps`, read again when an address is not in it.
struct Mapped {
    ranges: Vec<(usize, usize)>,
    /// The range of the last address.
    last: (usize, usize),
}

static MAPPED: Mutex<Mapped> = Mutex::new(Mapped { ranges: Vec::new(), last: (0, 0) });

impl Mapped {
    fn find(&mut self, p: usize) -> bool {
        let holds = |&(from, to): &(usize, usize)| from <= p && p < to;
        if holds(&self.last) {
            return true;
        }
        let found = self.ranges.iter().copied().find(holds);
        self.last = found.unwrap_or(self.last);
        found.is_some()
    }

    fn holds(&mut self, p: usize) -> bool {
        if self.find(p) {
            return true;
        }
        // The program may have used up all descriptors. Then nothing is known against the address.
        let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return true };
        self.ranges = maps
            .lines()
            .filter_map(|line| {
                let mut words = line.split_whitespace();
                let (from, to) = words.next()?.split_once('-')?;
                let readable = words.next()?.starts_with('r');
                let hex = |s| usize::from_str_radix(s, 16).ok();
                readable.then_some((hex(from)?, hex(to)?))
            })
            .collect();
        self.find(p)
    }
}

/// Verifies the whole heap. Ends the program with a message if it is broken.
/// # Safety
/// The world is stopped, as for a collection.
pub unsafe fn check_heap(hecs: &mut [&mut Hec], extra_roots: &mut dyn FnMut(&mut Visitor), when: &str) {
    let mut checker = Checker {
        when,
        seen: HashMap::new(),
        seen_statics: HashSet::new(),
        remembered: HashSet::new(),
        exits: exits::listed().into_iter().collect(),
        todo: Vec::new(),
        pointers: 0,
        fields: Vec::new(),
        mapped: unpoisoned(MAPPED.lock()),
    };
    for hec in hecs.iter() {
        for (g, list) in hec.remembered.by_generation.iter().enumerate() {
            list.iter().for_each(|&c| checker.check_generation(c, g, "the remembered set"));
            checker.remembered.extend(list.iter().map(|c| c.0));
        }
    }
    let visit: &mut Visitor = &mut |c| {
        if !c.is_null() {
            checker.check_pointer(Closure::NULL, c.0);
        }
    };
    hecs.iter_mut().for_each(|hec| hec.roots(visit));
    roots::visit_registered(visit, roots::Scope::All);
    extra_roots(visit);
    for hec in hecs.iter() {
        hec.new_weaks.iter().for_each(|c| checker.check_pointer(Closure::NULL, c.0));
        hec.new_threads.iter().for_each(|t| checker.check_pointer(Closure::NULL, t.0));
    }
    let Heap { gens, cafs, .. } = heap();
    for (g, gen) in gens.iter().enumerate() {
        let weaks = gen.weaks.iter().map(|&c| (c, "the weak pointers"));
        for (c, list) in weaks.chain(gen.threads.iter().map(|t| (t.closure(), "the threads"))) {
            checker.check_pointer(Closure::NULL, c.0);
            checker.check_generation(c, g, list);
        }
    }
    for &c in cafs.iter() {
        checker.check_pointer(Closure::NULL, c.0);
    }
    while let Some(c) = checker.todo.pop() {
        checker.check_object(c);
    }
    check_backoff::record(checker.pointers);
}

impl Checker<'_> {
    #[cold]
    fn fail(&self, owner: Closure, what: &str) -> ! {
        let mut holder = String::from("a root");
        if !owner.is_null() {
            // SAFETY: owners have been verified.
            let (info, kind) = unsafe { (owner.info(), owner.info().kind()) };
            holder = format!("object {:#x} (info {:#x}, type {kind}", owner.0, info.0);
            if in_heap(owner.0) {
                holder += &format!(", age byte {:#x}", age_of(owner.0).0);
            }
            holder += ")";
        }
        fatal::broken(&format!("heap check {}: {holder}: {what}", self.when))
    }

    /// Verifies a pointer that `owner` holds (null for a root), and schedules its object for verification once.
    unsafe fn check_pointer(&mut self, owner: Closure, p: usize) {
        self.pointers += 1;
        let c = Closure(p & !TAG_MASK);
        let heap_object = in_heap(c.0);
        if heap_object {
            let age = age_of(c.0);
            let head = run_of(c.0);
            if age.step() > heap().gens.len() && !age.is_fixed() || age.is(Age::CONDEMNED) {
                self.fail(owner, &format!("refers to {p:#x} in a block of age {:#x}", age.0));
            }
            if age.is_fixed() && !is_own(c.0) && !fixed_space::is_held(c.0) {
                self.fail(owner, &format!("refers to {p:#x} in a block of another slice, with no weight on it"));
            }
            let in_use = c.0 >= (*head).start && c.0 < (*head).free;
            if !in_use || block_index(c.0) >= ((*head).head + (*head).len) as usize {
                let (start, free) = ((*head).start, (*head).free);
                self.fail(owner, &format!("refers to {p:#x} outside {start:#x}..{free:#x}"));
            }
        } else if !self.mapped.holds(c.0) {
            self.fail(owner, &format!("refers to {p:#x}, which is no address of ours"));
        }
        let header = c.word(0);
        if !header.is_multiple_of(WORD) || in_heap(header) || !self.mapped.holds(header) {
            self.fail(owner, &format!("refers to {p:#x}, whose header is {header:#x}"));
        }
        let kind = Info(header).kind();
        if kind == INVALID_OBJECT || kind >= N_CLOSURE_TYPES {
            self.fail(owner, &format!("refers to {p:#x}, whose closure type is {kind}"));
        }
        self.check_tag(owner, p, kind);
        let fresh = if heap_object {
            let word = (c.0 % BLOCK_BYTES) / WORD;
            let bits = self.seen.entry(block_index(c.0)).or_insert_with(|| Box::new([0; BLOCK_WORDS / 64]));
            let bit = 1u64 << (word % 64);
            let old = bits[word / 64];
            bits[word / 64] |= bit;
            old & bit == 0
        } else {
            self.seen_statics.insert(c.0)
        };
        if fresh {
            self.todo.push(c);
        }
    }

    /// Verifies that an entry of a list of generation `g` is of that generation. Static objects are listed with the
    /// oldest generation.
    unsafe fn check_generation(&self, c: Closure, g: usize, list: &str) {
        let gen = if in_heap(c.0) { age_of(c.0).generation() } else { heap().oldest() };
        if gen != g {
            self.fail(c, &format!("is listed with {list} of generation {g}"));
        }
    }

    /// Verifies the tag of a pointer to an object of closure type `kind`.
    unsafe fn check_tag(&mut self, owner: Closure, p: usize, kind: usize) {
        let tag = p & TAG_MASK;
        if tag == 0 {
            return;
        }
        let info = Closure(p & !TAG_MASK).info();
        let matches = match kind {
            CONSTR | CONSTR_NOCAF | CONSTR_1_0 | CONSTR_0_1 | CONSTR_2_0 | CONSTR_1_1 | CONSTR_0_2 => {
                tag == (info.con_tag() + 1).min(TAG_MASK)
            }
            FUN | FUN_1_0 | FUN_0_1 | FUN_2_0 | FUN_1_1 | FUN_0_2 | FUN_STATIC => tag == info.arity(),
            PAP => true,
            _ => false,
        };
        if !matches {
            self.fail(owner, &format!("refers to {p:#x}, tagged {tag}, of closure type {kind}"));
        }
    }

    /// Verifies all that an object refers to.
    unsafe fn check_object(&mut self, c: Closure) {
        let info = c.info();
        if !in_heap(c.0) {
            return self.check_static(c, info);
        }
        let kind = info.kind();
        if matches!(kind, BCO | RET_BCO..=STOP_FRAME | FUN_STATIC | THUNK_STATIC | IND_STATIC) || kind == WHITEHOLE {
            self.fail(c, "is no heap object");
        }
        if kind == STACK {
            let s = Stack(c.0);
            let sp = s.obj().sp;
            if sp < s.base() || sp > s.top() || !sp.is_multiple_of(WORD) {
                self.fail(c, &format!("its Sp is {sp:#x}"));
            }
        }
        if age_of(c.0).is_fixed() {
            return self.check_fixed(c, info);
        }
        let compact = age_of(c.0).is(Age::COMPACT);
        let mut younger = None;
        let gen = age_of(c.0).generation();
        let mut fields = std::mem::take(&mut self.fields);
        pointer_fields::each_pointer(c, &mut |slot| fields.push(slot));
        for slot in fields.drain(..) {
            let p = *slot;
            // Static objects that a region refers to lead to no CAF.
            if compact && !in_heap(p) {
                continue;
            }
            self.check_pointer(c, p);
            if compact && (*run_of(p)).back != (*run_of(c.0)).back {
                self.fail(c, &format!("is in a compact region and refers to {p:#x}, outside of it"));
            }
            if in_heap(p) && age_of(p).generation() < gen {
                younger = Some(p);
                self.check_card(c, kind, slot);
            }
        }
        self.fields = fields;
        if compact || gen == 0 {
            return;
        }
        let marked = dirty_mark(c, kind);
        let remembered = self.remembered.contains(&c.0);
        match younger {
            Some(p) if !remembered => self.fail(c, &format!("refers to the younger {p:#x} and is not remembered")),
            Some(p) if marked == Some(false) => {
                self.fail(c, &format!("refers to the younger {p:#x} and is marked clean"))
            }
            _ => {}
        }
        if marked == Some(true) && !remembered {
            self.fail(c, "is old and marked dirty, and is not remembered");
        }
        if matches!(kind, MUT_ARR_PTRS_CLEAN | SMALL_MUT_ARR_PTRS_CLEAN) && !remembered {
            self.fail(c, "is a mutable array of an old generation and is not remembered");
        }
    }

    /// Verifies a fixed object.
    unsafe fn check_fixed(&mut self, c: Closure, info: Info) {
        let remote = [
            info!(hec_REMOTE_MVAR_info),
            info!(hec_REMOTE_TVAR_info),
            info!(hec_REMOTE_THREAD_info),
            info!(hec_REMOTE_WEAK_info),
        ];
        let is_remote = remote.contains(&info);
        let may_be_fixed = match info.kind() {
            IND => info == info!(hec_CELL_info),
            PRIM => is_remote,
            MUT_ARR_PTRS_FROZEN_CLEAN | SMALL_MUT_ARR_PTRS_FROZEN_CLEAN | ARR_WORDS | PAP => true,
            kind => kind <= THUNK_0_2 && kind != FUN_STATIC,
        };
        if !may_be_fixed {
            self.fail(c, "is a fixed object of a kind that stays");
        }
        let mut fields = std::mem::take(&mut self.fields);
        pointer_fields::each_pointer(c, &mut |slot| fields.push(slot));
        for slot in fields.drain(..) {
            let p = *slot;
            self.check_pointer(c, p);
            let leaves = in_heap(p) && !age_of(p).is_fixed();
            if leaves && !self.exits.contains(&(slot as usize)) {
                self.fail(c, &format!("is fixed, refers to the local {p:#x}, and is no exit"));
            }
        }
        self.fields = fields;
    }

    /// Verifies that the card of an element younger than its array is dirty.
    unsafe fn check_card(&mut self, c: Closure, kind: usize, slot: *const usize) {
        if !matches!(
            kind,
            MUT_ARR_PTRS_CLEAN | MUT_ARR_PTRS_DIRTY | MUT_ARR_PTRS_FROZEN_CLEAN | MUT_ARR_PTRS_FROZEN_DIRTY
        ) {
            return;
        }
        let payload = c.slot(MUT_ARR_PAYLOAD);
        let i = slot.offset_from(payload) as usize;
        let cards = payload.add(c.word(MUT_ARR_PTRS)) as *const u8;
        if *cards.add(i >> MUT_ARR_PTRS_CARD_BITS) == 0 {
            self.fail(c, &format!("element {i} is younger, and its card is clean"));
        }
    }

    /// Verifies a static object.
    unsafe fn check_static(&mut self, c: Closure, info: Info) {
        match info.kind() {
            IND_STATIC => {
                let p = c.word(INDIRECTEE);
                self.check_pointer(c, p);
                let young = in_heap(p) && age_of(p).generation() < heap().oldest();
                if young && !self.remembered.contains(&c.0) {
                    self.fail(c, &format!("is a CAF with the young {p:#x}, not remembered"));
                }
                let saved = caf::saved_info(c).0;
                // The compiler itself emits indirections for aliases, which have saved no header.
                if saved != 0 && !self.mapped.holds(saved) {
                    self.fail(c, &format!("is a CAF whose saved header is {saved:#x}"));
                }
            }
            kind => {
                if static_objects::link_of(c).is_none() {
                    return;
                }
                if matches!(kind, FUN_STATIC | THUNK_STATIC) {
                    if let Some(srt) = info.srt() {
                        self.check_pointer(c, srt.0);
                    }
                }
                if kind != THUNK_STATIC {
                    for i in 1..=info.ptrs() {
                        self.check_pointer(c, c.word(i));
                    }
                }
            }
        }
    }
}

/// Is the object marked dirty? `None` for kinds without such a mark.
unsafe fn dirty_mark(c: Closure, kind: usize) -> Option<bool> {
    match kind {
        MUT_VAR_CLEAN
        | MVAR_CLEAN
        | MUT_ARR_PTRS_CLEAN
        | SMALL_MUT_ARR_PTRS_CLEAN
        | MUT_ARR_PTRS_FROZEN_CLEAN
        | SMALL_MUT_ARR_PTRS_FROZEN_CLEAN => Some(false),
        MUT_VAR_DIRTY
        | MVAR_DIRTY
        | MUT_ARR_PTRS_DIRTY
        | SMALL_MUT_ARR_PTRS_DIRTY
        | MUT_ARR_PTRS_FROZEN_DIRTY
        | SMALL_MUT_ARR_PTRS_FROZEN_DIRTY => Some(true),
        TVAR => Some(c.info() != info!(stg_TVAR_CLEAN_info)),
        BLOCKING_QUEUE => Some(c.info() != info!(stg_BLOCKING_QUEUE_CLEAN_info)),
        STACK => Some(Stack(c.0).obj().dirty != 0),
        TSO => Some(Tso(c.0).obj().dirty != 0),
        _ => None,
    }
}
