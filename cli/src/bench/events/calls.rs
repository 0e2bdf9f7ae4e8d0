//! The system calls of a server for each request.
use super::servers::{Server, BUSY};
use super::tracing::{Calls, Tracer};
use super::wrk::load;
use super::{against_stock, Workbench, HECATON};
use crate::bench::findings::{Findings, Quantity, Row};
use crate::bench::goals::Bound;
use crate::error::{Fail, Result};
use crate::report::Better;
use std::{thread, time::Duration};

const CALLS: [Quantity; 1] = [Quantity { key: "count", name: "per request", digits: 3, better: Better::Lower }];

/// Calls are counted while all clients are connected and busy.
const BEFORE: Duration = Duration::from_millis(700);
const COUNTED: Duration = Duration::from_secs(1);
const SECONDS: u32 = 3;

/// Calls that happen less often than this are one row.
const RARE: f64 = 0.01;

pub fn per_request(bench: &Workbench) -> Result<Vec<Findings>> {
    let servers = Server::all();
    let tracer = Tracer::find(&bench.folder("calls")?);
    let mut counted = Vec::new();
    for server in &servers {
        (bench.progress)(&format!("calls: {}", server.name()));
        counted.push(of_server(bench, *server, tracer)?);
    }
    let title = format!("System calls of server pong, {BUSY} busy clients");
    let names = servers.iter().map(|s| s.name()).collect();
    let mut found = Findings::new("calls", title, "call", names, against_stock(), &CALLS, rows(&counted));
    found.notes = notes(tracer);
    for contender in HECATON {
        found.aim_at_figure(BESIDE, 0, contender, Bound::AtMost(0.1));
    }
    Ok(vec![found])
}

fn notes(tracer: Tracer) -> Vec<String> {
    match tracer {
        Tracer::Perf => Vec::new(),
        Tracer::Strace => vec![
            "counted by strace, since perf may not count here: it stops the server at each call, so there are fewer waits"
                .to_owned(),
        ],
    }
}

/// Each answer is sent by one call, so the answers are counted with the others.
fn of_server(bench: &Workbench, server: Server, tracer: Tracer) -> Result<Calls> {
    let mut running = server.start(bench, &["pong"])?;
    let (port, work, traces) = (running.port, bench.folder("wrk")?, bench.folder("calls")?);
    let clients = thread::spawn(move || load(port, BUSY, SECONDS, &work));
    thread::sleep(BEFORE);
    let calls = tracer.count(running.process.id(), COUNTED, &traces);
    clients.join().expect("the thread does not panic")?;
    running.process.check()?;
    let calls = calls?;
    let answers = calls.get("sendto").copied().unwrap_or(0.0);
    if answers == 0.0 {
        return Err(Fail::new(format!("no answer of the server ({}) was counted", server.name())));
    }
    Ok(calls.into_iter().map(|(name, count)| (name, count / answers)).collect())
}

/// The row of all calls but those that every server makes.
const BESIDE: &str = "all but recvfrom, sendto";

/// A row for each call, one for the rare ones, and one for all.
fn rows(counted: &[Calls]) -> Vec<Row> {
    let often = |name: &String| counted.iter().any(|calls| calls.get(name).is_some_and(|&n| n >= RARE));
    let mut names: Vec<&String> = counted.iter().flat_map(Calls::keys).filter(|name| often(name)).collect();
    names.sort();
    names.dedup();
    let row = |label: &str, of: &dyn Fn(&Calls) -> f64| Row {
        label: label.to_owned(),
        size: None,
        figures: counted.iter().map(|calls| Some(vec![of(calls)])).collect(),
    };
    let mut rows: Vec<Row> =
        names.iter().map(|name| row(name, &|calls| calls.get(*name).copied().unwrap_or(0.0))).collect();
    rows.push(row("rare calls", &|calls| {
        calls.iter().filter(|(name, _)| !often(name)).fold(0.0, |sum, (_, n)| sum + n)
    }));
    let needed = |name: &str| name == "recvfrom" || name == "sendto";
    rows.push(row(BESIDE, &|calls| calls.iter().filter(|(name, _)| !needed(name)).fold(0.0, |sum, (_, n)| sum + n)));
    rows.push(row("all", &|calls| calls.values().sum()));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_calls_are_one_row() {
        let calls = |list: &[(&str, f64)]| list.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect::<Calls>();
        let counted = [
            calls(&[("sendto", 1.0), ("recvfrom", 1.25), ("madvise", 0.001), ("futex", 0.002)]),
            calls(&[("sendto", 1.0), ("recvfrom", 1.0), ("futex", 0.5)]),
        ];
        let read: Vec<(String, f64, f64)> = rows(&counted)
            .into_iter()
            .map(|row| {
                let figure = |n: usize| row.figures[n].as_ref().unwrap()[0];
                (row.label.clone(), figure(0), figure(1))
            })
            .collect();
        let expected = [
            ("futex", 0.002, 0.5),
            ("recvfrom", 1.25, 1.0),
            ("sendto", 1.0, 1.0),
            ("rare calls", 0.001, 0.0),
            (BESIDE, 0.003, 0.5),
            ("all", 2.253, 2.5),
        ];
        for (row, (name, first, second)) in read.iter().zip(expected) {
            assert!(row.0 == name && (row.1 - first).abs() < 1e-12 && (row.2 - second).abs() < 1e-12, "{row:?}");
        }
        assert_eq!(read.len(), expected.len());
    }
}
