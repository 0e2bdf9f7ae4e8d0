//! HTTP servers under load: a thread for each connection on both runtimes, and one in C on epoll as the ceiling.
use super::background::Background;
use super::descriptors::idle_connections;
use super::wrk::{load, Load};
use super::{against_stock, capped, Contender, Workbench, CONTENDERS, HECATON};
use crate::bench::findings::{medians, Findings, Quantity, Ratio, Row};
use crate::bench::goals::Bound;
use crate::bench::in_c::compiled;
use crate::error::{Fail, Result};
use crate::report::Better;
use std::{cell::RefCell, fs, path::PathBuf, process::Command};

const LOAD: [Quantity; 4] = [
    Quantity { key: "throughput", name: "requests per second", digits: 0, better: Better::Higher },
    Quantity { key: "median", name: "median latency in ms", digits: 2, better: Better::Lower },
    Quantity { key: "slowest", name: "99th percentile of latency in ms", digits: 2, better: Better::Lower },
    // Other programs on the machine disturb this least.
    Quantity { key: "cpu", name: "microseconds of CPU time per request", digits: 2, better: Better::Lower },
];

/// The paper's number of busy clients beside idle ones.
pub const BUSY: usize = 64;
/// A curve is flat if it loses less than a tenth.
const FLAT: f64 = 0.9;
/// The size of the paper's file.
const FILE_BYTES: usize = 4_332;
/// Descriptors that a server or wrk uses beside its connections, at most.
const OTHER_DESCRIPTORS: usize = 200;

/// So many clients are connected within a second of load, even on a busy machine.
const CLIENTS_PER_SECOND: usize = 4_096;
/// If no request is answered in that time, the load lasts longer, up to this many times.
const LONGER: [u32; 3] = [1, 2, 4];

/// A server.
#[derive(Clone, Copy)]
pub enum Server {
    Haskell(Contender),
    C,
}

/// One process, with its port.
pub struct Running {
    pub process: Background,
    pub port: u16,
}

impl Server {
    pub fn name(self) -> String {
        match self {
            Server::Haskell(contender) => contender.name(),
            Server::C => "C".to_owned(),
        }
    }

    pub fn all() -> Vec<Server> {
        CONTENDERS.into_iter().map(Server::Haskell).chain([Server::C]).collect()
    }

    /// Starts it with the arguments that say what it answers.
    pub fn start(self, bench: &Workbench, args: &[&str]) -> Result<Running> {
        let command = match self {
            Server::Haskell(contender) => bench.run_of("server", contender, args)?.command()?,
            Server::C => {
                let mut command = Command::new(in_c(bench)?);
                command.args(args);
                command
            }
        };
        let process = Background::start(&format!("the server ({})", self.name()), command)?;
        let port = process.said.parse();
        let port = port.map_err(|_| Fail::new(format!("the server printed {} for its port", process.said)))?;
        Ok(Running { process, port })
    }
}

/// The server in C.
fn in_c(bench: &Workbench) -> Result<PathBuf> {
    compiled(&bench.sources.join("server.c"), bench.folder("server-in-c")?.join("server"))
}

impl Running {
    /// What `clients` busy clients see of it, and its CPU time per request.
    fn load(&mut self, bench: &Workbench, clients: usize) -> Result<Option<Served>> {
        let seconds = (clients / CLIENTS_PER_SECOND).max(1) as u32 * if bench.full { 2 } else { 1 };
        for seconds in LONGER.map(|times| times * seconds) {
            let before = self.process.cpu()?;
            let load = load(self.port, clients, seconds, &bench.folder("wrk")?)?;
            let used = self.process.cpu()? - before;
            self.process.check()?;
            if let Some(load) = load {
                return Ok(Some(Served { load, cpu: used * 1e6 / load.requests }));
            }
        }
        Ok(None)
    }
}

struct Served {
    load: Load,
    cpu: f64,
}

impl Served {
    /// The figures of [`LOAD`].
    fn figures(&self) -> Vec<f64> {
        vec![self.load.requests_per_second, self.load.median, self.load.slowest, self.cpu]
    }
}

/// Against the stock runtime, and against C.
fn ratios() -> Vec<Ratio> {
    let mut ratios = against_stock();
    ratios.push(Ratio { head: "-N1 : C".to_owned(), of: 1, to: CONTENDERS.len() });
    ratios.push(Ratio { head: "-N2 : C".to_owned(), of: 3, to: CONTENDERS.len() });
    ratios
}

pub fn pong(bench: &Workbench) -> Result<Vec<Findings>> {
    let sizes = [16, 64, 512, 4_096, 16_384];
    let full = [16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384];
    let mut found = busy(bench, "pong", "Server pong", &["pong"], bench.sizes(&sizes, &full))?;
    for (ratio, least) in [1.15, 1.2].into_iter().enumerate() {
        found.aim_at_ratio(&BUSY.to_string(), 0, ratio, Bound::AtLeast(least));
    }
    Ok(vec![found])
}

