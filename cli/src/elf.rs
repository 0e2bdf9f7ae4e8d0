//! Checks whether an executable will use this runtime when the dynamic loader finds it first.
use crate::build::WAYS;
use crate::commands::ghc::MARK;
use crate::error::reason;
use crate::ghc::VERSION;
use object::{
    elf::{FileHeader64, DT_NEEDED, DT_RPATH, DT_RUNPATH, DT_STRSZ, DT_STRTAB, EM_X86_64, ET_DYN, ET_EXEC, PT_INTERP},
    read::elf::{Dyn, FileHeader, ProgramHeader},
    Endianness, Object, ObjectSymbol,
};
use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

#[derive(Debug, PartialEq)]
pub enum Verdict {
    Runs,
    /// What is wrong, to be read after the program's name.
    Refused(String),
}

/// What the dynamic loader reads of an ELF file.
#[derive(Debug, Default)]
struct Image {
    has_interpreter: bool,
    /// The loader chooses the addresses.
    is_movable: bool,
    is_dynamic: bool,
    needed: Vec<String>,
    rpath: Option<String>,
    runpath: Option<String>,
}

/// Looks at the program and the Haskell libraries it loads.
pub fn examine(program: &Path) -> Verdict {
    let refuse = |why: &str| Verdict::Refused(why.to_owned());
    let (data, image) = match read(program) {
        Ok(read) => read,
        Err(why) => return Verdict::Refused(why),
    };
    match runtime_of(program, &image) {
        Some(name) => judge(&name, &image),
        None => match linked_runtime(&data) {
            // It needs no other libraries.
            Some(Linked::Hecaton) => Verdict::Runs,
            Some(Linked::Stock) => refuse(STOCK),
            None if !image.is_dynamic => refuse("is statically linked, and not a Haskell program"),
            None => refuse("is not a Haskell program: it loads no libHSrts"),
        },
    }
}

/// Looks at a program that several processes are to run at the same addresses.
pub fn examine_static(program: &Path) -> Verdict {
    let refuse = |why: &str| Verdict::Refused(why.to_owned());
    let (data, image) = match read(program) {
        Ok(read) => read,
        Err(why) => return Verdict::Refused(why),
    };
    if runtime_of(program, &image).is_some() {
        return refuse("is linked with -dynamic, but several PEs need a static program; link it with `hecaton ghc`");
    }
    match linked_runtime(&data) {
        Some(Linked::Hecaton) if image.is_movable => {
            refuse("is position-independent (PIE), but several PEs need it at the same addresses; link it with -no-pie")
        }
        Some(Linked::Hecaton) => Verdict::Runs,
        Some(Linked::Stock) => refuse(STOCK),
        None => refuse("is not a Haskell program"),
    }
}

const STOCK: &str = "is statically linked with GHC's own runtime, which cannot be exchanged in it; build it from \
                     source with `hecaton ghc`, or with `cabal build -w` and bin/ghc of this project";

/// Reads a program that the system can load.
fn read(program: &Path) -> Result<(Vec<u8>, Image), String> {
    let data = fs::read(program).map_err(|e| format!("cannot be read: {}", reason(&e)))?;
    if data.starts_with(b"#!") {
        return Err("is a script; give the program that it starts".to_owned());
    }
    if !data.starts_with(b"\x7fELF") {
        return Err("is not a program (neither an ELF executable nor a script)".to_owned());
    }
    let image = parse(&data)?;
    if image.is_dynamic && !image.has_interpreter {
        return Err("is a shared library, not a program".to_owned());
    }
    Ok((data, image))
}

/// The verdict over a program that loads the runtime called `name`.
fn judge(name: &str, image: &Image) -> Verdict {
    let Some((way, version)) = split_runtime_name(name) else {
        return Verdict::Refused(format!("loads a runtime of an unknown name, {name}"));
    };
    if version != VERSION {
        return Verdict::Refused(format!("was made by GHC {version}; Hecaton is a runtime for GHC {VERSION}"));
    }
    if !WAYS.iter().any(|w| w.suffix == way) {
        return Verdict::Refused(format!("needs the runtime {name}, a way that Hecaton does not have"));
    }
    if image.rpath.is_some() && image.runpath.is_none() {
        return Verdict::Refused(
            "insists on its own libraries (it has an RPATH); link it again with `hecaton ghc`".to_owned(),
        );
    }
    Verdict::Runs
}

