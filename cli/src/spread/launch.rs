//! Starts the processing elements (PEs) of this machine.
//!
//! Each PE gets its membership in an environment variable: its number, how many there are, and its sockets
//! (`rts/src/spread/membership.rs`). There is a pair of sockets between each two PEs, and nothing in the file system.
//! A pair is made when the first of the two starts, and this command closes its copy of an end when that PE has it.
//! Each output of a PE is a pipe. PE 0 has this command's input, the others have none.
//!
//! In a run over several hosts a PE also gets a socket for datagrams, and one that leads to this process: the *agent*.
//! That has the run's key and all addresses as its one packet.
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
/// The most PEs of one machine. There is a pair of sockets for each two of them.
pub const MAX_ON_HOST: usize = 128;
/// Signals that a terminal sends to a process group.
pub const OF_TERMINAL: [i32; 3] = [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP];

/// A process of a run: a PE, or a command that has a host's PEs started.
pub struct Element {
    /// What messages call it.
    pub name: String,
    pub child: Child,
    pub outputs: Vec<Output>,
    pub ended: Option<ExitStatus>,
}

/// Which PEs are started here.
pub struct Part {
    pub first: usize,
    pub count: usize,
    pub total: usize,
    /// If there are others: a socket for each one, and what the agent says to each.
    pub others: Option<(Vec<OwnedFd>, Vec<u8>)>,
}

/// One of the outputs of a PE.
pub struct Output {
    /// The pipe, until its end.
    pub pipe: Option<File>,
    pub lines: Lines,
    /// The descriptor of this command that it goes to.
    pub to: RawFd,
    /// Has anything come?
    pub has_spoken: bool,
}

impl Output {
    pub fn new(pipe: Option<OwnedFd>, to: RawFd) -> Output {
        if let Some(pipe) = &pipe {
            // SAFETY: the descriptor is open.
            unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
        }
        Output { pipe: pipe.map(File::from), lines: Lines::default(), to, has_spoken: false }
    }

    /// Those of a process.
    pub fn of(child: &mut Child) -> Vec<Output> {
        vec![
            Output::new(child.stdout.take().map(OwnedFd::from), libc::STDOUT_FILENO),
            Output::new(child.stderr.take().map(OwnedFd::from), libc::STDERR_FILENO),
        ]
    }
}

/// Starts PEs by commands like `command`, with `mask` as the signals that they block. Also returns the agent's ends of
/// its sockets.
pub fn start(command: impl Fn() -> Command, part: Part, mask: libc::sigset_t) -> Result<(Vec<Element>, Vec<OwnedFd>)> {
    let Part { first, count, total, others } = part;
    let (needed, previous) = (descriptors(count), limit());
    let limit = raise_limit(previous);
    if needed > limit {
        return Err(Fail::new(format!(
            "{count} PEs need {needed} descriptors while they start, but the limit is {limit} (ulimit -Hn)"
        )));
    }
    let (mut elements, mut agent_ends) = (Vec::new(), Vec::new());
    let (datagrams, order) = others.map_or((None, vec![]), |(sockets, order)| (Some(sockets), order));
    let mut datagrams = datagrams.map(Vec::into_iter);
    // What the PEs that are to be started get: an end for each one that has been.
    let mut ends: VecDeque<Vec<OwnedFd>> = (0..count).map(|_| vec![]).collect();
    let mut start_next = |pe: usize, elements: &mut Vec<Element>| {
        let mut own = ends.pop_front().unwrap_or_default();
        for theirs in &mut ends {
            let (one, other) = socket_pair()?;
            own.push(one);
            theirs.push(other);
        }
        let mut membership = format!("{pe}/{total}:{}", listed(&own));
        if let Some(datagram) = datagrams.as_mut().and_then(Iterator::next) {
            let (ours, theirs) = socket_pair()?;
            say(&ours, &order)?;
            agent_ends.push(ours);
            let more = [datagram, theirs];
            membership += &format!(":{}", listed(&more));
            own.extend(more);
        }
        let mut command = command();
        if total > 1 {
            command.env(MEMBERSHIP, membership);
        } else {
            command.env_remove(MEMBERSHIP);
        }
        elements.push(start_one(command, pe, &own, mask, previous)?);
        Ok(())
    };
    if let Err(error) = (first..first + count).try_for_each(|pe| start_next(pe, &mut elements)) {
        let pe = first + elements.len();
        for element in &mut elements {
            let _ = element.child.kill();
            let _ = element.child.wait();
        }
        return Err(Fail::new(format!("cannot start PE {pe} of {total}: {}", reason(&error))));
    }
    Ok((elements, agent_ends))
}

fn listed(sockets: &[OwnedFd]) -> String {
    sockets.iter().map(|socket| socket.as_raw_fd().to_string()).collect::<Vec<_>>().join(",")
}

/// How many descriptors this command uses at most. Half way through, each PE that is started has an end with each that
/// is not; beside that there are pipes, and what this command has anyway.
fn descriptors(count: usize) -> u64 {
    let sockets = count.div_ceil(2) * count.div_ceil(2) + count;
    (sockets + 6 * count + 64) as u64
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

/// Sends a packet, for which a new socket has room.
fn say(socket: &OwnedFd, packet: &[u8]) -> io::Result<()> {
    // SAFETY: the packet lives until the call returns.
    let sent = unsafe { libc::send(socket.as_raw_fd(), packet.as_ptr().cast(), packet.len(), libc::MSG_NOSIGNAL) };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn start_one(
    mut command: Command,
    pe: usize,
    sockets: &[OwnedFd],
    mask: libc::sigset_t,
    limit: libc::rlimit,
) -> io::Result<Element> {
    let sockets: Vec<RawFd> = sockets.iter().map(AsRawFd::as_raw_fd).collect();
    if pe > 0 {
        command.stdin(Stdio::null());
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let launcher = std::process::id() as libc::pid_t;
    // SAFETY: it makes system calls only.
    unsafe { command.pre_exec(move || prepare(pe, &sockets, launcher, &mask, limit)) };
    let mut child = command.spawn()?;
    let outputs = Output::of(&mut child);
    Ok(Element { name: format!("PE {pe}"), child, outputs, ended: None })
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
