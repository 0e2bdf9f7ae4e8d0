//! The agent of a host: it starts the processing elements (PEs) of that host for a launcher on another one
//! (`remote.rs`), watches them, and ends them when the launcher has ended or cannot be heard any more.
//!
//! Standard input brings frames. Standard output and standard error are those of the PEs, but for the line with ports.
use super::assignment::{read_table, Assignment, Places};
use super::frames::{Frames, Kind};
use super::launch::{self, Element, Part, OF_TERMINAL};
use super::pipe::{has_hung_up, is_readable, read_from, Pipe};
use super::remote::PORTS;
use super::watch::{self, Channel, End, Signals};
use crate::elf::{self, Verdict};
use crate::error::{reason, Fail, Result};
use std::{
    env, fs, io,
    net::{IpAddr, Ipv4Addr, ToSocketAddrs, UdpSocket},
    ops::Range,
    os::fd::OwnedFd,
    path::Path,
    process::{Command, Stdio},
};

/// The name of the command.
pub const COMMAND: &str = "spread-host";
/// The exit code of an agent that has said why it failed.
pub const FAILED: i32 = 1;
/// Bytes of input that are kept while PE 0 reads none. Signals that come after more than that wait, too.
const KEPT_INPUT: usize = 16 << 20;

/// Writing to what nobody reads is an error then, and no signal. Programs that are started get the signal.
pub fn ignore_broken_pipes() {
    // SAFETY: no handler is replaced.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}

/// Does what the launcher says.
pub fn run() -> Result<()> {
    ignore_broken_pipes();
    // SAFETY: no memory is involved. It fails if this process leads a group already. What has started it ignores the
    // signals of a terminal; PE 0 does not.
    unsafe {
        libc::setsid();
        for signal in OF_TERMINAL {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
    let mut launcher = Launcher {
        frames: Frames::default(),
        is_heard: true,
        input: None,
        agent_ends: vec![],
        leads: false,
        host: String::new(),
    };
    let Some(contents) = launcher.wait_for(Kind::Assignment)? else { return Err(Fail::silent(1)) };
    let assignment = Assignment::read(&contents);
    let assignment = assignment.ok_or_else(|| Fail::new("another version of hecaton has started this one"))?;
    let host = assignment.host.clone();
    launcher.host.clone_from(&host);
    if let Some((name, value)) = assignment.environment.iter().find(|(name, _)| name == watch::LOSS) {
        env::set_var(name, value);
    }
    run_part(assignment, launcher).map_err(|fail| match fail.message.is_empty() {
        true => fail,
        false => Fail { message: format!("host {host}: {}", fail.message), ..fail },
    })
}

fn run_part(assignment: Assignment, mut launcher: Launcher) -> Result<()> {
    let Assignment { key, first, count, total, folder, environment, command, .. } = assignment;
    // If there is none of this name here, it stays the one in which commands of the user begin.
    let _ = env::set_current_dir(folder);
    let program = Path::new(&command[0]);
    fs::metadata(program).map_err(|error| Fail::io("find", program, error))?;
    if let Verdict::Refused(why) = elf::examine_static(program) {
        return Err(Fail::new(format!("{} {why}", program.display())));
    }
    let signals = Signals::block()?;
    let bind = |_| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0));
    let no_socket = |error: io::Error| Fail::new(format!("cannot make a socket: {}", reason(&error)));
    let sockets = (0..count).map(bind).collect::<io::Result<Vec<_>>>().map_err(no_socket)?;
    let ports = sockets.iter().map(|socket| Ok(socket.local_addr()?.port().to_string()));
    let ports = ports.collect::<io::Result<Vec<_>>>().map_err(no_socket)?;
    watch::put(libc::STDOUT_FILENO, format!("{PORTS}{}\n", ports.join(" ")).as_bytes())?;
    let Some(contents) = launcher.wait_for(Kind::Table)? else { return Err(Fail::silent(1)) };
    let table = read_table(&contents).ok_or_else(not_understood)?;
    let order = [&key[..], &addresses(&table, first..first + count)?].concat();
    if order.len() != key.len() + 6 * total {
        return Err(not_understood());
    }
    let sockets = sockets.into_iter().map(OwnedFd::from).collect();
    let others = (total > 1).then_some((sockets, order));
    let make = || {
        let mut made = Command::new(&command[0]);
        made.args(&command[1..]).envs(environment.iter().cloned());
        if first == 0 {
            made.stdin(Stdio::piped());
        }
        made
    };
    let (mut elements, agent_ends) = launch::start(make, Part { first, count, total, others }, signals.previous())?;
    launcher.agent_ends = agent_ends;
    launcher.leads = first == 0;
    launcher.input = Some(Pipe::new(elements[0].child.stdin.take().map(OwnedFd::from)));
    match watch::to_the_end(elements, &signals, &mut launcher)? {
        End::Exit(0) => Ok(()),
        End::Exit(code) => Err(Fail::silent(code)),
        // What reaches hosts may not pass on signals.
        End::Signal(signal) => Err(Fail::silent(128 + signal)),
    }
}

fn not_understood() -> Fail {
    Fail::new("what the launcher says is not understood")
}

/// What the PEs of this host are told of the others: six bytes for each one. Those of this host are `own`.
fn addresses(table: &[Places], own: Range<usize>) -> Result<Vec<u8>> {
    let (mut bytes, mut pe) = (vec![], 0);
    for Places { address, ports } in table {
        let mut found = None;
        for port in ports {
            if own.contains(&pe) {
                bytes.extend([0; 6]);
            } else {
                let ip = found.map_or_else(|| resolve(address), Ok)?;
                found = Some(ip);
                bytes.extend(ip.octets());
                bytes.extend(port.to_be_bytes());
            }
            pe += 1;
        }
    }
    Ok(bytes)
}

fn resolve(name: &str) -> Result<Ipv4Addr> {
    let unknown = |why: &str| Fail::new(format!("cannot find the address of host {name}: {why}"));
    let all = (name, 0).to_socket_addrs().map_err(|error| unknown(&reason(&error)))?;
    let of_version_4 = |address: std::net::SocketAddr| match address.ip() {
        IpAddr::V4(ip) => Some(ip),
        IpAddr::V6(_) => None,
    };
    all.into_iter().find_map(of_version_4).ok_or_else(|| unknown("it has none of IPv4"))
}

/// The channel to the launcher.
struct Launcher {
    frames: Frames,
    is_heard: bool,
    /// That of PE 0, if it is here.
    input: Option<Pipe>,
    agent_ends: Vec<OwnedFd>,
    leads: bool,
    /// What the launcher calls this host.
    host: String,
}

impl Launcher {
    /// Waits for a frame of a kind. `None`: the launcher has gone.
    fn wait_for(&mut self, kind: Kind) -> Result<Option<Vec<u8>>> {
        loop {
            match self.frames.take() {
                Ok(Some((got, contents))) if got == kind => return Ok(Some(contents)),
                Ok(None) => {}
                _ => return Err(not_understood()),
            }
            if !self.read() {
                return Ok(None);
            }
        }
    }

    /// Reads what has come, or waits. False at the end.
    fn read(&mut self) -> bool {
        let mut bytes = [0; 64 << 10];
        match read_from(libc::STDIN_FILENO, &mut bytes) {
            Ok(length) => {
                self.frames.add(&bytes[..length]);
                self.is_heard = length > 0;
            }
            Err(error) => {
                self.is_heard = matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock);
            }
        }
        self.is_heard
    }

    /// How much input waits for PE 0.
    fn kept(&self) -> usize {
        self.input.as_ref().map_or(0, Pipe::waiting)
    }
}

