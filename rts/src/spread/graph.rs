//! Packed graphs: fixed objects as bytes, as they are sent from one processing element to another.
//!
//! ```text
//!   graph:  magic   numbers of roots, extents, words of the thunk, words of the objects
//!           roots   addresses, with tags
//!           extents { address, words }
//!           thunk   the words of a thunk that is lent
//!           words   of the extents, one after the other
//! ```
//!
//! All are words of eight bytes, little end first. Nothing is translated: addresses of code, static and fixed objects
//! are the same everywhere.
use crate::abi::{Closure, Info, WORD};
use crate::cluster::ids::Block;
use crate::memory::address_space::is_own;
use crate::memory::in_heap;
use crate::memory::object_size::size_of_object;
use crate::spread::fields;
use crate::spread::remote_objects::{self, RemoteExits};
use crate::spread::travel::present_function;
use std::borrow::Cow;
use std::collections::HashSet;

const MAGIC: usize = 0x6870_6172_6763_6568;
const HEADER_WORDS: usize = 5;

/// Adjacent objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    pub address: usize,
    pub words: usize,
}

impl Extent {
    pub fn end(&self) -> usize {
        self.address + self.words * WORD
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Graph {
    bytes: Vec<u8>,
    /// The blocks that it has objects of or refers to, if it was packed here. A graph that has come is not passed on.
    blocks: Vec<Block>,
}

/// The parts of a graph.
pub struct Parts<'a> {
    pub roots: Vec<Closure>,
    pub extents: Vec<Extent>,
    pub thunk: Vec<usize>,
    pub words: Cow<'a, [usize]>,
}

/// Asks for large pages for many bytes that will be written next: to touch small pages first takes as long as packing
/// what fits into them.
fn large_pages(bytes: Vec<u8>) -> Vec<u8> {
    const PAGE: usize = 2 << 20;
    let from = (bytes.as_ptr() as usize).next_multiple_of(PAGE);
    let to = (bytes.as_ptr() as usize + bytes.capacity()) / PAGE * PAGE;
    if from < to {
        // SAFETY: advice about pages that are the vector's alone.
        unsafe { libc::madvise(from as *mut libc::c_void, to - from, libc::MADV_HUGEPAGE) };
    }
    bytes
}

impl Graph {
    /// Packs the objects of the extents as they are now.
    /// # Safety
    /// They are whole objects that nothing changes meanwhile. `blocks` are all that they refer to.
    pub(super) unsafe fn of(
        roots: &[Closure],
        extents: &[Extent],
        thunk: &[usize],
        exits: &RemoteExits,
        blocks: Vec<Block>,
    ) -> Graph {
        let total: usize = extents.iter().map(|extent| extent.words).sum();
        let words = HEADER_WORDS + roots.len() + 2 * extents.len() + thunk.len() + total;
        let mut bytes = large_pages(Vec::with_capacity(words * WORD));
        let mut put = |word: usize| bytes.extend_from_slice(&word.to_le_bytes());
        [MAGIC, roots.len(), extents.len(), thunk.len(), total].into_iter().for_each(&mut put);
        roots.iter().for_each(|root| put(root.0));
        extents.iter().for_each(|extent| [extent.address, extent.words].into_iter().for_each(&mut put));
        thunk.iter().for_each(|&word| put(word));
        for extent in extents {
            let at = extent.address as *const u8;
            let from = bytes.len();
            bytes.extend_from_slice(std::slice::from_raw_parts(at, extent.words * WORD));
            exits.replace(extent.address, &mut bytes[from..]);
        }
        Graph { bytes, blocks }
    }

    pub fn from_bytes(bytes: Vec<u8>) -> Graph {
        Graph { bytes, blocks: Vec::new() }
    }

    #[cfg(test)]
    pub fn referring_to(blocks: Vec<Block>) -> Graph {
        Graph { bytes: Vec::new(), blocks }
    }

