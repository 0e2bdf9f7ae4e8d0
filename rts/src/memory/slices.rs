//! Slices: the parts of the heap's range that belong to the processing elements (PEs) of a run.
//!
//! All PEs reserve the same addresses, and each allocates in its own slice. So an address means the same on all of
//! them, and which one owns it follows from the address.
use crate::memory::{address_space, block_alloc, prefault};

/// Reserves the slices of all `count` PEs. This one has number `own`. Returns the addresses, for comparison.
/// # Errors
/// If the addresses are taken, or address space is limited.
/// # Safety
/// Called once, before any other function of `memory`, in the place of `address_space::reserve`.
pub unsafe fn reserve(own: usize, count: usize) -> Result<String, String> {
    address_space::reserve_slices(own, count)?;
    block_alloc::begin_at(address_space::first_block());
    prefault::begin_at(address_space::first_block());
    Ok(format!("{:#x}+{:#x}", address_space::base(), address_space::range_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{age_of, alloc_run, free_run, Age, BLOCK_BYTES};
    use std::process::Command;

    /// Set in processes that the test starts: a process has one range.
    const CHILD: &str = "HECATON_TEST_SLICES";

    /// Says which addresses the slices have.
    unsafe fn use_slice(own: usize, count: usize) {
        println!("slices {}", reserve(own, count).unwrap());
        let slice = address_space::range_bytes() / count;
        let start = address_space::base() + own * slice;
        let first = alloc_run(1, Age::NURSERY).unwrap();
        assert_eq!((*first).start, start);
        *(start as *mut usize) = 7;
        assert_eq!(age_of(start).0, Age::NURSERY.0);
        // More than a page of each table.
        let (len, old) = (20_000, Age::of_generation(1));
        let long = alloc_run(len, old).unwrap();
        assert!(age_of((*long).start + len * BLOCK_BYTES - 1).is_old());
        assert!(alloc_run(slice / BLOCK_BYTES, Age::NURSERY).is_none());
        free_run(first);
        assert_eq!((*alloc_run(1, Age::NURSERY).unwrap()).start, start);
        let mut runs = 0;
        block_alloc::each_run(|_| runs += 1);
        assert_eq!(runs, 2);
        block_alloc::trim(0);
        std::process::exit(0)
    }

    #[test]
    fn each_process_allocates_in_its_own_slice() {
        if let Some(own) = std::env::var_os(CHILD) {
            // SAFETY: nothing else of `memory` is used in this process.
            unsafe { use_slice(own.to_str().unwrap().parse().unwrap(), 3) }
        }
        let said = [0, 1, 2].map(|own: usize| {
            let mut child = Command::new(std::env::current_exe().unwrap());
            let child = child.args(["each_process_allocates_in_its_own_slice", "--nocapture"]);
            let output = child.env(CHILD, own.to_string()).output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success(), "slice {own}: {said}{}", String::from_utf8_lossy(&output.stderr));
            said.lines().find(|line| line.contains("slices 0x")).unwrap().to_owned()
        });
        assert!(said.iter().all(|addresses| *addresses == said[0]), "{said:?}");
    }
}
