//! Prefetches what will soon be read or written, so that several cache misses overlap.
//!
//! All prefetches are hints, and their addresses need not be valid. Sampling shows which of them help: the collector
//! waits for some loads and stores even where addresses are consecutive and hardware prefetching was expected.
//!
//! *Checked by*: the unit tests below.
use crate::abi::symbols::is_clean_array_info;
use crate::abi::{Closure, WORD};

/// Bytes of a cache line.
const LINE: usize = 64;
/// How many bytes ahead of a scan words are examined, to prefetch what they may point to.
const SCAN_AHEAD: usize = 256;
/// How many bytes further ahead words are prefetched, to be examined later.
const WORDS_AHEAD: usize = 1024;
/// How many entries ahead the objects of a list are prefetched. They are scattered in memory.
const OBJECTS_AHEAD: usize = 16;
/// How many entries ahead what they refer to is prefetched. The objects themselves have arrived by then.
const FIELDS_AHEAD: usize = 8;
/// How many bytes ahead of the last copy lines are prefetched for writing.
const COPIES_AHEAD: usize = 512;
/// List cells less than this many bytes apart are expected to continue with the same stride.
const MAX_STRIDE: usize = 4096;
/// How many list cells ahead are prefetched.
const CELLS_AHEAD: usize = 4;

/// Prefetches an address for reading.
#[inline(always)]
pub(in crate::collector) fn for_reading(address: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which takes any address.
    unsafe {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        _mm_prefetch::<_MM_HINT_T0>(address as *const i8);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Prefetches for writing the line that copies will reach after those up to `end`. It is new, so its first write would
/// miss.
#[inline(always)]
pub(in crate::collector) fn for_copies(end: usize) {
    let address = end.wrapping_add(COPIES_AHEAD);
    // Written as assembly: without a target feature the compiler prefetches for reading instead. Processors that do not
    // know the instruction ignore it.
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which takes any address.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Prefetches what the words of a line may point to. They need not be pointers: testing each would cost more than it
/// saves.
/// # Safety
/// `line` can be read.
#[inline(always)]
unsafe fn prefetch_targets(line: usize) {
    for word in *(line as *const [usize; LINE / WORD]) {
        for_reading(word);
    }
}

/// Looks ahead of a scan of consecutive words.
pub(in crate::collector) struct Lookahead {
    /// The next line to examine.
    next: usize,
}

impl Lookahead {
    #[inline(always)]
    pub fn from(at: usize) -> Lookahead {
        Lookahead { next: at.next_multiple_of(LINE) }
    }

    /// Advances: the scan is at `at`, and words up to `end` are written. Others must not be read, since a fresh page
    /// would cost a fault of its own.
    /// # Safety
    /// The words between can be read.
    #[inline(always)]
    pub unsafe fn advance(&mut self, at: usize, end: usize) {
        if self.next < at + SCAN_AHEAD && self.next + LINE <= end {
            for_reading(self.next + WORDS_AHEAD);
            prefetch_targets(self.next);
            self.next = (self.next + LINE).max(at.next_multiple_of(LINE));
        }
    }
}

/// Iterates over the objects of a list, and prefetches those that follow.
/// # Safety
/// The list's entries are objects.
pub(in crate::collector) unsafe fn visit_objects(list: &[Closure]) -> impl Iterator<Item = Closure> + '_ {
    list.iter().enumerate().map(|(i, &c)| {
        // SAFETY: the caller's.
        unsafe { prefetch_beyond(list, i) };
        c
    })
}

/// Prefetches what follows entry `i` of a list, and what that refers to unless it is an array that will not be
/// scavenged.
/// # Safety
/// The list's entries are objects.
#[inline(always)]
pub(in crate::collector) unsafe fn prefetch_beyond(list: &[Closure], i: usize) {
    if let Some(object) = list.get(i + OBJECTS_AHEAD) {
        for_reading(object.0);
    }
    if let Some(fields) = list.get(i + FIELDS_AHEAD) {
        if !is_clean_array_info(fields.info()) {
            // A part of this line can be read, so all of it can.
            prefetch_targets(fields.0 & !(LINE - 1));
        }
    }
}

/// Iterates over the objects of a list of which only the headers will be read, and prefetches those that follow.
pub fn visit_headers(list: &[Closure]) -> impl Iterator<Item = Closure> + '_ {
    list.iter().enumerate().map(|(i, &c)| {
        if let Some(object) = list.get(i + OBJECTS_AHEAD) {
            for_reading(object.0);
        }
        c
    })
}

/// Prefetches the list's cells further on, if they continue with the stride of the last two.
#[inline(always)]
pub(in crate::collector) fn next_cells(before: usize, now: usize) {
    let apart = now.wrapping_sub(before);
    if apart.wrapping_add(MAX_STRIDE) < 2 * MAX_STRIDE {
        for_reading(now.wrapping_add(CELLS_AHEAD.wrapping_mul(apart)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_visited_in_order() {
        let words = vec![0usize; 8 * LINE];
        for n in [0, 1, FIELDS_AHEAD, OBJECTS_AHEAD, OBJECTS_AHEAD + 1, 3 * OBJECTS_AHEAD] {
            let list: Vec<Closure> = (0..n).map(|i| Closure(&words[i] as *const usize as usize)).collect();
            // SAFETY: the words are readable, as if they were objects.
            let seen: Vec<usize> = unsafe { visit_objects(&list) }.map(|c| c.0).collect();
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
            // SAFETY: the range lies within the words.
            unsafe { ahead.advance(at, end) };
            if ahead.next != before {
                assert!(before >= at && before + LINE <= end && before < at + SCAN_AHEAD);
                lines.push(before);
            }
        }
        assert!(lines.windows(2).all(|w| w[1] == w[0] + LINE), "{lines:?}");
        assert_eq!(lines.last(), Some(&(start + 59 * LINE)));
    }
}
