//! Runs wrk, which sends requests to an HTTP server from many connections, and reads its report.
use crate::error::{Fail, Result};
use crate::process::{self, End};
use std::{fs, path::Path, process::Command, time::Duration};

/// One thread of wrk for so many clients. More threads would leave the server less than half of two cores. But from one
/// address to another there are 28,000 ports, of which the kernel finds half quickly, and each thread has an address.
const CLIENTS_PER_THREAD: usize = 10_000;
/// Makes thread *n* connect to 127.0.0.*n*.
const SCRIPT: &str = r#"local threads = 0
function setup(thread)
  threads = threads + 1
  thread.addr = wrk.lookup("127.0.0." .. threads, wrk.port)[1]
end
"#;
/// wrk gives up on an answer after this many seconds.
const ANSWER_LIMIT: u32 = 20;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    pub requests: f64,
    pub requests_per_second: f64,
    /// Milliseconds.
    pub median: f64,
    /// The 99th percentile, in milliseconds.
    pub slowest: f64,
    /// Connections refused or reset, and answers that came too late.
    pub errors: u64,
}

/// The load that `clients` busy connections make on the server at `port`; `None` if no request is answered.
pub fn load(port: u16, clients: usize, seconds: u32, work: &Path) -> Result<Option<Load>> {
    let script = work.join("addresses.lua");
    fs::write(&script, SCRIPT).map_err(|e| Fail::io("write", &script, e))?;
    let threads = clients.div_ceil(CLIENTS_PER_THREAD);
    let mut command = Command::new("wrk");
    command.args(["--latency", "--timeout", &format!("{ANSWER_LIMIT}s"), "--threads", &threads.to_string()]);
    command.arg("--script").arg(&script);
    command.args(["--connections", &clients.to_string(), "--duration", &format!("{seconds}s")]);
    command.arg(format!("http://127.0.0.1:{port}/"));
    let limit = Duration::from_secs(u64::from(seconds + 2 * ANSWER_LIMIT));
    let outcome = process::run(command, b"", limit, work)?;
    let said = String::from_utf8_lossy(&outcome.stdout);
    let read = if outcome.end == End::Exit(0) { parse(&said) } else { None };
    read.ok_or_else(|| {
        let errors = String::from_utf8_lossy(&outcome.stderr);
        let said = errors.lines().chain(said.lines()).next().unwrap_or("it said nothing").to_owned();
        Fail::new(format!("wrk failed ({}): {said}", outcome.end.describe()))
    })
}

/// `None` if a figure is missing; `Some(None)` if no request was answered.
fn parse(report: &str) -> Option<Option<Load>> {
    let after = |head: &str| report.lines().find_map(|line| line.trim_start().strip_prefix(head)).map(str::trim);
    let errors = match after("Socket errors:") {
        None => 0,
        Some(counts) => counts.split([' ', ',']).filter_map(|word| word.parse::<u64>().ok()).sum(),
    };
    let refused = after("Non-2xx or 3xx responses:").map_or(Some(0), |n| n.parse::<u64>().ok())?;
    let load = Load {
        requests: report.lines().find_map(|line| line.split_once(" requests in ")?.0.trim().parse().ok())?,
        requests_per_second: after("Requests/sec:")?.parse().ok()?,
        median: milliseconds(after("50%")?)?,
        slowest: milliseconds(after("99%")?)?,
        errors: errors + refused,
    };
    Some(Some(load).filter(|load| load.requests_per_second > 0.0))
}

/// Reads a time with its unit, as in `635.00us`.
fn milliseconds(time: &str) -> Option<f64> {
    let unit_at = time.find(char::is_alphabetic)?;
    let factor = match &time[unit_at..] {
        "us" => 1e-3,
        "ms" => 1.0,
        "s" => 1e3,
        "m" => 60e3,
        _ => return None,
    };
    Some(time[..unit_at].parse::<f64>().ok()? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "Running 1s test @ http://127.0.0.1:8080/
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   702.11us  201.03us   4.11ms   87.13%
    Req/Sec    91.22k     4.01k   96.33k    80.00%
  Latency Distribution
     50%  635.00us
     75%  712.00us
     90%    0.85ms
     99%    1.37s
  90921 requests in 1.00s, 5.20MB read
Requests/sec:  90711.31
Transfer/sec:      5.19MB
";

    #[test]
    fn reports_are_read() {
        let load = Load { requests: 90921.0, requests_per_second: 90711.31, median: 0.635, slowest: 1370.0, errors: 0 };
        assert_eq!(parse(REPORT), Some(Some(load)));
        let errors = "  Socket errors: connect 1, read 20, write 0, timeout 300\n  Non-2xx or 3xx responses: 4000\n";
        assert_eq!(parse(&format!("{REPORT}{errors}")), Some(Some(Load { errors: 4321, ..load })));
    }

    #[test]
    fn a_report_may_be_of_no_answers_or_none_at_all() {
        assert_eq!(parse(&REPORT.replace("90711.31", "0.00")), Some(None));
        assert_eq!(parse(&REPORT.replace("99%", "98%")), None);
        assert_eq!(parse("unable to connect to 127.0.0.1:8080 Connection refused\n"), None);
    }

    #[test]
    fn times_have_units() {
        assert_eq!(
            ["1.50s", "20.00ms", "2.00m", "3.00h", "7"].map(milliseconds),
            [Some(1500.0), Some(20.0), Some(120e3), None, None]
        );
    }
}
