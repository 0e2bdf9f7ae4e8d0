//! Starts the processing elements (PEs) of a run.
//!
//! Each PE gets its membership in an environment variable: its number, how many there are, and its sockets
//! (`rts/src/spread/membership.rs`). There is a pair of sockets between each two PEs, and nothing in the file system.
//! A pair is made when the first of the two starts, and this command closes its copy of an end when that PE has it.
//! Each output of a PE is a pipe. PE 0 has this command's input, the others have none.
//!
//! *Invariants*
//!
//! - A PE dies when this command does.
//! - All PEs are in the process group of this command, so that PE 0 may read from the terminal. Signals that the
//!   terminal sends to the group are for PE 0: the others ignore them, and end with it.
use super::whole_lines::Lines;
use crate::error::{reason, Fail, Result};
use std::{
    collections::VecDeque,
    fs::File,
    io,
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd, RawFd},
        unix::process::CommandExt,
    },
    process::{Child, Command, ExitStatus, Stdio},
};

/// The environment variable that gives a process its membership.
pub const MEMBERSHIP: &str = "HECATON_SPREAD";
/// Signals that a terminal sends to a process group.
const OF_TERMINAL: [i32; 3] = [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP];

pub struct Element {
    pub child: Child,
    pub outputs: Vec<Output>,
    pub ended: Option<ExitStatus>,
}

/// One of the outputs of a PE.
pub struct Output {
    /// The pipe, until its end.
    pub pipe: Option<File>,
    pub lines: Lines,
    /// The descriptor of this command that it goes to.
    pub to: RawFd,
}

/// Starts `count` PEs by commands like `command`, with `mask` as the signals that they block.
pub fn start(command: impl Fn() -> Command, count: usize, mask: libc::sigset_t) -> Result<Vec<Element>> {
    let (needed, previous) = (descriptors(count), limit());
    let limit = raise_limit(previous);
    if needed > limit {
        return Err(Fail::new(format!(
            "{count} PEs need {needed} descriptors while they start, but the limit is {limit} (ulimit -Hn)"
        )));
    }
    let mut elements = Vec::new();
    // What the PEs that are to be started get: an end for each one that has been.
    let mut ends: VecDeque<Vec<OwnedFd>> = (0..count).map(|_| vec![]).collect();
    let mut start_next = |pe: usize, elements: &mut Vec<Element>| {
        let mut own = ends.pop_front().unwrap_or_default();
        for theirs in &mut ends {
            let (one, other) = socket_pair()?;
            own.push(one);
            theirs.push(other);
        }
        elements.push(start_one(command(), (pe, count), &own, mask, previous)?);
        Ok(())
    };
    if let Err(error) = (0..count).try_for_each(|pe| start_next(pe, &mut elements)) {
        let pe = elements.len();
        for element in &mut elements {
            let _ = element.child.kill();
            let _ = element.child.wait();
        }
        return Err(Fail::new(format!("cannot start PE {pe} of {count}: {}", reason(&error))));
    }
    Ok(elements)
}

/// How many descriptors this command uses at most. Half way through, each PE that is started has an end with each that
/// is not; beside that there are pipes, and what this command has anyway.
fn descriptors(count: usize) -> u64 {
    let sockets = count.div_ceil(2) * count.div_ceil(2) + count;
    (sockets + 4 * count + 64) as u64
}

/// This command's limit of descriptors.
fn limit() -> libc::rlimit {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is a live local.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    limit
}

/// Raises it as far as is permitted. The PEs get the one that was.
fn raise_limit(previous: libc::rlimit) -> u64 {
    let raised = libc::rlimit { rlim_cur: previous.rlim_max, ..previous };
    // SAFETY: the limit is a live local.
    if unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raised) } == 0 {
        raised.rlim_cur
    } else {
        previous.rlim_cur
    }
}

fn socket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: the array has room for two descriptors, which are new.
    unsafe {
        match libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) {
            0 => Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1]))),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

fn start_one(
    mut command: Command,
    (pe, count): (usize, usize),
    sockets: &[OwnedFd],
    mask: libc::sigset_t,
    limit: libc::rlimit,
) -> io::Result<Element> {
    let sockets: Vec<RawFd> = sockets.iter().map(AsRawFd::as_raw_fd).collect();
    let listed: Vec<String> = sockets.iter().map(ToString::to_string).collect();
    command.env(MEMBERSHIP, format!("{pe}/{count}:{}", listed.join(",")));
    command.stdin(if pe == 0 { Stdio::inherit() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let launcher = std::process::id() as libc::pid_t;
    // SAFETY: it makes system calls only.
    unsafe { command.pre_exec(move || prepare(pe, &sockets, launcher, &mask, limit)) };
    let mut child = command.spawn()?;
    let output = |pipe: Option<OwnedFd>, to| Output { pipe: pipe.map(File::from), lines: Lines::default(), to };
    let outputs = vec![
        output(child.stdout.take().map(OwnedFd::from), libc::STDOUT_FILENO),
        output(child.stderr.take().map(OwnedFd::from), libc::STDERR_FILENO),
    ];
    for pipe in outputs.iter().filter_map(|output| output.pipe.as_ref()) {
        // SAFETY: the descriptor is open.
        unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
    }
    Ok(Element { child, outputs, ended: None })
}

/// Runs in the child before the program does. It makes system calls only.
fn prepare(
    pe: usize,
    sockets: &[RawFd],
    launcher: libc::pid_t,
    mask: &libc::sigset_t,
    limit: libc::rlimit,
) -> io::Result<()> {
    // SAFETY: takes plain numbers and a live set.
    unsafe {
        if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
            return Err(io::Error::last_os_error());
        }
        // This command has died before that.
        if libc::getppid() != launcher {
            libc::_exit(1);
        }
        libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        for &socket in sockets {
            libc::fcntl(socket, libc::F_SETFD, 0);
        }
        if pe > 0 {
            for signal in OF_TERMINAL {
                libc::signal(signal, libc::SIG_IGN);
            }
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, mask, std::ptr::null_mut());
    }
    Ok(())
}
