//! Parts of results that are not here: how each is found again if its owner is lost, or it may not leave that.
//!
//! A result brings the value of a lent thunk as far as a packet goes. What it refers to beyond that, and was never here
//! before, is a *part*. The lender keeps the thunk's clone as long as there are parts, and for each part the *way* from
//! the value to it. The part is then what the same way leads to from the clone's value.
//!
//! *Protocol*
//! 1. A result is installed. For each object that it makes absent here, the way from the value is noted ([`note`]).
//! 2. A part comes, with whatever packet. What that makes absent and the part leads to is a part, too, by a longer way.
//! 3. A part will not come: it becomes a thunk that goes the way from the clone ([`take`], [`thunk`]).
//! 4. A full collection that does not reach a part forgets it ([`forget_unreached`]), and with the last part the clone.
//!
//! *Why a clone never needs its own part*: a clone refers to what was here when the thunk was lent. What was known and
//! absent then is no part of its value, but perhaps of that of an older loan. What became known since, by whatever
//! message, may be one. So for what is no part of any loan's value, there is a time ([`Others`]): names are given in
//! their order, that of a loan when it is lent.
//!
//! *Why the way is the same*: evaluation is deterministic. A step through a single-entry thunk, which no evaluation
//! updates, reads its free variable. All others read a field of a value.
use crate::abi::{Closure, Info};
use crate::base::poison::unpoisoned;
use crate::cluster::ids::Address;
use crate::hec::Hec;
use crate::memory::in_heap;
use crate::spread::cell::{self, resolve, Target};
use crate::spread::fields;
use crate::spread::graph::{Extent, Graph};
use crate::spread::install::Installed;
use crate::spread::kept;
use crate::spread::packet::Packet;
use crate::spread::travel::present_function;
use crate::thread::create::{apply, byte_array};
use crate::{info, static_closure};
use std::collections::{BTreeMap, HashSet};
use std::sync::{LazyLock, Mutex};

/// Steps of the same kind, one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Steps {
    /// The number of the word that is read.
    word: usize,
    /// Is the word that of an unevaluated thunk?
    of_thunk: bool,
    count: usize,
}

/// From a value to one of its parts.
type Way = Vec<Steps>;

/// A part of the value of a lent thunk.
pub struct Part {
    /// The name that the loan had.
    pub loan: Address,
    way: Way,
}

/// What has come here by something else than a loan of this PE, or was made here for another one: a borrowed thunk's
/// words, and what these refer to. The value of an older loan may have it.
#[derive(Default)]
struct Others {
    /// Absent objects, and when they became known.
    absent: BTreeMap<usize, Address>,
    /// Where objects are present: from, to, and since when.
    present: BTreeMap<usize, (usize, Address)>,
}

#[derive(Default)]
struct Parts {
    by_address: BTreeMap<usize, Part>,
    /// How many there are of each loan.
    counts: BTreeMap<Address, usize>,
    /// Loans that had no part left for a moment.
    maybe_complete: Vec<Address>,
    others: Others,
}

impl Parts {
    fn add(&mut self, address: usize, part: Part) {
        *self.counts.entry(part.loan).or_default() += 1;
        self.by_address.insert(address, part);
    }

    fn remove(&mut self, address: usize) -> Option<Part> {
        let part = self.by_address.remove(&address)?;
        let count = self.counts.entry(part.loan).or_default();
        *count -= 1;
        if *count == 0 {
            self.maybe_complete.push(part.loan);
        }
        Some(part)
    }

    /// Forgets loans without parts, and says which.
    fn take_complete(&mut self) -> Vec<Address> {
        let mut complete = std::mem::take(&mut self.maybe_complete);
        complete.retain(|loan| self.counts.get(loan) == Some(&0) && self.counts.remove(loan).is_some());
        complete.iter().for_each(|&loan| {
            kept::release(loan);
        });
        complete
    }
}

static PARTS: LazyLock<Mutex<Parts>> = LazyLock::new(Mutex::default);

/// Has the value of a lent thunk parts?
pub fn has_any(loan: Address) -> bool {
    unpoisoned(PARTS.lock()).counts.contains_key(&loan)
}

/// The part at an address, which is one no longer.
pub fn take(address: Address) -> Option<Part> {
    unpoisoned(PARTS.lock()).remove(address.0 as usize)
}

/// Loans whose values have no parts any more: their clones are not needed.
pub fn take_complete() -> Vec<Address> {
    unpoisoned(PARTS.lock()).take_complete()
}

