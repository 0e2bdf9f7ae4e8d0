//! Estimates how many static objects a full collection will reach, before there has been one.
//!
//! They lie in the writable data of the program and its libraries. Next to nothing of the libraries that every program
//! has is ever reached. Of the rest of a large program nearly all is.
use std::ffi::c_void;

/// Bytes of data that every program has.
const BASE_DATA_BYTES: usize = 1 << 20;
/// Bytes of the rest for each reachable static object. Measured: `real_agda`, `real_hlint`, `real_ormolu` and
/// `real_pandoc` have 98 to 116.
const BYTES_PER_STATIC: usize = 100;

/// Estimates the number from the size of the program.
pub(in crate::collector) fn estimate_statics() -> usize {
    estimate(data_bytes())
}

fn estimate(data: usize) -> usize {
    data.saturating_sub(BASE_DATA_BYTES) / BYTES_PER_STATIC
}

/// Returns the bytes of writable data in all loaded objects.
fn data_bytes() -> usize {
    let mut sum = 0usize;
    // SAFETY: `add_object_data` is called before this returns, with the pointer to `sum`.
    unsafe { libc::dl_iterate_phdr(Some(add_object_data), (&raw mut sum).cast()) };
    sum
}

/// Adds the writable data of one loaded object.
unsafe extern "C" fn add_object_data(object: *mut libc::dl_phdr_info, _size: usize, sum: *mut c_void) -> libc::c_int {
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
        assert_eq!([0, BASE_DATA_BYTES, BASE_DATA_BYTES + 50_000 * BYTES_PER_STATIC].map(estimate), [0, 0, 50_000]);
    }

    #[test]
    fn loaded_objects_have_data() {
        static LARGE: [std::sync::atomic::AtomicU8; 1 << 16] = [const { std::sync::atomic::AtomicU8::new(1) }; 1 << 16];
        LARGE[0].store(2, std::sync::atomic::Ordering::Relaxed);
        assert!(data_bytes() >= LARGE.len());
    }
}
