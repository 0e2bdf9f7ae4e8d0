//! Checks what the project's files say: paths in prose exist, lines fit, and names that were given up stay away.
//!
//! These are unit tests of the command (`./hecaton test unit:prose`), so there is nothing here but for tests. Each
//! prints `PATH:LINE: …` for everything that it finds.
mod source;
mod terms;

use source::Part;
use std::{collections::HashSet, path::Path};

/// The longest line of prose, in characters. The same as rustfmt.toml has for code.
const MAX_COLUMNS: usize = 120;
/// Where a path in prose may start, beside the root and the folder of the file that names it.
const BASES: [&str; 6] = ["rts/", "rts/src/", "rts/tests/", "cli/src/", "cmm/", "tests/"];
/// Endings of the files that prose names.
const ENDINGS: [&str; 7] = [".rs", ".cmm", ".md", ".sh", ".hs", ".bash", ".toml"];
/// Folders whose names and prose are the project's own. Elsewhere are programs and patches.
const OWN: [&str; 5] = ["rts/", "cli/", "cmm/", "library/", "docs/"];

fn fail_with(findings: &[String], what: &str) {
    assert!(findings.is_empty(), "{} {what}:\n{}", findings.len(), findings.join("\n"));
}

#[test]
fn paths_in_prose_exist() {
    let all = source::all();
    let known: HashSet<&str> = all.iter().map(|s| s.path.as_str()).collect();
    let names: HashSet<&str> = known.iter().map(|p| p.rsplit('/').next().unwrap_or(p)).collect();
    let mut findings = Vec::new();
    for file in all.iter().filter(|s| s.is_document() || s.path.ends_with(".rs")) {
        for (number, line) in file.lines() {
            for word in paths(line.part(Part::Prose)) {
                let exists = if word.contains('/') { is_path(&known, &file.path, word) } else { names.contains(word) };
                if !exists {
                    findings.push(format!("{}:{number}: {word}", file.path));
                }
            }
        }
    }
    fail_with(&findings, "paths in prose lead nowhere");
}

/// The words of a text that look like paths of the project's files. Those in capitals stand for any.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && !"._-/*<>{}…$".contains(c)).filter_map(|word| {
        let word = word.trim_end_matches('.');
        let stem = ENDINGS.iter().find_map(|e| word.strip_suffix(e))?;
        let is_plain = !word.starts_with('/') && word.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
        let stands_for_any = !word.ends_with(".md")
            && stem.rsplit('/').next().is_some_and(|s| s.is_empty() || s.chars().all(char::is_uppercase));
        (is_plain && !stands_for_any).then_some(word)
    })
}

fn is_path(known: &HashSet<&str>, from: &str, word: &str) -> bool {
    let here = Path::new(from).parent().unwrap_or(Path::new(""));
    // In a diff, git puts a letter before each path.
    let in_diff = word.strip_prefix("a/").unwrap_or(word);
    let mut candidates = vec![word.to_owned(), in_diff.to_owned(), joined(here, word), joined(&here.join(".."), word)];
    candidates.extend(BASES.iter().map(|base| joined(Path::new(base), word)));
    candidates.iter().any(|c| known.contains(c.as_str()))
}

/// A path below a folder, without `..` in it.
fn joined(folder: &Path, word: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in folder.join(word).components().map(|c| c.as_os_str().to_string_lossy().into_owned()) {
        match part.as_str() {
            ".." => drop(parts.pop()),
            "." => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn lines_of_prose_fit() {
    let mut findings = Vec::new();
    for file in source::all() {
        for (number, line) in file.lines() {
            let is_table = file.is_document() && line.text.starts_with('|');
            let columns = line.text.chars().count();
            if columns > MAX_COLUMNS && !is_table && line.has_prose() {
                findings.push(format!("{}:{number}: {columns} columns", file.path));
            }
        }
    }
    fail_with(&findings, "lines of prose are too long");
}

#[test]
fn old_terms_are_gone() {
    let mut findings = Vec::new();
    for file in source::all().iter().filter(|s| is_own(&s.path)) {
        for word in file.path.split(['/', '.']).filter_map(terms::in_file_name) {
            findings.push(format!("{}: the file name has {word}", file.path));
        }
        for (number, line) in file.lines() {
            let said = |what: String| format!("{}:{number}: {what}", file.path);
            let names = line.part(Part::Code).split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            findings.extend(names.filter_map(|n| Some(said(format!("{n} has {}", terms::in_name_of(&file.path, n)?)))));
            findings.extend(terms::in_prose(&file.path, line.part(Part::Prose)).into_iter().map(said));
        }
    }
    fail_with(&findings, "old terms");
}

fn is_own(path: &str) -> bool {
    let is_text_of_the_project = path.ends_with(".md") && !path.contains('/') && path != "CHANGELOG.md";
    is_text_of_the_project || OWN.iter().any(|o| path.starts_with(o)) && path != "cli/src/prose/terms.rs"
}

#[test]
fn paths_are_told_from_other_words() {
    let found = |text: &'static str| paths(text).collect::<Vec<_>>();
    assert_eq!(found("See `sched/task.rs`, README.md."), ["sched/task.rs", "README.md"]);
    assert_eq!(found("NAME.hs, ffi/NAME.hs, tests/*.hs, /etc/x.sh, <a>.rs"), Vec::<&str>::new());
    assert_eq!(joined(Path::new("a/b"), "../c.rs"), "a/c.rs");
    let known = HashSet::from(["rts/src/sched/task.rs", "docs/notes/a.md"]);
    assert!(is_path(&known, "README.md", "sched/task.rs") && is_path(&known, "docs/x.md", "notes/a.md"));
    assert!(!is_path(&known, "README.md", "sched/tusk.rs"));
}