/// `libHSrts_thr-ghc9.0.2.so` is way `_thr` of version 9.0.2. (Later GHCs put the package version in between.)
fn split_runtime_name(name: &str) -> Option<(&str, &str)> {
    let (way, version) =
        name.strip_prefix("libHSrts")?.split_once("-ghc").or_else(|| name.strip_prefix("libHSrts")?.split_once('-'))?;
    Some((way, version.split(".so").next().unwrap_or(version)))
}

/// The first libHSrts among the libraries that the program loads, directly or through Haskell libraries.
fn runtime_of(program: &Path, image: &Image) -> Option<String> {
    let mut queue: Vec<(String, Vec<PathBuf>)> = Vec::new();
    let enqueue = |image: &Image, at: &Path, queue: &mut Vec<(String, Vec<PathBuf>)>| {
        let folders = search_path(at, image);
        queue.extend(image.needed.iter().map(|n| (n.clone(), folders.clone())));
    };
    enqueue(image, program, &mut queue);
    let mut seen = HashSet::new();
    while let Some((name, folders)) = queue.pop() {
        if name.starts_with("libHSrts") {
            return Some(name);
        }
        if !seen.insert(name.clone()) {
            continue;
        }
        let Some(path) = folders.iter().map(|d| d.join(&name)).find(|p| p.is_file()) else { continue };
        if let Some(library) = fs::read(&path).ok().and_then(|data| parse(&data).ok()) {
            enqueue(&library, &path, &mut queue);
        }
    }
    None
}

fn search_path(file: &Path, image: &Image) -> Vec<PathBuf> {
    let file = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
    let origin = file.parent().map(|p| p.to_string_lossy().into_owned()).unwrap_or_default();
    let own = image.runpath.iter().chain(&image.rpath).flat_map(|p| p.split(':'));
    let own = own.map(|d| PathBuf::from(d.replace("$ORIGIN", &origin).replace("${ORIGIN}", &origin)));
    let system = ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/usr/local/lib", "/lib", "/usr/lib"];
    own.chain(system.map(PathBuf::from)).collect()
}

/// What `+RTS --info` prints first, on any runtime; and what Hecaton's `+RTS -?` does.
const OF_A_RUNTIME: &[u8] = b"GHC RTS";
const OF_HECATON: &[u8] = b"Options for the runtime system (Hecaton) follow";

/// The runtime that a program is statically linked with.
enum Linked {
    Hecaton,
    Stock,
}

/// Tells programs with a Haskell runtime inside from those without one. Installed programs have no symbols any more;
/// the runtime's texts stay.
fn linked_runtime(data: &[u8]) -> Option<Linked> {
    let file = object::File::parse(data).ok()?;
    let names: HashSet<&[u8]> = file.symbols().filter_map(|s| s.name_bytes().ok()).collect();
    let holds = |text: &[u8]| data.windows(text.len()).any(|w| w == text);
    if names.contains(MARK.as_bytes()) || holds(OF_HECATON) {
        return Some(Linked::Hecaton);
    }
    let is_haskell = names.contains(&b"hs_main"[..])
        || file.sections().any(|s| object::ObjectSection::name(&s) == Ok(".debug-ghc-link-info"));
    (is_haskell || holds(OF_A_RUNTIME)).then_some(Linked::Stock)
}

