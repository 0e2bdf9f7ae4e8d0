//! Small objects whose size their info table tells: constructors, functions and thunks of a few words. They are most of
//! what survives.
//!
//! Their size is computed, and their words are copied, without a branch for each kind and size. Kinds and sizes change
//! from one object to the next, and a mispredicted branch costs as much as the copy.
//!
//! *Checked by*: the unit tests below.
use crate::abi::closure::fields::THUNK_PAYLOAD;
use crate::abi::layout::*;
use crate::abi::Info;

/// Words of the smallest such object: header and one more.
const MIN_WORDS: usize = 2;
/// Words of the largest that two copies of four words cover.
const MAX_WORDS: usize = 8;
/// Entries of the table: a power of two that is not less than the number of closure types.
const KINDS: usize = 64;
const _: () = assert!(N_CLOSURE_TYPES <= KINDS);

/// Words before the payload, by closure type; 0 if the info table does not tell the size.
static BEFORE_PAYLOAD: [u8; KINDS] = {
    let mut before = [0; KINDS];
    let of_one = [
        CONSTR,
        CONSTR_NOCAF,
        CONSTR_1_0,
        CONSTR_0_1,
        CONSTR_2_0,
        CONSTR_1_1,
        CONSTR_0_2,
        FUN,
        FUN_1_0,
        FUN_0_1,
        FUN_2_0,
        FUN_1_1,
        FUN_0_2,
        MUT_VAR_CLEAN,
        MUT_VAR_DIRTY,
    ];
    let of_thunks = [THUNK, THUNK_1_0, THUNK_0_1, THUNK_2_0, THUNK_1_1, THUNK_0_2];
    let mut i = 0;
    while i < of_one.len() {
        before[of_one[i]] = 1;
        i += 1;
    }
    i = 0;
    while i < of_thunks.len() {
        before[of_thunks[i]] = THUNK_PAYLOAD as u8;
        i += 1;
    }
    before
};

/// Is this the size of a small object?
#[inline(always)]
pub(in crate::collector) fn is(words: usize) -> bool {
    words.wrapping_sub(MIN_WORDS) <= MAX_WORDS - MIN_WORDS
}

/// Returns the size of an object of this kind in words, if it is small and its info table tells it.
/// # Safety
/// `info` is an info table of that kind.
#[inline(always)]
pub(in crate::collector) unsafe fn words(info: Info, kind: usize) -> Option<usize> {
    let before = BEFORE_PAYLOAD[kind % KINDS] as usize;
    let words = before + info.ptrs() + info.nptrs();
    (before != 0 && is(words)).then_some(words)
}

/// Copies a small object: two words from either end, or four, which overlap in the middle.
/// # Safety
/// Both objects have `words` words, which is the size of a small object.
#[inline(always)]
pub(in crate::collector) unsafe fn copy(from: *const usize, to: *mut usize, words: usize) {
    debug_assert!(is(words));
    if words <= 4 {
        copy_ends::<2>(from, to, words);
    } else {
        copy_ends::<4>(from, to, words);
    }
}

#[inline(always)]
unsafe fn copy_ends<const N: usize>(from: *const usize, to: *mut usize, words: usize) {
    *(to as *mut [usize; N]) = *(from as *const [usize; N]);
    *(to.add(words - N) as *mut [usize; N]) = *(from.add(words - N) as *const [usize; N]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_words_of_an_object_are_copied() {
        for words in MIN_WORDS..=MAX_WORDS {
            let from: Vec<usize> = (1..=words).collect();
            let mut to = vec![0; MAX_WORDS + 1];
            // SAFETY: both have that many words.
            unsafe { copy(from.as_ptr(), to.as_mut_ptr(), words) };
            assert_eq!(to[..words], from);
            assert!(to[words..].iter().all(|&w| w == 0), "{words} words");
        }
    }

    #[test]
    fn objects_out_of_the_size_range_are_not_small() {
        assert!(!is(0) && !is(MIN_WORDS - 1) && !is(MAX_WORDS + 1));
        assert!(is(MIN_WORDS) && is(MAX_WORDS));
    }
}
