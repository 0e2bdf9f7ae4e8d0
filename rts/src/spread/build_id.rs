//! The build id of the running executable: that of the linker, or else a hash over the segments that are never written.
use std::hash::{DefaultHasher, Hasher};
use std::slice::from_raw_parts;

const NT_GNU_BUILD_ID: u32 = 3;

/// The build id in hexadecimal digits.
/// # Safety
/// Called before the runtime changes code of the program.
pub unsafe fn of_executable() -> String {
    let headers = libc::getauxval(libc::AT_PHDR) as *const libc::Elf64_Phdr;
    let headers = from_raw_parts(headers, libc::getauxval(libc::AT_PHNUM) as usize);
    // The table lists itself. That says how far the program lies from where it was linked to be.
    let own = headers.iter().find(|h| h.p_type == libc::PT_PHDR);
    let moved = own.map_or(0, |h| headers.as_ptr() as usize - h.p_vaddr as usize);
    let bytes = |h: &libc::Elf64_Phdr| from_raw_parts((h.p_vaddr as usize + moved) as *const u8, h.p_memsz as usize);
    let notes = headers.iter().filter(|h| h.p_type == libc::PT_NOTE);
    if let Some(id) = notes.map(bytes).find_map(linker_id) {
        return id.iter().map(|byte| format!("{byte:02x}")).collect();
    }
    let is_constant = |h: &&libc::Elf64_Phdr| h.p_type == libc::PT_LOAD && h.p_flags & libc::PF_W == 0;
    let mut hasher = DefaultHasher::new();
    headers.iter().filter(is_constant).for_each(|h| hasher.write(bytes(h)));
    format!("{:016x}", hasher.finish())
}

/// The linker's build id among notes. Each has the lengths of its name and its contents, a kind, and both of these
/// padded to four bytes.
fn linker_id(mut notes: &[u8]) -> Option<&[u8]> {
    let number = |bytes: &[u8], at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    loop {
        let (name, contents) = (number(notes, 0)? as usize, number(notes, 4)? as usize);
        let at = 12 + name.next_multiple_of(4);
        if number(notes, 8)? == NT_GNU_BUILD_ID && notes.get(12..12 + name)? == b"GNU\0" {
            return notes.get(at..at + contents);
        }
        notes = notes.get(at + contents.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(name: &[u8], kind: u32, contents: &[u8]) -> Vec<u8> {
        let padded = |bytes: &[u8]| [bytes, &[0; 3]].concat()[..bytes.len().next_multiple_of(4)].to_vec();
        let head = [name.len() as u32, contents.len() as u32, kind].map(u32::to_le_bytes).concat();
        [head, padded(name), padded(contents)].concat()
    }

    #[test]
    fn an_executable_has_one_id() {
        let id = unsafe { of_executable() };
        assert!(id.len() >= 16 && id.bytes().all(|b| b.is_ascii_hexdigit()), "{id}");
        assert_eq!(unsafe { of_executable() }, id);
    }

    #[test]
    fn the_linkers_id_is_found_among_notes() {
        let id = note(b"GNU\0", NT_GNU_BUILD_ID, &[1, 2, 3, 4, 5]);
        let other = note(b"GNU\0", 1, &[9; 6]);
        let stranger = note(b"Xy\0", NT_GNU_BUILD_ID, &[8; 4]);
        let all = [&other[..], &stranger, &id].concat();
        assert_eq!(linker_id(&all), Some(&[1, 2, 3, 4, 5][..]));
        assert_eq!(linker_id(&[other, stranger].concat()), None);
        assert_eq!(linker_id(&all[..all.len() - 5]), None);
        assert_eq!(linker_id(&[]), None);
    }
}