/// Notes the parts that a packet has made absent, and which of them have come. It may be the result of a loan. Says
/// whether it is, or has brought a part of one.
/// `has_loans`: thunks are lent, whose values may come.
/// # Safety
/// It has just been installed.
pub unsafe fn note(graph: &Graph, installed: &Installed, loan: Option<Address>, has_loans: bool) -> bool {
    let parts = &mut *unpoisoned(PARTS.lock());
    if parts.by_address.is_empty() && loan.is_none() && !has_loans {
        return false;
    }
    let result = loan.map(|loan| (graph.roots(), loan, Way::new()));
    let come = installed.arrived.iter().filter_map(|&c| parts.remove(c.0).map(|part| (vec![c], part.loan, part.way)));
    let begins: Vec<(Vec<Closure>, Address, Way)> = result.into_iter().chain(come).collect();
    let Some(all) = graph.parts() else { return false };
    let packet = Packet::of(&all.extents, &all.words);
    let mut missing: HashSet<usize> = installed.missing.iter().map(|c| c.0).collect();
    let is_of_loan = !begins.is_empty();
    for (from, loan, way) in begins {
        let mut search = Search { packet: &packet, missing: &mut missing, others: &mut parts.others, loan };
        for (address, rest) in search.from(from) {
            parts.add(address, Part { loan, way: joined(&way, &rest) });
        }
    }
    if has_loans {
        let now = kept::time();
        parts.others.absent.extend(missing.into_iter().map(|address| (address, now)));
        if !is_of_loan {
            parts.others.add_present(&all.extents, now);
        }
    }
    is_of_loan
}

/// A graph is sent as the value of a borrowed thunk.
pub fn note_returned(graph: &Graph) {
    if let Some(all) = graph.parts() {
        unpoisoned(PARTS.lock()).others.add_present(&all.extents, kept::time());
    }
}

impl Others {
    fn add_present(&mut self, extents: &[Extent], now: Address) {
        self.present.extend(extents.iter().map(|extent| (extent.address, (extent.end(), now))));
    }

    /// Is an object here that came, or was made, after a thunk was lent?
    fn is_present_since(&self, address: usize, loan: Address) -> bool {
        let before = self.present.range(..=address).next_back();
        before.is_some_and(|(_, &(end, since))| address < end && since >= loan)
    }
}

struct Search<'a> {
    packet: &'a Packet<'a>,
    missing: &'a mut HashSet<usize>,
    others: &'a mut Others,
    loan: Address,
}

/// An object of the packet that has been reached, and the step to it from an earlier one.
struct Reached {
    address: usize,
    from: usize,
    step: Option<(usize, bool)>,
}

impl Search<'_> {
    /// What is missing and can be reached from there, each with its way.
    unsafe fn from(&mut self, roots: Vec<Closure>) -> Vec<(usize, Way)> {
        let mut reached: Vec<Reached> = vec![];
        let mut seen = HashSet::new();
        let mut todo: Vec<Reached> =
            roots.into_iter().map(|root| Reached { address: root.untag().0, from: usize::MAX, step: None }).collect();
        let mut found = vec![];
        while let Some(next) = todo.pop() {
            if !in_heap(next.address) || !seen.insert(next.address) {
                continue;
            }
            let (address, no) = (next.address, reached.len());
            reached.push(next);
            if self.takes(address) {
                found.push((address, way_to(&reached, no)));
            } else if let Some(words) = self.words(address) {
                self.each_step(words, |step, p| todo.push(Reached { address: p.untag().0, from: no, step }));
            }
        }
        found
    }

    /// Is it absent, and was not known when the thunk was lent? If so, it is looked for no longer.
    fn takes(&mut self, address: usize) -> bool {
        let is_younger = self.others.absent.get(&address).is_some_and(|&since| since >= self.loan);
        self.missing.remove(&address) || is_younger && self.others.absent.remove(&address).is_some()
    }

    /// The words of an object that the value may have, and that was not known when the thunk was lent.
    unsafe fn words(&self, address: usize) -> Option<Closure> {
        self.packet.find(address).or_else(|| {
            let c = Closure(address);
            let is_here = self.others.is_present_since(address, self.loan) && c.word(0) != 0 && !cell::is_absent(c);
            is_here.then_some(c)
        })
    }

    unsafe fn each_step(&self, words: Closure, mut f: impl FnMut(Option<(usize, bool)>, Closure)) {
        let info = words.info();
        if info == info!(hec_CELL_info) {
            return fields::each(words, info, &|_| info, |i| f(None, words.field(i)));
        }
        let of_thunk = fields::is_thunk(info.kind());
        let function = |p: Closure| self.packet.find(p.untag().0).map_or_else(|| present_function(p), |c| c.info());
        fields::each(words, info, &function, |i| f(Some((i, of_thunk)), words.field(i)));
    }
}

fn way_to(reached: &[Reached], mut no: usize) -> Way {
    let mut way = Way::new();
    while let Some(Reached { from, step, .. }) = reached.get(no) {
        if let Some((word, of_thunk)) = *step {
            add(&mut way, Steps { word, of_thunk, count: 1 });
        }
        no = *from;
    }
    way.reverse();
    way
}

fn add(way: &mut Way, steps: Steps) {
    match way.last_mut() {
        Some(last) if (last.word, last.of_thunk) == (steps.word, steps.of_thunk) => last.count += steps.count,
        _ => way.push(steps),
    }
}

fn joined(way: &[Steps], rest: &[Steps]) -> Way {
    let mut way = way.to_vec();
    rest.iter().for_each(|&steps| add(&mut way, steps));
    way
}

