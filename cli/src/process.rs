//! Runs a program to its end within a time limit, and returns its output, how it ended and what it used.
//!
//! The program leads a process group of its own. A watchdog kills the group at the time limit; whatever is left of the
//! group when the program ends is killed too, and the program itself when this command dies, so that nothing outlives a
//! test. A command that has called [`kill_groups_on_interrupt`] kills whole groups when a signal ends it.
use crate::error::{reason, Fail, Result};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
    low_level::emulate_default_handler,
};
use std::{
    fs::{self, File},
    io::{self, Write},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::Path,
    process::{Command, ExitStatus, Stdio},
    sync::{
        mpsc::{channel, RecvTimeoutError},
        Mutex,
    },
    thread,
    time::{Duration, Instant},
};

/// The largest file a program under test may write, its outputs included.
const LARGEST_FILE: u64 = 256 << 20;
/// The leaders of the process groups that run. A group is started with the lock held.
static LEADERS: Mutex<Vec<i32>> = Mutex::new(Vec::new());

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    Exit(i32),
    Signal(i32),
    TimeLimit,
}

pub struct Outcome {
    pub end: End,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub elapsed: Duration,
    /// User and system time, of the processes it waited for too.
    pub cpu: Duration,
    pub peak_bytes: u64,
}

/// How a program ended, and what it used.
pub struct Ended {
    pub end: End,
    pub elapsed: Duration,
    cpu: Duration,
    peak_bytes: u64,
}

impl End {
    /// `exit 2`, `killed by SIGSEGV`, `over the time limit`.
    pub fn describe(self) -> String {
        match self {
            End::Exit(code) => format!("exit {code}"),
            End::Signal(number) => format!("killed by {}", signal_name(number)),
            End::TimeLimit => "over the time limit".to_owned(),
        }
    }
}

pub fn signal_name(number: i32) -> String {
    let known = [
        (libc::SIGHUP, "SIGHUP"),
        (libc::SIGINT, "SIGINT"),
        (libc::SIGQUIT, "SIGQUIT"),
        (libc::SIGILL, "SIGILL"),
        (libc::SIGTRAP, "SIGTRAP"),
        (libc::SIGABRT, "SIGABRT"),
        (libc::SIGBUS, "SIGBUS"),
        (libc::SIGFPE, "SIGFPE"),
        (libc::SIGKILL, "SIGKILL"),
        (libc::SIGUSR1, "SIGUSR1"),
        (libc::SIGSEGV, "SIGSEGV"),
        (libc::SIGUSR2, "SIGUSR2"),
        (libc::SIGPIPE, "SIGPIPE"),
        (libc::SIGALRM, "SIGALRM"),
        (libc::SIGTERM, "SIGTERM"),
        (libc::SIGXFSZ, "SIGXFSZ"),
        (libc::SIGVTALRM, "SIGVTALRM"),
        (libc::SIGSYS, "SIGSYS"),
    ];
    known.iter().find(|(n, _)| *n == number).map_or_else(|| format!("signal {number}"), |(_, name)| (*name).to_owned())
}

/// Runs `command`, with `stdin` as its input; its outputs go through files in `work`.
pub fn run(mut command: Command, stdin: &[u8], limit: Duration, work: &Path) -> Result<Outcome> {
    let file = |name: &str| work.join(name);
    let (input, output, errors) = (file("stdin"), file("stdout"), file("stderr"));
    let ready = || -> io::Result<(File, File, File)> {
        File::create(&input)?.write_all(stdin)?;
        Ok((File::open(&input)?, File::create(&output)?, File::create(&errors)?))
    };
    let (from, out, err) = ready().map_err(|e| Fail::io("prepare", work, e))?;
    command.stdin(Stdio::from(from)).stdout(Stdio::from(out)).stderr(Stdio::from(err));
    // SAFETY: what it calls is async-signal-safe, and it allocates nothing.
    unsafe { command.pre_exec(limit_files) };
    let name = command.get_program().to_string_lossy().into_owned();
    let Ended { end, elapsed, cpu, peak_bytes } =
        run_to_end(command, limit).map_err(|e| Fail::new(format!("cannot run {name}: {}", reason(&e))))?;
    let read = |path: &Path| fs::read(path).map_err(|e| Fail::io("read", path, e));
    Ok(Outcome { end, stdout: read(&output)?, stderr: read(&errors)?, elapsed, cpu, peak_bytes })
}

/// Runs `command` as the leader of a process group, on the inputs and outputs that it has.
pub fn run_to_end(mut command: Command, limit: Duration) -> io::Result<Ended> {
    command.process_group(0);
    // SAFETY: what it calls is async-signal-safe, and it allocates nothing.
    unsafe { command.pre_exec(leave_nothing) };
    let started = Instant::now();
    let leader = {
        let mut leaders = LEADERS.lock().expect("no holder panics");
        let leader = command.spawn()?.id() as i32;
        leaders.push(leader);
        leader
    };
    let waited = wait(leader, limit);
    LEADERS.lock().expect("no holder panics").retain(|&l| l != leader);
    let (status, usage, timed_out) = waited?;
    let end = match (timed_out, status.code(), status.signal()) {
        (true, _, _) => End::TimeLimit,
        (_, Some(code), _) => End::Exit(code),
        (_, _, signal) => End::Signal(signal.unwrap_or(0)),
    };
    let cpu = duration(usage.ru_utime) + duration(usage.ru_stime);
    Ok(Ended { end, elapsed: started.elapsed(), cpu, peak_bytes: usage.ru_maxrss as u64 * 1024 })
}

