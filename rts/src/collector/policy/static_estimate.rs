//! How many static objects a full collection will find, before there has been one.
//!
//! They lie in the data of the program and its libraries. Of the libraries that every program has next to nothing is ever reached; of the
//! rest of a large program nearly all.
use std::ffi::c_void;

/// Data that every program has, in bytes.
const OF_ALL: usize = 1 << 20;
/// So many bytes of the rest are one static object that is reached (`real_agda`, `real_hlint`, `real_ormolu`, `real_pandoc`: 98 to 116).
const BYTES_EACH: usize = 100;

/// A guess from the size of the program.
pub(in crate::collector) fn likely_statics() -> usize {
    guess(data_bytes())
}

fn guess(data: usize) -> usize {
    data.saturating_sub(OF_ALL) / BYTES_EACH
}

/// Bytes of data in all that is loaded.
fn data_bytes() -> usize {
    let mut sum = 0usize;
    // SAFETY: `add` is called before this returns, with the pointer to `sum`.
    unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut sum).cast()) };
    sum
}

/// Adds what one object that is loaded can write to.
unsafe extern "C" fn add(object: *mut libc::dl_phdr_info, _size: usize, sum: *mut c_void) -> libc::c_int {
    let headers = std::slice::from_raw_parts((*object).dlpi_phdr, (*object).dlpi_phnum as usize);
    let data = headers.iter().filter(|h| h.p_type == libc::PT_LOAD && h.p_flags & libc::PF_W != 0);
    *sum.cast::<usize>() += data.map(|h| h.p_filesz as usize).sum::<usize>();
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_programs_have_no_estimated_statics() {
        assert_eq!([0, OF_ALL, OF_ALL + 50_000 * BYTES_EACH].map(guess), [0, 0, 50_000]);
    }

    #[test]
    fn loaded_objects_have_data() {
        static LARGE: [std::sync::atomic::AtomicU8; 1 << 16] = [const { std::sync::atomic::AtomicU8::new(1) }; 1 << 16];
        LARGE[0].store(2, std::sync::atomic::Ordering::Relaxed);
        assert!(data_bytes() >= LARGE.len());
    }
}
