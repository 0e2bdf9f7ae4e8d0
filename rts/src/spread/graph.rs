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
use crate::memory::object_size::size_of_object;

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
pub struct Graph(Vec<u8>);

/// The parts of a graph.
pub struct Parts {
    pub roots: Vec<Closure>,
    pub extents: Vec<Extent>,
    pub thunk: Vec<usize>,
    pub words: Vec<usize>,
}

impl Graph {
    /// Packs the objects of the extents as they are now.
    /// # Safety
    /// They are whole objects that nothing changes meanwhile.
    pub(super) unsafe fn of(roots: &[Closure], extents: &[Extent], thunk: &[usize]) -> Graph {
        let total: usize = extents.iter().map(|extent| extent.words).sum();
        let words = HEADER_WORDS + roots.len() + 2 * extents.len() + thunk.len() + total;
        let mut bytes = Vec::with_capacity(words * WORD);
        let mut put = |word: usize| bytes.extend_from_slice(&word.to_le_bytes());
        [MAGIC, roots.len(), extents.len(), thunk.len(), total].into_iter().for_each(&mut put);
        roots.iter().for_each(|root| put(root.0));
        extents.iter().for_each(|extent| [extent.address, extent.words].into_iter().for_each(&mut put));
        thunk.iter().for_each(|&word| put(word));
        for extent in extents {
            let at = extent.address as *const u8;
            bytes.extend_from_slice(std::slice::from_raw_parts(at, extent.words * WORD));
        }
        Graph(bytes)
    }

    pub fn from_bytes(bytes: Vec<u8>) -> Graph {
        Graph(bytes)
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Takes a graph apart; `None` if its numbers do not fit its length.
    pub(super) fn parts(&self) -> Option<Parts> {
        let mut words = self.0.chunks_exact(WORD).map(|b| usize::from_le_bytes(b.try_into().unwrap_or([0; WORD])));
        let mut count = || words.next();
        let (magic, roots, extents, thunk, total) = (count()?, count()?, count()?, count()?, count()?);
        let all = [roots, extents, extents, thunk, total];
        let expected = all.iter().try_fold(HEADER_WORDS, |sum, &n| sum.checked_add(n))?;
        if magic != MAGIC || expected.checked_mul(WORD)? != self.0.len() {
            return None;
        }
        let mut take = |n: usize| words.by_ref().take(n).collect::<Vec<_>>();
        let roots = take(roots).into_iter().map(Closure).collect();
        let extents = take(2 * extents).chunks_exact(2).map(|e| Extent { address: e[0], words: e[1] }).collect();
        Some(Parts { roots, extents, thunk: take(thunk), words: take(total) })
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

    /// The addresses of what was packed.
    pub fn roots(&self) -> Vec<Closure> {
        self.parts().map_or_else(Vec::new, |parts| parts.roots)
    }
}