pub fn file(bench: &Workbench) -> Result<Vec<Findings>> {
    let page = bench.folder("file")?.join("page");
    fs::write(&page, "x".repeat(FILE_BYTES)).map_err(|e| Fail::io("write", &page, e))?;
    let page = page.to_string_lossy().into_owned();
    let full = [16, 64, 256, 1_024, 4_096, 16_384];
    let title = "Server of a file of 4332 bytes";
    Ok(vec![busy(bench, "file", title, &["file", &page], bench.sizes(&[64, 1_024], &full))?])
}

/// With all clients busy, as the paper's figures 1 and 2.
fn busy(bench: &Workbench, part: &str, title: &str, args: &[&str], sizes: &[usize]) -> Result<Findings> {
    let room = bench.descriptors.saturating_sub(OTHER_DESCRIPTORS);
    let (sizes, limits) = capped(sizes, room, "a process may have no more descriptors");
    loads(bench, part, title.to_owned(), "busy clients", &sizes, limits, |server, clients| {
        server.start(bench, args)?.load(bench, clients)
    })
}

/// With idle connections beside the busy ones, as the paper's figures 3 and 4.
pub fn idle(bench: &Workbench) -> Result<Vec<Findings>> {
    let room = bench.descriptors.saturating_sub(BUSY + OTHER_DESCRIPTORS);
    let full = [0, 30, 100, 300, 1_000, 3_000, 10_000, 20_000, 30_000, 50_000];
    let sizes = bench.sizes(&[0, 1_000, 10_000, 50_000], &full);
    let (sizes, limits) = capped(sizes, room, "a process may have no more descriptors");
    let title = format!("Server pong, {BUSY} busy clients");
    let mut found = loads(bench, "idle", title, "idle connections", &sizes, limits, |server, count| {
        let mut running = server.start(bench, &["pong"])?;
        let connections = idle_connections(running.port, count)?;
        let load = running.load(bench, BUSY);
        drop(connections);
        load
    })?;
    for contender in HECATON {
        found.aim_at_last(0, contender, Bound::AtLeast(FLAT));
    }
    Ok(vec![found])
}

/// Measures all servers at all sizes in turns.
fn loads(
    bench: &Workbench,
    part: &str,
    title: String,
    along: &'static str,
    sizes: &[usize],
    notes: Vec<String>,
    measure: impl Fn(Server, usize) -> Result<Option<Served>>,
) -> Result<Findings> {
    let servers = Server::all();
    let notes = RefCell::new(notes);
    let row = |&size: &usize| -> Result<Row> {
        let figures = medians(servers.len(), bench.runs, |n| {
            let name = servers[n].name();
            (bench.progress)(&format!("{part} {size}: {name}"));
            let served = measure(servers[n], size)?;
            let errors = match &served {
                None => Some("no request was answered".to_owned()),
                Some(Served { load, .. }) if load.errors > 0 => Some(format!("{} requests failed", load.errors)),
                Some(_) => None,
            };
            let note = errors.map(|what| format!("{name}, {size} {along}: {what}"));
            let is_new = |note: &String| !notes.borrow().contains(note);
            let note = note.filter(is_new);
            notes.borrow_mut().extend(note);
            Ok(served.as_ref().map(Served::figures))
        })?;
        Ok(Row::at(size, figures))
    };
    let rows = sizes.iter().map(row).collect::<Result<_>>()?;
    let names = servers.iter().map(|s| s.name()).collect();
    let mut found = Findings::new(part, title, along, names, ratios(), &LOAD, rows);
    found.notes = notes.into_inner();
    Ok(found)
}

/// What a time limit around each request costs.
pub fn timeout(bench: &Workbench) -> Result<Findings> {
    const KINDS: [&str; 2] = ["pong", "timeout"];
    let row = |contender: Contender| -> Result<Row> {
        let figures = medians(KINDS.len(), bench.runs, |kind| {
            (bench.progress)(&format!("server {}: {}", KINDS[kind], contender.name()));
            let served = Server::Haskell(contender).start(bench, &[KINDS[kind]])?.load(bench, BUSY)?;
            Ok(served.as_ref().map(Served::figures))
        })?;
        Ok(Row { label: contender.name(), size: None, figures })
    };
    let title = format!("Server pong without a time limit, and with one around each request, {BUSY} busy clients");
    let kinds = vec!["without".to_owned(), "with".to_owned()];
    let ratios = vec![Ratio { head: "with : without".to_owned(), of: 1, to: 0 }];
    let rows = CONTENDERS.into_iter().map(row).collect::<Result<_>>()?;
    let mut found = Findings::new("timeout-pong", title, "runtime", kinds, ratios, &LOAD, rows);
    for contender in HECATON {
        found.aim_at_ratio(&CONTENDERS[contender].name(), 0, 0, Bound::AtLeast(0.9));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_compared_with_stock_and_with_c() {
        let names: Vec<String> = Server::all().into_iter().map(Server::name).collect();
        let pairs: Vec<String> = ratios().iter().map(|r| format!("{} : {}", names[r.of], names[r.to])).collect();
        assert_eq!(pairs, ["hecaton -N1 : stock -N1", "hecaton -N2 : stock -N2", "hecaton -N1 : C", "hecaton -N2 : C"]);
    }
}
