//! Checks that the runtime is built in layers: a file imports only from its own folder and those below, and no files
//! import each other in a circle.
//!
//! The order is read from ARCHITECTURE.md. There the table between `<!-- layers -->` and `<!-- /layers -->` names the
//! folders of `rts/src` in its first column, the top layer first. Tests and their tools (`testing/`) may import
//! anything.
mod imports;
mod tokens;

use imports::Imports;

const BEGIN: &str = "<!-- layers -->";
const END: &str = "<!-- /layers -->";

/// The folders that the table names, from the top.
fn layers(document: &str) -> Option<Vec<String>> {
    let (_, rest) = document.split_once(BEGIN)?;
    let (table, _) = rest.split_once(END)?;
    let first_name = |row: &str| Some(row.split('|').nth(1)?.split('`').nth(1)?.to_owned());
    let folder = |path: String| path.trim_end_matches('/').trim_start_matches("rts/src/").to_owned();
    Some(table.lines().filter_map(first_name).map(folder).collect())
}

fn folder(file: &str) -> &str {
    file.split_once('/').map_or("", |(folder, _)| folder)
}

/// Imports of what lies above, and folders that are in no layer.
fn upward(layers: &[String], imports: &Imports) -> Vec<String> {
    let layer = |file: &str| layers.iter().position(|layer| layer == folder(file));
    let mut wrong = Vec::new();
    for (from, files) in imports.iter().filter(|(file, _)| *file != "lib.rs") {
        let Some(here) = layer(from) else {
            wrong.push(format!("{from} is in no layer of the table"));
            continue;
        };
        for (to, path) in files.iter().filter(|(to, _)| layer(to).is_some_and(|there| there < here)) {
            wrong.push(format!("{from} imports {path} from above ({to})"));
        }
    }
    wrong
}

/// Files that import each other in a circle, the first one again at the end, if there are such.
fn circle(imports: &Imports) -> Option<Vec<&str>> {
    let mut clear = Vec::new();
    imports.keys().find_map(|file| circle_from(imports, file, &mut Vec::new(), &mut clear))
}

/// The same for circles that can be reached from a file; `clear` are those from which none can.
fn circle_from<'a>(
    imports: &'a Imports,
    file: &'a str,
    way: &mut Vec<&'a str>,
    clear: &mut Vec<&'a str>,
) -> Option<Vec<&'a str>> {
    if let Some(i) = way.iter().position(|f| *f == file) {
        return Some([&way[i..], &[file]].concat());
    }
    if clear.contains(&file) {
        return None;
    }
    way.push(file);
    let found = imports.get(file)?.keys().find_map(|next| circle_from(imports, next, way, clear));
    way.pop();
    clear.push(file);
    found
}

#[cfg(test)]
mod tests {
    use super::imports::imports;
    use super::*;
    use std::{fs, path::Path};

    #[test]
    fn the_runtime_is_built_in_layers() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let layers = layers(&fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap()).expect("a table of layers");
        for layer in &layers {
            assert!(
                root.join("rts/src").join(layer).is_dir(),
                "ARCHITECTURE.md names a layer {layer}, which is no folder"
            );
        }
        let imports = imports(&|file| fs::read_to_string(root.join("rts/src").join(file)).ok());
        assert!(imports.len() > 100, "{} files", imports.len());
        let wrong = upward(&layers, &imports);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let circle = circle(&imports).map(|files| files.join("\n  imports "));
        assert_eq!(circle, None);
    }

    /// The imports of a crate with these files.
    fn imports_of(files: &[(&str, &str)]) -> Imports {
        imports(&|name| files.iter().find(|(file, _)| *file == name).map(|(_, text)| (*text).to_owned()))
    }

    fn of<'a>(imports: &'a Imports, file: &str) -> Vec<(&'a str, &'a str)> {
        imports[file].iter().map(|(to, path)| (&to[..], &path[..])).collect()
    }

    #[test]
    fn the_table_names_the_layers() {
        let text = "x\n<!-- layers -->\n| folder | of |\n|---|---|\n| `rts/src/api/` | `cmm/` |\n| `hec` | |\n\
                    <!-- /layers -->\n| `y` |";
        assert_eq!(layers(text).unwrap(), ["api", "hec"]);
        assert_eq!(layers("| `rts/src/api/` |"), None);
    }

    #[test]
    fn imports_are_found() {
        let imports = imports_of(&[
            ("lib.rs", "pub mod high;\npub mod low;\n#[cfg(test)]\npub mod testing;"),
            ("high/mod.rs", "mod one;\nmod two;\npub use two::Two;\n#[cfg(test)]\nmod tests;"),
            (
                "high/one.rs",
                "use super::Two;\nuse crate::low::{self, b::*};\nfn f() { low::a::g(); crate::low::top() }",
            ),
            ("high/two.rs", "pub(in crate::high) struct Two; // crate::low::a\n#[cfg(test)]\nuse crate::low::b::c;"),
            ("high/tests.rs", "use crate::high::one;"),
            ("low/mod.rs", "pub mod a;\npub mod b;\npub fn top() {}"),
            ("low/a.rs", "use super::b::d as e;\nmacro_rules! m { () => { $crate::high::one::f() } }"),
            ("low/b.rs", "fn f() { std::mem::take(x) }"),
            ("testing.rs", "use crate::high::one;"),
        ]);
        let all = [("high/two.rs", "super::Two"), ("low/a.rs", "crate::low::a::g"), ("low/b.rs", "crate::low::b")];
        assert_eq!(of(&imports, "high/one.rs")[..3], all);
        assert_eq!(of(&imports, "high/one.rs")[3], ("low/mod.rs", "crate::low"));
        assert_eq!(of(&imports, "high/mod.rs"), [("high/two.rs", "two::Two")]);
        assert_eq!(of(&imports, "low/a.rs"), [("low/b.rs", "super::b::d")]);
        for file in ["high/two.rs", "low/mod.rs", "low/b.rs"] {
            assert_eq!(of(&imports, file), [], "{file}");
        }
        assert!(!imports.contains_key("high/tests.rs") && !imports.contains_key("testing.rs"));
    }

    #[test]
    fn imports_from_above_are_named() {
        let layers = ["high".to_owned(), "low".to_owned()];
        let files = [("lib.rs", "mod high; mod low;"), ("high.rs", "use crate::low::f;"), ("low.rs", "fn f() {}")];
        let imports = imports_of(&files);
        assert_eq!(upward(&layers, &imports).len(), 2, "files beside the folders are in no layer");
        let imports = imports_of(&[
            ("lib.rs", "mod high; mod low; mod other;"),
            ("high/mod.rs", "use crate::low::f; pub fn g() {}"),
            ("low/mod.rs", "fn f() { crate::high::g() }"),
            ("other/mod.rs", ""),
        ]);
        let expected =
            ["low/mod.rs imports crate::high::g from above (high/mod.rs)", "other/mod.rs is in no layer of the table"];
        assert_eq!(upward(&layers, &imports), expected);
    }

    #[test]
    fn circles_are_found() {
        let files = |c: &'static str| {
            imports_of(&[
                ("lib.rs", "mod a; mod b; mod c;"),
                ("a.rs", "use crate::b::x;"),
                ("b.rs", "use crate::c::x;"),
                ("c.rs", c),
            ])
        };
        assert_eq!(circle(&files("fn x() {}")), None);
        assert_eq!(circle(&files("use crate::b::y;")), Some(vec!["b.rs", "c.rs", "b.rs"]));
    }
}
