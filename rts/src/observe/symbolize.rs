//! Names of info tables, as far as the program knows them.
//!
//! Names come from the symbol table of the executable file, and from the dynamic linker for shared libraries. An info
//! table that its module does not export has no symbol. ghc puts it before the exported function that it is part of.
//!
//! The executable is read on first use. The numbers are from the ELF specification (System V gABI, "Sections" and
//! "Symbol Table").
use std::ffi::CStr;
use std::sync::OnceLock;

/// Offsets in the file header: the type of file, the section headers and their number. An executable has final
/// addresses.
const TYPE: usize = 16;
const SECTIONS_AT: usize = 40;
const SECTIONS: usize = 60;
const EXECUTABLE: usize = 2;
/// A section header.
const SECTION_BYTES: usize = 64;
const SECTION_TYPE: usize = 4;
const SECTION_OFFSET: usize = 24;
const SECTION_SIZE: usize = 32;
const SECTION_LINK: usize = 40;
const SYMBOL_TABLE: usize = 2;
/// A symbol.
const SYMBOL_BYTES: usize = 24;
const SYMBOL_VALUE: usize = 8;

/// The symbol of the info table at `address`, or the exported symbol that it probably belongs to.
pub fn name_of(address: usize) -> Option<String> {
    static OF_EXECUTABLE: OnceLock<Vec<(usize, String)>> = OnceLock::new();
    let symbols = OF_EXECUTABLE
        .get_or_init(|| std::fs::read("/proc/self/exe").ok().and_then(|file| symbols(&file)).unwrap_or_default());
    from_linker(address).or_else(|| nearest(symbols, address))
}

fn from_linker(address: usize) -> Option<String> {
    // SAFETY: a plain structure of pointers, which dladdr fills with names that stay valid.
    unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address as *const libc::c_void, &mut found) == 0 || found.dli_sname.is_null() {
            return None;
        }
        let name = CStr::from_ptr(found.dli_sname).to_string_lossy();
        Some(with_offset(&name, address - found.dli_saddr as usize))
    }
}

fn with_offset(name: &str, offset: usize) -> String {
    match offset {
        0 => name.to_owned(),
        n => format!("{name}+{n:#x}"),
    }
}

fn nearest(symbols: &[(usize, String)], address: usize) -> Option<String> {
    let (at, name) = symbols.get(symbols.partition_point(|(at, _)| *at < address))?;
    match at - address {
        0 => Some(name.clone()),
        _ => Some(format!("in {name}")),
    }
}

fn number(file: &[u8], at: usize, bytes: usize) -> Option<usize> {
    let field = file.get(at..at + bytes)?;
    Some(field.iter().rev().fold(0, |n, &b| n << 8 | b as usize))
}

/// The info tables of an executable with final addresses, in order of address.
fn symbols(file: &[u8]) -> Option<Vec<(usize, String)>> {
    if number(file, TYPE, 2)? != EXECUTABLE {
        return None;
    }
    let sections = number(file, SECTIONS_AT, 8)?;
    let section = |i: usize| sections + i * SECTION_BYTES;
    let table = (0..number(file, SECTIONS, 2)?)
        .map(section)
        .find(|s| number(file, s + SECTION_TYPE, 4) == Some(SYMBOL_TABLE))?;
    let names = number(file, section(number(file, table + SECTION_LINK, 4)?) + SECTION_OFFSET, 8)?;
    let from = number(file, table + SECTION_OFFSET, 8)?;
    let size = number(file, table + SECTION_SIZE, 8)?;
    let mut found = Vec::new();
    for symbol in file.get(from..from + size)?.chunks_exact(SYMBOL_BYTES) {
        let value = number(symbol, SYMBOL_VALUE, 8)?;
        let name = file.get(names + number(symbol, 0, 4)?..)?;
        let name = name.split(|&b| b == 0).next()?;
        if value != 0 && name.ends_with(b"_info") {
            found.push((value, String::from_utf8_lossy(name).into_owned()));
        }
    }
    found.sort();
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_symbol_is_named_by_the_next_one() {
        let symbols = [(10, "a_info".to_owned()), (20, "b_info".to_owned())];
        assert_eq!(nearest(&symbols, 10).as_deref(), Some("a_info"));
        assert_eq!(nearest(&symbols, 11).as_deref(), Some("in b_info"));
        assert_eq!(nearest(&symbols, 21), None);
    }

    #[test]
    fn a_library_function_has_a_name() {
        let name = name_of(libc::malloc as *const () as usize).unwrap();
        assert!(name.contains("malloc"), "{name}");
    }

    #[test]
    fn other_files_have_no_symbols() {
        assert_eq!(symbols(b""), None);
        assert_eq!(symbols(&[0; 64]), None);
    }
}
