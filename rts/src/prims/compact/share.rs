//! What has been copied into a region, so that what is shared stays shared and cycles end.
//!
//! Objects outside the region are known by their addresses, which a collection changes. It
//! cannot happen but while a thunk is being evaluated, between two steps of copying. So each
//! step leaves a marker, a young object: if that is where it was when the next step begins,
//! there has been no collection; else the table is made anew from the list of what was copied,
//! which is an array that the collector keeps up to date.
use crate::contract::{closure::fields::*, Closure, WORD};
use crate::hec::Hec;
use crate::info;
use std::collections::HashMap;

#[derive(Default)]
pub struct Shared {
    by_source: HashMap<usize, usize>,
    /// Copies, in the order of the array of sources.
    copies: Vec<usize>,
    marker: usize,
}

impl Shared {
    pub fn copy_of(&self, source: Closure) -> Option<Closure> {
        self.by_source.get(&source.0).map(|&c| Closure(c))
    }
    /// Records a copy; the caller puts the source at the returned index of the array.
    pub fn add(&mut self, source: Closure, copy: Closure) -> usize {
        self.by_source.insert(source.0, copy.0);
        self.copies.push(copy.0);
        self.copies.len() - 1
    }
    /// Begins a step. `marker` is the object that the last one left, as the collector has it.
    /// # Safety
    /// `sources` is the array of sources.
    pub unsafe fn resume(&mut self, marker: Closure, sources: Closure) {
        if marker.0 == self.marker {
            return;
        }
        self.by_source = (0..self.copies.len())
            .map(|i| (sources.word(SMALL_ARR_PAYLOAD + i), self.copies[i]))
            .collect();
    }
    /// Ends a step: a new marker.
    /// # Safety
    /// Hp has been saved.
    pub unsafe fn pause(&mut self, hec: &mut Hec) -> Closure {
        let m = hec.allocate(ARR_BYTES_PAYLOAD + 1);
        m.set_info(info!(stg_ARR_WORDS_info));
        m.set_word(ARR_BYTES, WORD);
        self.marker = m.0;
        m
    }
}
