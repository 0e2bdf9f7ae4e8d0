//! Fetching into the cache what will be read or written soon, so that several misses are waited for at once.
//!
//! All of these are hints, to addresses that need not be any. What helps the collector is found by sampling: there are
//! loads and stores that it waits for although they follow each other in memory, where a processor might have fetched
//! by itself.
use crate::abi::{Closure, WORD};
use crate::collector::trace::arrays::is_quiet;

/// A cache line, in bytes.
const LINE: usize = 64;
/// How far ahead a scan looks at words to fetch what they may point to; and so far beyond, words are fetched to be
/// looked at.
const AHEAD: usize = 256;
const WORDS_AHEAD: usize = 1024;
/// Objects that are listed, here and there in memory, are themselves fetched so long before they are scanned, and what
/// they refer to when they have come.
const LISTED_AHEAD: usize = 16;
const FIELDS_AHEAD: usize = 8;
/// Copies are written to a line that was fetched so far before, in bytes.
const COPIES_AHEAD: usize = 512;
/// Cells of a list that are less than so many bytes apart may go on like that; then this many cells ahead are fetched.
const NEAR: usize = 4096;
const CELLS_AHEAD: usize = 4;

#[inline(always)]
pub(in crate::collector) fn to_read(address: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, whatever the address.
    unsafe {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        _mm_prefetch::<_MM_HINT_T0>(address as *const i8);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// The line that copies will reach when those up to `end` have been made: it is new, and would be fetched when it is
/// first written to.
#[inline(always)]
pub(in crate::collector) fn for_copies(end: usize) {
    let address = end.wrapping_add(COPIES_AHEAD);
    // Written out, for without a target feature the compiler makes it a fetch for reading. Processors that do not know
    // it do nothing.
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, whatever the address.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Fetches what the words of a line may point to. They need not be pointers: to look at each of them would cost more
/// than it saves.
/// # Safety
/// `line` can be read.
#[inline(always)]
unsafe fn what_words_point_to(line: usize) {
    for word in *(line as *const [usize; LINE / WORD]) {
        to_read(word);
    }
}

/// Looks ahead of a scan of words in a row.
pub(in crate::collector) struct Lookahead {
    /// The next line to look at.
    next: usize,
}

impl Lookahead {
    #[inline(always)]
    pub fn from(at: usize) -> Lookahead {
        Lookahead { next: at.next_multiple_of(LINE) }
    }

    /// The scan is at `at`; up to `end` is written. (What is not must not be read: a fresh page would cost a fault of
    /// its own.)
    /// # Safety
    /// The words between can be read.
    #[inline(always)]
    pub unsafe fn look(&mut self, at: usize, end: usize) {
        if self.next < at + AHEAD && self.next + LINE <= end {
            to_read(self.next + WORDS_AHEAD);
            what_words_point_to(self.next);
            self.next = (self.next + LINE).max(at.next_multiple_of(LINE));
        }
    }
}

/// The objects of a list; those that follow are fetched meanwhile.
/// # Safety
/// They are objects.
pub(in crate::collector) unsafe fn listed(list: &[Closure]) -> impl Iterator<Item = Closure> + '_ {
    list.iter().enumerate().map(|(i, &c)| {
        // SAFETY: the caller's.
        unsafe { beyond(list, i) };
        c
    })
}

/// Fetches what follows the object at `i` of a list, and what that refers to unless it is an array that will not be
/// scanned.
/// # Safety
/// They are objects.
#[inline(always)]
pub(in crate::collector) unsafe fn beyond(list: &[Closure], i: usize) {
    if let Some(far) = list.get(i + LISTED_AHEAD) {
        to_read(far.0);
    }
    if let Some(near) = list.get(i + FIELDS_AHEAD) {
        if !is_quiet(near.info()) {
            // Of this line a part can be read, so all of it can.
            what_words_point_to(near.0 & !(LINE - 1));
        }
    }
}

/// The objects of a list, whose headers only will be looked at; those that follow are fetched meanwhile.
pub fn visit_headers(list: &[Closure]) -> impl Iterator<Item = Closure> + '_ {
    list.iter().enumerate().map(|(i, &c)| {
        if let Some(far) = list.get(i + LISTED_AHEAD) {
            to_read(far.0);
        }
        c
    })
}

/// A list's cells further on, if they lie as the last two.
#[inline(always)]
pub(in crate::collector) fn further_cells(before: usize, now: usize) {
    let apart = now.wrapping_sub(before);
    if apart.wrapping_add(NEAR) < 2 * NEAR {
        to_read(now.wrapping_add(CELLS_AHEAD.wrapping_mul(apart)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_visited_in_order() {
        let words = vec![0usize; 8 * LINE];
        for n in [0, 1, FIELDS_AHEAD, LISTED_AHEAD, LISTED_AHEAD + 1, 3 * LISTED_AHEAD] {
            let list: Vec<Closure> = (0..n).map(|i| Closure(&words[i] as *const usize as usize)).collect();
            // SAFETY: as if they were.
            let seen: Vec<usize> = unsafe { listed(&list) }.map(|c| c.0).collect();
            assert_eq!(seen, list.iter().map(|c| c.0).collect::<Vec<_>>());
            assert_eq!(visit_headers(&list).map(|c| c.0).collect::<Vec<_>>(), seen);
        }
    }

    #[test]
    fn a_scan_looks_at_each_line_once_and_never_beyond_the_end() {
        let words = vec![0usize; 64 * LINE / WORD];
        let start = (words.as_ptr() as usize).next_multiple_of(LINE);
        let end = start + 60 * LINE + WORD;
        let mut ahead = Lookahead::from(start + WORD);
        let mut lines = Vec::new();
        for at in (start + WORD..end).step_by(3 * WORD) {
            let before = ahead.next;
            // SAFETY: within the words.
            unsafe { ahead.look(at, end) };
            if ahead.next != before {
                assert!(before >= at && before + LINE <= end && before < at + AHEAD);
                lines.push(before);
            }
        }
        assert!(lines.windows(2).all(|w| w[1] == w[0] + LINE), "{lines:?}");
        assert_eq!(lines.last(), Some(&(start + 59 * LINE)));
    }
}
