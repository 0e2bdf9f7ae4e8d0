//! Round trips of messages, calls, and reads of values of another processing element (PE), with one HEC and with two
//! for each PE.
use super::programs::Contender;
use super::{between_hosts, rows, RuntimeRun, Workbench};
use crate::bench::findings::{medians, Findings, Quantity, Ratio, Row};
use crate::bench::goals::Bound;
use crate::error::Result;
use crate::programs::Runtime;
use crate::report::{progress, Better};
use std::convert::identity as on_this_host;

const TIME: [Quantity; 1] = [Quantity { key: "microseconds", name: "microseconds", digits: 1, better: Better::Lower }];
/// As [`TIME`], for what may take nanoseconds.
const SHORT_TIME: [Quantity; 1] = [Quantity { digits: 4, ..TIME[0] }];

const TWO_ELEMENTS: [Contender; 2] = [
    Contender { name: "-N1", runtime: Runtime::Hecaton, elements: 2, hecs: 1 },
    Contender { name: "-N2", runtime: Runtime::Hecaton, elements: 2, hecs: 2 },
];

/// The most that a figure of `calls` is to be, as a multiple of another one. Both wait in the same way. What is said to
/// be equal may differ by a tenth.
const AIMS: [(&str, &str, f64); 6] = [
    ("remote call", "round trip of 128, HECs", 2.0),
    ("remote call", "round trip of 128, transport", 2.0),
    ("remote read, memory not mapped", "round trip of 1024, HECs", 1.5),
    ("remote read, memory mapped", "round trip of 1024, HECs", 1.5),
    ("cached read", "local read", 1.1),
    ("cached read of a cell in a list", "local read of a cell in a list", 1.1),
];

/// By size in bytes: through the network tasks alone, and through a HEC of each PE; on one host, and as between hosts.
pub fn round_trips(bench: &Workbench) -> Result<Vec<Findings>> {
    let times = if bench.full { "20000" } else { "3000" };
    let row = |((size, near), (_, far)): ((String, [Vec<f64>; 2]), (String, [Vec<f64>; 2]))| Row {
        size: size.parse().ok(),
        label: size,
        figures: [near, far].iter().flat_map(|[one, two]| [one[0], one[1], two[1]]).map(|f| Some(vec![f])).collect(),
    };
    let [near, far] = [on_this_host, between_hosts].map(|place| measured(bench, "round_trip", &[times], 2, place));
    Ok(vec![Findings::new(
        "round_trips",
        "Round trips",
        "bytes",
        ["transport", "HECs, -N1", "HECs, -N2", "UDP transport", "UDP, -N1", "UDP, -N2"].map(Into::into).into(),
        vec![
            Ratio { head: "-N1 : transport".to_owned(), of: 1, to: 0 },
            Ratio { head: "UDP : sockets".to_owned(), of: 3, to: 0 },
        ],
        &TIME,
        near?.into_iter().zip(far?).map(row).collect(),
    )])
}

/// Calls and reads.
pub fn calls(bench: &Workbench) -> Result<Vec<Findings>> {
    let args = if bench.full { ["20000", "100000"] } else { ["3000", "40000"] };
    let row = |(label, figures): (String, [Vec<f64>; 2])| Row { label, size: None, figures: figures.map(Some).into() };
    let mut found = Findings::new(
        "calls",
        "Calls and reads",
        "operation (-N1, -N2: HECs of each processing element)",
        TWO_ELEMENTS.map(|c| c.name.to_owned()).into(),
        Vec::new(),
        &SHORT_TIME,
        measured(bench, "latency", &args, 1, on_this_host)?.into_iter().map(row).collect(),
    );
    for contender in TWO_ELEMENTS {
        for (of, to, most) in AIMS {
            let figure = |label| found.figure_at(label, contender.name, 0);
            if let Some(ratio) = figure(of).zip(figure(to)).map(|(of, to)| of / to) {
                found.aims.push((format!("{of} : {to}, {}", contender.name), ratio, Bound::AtMost(most)));
            }
        }
    }
    Ok(vec![found])
}

/// The rows that a program prints, with the medians of their figures with one HEC and with two for each PE.
/// `place` says where the PEs are.
fn measured(
    bench: &Workbench,
    program: &str,
    args: &[&str],
    figures: usize,
    place: fn(RuntimeRun) -> RuntimeRun,
) -> Result<Vec<(String, [Vec<f64>; 2])>> {
    let run = |c| Ok(place(bench.run_of(program, c, args)?));
    let runs = TWO_ELEMENTS.iter().map(run).collect::<Result<Vec<_>>>()?;
    let mut labels = Vec::new();
    let all = medians(runs.len(), bench.runs, |n| {
        progress(&format!("{program} {}", TWO_ELEMENTS[n].name));
        let (names, figures): (_, Vec<_>) = rows(program, &runs[n].run(program)?.stdout, figures)?.into_iter().unzip();
        labels = names;
        Ok(Some(figures.concat()))
    })?;
    let of = |contender: usize, row: usize| {
        let all = all[contender].as_deref().unwrap_or_default();
        all[row * figures..(row + 1) * figures].to_vec()
    };
    Ok(labels.into_iter().enumerate().map(|(row, label)| (label, [of(0, row), of(1, row)])).collect())
}
