//! Several ways to run the same program, measured in alternation.
use super::sample::{parse, Sample};
use crate::{
    fail::{Fail, Result},
    process::{self, End},
};
use std::{
    ffi::OsString,
    fs,
    path::PathBuf,
    process::Command,
    time::Duration,
};

const TIME_LIMIT: Duration = Duration::from_secs(600);

/// What of the environment would change a measurement.
const DISTURBING: [&str; 3] = ["GHCRTS", "HECATON_CHECK", "HECATON_SHOW"];

pub struct Contender {
    /// How messages name it, as in `on the stock runtime`.
    pub label: String,
    pub executable: PathBuf,
    pub args: Vec<OsString>,
    /// Flags for the runtime.
    pub flags: Vec<String>,
    pub env: Vec<(String, String)>,
    pub stdin: String,
    /// How many cores it may use, if not all.
    pub cores: Option<usize>,
    /// The folder in which it runs.
    pub work: PathBuf,
}

/// What came of running a contender once.
pub struct Run {
    pub sample: Sample,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Contender {
    /// Runs once.
    pub fn run(&self, name: &str) -> Result<Run> {
        fs::create_dir_all(&self.work).map_err(|e| Fail::io("create", &self.work, e))?;
        let statistics = self.work.join("statistics");
        let mut command = Command::new(&self.executable);
        command.args(&self.args).arg("+RTS").args(&self.flags);
        command.arg(format!("-t{}", statistics.display())).args(["--machine-readable", "-RTS"]);
        for variable in DISTURBING {
            command.env_remove(variable);
        }
        command.envs(self.env.iter().map(|(n, v)| (n, v))).current_dir(&self.work);
        if let Some(cores) = self.cores {
            process::confine(&mut command, cores)?;
        }
        let outcome = process::run(command, self.stdin.as_bytes(), TIME_LIMIT, &self.work)?;
        if outcome.end != End::Exit(0) {
            let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
            let said = said.lines().next().unwrap_or("it said nothing");
            return Err(Fail::new(format!("{name} failed {}: {}; {said}", self.how(), outcome.end.describe())));
        }
        let text = fs::read_to_string(&statistics).map_err(|e| Fail::io("read", &statistics, e))?;
        let sample = parse(&text, &outcome);
        let sample = sample.ok_or_else(|| Fail::new(format!("{name} {} wrote no GC statistics to {}", self.how(), statistics.display())))?;
        Ok(Run { sample, stdout: outcome.stdout, stderr: outcome.stderr })
    }

    fn how(&self) -> String {
        if self.flags.is_empty() {
            return self.label.clone();
        }
        format!("{} with {}", self.label, self.flags.join(" "))
    }
}

/// The medians of `runs` runs of each contender. All must print the same.
pub fn alternate<const N: usize>(name: &str, contenders: &[Contender; N], runs: usize) -> Result<[Sample; N]> {
    let medians = alternate_all(name, contenders, runs)?;
    Ok(medians.try_into().unwrap_or_else(|_| unreachable!("a median for each contender")))
}

/// The same for however many contenders, in their order.
pub fn alternate_all(name: &str, contenders: &[Contender], runs: usize) -> Result<Vec<Sample>> {
    let mut samples = vec![Vec::with_capacity(runs); contenders.len()];
    let mut printed: Option<Vec<u8>> = None;
    for run in 0..runs {
        // Each goes first in its turn.
        for turn in 0..contenders.len() {
            let n = (run + turn) % contenders.len();
            let Run { sample, stdout, .. } = contenders[n].run(name)?;
            if printed.get_or_insert_with(|| stdout.clone()) != &stdout {
                return Err(Fail::new(format!("{name} {} prints something else than before", contenders[n].how())));
            }
            samples[n].push(sample);
        }
    }
    Ok(samples.iter().map(|s| Sample::median(s)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Contender {
        let work = std::env::temp_dir().join(format!("hecaton-contender-{}-{}", std::process::id(), script.len()));
        let label = "in a shell".to_owned();
        // One of the arguments names the file for statistics.
        let statistics = r#"printf '("%s", "1.5")\n' GC_wall_seconds 'bytes allocated'"#;
        let script = format!("{script}; for arg; do case $arg in -t*) {statistics} >\"${{arg#-t}}\";; esac; done");
        let args = ["-c", &script].map(OsString::from).into();
        Contender { label, executable: "/bin/sh".into(), args, flags: Vec::new(), env: Vec::new(), stdin: String::new(), cores: None, work }
    }

    #[test]
    fn contenders_must_agree() {
        let samples = alternate("x", &[shell("echo a"), shell("echo a ")], 2).unwrap();
        assert_eq!(samples.map(|s| s.gc), [1.5, 1.5]);
        assert!(alternate("x", &[shell("echo a"), shell("echo bb")], 1).unwrap_err().message.contains("in a shell prints something else"));
        assert!(alternate("x", &[shell("echo no >&2; exit 3")], 1).unwrap_err().message.contains("exit 3; no"));
    }
}
