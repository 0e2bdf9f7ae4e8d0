//! The objects of a packet that has arrived, by their fixed addresses.
//!
//! Most pointers of a packet lead to its own objects, so finding one must be cheap: an extent is found by bisection,
//! the last one first; and a bit for each word says where objects start.
use crate::abi::layout::*;
use crate::abi::{Closure, Info, WORD};
use crate::base::fatal;
use crate::info;
use crate::memory::object_size::size_of_object;
use crate::spread::graph::Extent;
use crate::spread::remote_objects;
use crate::spread::{fields, program};
use std::cell::Cell;

/// An extent, and where its words begin among those of the packet.
#[derive(Clone, Copy)]
struct Placed {
    extent: Extent,
    from: usize,
}

pub struct Packet<'a> {
    words: &'a [usize],
    /// By address.
    extents: Vec<Placed>,
    /// The number of the extent that was found last.
    last: Cell<usize>,
    starts: Vec<u64>,
}

#[cold]
pub fn malformed(what: &str) -> ! {
    fatal::broken(&format!("a malformed packet: {what}"))
}

unsafe fn check_header(header: usize) {
    if !program::holds(header) || !header.is_multiple_of(WORD) {
        malformed(&format!("the header {header:#x}"));
    }
    let info = Info(header);
    let travels = match info.kind() {
        IND => info == info!(hec_CELL_info),
        PAP | ARR_WORDS => true,
        PRIM => remote_objects::is_remote(info),
        MUT_ARR_PTRS_FROZEN_CLEAN | SMALL_MUT_ARR_PTRS_FROZEN_CLEAN => true,
        kind if fields::is_thunk(kind) => info != info!(hec_ABSENT_info),
        kind => fields::is_constructor(kind) || fields::is_function(kind),
    };
    if !travels {
        malformed(&format!("an object of closure type {}", info.kind()));
    }
}

impl<'a> Packet<'a> {
    /// The packet with these extents and their words. What cannot be right ends the program.
    /// # Safety
    /// It was packed by the same program.
    pub unsafe fn of(extents: &[Extent], words: &'a [usize]) -> Packet<'a> {
        let mut from = 0;
        let place = |&extent: &Extent| {
            from += extent.words;
            Placed { extent, from: from - extent.words }
        };
        let mut placed: Vec<Placed> = extents.iter().map(place).collect();
        if from != words.len() {
            malformed("its extents do not fit");
        }
        placed.sort_unstable_by_key(|placed| placed.extent.address);
        if placed.windows(2).any(|two| two[0].extent.end() > two[1].extent.address) {
            malformed("its extents overlap");
        }
        let mut starts = vec![0; words.len().div_ceil(64)];
        for Placed { extent, from } in &placed {
            let (mut at, end) = (*from, from + extent.words);
            while at < end {
                check_header(words[at]);
                starts[at / 64] |= 1 << (at % 64);
                let left = end - at;
                let object = Closure(&raw const words[at] as usize);
                let size = if left < 2 { usize::MAX } else { size_of_object(object, Info(words[at])) };
                if size > left || size < 2 {
                    malformed(&format!("an object of {size} words in {left}"));
                }
                at += size;
            }
        }
        Packet { words, extents: placed, last: Cell::new(0), starts }
    }

    /// The words of the object with this address, if it is in the packet.
    #[inline]
    pub fn find(&self, address: usize) -> Option<Closure> {
        let holds =
            |no: &usize| self.extents.get(*no).is_some_and(|p| (p.extent.address..p.extent.end()).contains(&address));
        let no = Some(self.last.get()).filter(holds).or_else(|| {
            let after = self.extents.partition_point(|placed| placed.extent.address <= address);
            after.checked_sub(1).filter(holds)
        })?;
        self.last.set(no);
        let at = self.extents[no].from + (address - self.extents[no].extent.address) / WORD;
        let starts = self.starts[at / 64] >> (at % 64) & 1 != 0 && address.is_multiple_of(WORD);
        starts.then(|| Closure(&raw const self.words[at] as usize))
    }

    /// Calls `f` with the address, the words and the size of each object.
    pub fn each(&self, mut f: impl FnMut(Closure, Closure, usize)) {
        for Placed { extent, from } in &self.extents {
            let (mut at, end) = (*from, from + extent.words);
            while at < end {
                let next = self.next_start(at + 1, end);
                let address = extent.address + (at - from) * WORD;
                f(Closure(address), Closure(&raw const self.words[at] as usize), next - at);
                at = next;
            }
        }
    }

    /// Where the next object starts, from a word on; `end` if none does before.
    #[inline]
    fn next_start(&self, from: usize, end: usize) -> usize {
        let (mut word, mut skipped) = (from / 64, from % 64);
        while word * 64 < end {
            let bits = self.starts[word] >> skipped;
            if bits != 0 {
                return (word * 64 + skipped + bits.trailing_zeros() as usize).min(end);
            }
            (word, skipped) = (word + 1, 0);
        }
        end
    }
}
