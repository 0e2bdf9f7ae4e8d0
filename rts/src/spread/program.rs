//! The memory of the executable: where code, info tables and static closures are.
use std::sync::OnceLock;

/// Does the executable's own memory hold this address?
pub fn holds(address: usize) -> bool {
    static RANGE: OnceLock<(usize, usize)> = OnceLock::new();
    // SAFETY: the system tells where the headers are, and they are never unmapped.
    let (from, to) = *RANGE.get_or_init(|| unsafe { range() });
    (from..to).contains(&address)
}

/// From the start of the first loaded segment to the end of the last one.
unsafe fn range() -> (usize, usize) {
    let headers = libc::getauxval(libc::AT_PHDR) as *const libc::Elf64_Phdr;
    let headers = std::slice::from_raw_parts(headers, libc::getauxval(libc::AT_PHNUM) as usize);
    // The table lists itself. That says how far the program lies from where it was linked to be.
    let own = headers.iter().find(|h| h.p_type == libc::PT_PHDR);
    let moved = own.map_or(0, |h| headers.as_ptr() as usize - h.p_vaddr as usize);
    let loaded = || headers.iter().filter(|h| h.p_type == libc::PT_LOAD).map(|h| h.p_vaddr as usize + moved);
    let ends = headers.iter().filter(|h| h.p_type == libc::PT_LOAD).map(|h| (h.p_vaddr + h.p_memsz) as usize + moved);
    (loaded().min().unwrap_or(0), ends.max().unwrap_or(0))
}
