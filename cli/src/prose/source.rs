//! The project's files, line by line, each divided into code and prose.
use std::{fs, path::Path};

/// What the checks read: these folders, and the files of the root.
const FOLDERS: [&str; 11] = ["rts", "cli", "cmm", "library", "docs", "tests", "bench", "demo", "scripts", "bin", ".ci"];
const ENDINGS: [&str; 9] = ["rs", "cmm", "h", "c", "md", "sh", "bash", "hs", "toml"];

pub struct Source {
    /// Relative to the root.
    pub path: String,
    text: String,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Part {
    /// Without strings.
    Code,
    /// Comments, and all of a document.
    Prose,
}

/// A line, and its code and prose with blanks where the other one was.
pub struct Line<'a> {
    pub text: &'a str,
    code: String,
    prose: String,
}

impl Line<'_> {
    pub fn part(&self, part: Part) -> &str {
        match part {
            Part::Code => &self.code,
            Part::Prose => &self.prose,
        }
    }

    pub fn has_prose(&self) -> bool {
        !self.prose.trim().is_empty()
    }
}

/// All files of the project that are written by hand.
pub fn all() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a project");
    let mut found = Vec::new();
    collect(root, "", false, &mut found);
    FOLDERS.iter().for_each(|folder| collect(root, &format!("{folder}/"), true, &mut found));
    found
}

fn collect(root: &Path, below: &str, deep: bool, found: &mut Vec<Source>) {
    for entry in fs::read_dir(root.join(below)).into_iter().flatten().flatten() {
        let path = format!("{below}{}", entry.file_name().to_string_lossy());
        let ending = path.rsplit('.').next().unwrap_or_default();
        let has_no_ending = ["hecaton", ".ci/run", "scripts/link"].contains(&path.as_str());
        if entry.path().is_dir() {
            if deep {
                collect(root, &format!("{path}/"), deep, found);
            }
        } else if ENDINGS.contains(&ending) || has_no_ending {
            found.extend(fs::read_to_string(entry.path()).ok().map(|text| Source { path, text }));
        }
    }
}

/// How a language marks prose.
struct Marks {
    line: &'static str,
    block: Option<(&'static str, &'static str)>,
    /// Are comments whole lines only? (Where the mark has other uses within a line.)
    whole: bool,
}

impl Source {
    pub fn is_document(&self) -> bool {
        self.path.ends_with(".md")
    }

    fn marks(&self) -> Marks {
        match self.path.rsplit('.').next() {
            Some("rs") => Marks { line: "//", block: None, whole: false },
            Some("cmm" | "h" | "c") => Marks { line: "//", block: Some(("/*", "*/")), whole: false },
            Some("hs") => Marks { line: "-- ", block: None, whole: true },
            _ => Marks { line: "#", block: None, whole: true },
        }
    }

    /// The lines with their numbers.
    pub fn lines(&self) -> Vec<(usize, Line<'_>)> {
        let (mut in_string, mut in_block) = (false, false);
        let line = |text| match self.is_document() {
            true => Line { text, code: String::new(), prose: text.to_owned() },
            false => divide(text, &self.marks(), &mut in_string, &mut in_block),
        };
        let lines: Vec<Line> = self.text.lines().map(line).collect();
        (1..).zip(lines).collect()
    }
}

fn divide<'a>(text: &'a str, marks: &Marks, in_string: &mut bool, in_block: &mut bool) -> Line<'a> {
    let (mut code, mut prose) = (String::new(), String::new());
    if marks.whole {
        let is_prose = text.trim_start().starts_with(marks.line);
        let (code, prose) = if is_prose { ("", text) } else { (text, "") };
        return Line { text, code: code.to_owned(), prose: prose.to_owned() };
    }
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (begin, end) = marks.block.unwrap_or(("\0", "\0"));
        let mut taken = c.len_utf8();
        if *in_block {
            *in_block = !rest.starts_with(end);
            prose.push(c);
        } else if *in_string {
            if c == '\\' {
                taken += rest[taken..].chars().next().map_or(0, char::len_utf8);
            }
            *in_string = c != '"';
        } else if rest.starts_with(marks.line) {
            prose.push_str(rest);
            break;
        } else if rest.starts_with(begin) {
            *in_block = true;
        } else if rest.starts_with("'\"'") || rest.starts_with("b'\"'") {
            taken = rest.find("\"'").map_or(taken, |at| at + 2);
        } else if rest.starts_with("'\\\"'") {
            taken = 4;
        } else if c == '"' {
            *in_string = true;
        } else {
            code.push(c);
        }
        rest = &rest[taken..];
    }
    Line { text, code, prose }
}

#[test]
fn lines_are_divided() {
    let parts = |path: &str, text: &str| {
        let source = Source { path: path.into(), text: text.into() };
        let lines = source.lines().into_iter().map(|(_, l)| (l.code.trim().to_owned(), l.prose.trim().to_owned()));
        lines.collect::<Vec<_>>()
    };
    let pair = |code: &str, prose: &str| (code.to_owned(), prose.to_owned());
    assert_eq!(parts("a.rs", "f(\"x // y\", '\"'); // \"z"), [pair("f(, );", "// \"z")]);
    assert_eq!(parts("a.rs", "g(\"x \\\"\ny\") + h"), [pair("g(", ""), pair(") + h", "")]);
    assert_eq!(parts("a.cmm", "a /* b\nc */ d"), [pair("a", "* b"), pair("/ d", "c *")]);
    assert_eq!(parts("a.sh", "# b\nc # d"), [pair("", "# b"), pair("c # d", "")]);
    assert_eq!(parts("a.md", "b"), [pair("", "b")]);
}
