//! A program with its runtime, flags and folder, to be measured in turn with others.
use super::sample::{parse, Sample};
use crate::error::{Fail, Result};
use crate::process::{self, End};
use std::{ffi::OsString, fs, path::PathBuf, process::Command, time::Duration};

/// Of a run for which nothing else is said.
pub const TIME_LIMIT: Duration = Duration::from_secs(600);

/// Environment variables that would change a measurement.
const DISTURBING: [&str; 3] = ["GHCRTS", "HECATON_CHECK", "HECATON_SHOW"];

pub struct RuntimeRun {
    /// The name in messages, as in `on the stock runtime`.
    pub label: String,
    pub executable: PathBuf,
    pub args: Vec<OsString>,
    /// Flags for the runtime.
    pub flags: Vec<String>,
    pub env: Vec<(String, String)>,
    pub stdin: String,
    /// The number of cores that it may use, if not all.
    pub cores: Option<usize>,
    /// A run that takes longer has failed.
    pub limit: Duration,
    /// The folder in which it runs.
    pub work: PathBuf,
}

/// The outcome of one run.
pub struct Run {
    pub sample: Sample,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl RuntimeRun {
    /// Runs once.
    pub fn run(&self, name: &str) -> Result<Run> {
        let statistics = self.work.join("statistics");
        let mut command = self.command()?;
        command.arg(format!("-t{}", statistics.display())).args(["--machine-readable", "-RTS"]);
        let outcome = process::run(command, self.stdin.as_bytes(), self.limit, &self.work)?;
        if outcome.end != End::Exit(0) {
            let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
            let said = said.lines().next().unwrap_or("it said nothing");
            return Err(Fail::new(format!("{name} failed {}: {}; {said}", self.how(), outcome.end.describe())));
        }
        let text = fs::read_to_string(&statistics).map_err(|e| Fail::io("read", &statistics, e))?;
        let sample = parse(&text, &outcome);
        let sample = sample.ok_or_else(|| {
            Fail::new(format!("{name} {} wrote no GC statistics to {}", self.how(), statistics.display()))
        })?;
        Ok(Run { sample, stdout: outcome.stdout, stderr: outcome.stderr })
    }

    /// Runs once, and reads the figures that the program prints.
    pub fn figures(&self, name: &str, count: usize) -> Result<Vec<f64>> {
        let said = self.run(name)?.stdout;
        let said = String::from_utf8_lossy(&said);
        numbers(&said)
            .filter(|read| read.len() == count)
            .ok_or_else(|| Fail::new(format!("{name} printed no figures but: {}", said.trim_end())))
    }

    /// The program with its arguments and flags, in its folder. More flags for the runtime may follow.
    pub fn command(&self) -> Result<Command> {
        fs::create_dir_all(&self.work).map_err(|e| Fail::io("create", &self.work, e))?;
        let mut command = Command::new(&self.executable);
        command.args(&self.args).arg("+RTS").args(&self.flags);
        for variable in DISTURBING {
            command.env_remove(variable);
        }
        command.envs(self.env.iter().map(|(n, v)| (n, v))).current_dir(&self.work);
        if let Some(cores) = self.cores {
            process::confine(&mut command, cores)?;
        }
        Ok(command)
    }

    /// As in `on the stock runtime with -N2`.
    pub fn how(&self) -> String {
        if self.flags.is_empty() {
            return self.label.clone();
        }
        format!("{} with {}", self.label, self.flags.join(" "))
    }
}

fn numbers(text: &str) -> Option<Vec<f64>> {
    text.split_whitespace().map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_as_haskell_prints_them() {
        assert_eq!(numbers("1.5e-2 300.25\n"), Some(vec![0.015, 300.25]));
        assert_eq!(numbers("1.5 late"), None);
    }
}
