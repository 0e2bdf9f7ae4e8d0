//! Words, and the tags of pointers.

/// Bytes in a word.
pub const WORD: usize = 8;
/// Low bits of a closure pointer that hold its tag.
pub const TAG_MASK: usize = 7;

/// Words needed to hold `bytes`.
#[inline(always)]
#[expect(clippy::manual_div_ceil, reason = "this compiles to fewer instructions")]
pub const fn words(bytes: usize) -> usize {
    (bytes + WORD - 1) / WORD
}
