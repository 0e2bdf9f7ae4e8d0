//! The memory of the executable: where code, info tables and static closures are.
use std::sync::OnceLock;

/// Does the executable's own memory hold this address?
pub fn holds(address: usize) -> bool {
    static RANGE: OnceLock<(usize, usize)> = OnceLock::new();
    // SAFETY: the system tells where the headers are, and they are never unmapped.
    let (from, to) = *RANGE.get_or_init(|| unsafe { range() });
    (from..to).contains(&address)
}

/// A part of the program that was loaded.
#[derive(Clone, Copy)]
pub struct Segment {
    pub from: usize,
    to: usize,
    pub executable: bool,
}

impl Segment {
    pub fn holds(&self, at: usize) -> bool {
        (self.from..self.to).contains(&at)
    }

    /// # Safety
    /// Nothing writes to it meanwhile.
    pub unsafe fn bytes(&self) -> &[u8] {
        std::slice::from_raw_parts(self.from as *const u8, self.to - self.from)
    }
}

/// The segments that were loaded from the file.
/// # Safety
/// The program is not dynamic.
pub unsafe fn segments() -> Vec<Segment> {
    let (headers, moved) = headers();
    let segment = |h: &libc::Elf64_Phdr| {
        let from = h.p_vaddr as usize + moved;
        Segment { from, to: from + h.p_filesz as usize, executable: h.p_flags & libc::PF_X != 0 }
    };
    headers.iter().filter(|h| h.p_type == libc::PT_LOAD).map(segment).collect()
}

/// The program headers, and how far the program lies from where it was linked to be.
unsafe fn headers() -> (&'static [libc::Elf64_Phdr], usize) {
    let headers = libc::getauxval(libc::AT_PHDR) as *const libc::Elf64_Phdr;
    let headers = std::slice::from_raw_parts(headers, libc::getauxval(libc::AT_PHNUM) as usize);
    // The table lists itself.
    let own = headers.iter().find(|h| h.p_type == libc::PT_PHDR);
    (headers, own.map_or(0, |h| headers.as_ptr() as usize - h.p_vaddr as usize))
}

/// From the start of the first loaded segment to the end of the last one.
unsafe fn range() -> (usize, usize) {
    let (headers, moved) = headers();
    let loaded = || headers.iter().filter(|h| h.p_type == libc::PT_LOAD).map(|h| h.p_vaddr as usize + moved);
    let ends = headers.iter().filter(|h| h.p_type == libc::PT_LOAD).map(|h| (h.p_vaddr + h.p_memsz) as usize + moved);
    (loaded().min().unwrap_or(0), ends.max().unwrap_or(0))
}
