//! Links one relocatable object of Rust, Cmm and C per kind of library, and from it the libraries of the six ways.
//!
//! The runtime's C names and the names that Cmm and C define stay visible. All Rust names, those of the standard
//! library included, become local, so that a program may link Rust libraries of its own.
use super::{
    compile::{Objects, One},
    steps::tool,
    Way, WAYS,
};
use crate::error::{Fail, Result};
use crate::ghc::VERSION;
use crate::thread_pool::in_parallel;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Makes all libraries in the empty folder `dir`, and the object that programs with a shared one have linked in.
pub fn all(objects: &Objects, root: &Path, dir: &Path) -> Result<()> {
    let exported = rust_exports(&objects.rust)?;
    let static_ = merge(&objects.rust, &objects.static_.common, &exported, &dir.join("static"))?;
    let shared = merge(&objects.rust, &objects.shared.common, &exported, &dir.join("shared"))?;
    let ways: Vec<usize> = (0..WAYS.len()).collect();
    in_parallel(&ways, |&n| {
        let way = &WAYS[n];
        archive(static_.of(way), &objects.static_.ways[n], &dir.join(format!("libHSrts{}.a", way.suffix)))?;
        shared_library(shared.of(way), &objects.shared.ways[n], dir, &format!("libHSrts{}-ghc{VERSION}.so", way.suffix))
    })?;
    loaded(root, dir)?;
    remove(&dir.join("static"))?;
    remove(&dir.join("shared"))
}

/// Makes the object that programs and libraries with a shared runtime have linked in.
fn loaded(root: &Path, dir: &Path) -> Result<()> {
    for (name, ends) in [("loaded.o", 1), ("library-loaded.o", 0)] {
        let mut compile = Command::new("gcc");
        compile
            .args(["-O2", "-Wall", "-fPIC", "-c", &format!("-DENDS={ends}"), "-o"])
            .arg(dir.join(name))
            .arg(root.join("rts/program/loaded.c"));
        tool("compiling rts/program/loaded.c", &mut compile)?;
    }
    Ok(())
}

/// Makes the library of one way in the empty folder `dir`.
pub fn one(objects: &One, way: &Way, shared: bool, root: &Path, dir: &Path) -> Result<()> {
    let work = dir.join("merged");
    let merged = merge(&objects.rust, &objects.common, &rust_exports(&objects.rust)?, &work)?;
    if shared {
        shared_library(merged.of(way), &objects.way, dir, &format!("libHSrts{}-ghc{VERSION}.so", way.suffix))?;
        loaded(root, dir)?;
    } else {
        archive(merged.of(way), &objects.way, &dir.join(format!("libHSrts{}.a", way.suffix)))?;
    }
    remove(&work)
}

fn remove(folder: &Path) -> Result<()> {
    fs::remove_dir_all(folder).map_err(|e| Fail::io("remove", folder, e))
}

/// The runtime as one relocatable object.
struct Merged {
    with_debug_info: PathBuf,
    stripped: PathBuf,
}

impl Merged {
    /// Line tables are for the debug ways. Elsewhere they would make every program larger and slower to link.
    fn of(&self, way: &Way) -> &Path {
        if way.debug {
            &self.with_debug_info
        } else {
            &self.stripped
        }
    }
}

/// Links Rust and the common objects of a kind into one object that shows only the runtime's C names.
fn merge(rust: &Path, common: &[PathBuf], exported: &BTreeSet<String>, work: &Path) -> Result<Merged> {
    fs::create_dir(work).map_err(|e| Fail::io("create", work, e))?;
    let mut visible = exported.clone();
    if !common.is_empty() {
        let names = tool(
            "listing symbols",
            Command::new("nm").args(["--defined-only", "--extern-only", "--format=posix"]).args(common),
        )?;
        visible.extend(
            String::from_utf8_lossy(&names).lines().filter(|l| l.contains(' ')).filter_map(symbol).map(str::to_owned),
        );
    }
    let write = |name: &str, text: String| {
        let path = work.join(name);
        fs::write(&path, text).map_err(|e| Fail::io("write", &path, e)).map(|()| path)
    };
    let list: String = visible.iter().map(|s| format!("{s}\n")).collect();
    let keep = write("visible", list)?;
    let layout = work.join("layout.o");
    tool("assembling", Command::new("gcc").args(["-c", "-o"]).arg(&layout).arg(write("layout.s", layout_source())?))?;
    let object = work.join("Hecaton.o");
    // The archives supply the members that define the runtime's C names, and what those need. Rust's standard library
    // unwinds stacks to show them; it gets an unwinder of its own, so that programs need not load one.
    let mut link = Command::new("ld");
    link.args(["-r", "--gc-sections", "-o"]).arg(&object).args(visible.iter().map(|s| format!("--undefined={s}")));
    link.args(common).arg(rust).arg(unwinder()?).arg(&layout);
    tool("linking the runtime", &mut link)?;
    let mut hide = Command::new("objcopy");
    hide.arg(format!("--keep-global-symbols={}", keep.display()));
    // Bitcode is not needed here, and binutils with an LLVM plugin fail on it.
    hide.args(["--remove-section=.llvmbc", "--remove-section=.llvmcmd"]);
    hide.arg(format!("--set-section-alignment=.text={LINE}"));
    let sections = tool("listing sections", Command::new("objdump").arg("-hw").arg(&object))?;
    hide.args(
        cold_sections(&String::from_utf8_lossy(&sections)).map(|(old, new)| format!("--rename-section={old}={new}")),
    )
    .arg(&object);
    tool("hiding Rust's symbols", &mut hide)?;
    let stripped = work.join("HecatonStripped.o");
    tool("stripping the runtime", Command::new("objcopy").arg("--strip-debug").arg(&object).arg(&stripped))?;
    Ok(Merged { with_debug_info: object, stripped })
}

