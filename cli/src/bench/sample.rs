//! The figures of one run.
//!
//! Elapsed time, CPU time and peak memory come from the operating system. GC time, longest pause and allocation come
//! from the runtime's own report (`+RTS -t<file> --machine-readable`, the same on both runtimes).
use super::estimate::median;
use crate::process::Outcome;

/// In seconds and bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    pub elapsed: f64,
    /// User and system time.
    pub cpu: f64,
    pub gc: f64,
    pub pause: f64,
    pub peak: f64,
    /// Heap allocation of the program.
    pub allocated: f64,
    /// The time of activations of user schedulers, or 0 if it was not measured.
    pub activations: f64,
}

impl Sample {
    /// The median of each quantity.
    pub fn median(samples: &[Sample]) -> Sample {
        let of = |get: fn(&Sample) -> f64| median(samples.iter().map(get));
        Sample {
            elapsed: of(|s| s.elapsed),
            cpu: of(|s| s.cpu),
            gc: of(|s| s.gc),
            pause: of(|s| s.pause),
            peak: of(|s| s.peak),
            allocated: of(|s| s.allocated),
            activations: of(|s| s.activations),
        }
    }
}

/// The sample of a run that wrote `statistics`; `None` if these cannot be read.
pub fn parse(statistics: &str, outcome: &Outcome) -> Option<Sample> {
    let Collected { gc, pause, allocated, activations } = collected(statistics)?;
    let (elapsed, cpu) = (outcome.elapsed.as_secs_f64(), outcome.cpu.as_secs_f64());
    Some(Sample { elapsed, cpu, gc, pause, peak: outcome.peak_bytes as f64, allocated, activations })
}

#[derive(Debug, PartialEq)]
struct Collected {
    gc: f64,
    /// The longest of any generation.
    pause: f64,
    allocated: f64,
    activations: f64,
}

fn collected(text: &str) -> Option<Collected> {
    let fields: Vec<(&str, f64)> = text.lines().filter_map(field).collect();
    let value = |wanted: &str| fields.iter().find(|(name, _)| *name == wanted).map(|(_, v)| *v);
    let pauses = fields.iter().filter(|(name, _)| name.starts_with("gen_") && name.ends_with("_max_pause_seconds"));
    let pause = pauses.map(|(_, v)| *v).fold(0.0, f64::max);
    let activations = value("activation_seconds").unwrap_or(0.0);
    Some(Collected { gc: value("GC_wall_seconds")?, pause, allocated: value("bytes allocated")?, activations })
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
        let expected = Collected { gc: 0.103408, pause: 0.018743, allocated: 103081432.0, activations: 0.0 };
        assert_eq!(collected(text), Some(expected));
        let with_activations = text.replace(" ]\n", " ,(\"activation_seconds\", \"0.25\")\n ]\n");
        assert_eq!(collected(&with_activations).map(|found| found.activations), Some(0.25));
        assert_eq!(collected("nothing"), None);
    }

    #[test]
    fn medians() {
        let samples: Vec<Sample> =
            [3.0, 1.0, 2.0, 10.0].map(|x| Sample { elapsed: x, gc: -x, ..Sample::default() }).into();
        assert_eq!(Sample::median(&samples), Sample { elapsed: 2.5, gc: -2.5, ..Sample::default() });
    }
}