    /// The blocks that it has objects of or refers to, each once.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Takes a graph apart; `None` if its numbers do not fit its length.
    pub(super) fn parts(&self) -> Option<Parts<'_>> {
        let all = self.words()?;
        let [magic, roots, extents, thunk, total] = *all.first_chunk::<HEADER_WORDS>()?;
        let lengths = [roots, extents, extents, thunk, total];
        let expected = lengths.iter().try_fold(HEADER_WORDS, |sum, &n| sum.checked_add(n))?;
        if magic != MAGIC || expected != all.len() {
            return None;
        }
        let mut at = HEADER_WORDS;
        let mut take = |n: usize| {
            at += n;
            &all[at - n..at]
        };
        let roots = take(roots).iter().map(|&root| Closure(root)).collect();
        let extents = take(2 * extents).chunks_exact(2).map(|e| Extent { address: e[0], words: e[1] }).collect();
        let thunk = take(thunk).to_vec();
        let words = match all {
            Cow::Borrowed(all) => Cow::Borrowed(&all[at..]),
            Cow::Owned(mut all) => Cow::Owned(all.split_off(at)),
        };
        Some(Parts { roots, extents, thunk, words })
    }

    /// All words; `None` if there are odd bytes. They are copied only if the bytes are not aligned as words are.
    fn words(&self) -> Option<Cow<'_, [usize]>> {
        // SAFETY: any bytes are a word.
        let (before, words, _) = unsafe { self.bytes.align_to() };
        let word = |bytes: &[u8]| usize::from_le_bytes(bytes.try_into().unwrap_or([0; WORD]));
        let whole = self.bytes.len().is_multiple_of(WORD);
        whole.then(|| match before {
            [] => Cow::Borrowed(words),
            _ => Cow::Owned(self.bytes.chunks_exact(WORD).map(word).collect()),
        })
    }

    /// The pointers of the thunk that is lent.
    /// # Safety
    /// The packet was made by [`Graph::of`], and what it refers to is there.
    pub(super) unsafe fn pointers_of_thunk(&self) -> Vec<Closure> {
        let mut pointers = vec![];
        if let Some(words) = self.parts().map(|parts| parts.thunk).filter(|words| !words.is_empty()) {
            let c = Closure(words.as_ptr() as usize);
            fields::each(c, c.info(), &|function| present_function(function), |i| pointers.push(c.field(i)));
        }
        pointers
    }

    /// Is nothing left of what was packed but objects of other PEs?
    /// # Safety
    /// The packet was made by [`Graph::of`], and its objects are there.
    pub(super) unsafe fn is_whole(&self) -> bool {
        let objects: HashSet<usize> = self.objects().iter().map(|c| c.0).collect();
        let is_here = |p: Closure| !in_heap(p.untag().0) || !is_own(p.untag().0) || objects.contains(&p.untag().0);
        let mut whole = self.roots().into_iter().all(is_here);
        for &address in &objects {
            let c = Closure(address);
            // A remote object is whole, although it has an exit.
            if !remote_objects::is_remote(c.info()) {
                fields::each(c, c.info(), &|function| present_function(function), |i| whole &= is_here(c.field(i)));
            }
        }
        whole
    }

    /// The addresses of all objects.
    /// # Safety
    /// The packet was made by [`Graph::of`].
    pub(super) unsafe fn objects(&self) -> Vec<Closure> {
        let Some(parts) = self.parts() else { return Vec::new() };
        let (mut objects, mut at) = (Vec::new(), parts.words.as_ptr());
        for extent in &parts.extents {
            let mut address = extent.address;
            while address < extent.end() {
                objects.push(Closure(address));
                let words = size_of_object(Closure(at as usize), Info(*at));
                at = at.add(words);
                address += words * WORD;
            }
        }
        objects
    }

    /// Makes all objects of the packet as if they had never been here.
    /// # Safety
    /// As for [`Graph::objects`]; and nothing else refers to the objects.
    pub(super) unsafe fn evict(&self) {
        for extent in self.parts().iter().flat_map(|parts| &parts.extents) {
            std::ptr::write_bytes(extent.address as *mut usize, 0, extent.words);
        }
    }

    /// The addresses of what was packed.
    pub fn roots(&self) -> Vec<Closure> {
        self.parts().map_or_else(Vec::new, |parts| parts.roots)
    }
}
