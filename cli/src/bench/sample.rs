//! One measured run: elapsed time and peak memory as the system sees them, GC time and longest pause as the runtime itself reports them
//! (`+RTS -t<file> --machine-readable`, the same on both).
use crate::{
    fail::{Fail, Result},
    process::{self, End},
    programs::{Maker, Program, Runtime},
};
use std::{fs, process::Command, time::Duration};

const TIME_LIMIT: Duration = Duration::from_secs(300);

/// In seconds and bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    pub elapsed: f64,
    pub gc: f64,
    pub pause: f64,
    pub peak: f64,
}

impl Sample {
    /// Each quantity's own median.
    pub fn median(samples: &[Sample]) -> Sample {
        let of = |get: fn(&Sample) -> f64| {
            let mut values: Vec<f64> = samples.iter().map(get).collect();
            values.sort_by(f64::total_cmp);
            match values.len() {
                0 => 0.0,
                n if n % 2 == 1 => values[n / 2],
                n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
            }
        };
        Sample { elapsed: of(|s| s.elapsed), gc: of(|s| s.gc), pause: of(|s| s.pause), peak: of(|s| s.peak) }
    }
}

/// Runs `program` once; the second part is what it printed.
pub fn measure(maker: &Maker, program: &Program, runtime: Runtime) -> Result<(Sample, Vec<u8>)> {
    let name = &program.name;
    let work = maker.folder(program).join(format!("run-{}", runtime.name()));
    fs::create_dir_all(&work).map_err(|e| Fail::io("create", &work, e))?;
    let statistics = work.join("statistics");
    let mut command = Command::new(maker.executable(program, runtime));
    command.args(&program.header.args).arg("+RTS").arg(format!("-t{}", statistics.display())).args(["--machine-readable", "-RTS"]);
    command.env_remove("GHCRTS").env_remove("HECATON_CHECK").envs(program.header.env.iter().map(|(n, v)| (n, v))).current_dir(&work);
    let outcome = process::run(command, program.header.stdin.as_bytes(), TIME_LIMIT, &work)?;
    if outcome.end != End::Exit(0) {
        let said = String::from_utf8_lossy(&outcome.stderr).into_owned();
        let said = said.lines().next().unwrap_or("it said nothing");
        return Err(Fail::new(format!("{name} failed on the {} runtime: {}; {said}", runtime.name(), outcome.end.describe())));
    }
    let text = fs::read_to_string(&statistics).map_err(|e| Fail::io("read", &statistics, e))?;
    let (gc, pause) = collection_times(&text)
        .ok_or_else(|| Fail::new(format!("{name} on the {} runtime wrote no GC statistics to {}", runtime.name(), statistics.display())))?;
    Ok((Sample { elapsed: outcome.elapsed.as_secs_f64(), gc, pause, peak: outcome.peak_bytes as f64 }, outcome.stdout))
}

/// Elapsed GC time and the longest pause of any generation, in seconds.
fn collection_times(text: &str) -> Option<(f64, f64)> {
    let fields: Vec<(&str, f64)> = text.lines().filter_map(field).collect();
    let gc = fields.iter().find(|(name, _)| *name == "GC_wall_seconds")?.1;
    let pauses = fields.iter().filter(|(name, _)| name.starts_with("gen_") && name.ends_with("_max_pause_seconds"));
    Some((gc, pauses.map(|(_, v)| *v).fold(0.0, f64::max)))
}

/// Reads ` ,("name", "1.5")`.
fn field(line: &str) -> Option<(&str, f64)> {
    let (name, value) = line.split_once("(\"")?.1.split_once("\", \"")?;
    Some((name, value.strip_suffix("]").unwrap_or(value).trim_end().strip_suffix("\")")?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_read() {
        let text = "'./B' +RTS '-tx' '--machine-readable' \n [(\"bytes allocated\", \"103081432\")\n ,(\"GC_wall_seconds\", \"0.103408\")\n \
                    ,(\"gen_0_max_pause_seconds\", \"0.001589\")\n ,(\"gen_1_max_pause_seconds\", \"0.018743\")\n ]\n";
        assert_eq!(collection_times(text), Some((0.103408, 0.018743)));
        assert_eq!(collection_times("nothing"), None);
    }

    #[test]
    fn medians() {
        let samples: Vec<Sample> = [3.0, 1.0, 2.0, 10.0].map(|x| Sample { elapsed: x, gc: -x, pause: 0.0, peak: 1.0 }).into();
        assert_eq!(Sample::median(&samples), Sample { elapsed: 2.5, gc: -2.5, pause: 0.0, peak: 1.0 });
        assert_eq!(Sample::median(&samples[..3]).elapsed, 2.0);
    }
}