/// The size of a cache line of code. The speed of a loop depends on its offset within a line.
const LINE: usize = 64;
/// The offset of a program's code within a line: mostly the same as with the stock runtime.
const SHIFT: usize = 32;

/// Padding between cold code and a program's own code. The linker puts cold code first, and the runtime's amount of it
/// changes with every version. The padding keeps the offsets of the program's code, and of the libraries behind it, the
/// same: a shift by 16 bytes makes some programs 10 to 20% faster or slower.
fn layout_source() -> String {
    format!(
        ".section .text.hot.hecaton_layout,\"axR\",@progbits\n.balign {LINE}, 0xcc\n.skip {}, 0xcc\n.section .note.GNU-stack,\"\",@progbits\n",
        LINE + SHIFT
    )
}

/// Parts of the names of code that most programs never run: formatting of stacks and numbers, statistics, the event
/// log, the heap checker.
const COLD: [&str; 9] = [
    "5gimli",
    "9addr2line",
    "14rustc_demangle",
    "11miniz_oxide",
    "7flt2dec",
    "10stats_text",
    "11stats_pairs",
    "8eventlog",
    "9collector5check",
];

/// Sections of code that most programs never run, renamed so that the linker puts them in one place. The kernel maps
/// pages around one that is touched, so scattered cold code would add to the memory of every small program.
fn cold_sections(listing: &str) -> impl Iterator<Item = (&str, String)> {
    listing.lines().filter_map(|line| {
        let section = line.split_whitespace().nth(1)?;
        let function = section.strip_prefix(".text.")?;
        let is_cold = COLD.iter().any(|part| function.contains(part));
        is_cold.then(|| (section, format!(".text.exit.{function}")))
    })
}

/// The C compiler's static library for unwinding stacks.
fn unwinder() -> Result<PathBuf> {
    let path = tool("looking for the unwinder", Command::new("gcc").arg("-print-file-name=libgcc_eh.a"))?;
    Ok(PathBuf::from(String::from_utf8_lossy(&path).trim_end()))
}

/// The C names that this project's crates define in `archive`.
fn rust_exports(archive: &Path) -> Result<BTreeSet<String>> {
    let names = tool(
        "listing symbols",
        Command::new("nm").args(["--defined-only", "--extern-only", "--format=posix"]).arg(archive),
    )?;
    Ok(exports_in(&String::from_utf8_lossy(&names)))
}

/// `listing` has a line `ARCHIVE[MEMBER]:` before the symbols of each member; cargo names members after their crate.
fn exports_in(listing: &str) -> BTreeSet<String> {
    let mut ours = false;
    let mut found = BTreeSet::new();
    for line in listing.lines() {
        if let Some((_, member)) = line.strip_suffix("]:").and_then(|l| l.rsplit_once('[')) {
            ours = member.starts_with("hecaton");
        } else if ours {
            found.extend(symbol(line).filter(|s| !is_mangled(s)).map(str::to_owned));
        }
    }
    found
}

fn symbol(line: &str) -> Option<&str> {
    line.split_whitespace().next()
}

fn is_mangled(name: &str) -> bool {
    name.starts_with("_ZN")
        || name.starts_with("_R")
        || name.starts_with("anon.")
        || name.starts_with("DW.ref.")
        || name.starts_with("rust_")
}

fn archive(merged: &Path, way: &Path, archive: &Path) -> Result<()> {
    tool("archiving the runtime", Command::new("ar").arg("rcs").arg(archive).args([merged, way])).map(drop)
}

fn shared_library(merged: &Path, way: &Path, dir: &Path, name: &str) -> Result<()> {
    let mut link = Command::new("gcc");
    link.args(["-shared", "-o"]).arg(dir.join(name)).args([merged, way]);
    // Like GHC's own: within the library its symbols mean its own definitions. Definitions of `base` are found when a
    // program is loaded.
    link.args(["-Wl,-Bsymbolic", "-Wl,-z,undefs", &format!("-Wl,-soname,{name}")]);
    link.args(["-Wl,--gc-sections", "-Wl,--as-needed", "-lm", "-lrt", "-ldl", "-lffi", "-lpthread"]);
    tool("linking the runtime's shared library", &mut link).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_c_names_of_our_crates_are_exported() {
        let listing =
            "\nx.a[hecaton-1.hecaton.2-cgu.0.rcgu.o]:\nhs_main T 0 1\n_ZN7hecaton3foo17h1E T 0 1\n_RNvC3foo T 0 1\n\n\
                       x.a[std-9.std.1-cgu.0.rcgu.o]:\nrust_eh_personality T 0 1\n__rdl_alloc T 0 1\n";
        assert_eq!(exports_in(listing).into_iter().collect::<Vec<_>>(), ["hs_main"]);
    }

    #[test]
    fn what_shows_stacks_is_cold_and_what_runs_is_not() {
        let listing = "\nSections:\nIdx Name Size\n  0 .text 00 00\n  1 .text._ZN7hecaton3run17h1E 10 00\n  2 .text._ZN5gimli4read17h1E 10 00\n\
                       \x20 3 .text.unlikely._ZN9addr2line4find17h1E 10 00\n  4 .data.gimli 10 00\n";
        let found: Vec<_> = cold_sections(listing).collect();
        assert_eq!(found[0], (".text._ZN5gimli4read17h1E", ".text.exit._ZN5gimli4read17h1E".to_owned()));
        assert_eq!(found[1].0, ".text.unlikely._ZN9addr2line4find17h1E");
        assert_eq!(found.len(), 2);
    }
}