fn parse(data: &[u8]) -> Result<Image, String> {
    let damaged = |what: &str| format!("is a damaged ELF file ({what})");
    match data.get(4) {
        Some(2) => {}
        Some(1) => return Err("is a 32-bit program; Hecaton runs on x86-64".to_owned()),
        _ => return Err(damaged("the header is cut short")),
    }
    let header = FileHeader64::<Endianness>::parse(data).map_err(|_| damaged("bad header"))?;
    let endian = header.endian().map_err(|_| damaged("bad byte order"))?;
    if header.e_machine(endian) != EM_X86_64 {
        return Err("is a program for another processor; Hecaton runs on x86-64".to_owned());
    }
    if ![ET_EXEC, ET_DYN].contains(&header.e_type(endian)) {
        return Err("is an object file, not a program".to_owned());
    }
    let segments = header.program_headers(endian, data).map_err(|_| damaged("bad program headers"))?;
    let mut image = Image { is_movable: header.e_type(endian) == ET_DYN, ..Image::default() };
    let mut strings = (0, 0);
    let mut entries = Vec::new();
    for segment in segments {
        let bytes = segment.data(endian, data).map_err(|()| damaged("the file is cut short"))?;
        image.has_interpreter |= segment.p_type(endian) == PT_INTERP && !bytes.is_empty();
        if let Some(dynamic) = segment.dynamic(endian, data).map_err(|_| damaged("bad dynamic section"))? {
            image.is_dynamic = true;
            for entry in dynamic {
                match entry.tag32(endian) {
                    Some(DT_STRTAB) => strings.0 = entry.d_val(endian),
                    Some(DT_STRSZ) => strings.1 = entry.d_val(endian),
                    Some(tag @ (DT_NEEDED | DT_RPATH | DT_RUNPATH)) => entries.push((tag, entry.d_val(endian))),
                    _ => {}
                }
            }
        }
    }
    if entries.is_empty() {
        return Ok(image);
    }
    let table = segments
        .iter()
        .find_map(|s| s.data_range(endian, data, strings.0, strings.1).ok().flatten())
        .ok_or_else(|| damaged("its string table is missing"))?;
    for (tag, offset) in entries {
        let tail = usize::try_from(offset)
            .ok()
            .and_then(|o| table.get(o..))
            .ok_or_else(|| damaged("a name lies outside its string table"))?;
        let name = tail.split(|b| *b == 0).next().unwrap_or_default();
        let name = String::from_utf8_lossy(name).into_owned();
        match tag {
            DT_NEEDED => image.needed.push(name),
            DT_RPATH => image.rpath = Some(name),
            _ => image.runpath = Some(name),
        }
    }
    Ok(image)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtime_names_are_taken_apart() {
        assert_eq!(split_runtime_name("libHSrts_thr_debug-ghc9.0.2.so"), Some(("_thr_debug", "9.0.2")));
        assert_eq!(split_runtime_name("libHSrts-1.0.2_thr-ghc9.4.7.so"), Some(("-1.0.2_thr", "9.4.7")));
        assert_eq!(split_runtime_name("libc.so.6"), None);
    }

    #[test]
    fn other_versions_and_ways_are_refused() {
        let image = Image::default();
        assert_eq!(judge("libHSrts_thr-ghc9.0.2.so", &image), Verdict::Runs);
        assert!(matches!(judge("libHSrts-1.0.2_thr-ghc9.4.7.so", &image), Verdict::Refused(w) if w.contains("9.4.7")));
        assert!(matches!(judge("libHSrts_p-ghc9.0.2.so", &image), Verdict::Refused(w) if w.contains("way")));
        let insisting = Image { rpath: Some("/x".into()), ..Image::default() };
        assert!(matches!(judge("libHSrts-ghc9.0.2.so", &insisting), Verdict::Refused(w) if w.contains("RPATH")));
    }

    #[test]
    fn foreign_and_damaged_files_get_their_own_words() {
        let why = |data: &[u8]| parse(data).unwrap_err();
        let me = fs::read(std::env::current_exe().unwrap()).unwrap();
        let mine = parse(&me).unwrap();
        assert!(mine.is_dynamic && mine.has_interpreter && mine.needed.iter().any(|n| n.starts_with("libc.so")));
        assert!(why(&me[..5000]).contains("damaged"));
        assert!(why(&me[..40]).contains("damaged"));
        let mut arm = me.clone();
        arm[18] = 183;
        assert!(why(&arm).contains("another processor"));
        let mut old = me;
        old[4] = 1;
        assert!(why(&old).contains("32-bit"));
    }
}