impl Channel for Launcher {
    fn leads(&self) -> bool {
        self.leads
    }

    fn watched(&self) -> Vec<libc::pollfd> {
        // Even without events, the end is told.
        let events = if self.kept() < KEPT_INPUT { libc::POLLIN } else { 0 };
        let input = libc::pollfd { fd: libc::STDIN_FILENO, events, revents: 0 };
        let input = self.is_heard.then_some(input);
        self.input.iter().filter_map(Pipe::watched).chain(input).collect()
    }

    fn work(&mut self, elements: &mut [Element]) -> Result<bool> {
        while self.is_heard && self.kept() < KEPT_INPUT && is_readable(libc::STDIN_FILENO) {
            self.read();
            while let Some((kind, contents)) = self.frames.take().map_err(|()| not_understood())? {
                match (kind, &mut self.input) {
                    (Kind::Input, Some(input)) => input.buffer().extend_from_slice(&contents),
                    (Kind::EndOfInput, Some(input)) => input.end(),
                    (Kind::Signal, _) => {
                        let signal = contents.try_into().map_err(|_| not_understood())?;
                        elements[0].signal(i32::from_le_bytes(signal));
                    }
                    _ => return Err(not_understood()),
                }
            }
        }
        if let Some(input) = &mut self.input {
            input.flush();
        }
        // What is not read yet is for nobody then.
        self.is_heard &= self.kept() < KEPT_INPUT || !has_hung_up(libc::STDIN_FILENO);
        match self.is_heard {
            // PE 0 runs on, but nobody hears it.
            false if self.leads => Err(Fail::silent(1)),
            is_heard => Ok(is_heard),
        }
    }

    fn on_signal(&mut self, elements: &[Element], signal: i32, by_process: bool) {
        if by_process && self.leads {
            elements[0].signal(signal);
        }
    }

    fn on_loss(&mut self, element: &Element) -> Result<()> {
        let loss = self.loss_of(element);
        if watch::ends_by_loss() {
            return Err(loss);
        }
        watch::say_loss(&Fail { message: format!("host {}: {}", self.host, loss.message), ..loss })
    }

    fn on_end(&mut self) {
        self.agent_ends.clear();
    }
}
