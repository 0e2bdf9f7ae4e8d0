//! Counts the system calls of a running program: with perf, which does not disturb it, where it is installed and the
//! kernel permits; otherwise with strace, which stops the program at each call.
use crate::error::{reason, Fail, Result};
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// The calls that happened, by name.
pub type Calls = BTreeMap<String, f64>;

/// A tool that counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tracer {
    Perf,
    Strace,
}

impl Tracer {
    /// The better one that works here: tries to count what this process does.
    pub fn find(work: &Path) -> Tracer {
        match count_by_perf(std::process::id(), Duration::ZERO, &work.join("calls")) {
            Ok(_) => Tracer::Perf,
            Err(_) => Tracer::Strace,
        }
    }

    /// Counts the calls of process `id` and all its threads for a while. The counts go through a file in `work`.
    pub fn count(self, id: u32, during: Duration, work: &Path) -> Result<Calls> {
        let file = work.join("calls");
        let parse = match self {
            Tracer::Perf => {
                count_by_perf(id, during, &file)?;
                parse_perf
            }
            Tracer::Strace => {
                count_by_strace(id, during, &file)?;
                parse_strace
            }
        };
        let counts = fs::read_to_string(&file).map_err(|e| Fail::io("read", &file, e))?;
        let calls = Some(parse(&counts)).filter(|calls| !calls.is_empty());
        calls.ok_or_else(|| Fail::new(format!("{self:?} counted no system call")))
    }
}

fn count_by_perf(id: u32, during: Duration, file: &Path) -> Result<()> {
    let mut command = Command::new("perf");
    command.args(["stat", "-x,", "-e", &format!("{PERF_EVENT}*"), "-o"]).arg(file).args(["-p", &id.to_string()]);
    command.args(["--", "sleep", &during.as_secs_f64().to_string()]);
    let out = command.output().map_err(|e| Fail::new(format!("cannot run perf: {}", reason(&e))))?;
    if out.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&out.stderr).trim().to_owned();
    Err(Fail::new(format!("perf cannot count system calls: {}", said.lines().next().unwrap_or("it said nothing"))))
}

const PERF_EVENT: &str = "syscalls:sys_enter_";

/// Reads lines of `count,unit,event,…`.
fn parse_perf(counts: &str) -> Calls {
    let call = |line: &str| {
        let mut fields = line.split(',');
        let count = fields.next()?.parse().ok().filter(|&count| count > 0.0)?;
        Some((fields.nth(1)?.strip_prefix(PERF_EVENT)?.to_owned(), count))
    };
    counts.lines().filter_map(call).collect()
}

/// strace needs this long at most to attach to a program.
const ATTACH: Duration = Duration::from_secs(10);

fn count_by_strace(id: u32, during: Duration, file: &Path) -> Result<()> {
    let mut command = Command::new("strace");
    command.args(["-f", "-c", "-o"]).arg(file).args(["-p", &id.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut strace = command.spawn().map_err(|e| Fail::new(format!("cannot run strace: {}", reason(&e))))?;
    let attached = wait_until_attached(id, &mut strace);
    if attached.is_ok() {
        sleep(during);
    }
    // SAFETY: plain numbers. At this signal strace detaches and writes its summary.
    unsafe { libc::kill(strace.id() as i32, libc::SIGINT) };
    strace.wait().map_err(|e| Fail::new(format!("cannot wait for strace: {}", reason(&e))))?;
    attached
}

fn wait_until_attached(id: u32, strace: &mut Child) -> Result<()> {
    let started = Instant::now();
    while started.elapsed() < ATTACH {
        let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        if status.lines().any(|l| l.strip_prefix("TracerPid:").is_some_and(|tracer| tracer.trim() != "0")) {
            return Ok(());
        }
        if matches!(strace.try_wait(), Ok(Some(_))) {
            break;
        }
        sleep(Duration::from_millis(2));
    }
    Err(Fail::new("strace cannot attach to a process here (it needs ptrace)"))
}

/// Reads lines of `% time, seconds, usecs/call, calls, errors, syscall`; the errors may be missing.
fn parse_strace(summary: &str) -> Calls {
    let call = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let name = *words.last().filter(|name| **name != "total")?;
        let count = words.get(3)?.parse().ok()?;
        Some((name.to_owned(), count))
    };
    summary.lines().filter_map(call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_strace_are_read() {
        let summary = "% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.00    0.123456          12     10000           sendto
 40.00    0.100000          10     12000      2000 recvfrom
------ ----------- ----------- --------- --------- ----------------
100.00    0.223456          11     22000      2000 total
";
        let calls: Vec<(String, f64)> = parse_strace(summary).into_iter().collect();
        assert_eq!(calls, [("recvfrom".to_owned(), 12000.0), ("sendto".to_owned(), 10000.0)]);
        assert!(parse_strace("strace: attach: ptrace(PTRACE_SEIZE, 7): Operation not permitted\n").is_empty());
    }

    #[test]
    fn counts_of_perf_are_read() {
        let counts = "# started on Sat Nov 28 09:57:57 2026

58216,,syscalls:sys_enter_sendto,1000391424,100.00,,
0,,syscalls:sys_enter_socket,1000391424,100.00,,
<not counted>,,syscalls:sys_enter_recvfrom,0,100.00,,
";
        let calls: Vec<(String, f64)> = parse_perf(counts).into_iter().collect();
        assert_eq!(calls, [("sendto".to_owned(), 58216.0)]);
    }

    #[test]
    fn a_process_that_does_not_exist_is_reported() {
        // Above the largest number of a process.
        for tracer in [Tracer::Perf, Tracer::Strace] {
            assert!(tracer.count(1 << 30, Duration::ZERO, &std::env::temp_dir()).is_err());
        }
    }
}
