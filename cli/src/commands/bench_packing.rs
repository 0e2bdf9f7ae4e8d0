//! The table of `hecaton bench spread` that says how fast values are packed and installed.
use crate::error::{Fail, Result};
use crate::process::{self, End};
use crate::programs::{self, Maker, Runtime};
use crate::project::Project;
use crate::report::progress;
use std::{path::Path, process::Command, time::Duration};

/// The size of the values.
const SIZE: &str = "1000000";
const LIMIT: Duration = Duration::from_secs(120);

/// Figures of one value.
#[derive(Debug, PartialEq)]
struct Row {
    value: String,
    bytes: u64,
    /// Millions of bytes in a second.
    packed: f64,
    installed: f64,
}

pub fn run(project: &Project, maker: &Maker, dir: &Path, runs: u16) -> Result<()> {
    progress("packing");
    let program = programs::find(&project.root.join("bench/spread"), &["packing".to_owned()])?.remove(0);
    let mut command = Command::new(maker.make(&program, Runtime::Hecaton).map_err(Fail::new)?);
    command.args([&runs.to_string(), SIZE]);
    let outcome = process::run(command, b"", LIMIT, dir)?;
    let rows = rows(&String::from_utf8_lossy(&outcome.stdout)).filter(|_| outcome.end == End::Exit(0));
    let errors = || String::from_utf8_lossy(&outcome.stderr).into_owned();
    let rows = rows.ok_or_else(|| Fail::new(format!("packing has failed: {}", errors())))?;
    progress("");
    println!("\nmillions of bytes packed and installed in a second, within one process");
    println!("{:<24} {:>12} {:>10} {:>10}", "value", "bytes", "packed", "installed");
    for Row { value, bytes, packed, installed } in rows {
        println!("{value:<24} {bytes:>12} {packed:>10.0} {installed:>10.0}");
    }
    Ok(())
}

/// What the program prints.
fn rows(text: &str) -> Option<Vec<Row>> {
    let row = |line: &str| {
        let mut words = line.split('\t');
        let (value, bytes) = (words.next()?.to_owned(), words.next()?.parse().ok()?);
        let mut figure = || words.next()?.parse().ok();
        Some(Row { value, bytes, packed: figure()?, installed: figure()? })
    };
    text.lines().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read() {
        let row = Row { value: "a list".to_owned(), bytes: 80, packed: 400.5, installed: 9e2 };
        assert_eq!(rows("a list\t80\t400.5\t9e2\n"), Some(vec![row]));
        assert_eq!(rows("a list\t80\t400.5\n"), None);
    }
}
