//! Reads from Rust sources which file imports what.
//!
//! Imports are `use` declarations, and paths in code that begin with `crate`, `self`, `super`, a child module or an
//! imported module. A path names the file of the deepest module on it. A re-export is followed to the file that it
//! leads to; it is also an import of the file in which it stands. Code for tests does not count (items marked
//! `#[cfg(test)]`, and the files that they bring in), nor do the expansions of macros.
use super::tokens::{tokens, without_tests};
use std::collections::BTreeMap;

/// A path, from the crate's root if it is a module's.
type Path = Vec<String>;

/// What each file imports, and one path by which it does.
pub type Imports = BTreeMap<String, BTreeMap<String, String>>;

struct File {
    /// Relative to the crate's sources.
    name: String,
    uses: Vec<Use>,
    /// Paths outside `use` declarations.
    paths: Vec<Path>,
}

/// The imports among `lib.rs` and the files that it brings in; `read` gives a file's text, if there is such a file.
pub fn imports(read: &dyn Fn(&str) -> Option<String>) -> Imports {
    let mut sources = Sources::default();
    sources.add(read, Path::new(), "lib.rs".to_owned());
    // A re-export may lead to another one, which is known in the second round.
    for _ in 0..2 {
        for (module, file) in &sources.files {
            for reexport in file.uses.iter().filter(|u| u.public) {
                if let (Some(to), Some(name)) = (sources.file_of(module, &reexport.path), &reexport.name) {
                    sources.reexports.insert(join(module, name), to);
                }
            }
        }
    }
    sources.files.iter().map(|(module, file)| (file.name.clone(), sources.imports_of(module, file))).collect()
}

fn join(module: &[String], name: &str) -> Path {
    [module, &[name.to_owned()]].concat()
}

#[derive(Default)]
struct Sources {
    /// By module.
    files: BTreeMap<Path, File>,
    /// The files that re-exported names lead to.
    reexports: BTreeMap<Path, String>,
}

impl Sources {
    /// Adds a module's file, if it exists, and those of the modules that it declares.
    fn add(&mut self, read: &dyn Fn(&str) -> Option<String>, module: Path, name: String) -> bool {
        let Some(text) = read(&name) else { return false };
        let tokens = without_tests(tokens(&text));
        let (uses, rest) = uses(&tokens);
        for declaration in rest.windows(3).filter(|w| w[0] == "mod" && w[2] == ";") {
            let child = join(&module, declaration[1]);
            let path = child.join("/");
            let _ =
                self.add(read, child.clone(), format!("{path}.rs")) || self.add(read, child, format!("{path}/mod.rs"));
        }
        self.files.insert(module, File { name, uses, paths: paths(&rest) });
        true
    }

    /// The file that a path names, as seen from a module.
    fn file_of(&self, from: &Path, path: &[String]) -> Option<String> {
        let mut at = match path.first()?.as_str() {
            "crate" => Path::new(),
            "self" | "super" => from.clone(),
            child if self.files.contains_key(&join(from, child)) => from.clone(),
            _ => return None,
        };
        for name in path {
            match name.as_str() {
                "crate" | "self" => {}
                "super" => drop(at.pop()),
                name => {
                    let next = join(&at, name);
                    if !self.files.contains_key(&next) {
                        return self.reexports.get(&next).cloned().or_else(|| Some(self.files.get(&at)?.name.clone()));
                    }
                    at = next;
                }
            }
        }
        Some(self.files.get(&at)?.name.clone())
    }

    fn imports_of(&self, module: &Path, file: &File) -> BTreeMap<String, String> {
        let named: BTreeMap<&String, &Path> =
            file.uses.iter().filter_map(|u| Some((u.name.as_ref()?, &u.path))).collect();
        let in_full = |path: &Path| match named.get(&path[0]) {
            Some(full) => [full, &path[1..]].concat(),
            None => path.clone(),
        };
        let mut imports = BTreeMap::new();
        for path in file.uses.iter().map(|u| u.path.clone()).chain(file.paths.iter().map(in_full)) {
            // Only macros are found in lib.rs.
            if let Some(to) = self.file_of(module, &path).filter(|to| *to != file.name && to != "lib.rs") {
                imports.entry(to).or_insert_with(|| path.join("::"));
            }
        }
        imports
    }
}

/// One imported name.
struct Use {
    public: bool,
    path: Path,
    /// What it is called here; `None` stands for all names of a module.
    name: Option<String>,
}

/// The names that are imported, and the tokens outside `use` declarations.
fn uses<'a>(tokens: &[&'a str]) -> (Vec<Use>, Vec<&'a str>) {
    let (mut all, mut rest) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at] == "use" {
            let public = at > 0 && matches!(tokens[at - 1], "pub" | ")");
            at = tree(tokens, at + 1, public, &[], &mut all);
        } else {
            rest.push(tokens[at]);
        }
        at += 1;
    }
    (all, rest)
}

/// Reads a tree such as `a::{b, c::d as e}` that begins at `at`. The place after it.
fn tree(tokens: &[&str], mut at: usize, public: bool, prefix: &[String], all: &mut Vec<Use>) -> usize {
    let mut path = prefix.to_vec();
    let mut name = None;
    loop {
        match tokens[at] {
            "," | "}" | ";" => break,
            "{" => {
                while tokens[at] != "}" {
                    at += 1;
                    if tokens[at] != "}" {
                        at = tree(tokens, at, public, &path, all);
                    }
                }
                return at + 1;
            }
            "as" => {
                name = Some(tokens[at + 1].to_owned());
                at += 1;
            }
            "*" => name = None,
            "::" => {}
            "self" if !path.is_empty() => {}
            part => {
                path.push(part.to_owned());
                name = Some(part.to_owned());
            }
        }
        at += 1;
    }
    let name = if tokens[at - 1] == "*" { None } else { name.or(path.last().cloned()) };
    all.push(Use { public, path, name });
    at
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The paths of two names or more.
fn paths(tokens: &[&str]) -> Vec<Path> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let begin = at;
        while is_name(tokens[at]) && tokens.get(at + 1) == Some(&"::") && tokens.get(at + 2).is_some_and(|t| is_name(t))
        {
            at += 2;
        }
        // Not what a macro names, nor where something is visible, as in `pub(in crate::eval)`.
        let counts =
            begin == 0 || tokens[begin - 1] != "$" && tokens[..begin].last_chunk() != Some(&["pub", "(", "in"]);
        if at > begin && counts {
            all.push(tokens[begin..=at].iter().filter(|t| **t != "::").map(|t| (*t).to_owned()).collect());
        }
        at += 1;
    }
    all
}