/// From now on, a signal that ends this command kills the process groups that it runs. Without this only their leaders
/// die.
pub fn kill_groups_on_interrupt() -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
        .map_err(|e| Fail::new(format!("cannot wait for signals: {}", reason(&e))))?;
    thread::spawn(move || {
        let Some(signal) = signals.forever().next() else { return };
        // Held until the end, so that no other group is started.
        let leaders = LEADERS.lock().expect("no holder panics");
        leaders.iter().for_each(|&leader| kill_group(leader));
        emulate_default_handler(signal).expect("the signal has a default");
    });
    Ok(())
}

fn duration(time: libc::timeval) -> Duration {
    Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000)
}

/// Waits for child `pid`, a group leader; true if it was killed at the time limit.
fn wait(pid: i32, limit: Duration) -> io::Result<(ExitStatus, libc::rusage, bool)> {
    let (ended, watch) = channel::<()>();
    let watchdog = thread::spawn(move || {
        let late = watch.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
        if late {
            kill_group(pid);
        }
        late
    });
    let mut status = 0;
    // SAFETY: all-zero bytes are a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let waited = loop {
        // SAFETY: both pointers are to live locals.
        if unsafe { libc::wait4(pid, &mut status, 0, &mut usage) } == pid {
            break Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            break Err(error);
        }
    };
    drop(ended);
    let late = watchdog.join().expect("the watchdog does not panic");
    kill_group(pid);
    waited.map(|()| (ExitStatus::from_raw(status), usage, late))
}

/// Kills what there is of a process group.
pub fn kill_group(leader: i32) {
    // SAFETY: no memory is involved; a group that is gone is no harm.
    unsafe { libc::kill(-leader, libc::SIGKILL) };
}

/// Leaves `command` the first `cores` of the cores that this process may use.
pub fn confine(command: &mut Command, cores: usize) -> Result<()> {
    // SAFETY: all-zero bytes are a valid, empty set.
    let (mut ours, mut theirs): (libc::cpu_set_t, libc::cpu_set_t) = unsafe { std::mem::zeroed() };
    let size = size_of::<libc::cpu_set_t>();
    // SAFETY: the pointer is to a live local of that size.
    if unsafe { libc::sched_getaffinity(0, size, &mut ours) } != 0 {
        return Err(Fail::new(format!("cannot ask which cores there are: {}", reason(&io::Error::last_os_error()))));
    }
    // SAFETY: indices are below the sets' size.
    let usable = (0..libc::CPU_SETSIZE as usize).filter(|&core| unsafe { libc::CPU_ISSET(core, &ours) });
    // SAFETY: as above.
    usable.take(cores).for_each(|core| unsafe { libc::CPU_SET(core, &mut theirs) });
    let set = move || match unsafe { libc::sched_setaffinity(0, size, &theirs) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    };
    // SAFETY: `set` makes one system call and allocates nothing.
    unsafe { command.pre_exec(set) };
    Ok(())
}

/// Runs in the child before the program does. It makes system calls only.
pub fn prepare_child() -> io::Result<()> {
    limit_files()?;
    leave_nothing()
}

/// In the child: no file that it writes is larger than [`LARGEST_FILE`].
fn limit_files() -> io::Result<()> {
    limit(libc::RLIMIT_FSIZE, LARGEST_FILE)
}

/// In the child: it dies with this command, and leaves no core.
fn leave_nothing() -> io::Result<()> {
    // SAFETY: takes plain numbers.
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } != 0 {
        return Err(io::Error::last_os_error());
    }
    limit(libc::RLIMIT_CORE, 0)
}

fn limit(what: libc::__rlimit_resource_t, bytes: u64) -> io::Result<()> {
    let bounds = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: the pointer is to a live local.
    match unsafe { libc::setrlimit(what, &bounds) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Outcome {
        let work =
            std::env::temp_dir().join(format!("hecaton-process-{}-{:?}", std::process::id(), thread::current().id()));
        fs::create_dir_all(&work).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let outcome = run(command, b"in", limit, &work).unwrap();
        fs::remove_dir_all(&work).unwrap();
        outcome
    }

    #[test]
    fn outputs_and_ends_are_seen() {
        let minute = Duration::from_secs(60);
        let said = shell("cat; echo err >&2; exit 3", minute);
        assert_eq!((said.end, &said.stdout[..], &said.stderr[..]), (End::Exit(3), &b"in"[..], &b"err\n"[..]));
        assert_eq!(shell("kill -SEGV $$", minute).end.describe(), "killed by SIGSEGV");
        assert_eq!(shell("sleep 50", Duration::from_millis(50)).end, End::TimeLimit);
    }

    #[test]
    fn a_program_can_be_left_one_core() {
        let mut command = Command::new("nproc");
        confine(&mut command, 1).unwrap();
        assert_eq!(command.output().unwrap().stdout, b"1\n");
    }
}