/// A thunk for a part: it goes the way from the value of the clone, which is a thunk.
/// # Safety
/// The caller holds the HEC. The clone is live.
pub unsafe fn thunk(hec: &mut Hec, clone: Closure, part: &Part) -> Closure {
    let words: Vec<usize> =
        part.way.iter().flat_map(|steps| [steps.word << 1 | usize::from(steps.of_thunk), steps.count]).collect();
    let way = byte_array(hec, &words);
    apply(hec, static_closure!(hecatonzmrts_Spread_partOf_closure), &[clone, way])
}

/// A word of a value, or of a single-entry thunk; `None` if it has no such pointer.
/// # Safety
/// The closure is live, and evaluated if it is no single-entry thunk.
pub unsafe fn field(closure: Closure, word: usize) -> Option<Closure> {
    let (Target::Static(c) | Target::Fixed(c) | Target::Exit(_, c) | Target::Local(c)) = resolve(closure);
    let c = c.untag();
    let mut found = None;
    let function = |p: Closure| -> Info { present_function(p) };
    fields::each(c, c.info(), &function, |i| {
        if i == word {
            found = Some(c.field(i));
        }
    });
    found
}

/// A full collection has ended: forgets parts that it has not reached. `is_usable` says whether there is memory at an
/// address, and `oldest_loan` which of the thunks whose values have not come was lent first.
/// # Safety
/// The world is stopped.
pub unsafe fn forget_unreached(is_usable: impl Fn(usize) -> bool, oldest_loan: Option<Address>) {
    let parts = &mut *unpoisoned(PARTS.lock());
    let is_left = |address: usize| is_usable(address) && cell::is_absent(Closure(address));
    let gone: Vec<usize> = parts.by_address.keys().copied().filter(|&address| !is_left(address)).collect();
    gone.into_iter().for_each(|address| {
        parts.remove(address);
    });
    let oldest = parts.counts.keys().copied().chain(oldest_loan).min();
    let is_needed = |since: Address| oldest.is_some_and(|oldest| oldest <= since);
    parts.others.absent.retain(|&address, &mut since| is_left(address) && is_needed(since));
    parts.others.present.retain(|&address, &mut (_, since)| is_usable(address) && is_needed(since));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spread::install::install_as;
    use crate::spread::pack::pack;
    use crate::testing::world::World;

    #[test]
    fn parts_are_found_again_by_their_ways() {
        let mut w = World::new(2);
        let list = w.list(1 << 40, (1 << 40) + 5);
        let loan = kept::time();
        unsafe {
            let whole = pack(w.hec, &[list], 1 << 20).unwrap();
            let alone: Vec<Graph> = whole.objects().iter().map(|&c| pack(w.hec, &[c], 0).unwrap()).collect();
            whole.evict();
            let bring = |w: &mut World, no: usize| {
                let installed = install_as(w.hec, &alone[no], false);
                note(&alone[no], &installed, (no == 0).then_some(loan), true);
            };
            // All cells of the list but the last one. The elements stay away.
            let cells = alone.len() / 2;
            (0..cells - 1).for_each(|no| bring(&mut w, 2 * no));
            assert!(has_any(loan) && take_complete().is_empty());
            // The value is evaluated again.
            let elements = (0..cells - 1).map(|no| 2 * no + 1);
            for no in elements.chain([2 * (cells - 1)]) {
                let c = whole.objects()[no];
                let part = take(Address(c.0 as u64)).unwrap();
                let steps = part.way.iter().flat_map(|steps| vec![steps.word; steps.count]);
                let again = steps.fold(list, |value, word| field(value, word).unwrap());
                assert_eq!(pack(w.hec, &[again], 0).unwrap().roots()[0].untag(), c);
            }
            assert_eq!(take_complete(), [loan]);
            assert!(!has_any(loan));
        }
    }

    #[test]
    fn what_became_known_before_a_loan_is_no_part_of_its_value() {
        let mut w = World::new(2);
        let list = w.list(1 << 40, (1 << 40) + 1);
        unsafe {
            let whole = pack(w.hec, &[list], 1 << 20).unwrap();
            let alone = pack(w.hec, &[whole.objects()[0]], 0).unwrap();
            whole.evict();
            let older = kept::keep(list);
            let installed = install_as(w.hec, &alone, false);
            note(&alone, &installed, None, true);
            let younger = kept::keep(list);
            let nothing = Installed::default();
            note(&alone, &nothing, Some(younger), true);
            assert!(!has_any(younger));
            note(&alone, &nothing, Some(older), true);
            assert!(has_any(older));
            installed.missing.iter().for_each(|c| drop(take(Address(c.0 as u64))));
            take_complete();
        }
    }

    #[test]
    fn steps_of_one_kind_are_counted() {
        let tail = |count| Steps { word: 2, of_thunk: false, count };
        let head = Steps { word: 1, ..tail(1) };
        assert_eq!(joined(&[tail(3)], &[tail(4), head]), [tail(7), head]);
        assert_eq!(joined(&[head], &[Steps { of_thunk: true, ..head }]).len(), 2);
    }
}
