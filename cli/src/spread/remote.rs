//! Starts agents on the hosts of a run (`agent.rs`), and connects them with this command, the *launcher*.
//!
//! *Protocol*
//!
//! 1. For each host this command runs `HECATON_RSH HOST COMMAND`. COMMAND becomes the agent of that host.
//! 2. Each agent is told through its standard input which processing elements (PEs) it starts. It answers with a line
//!    that begins with [`PORTS`] on its standard output, and is then told where all PEs are.
//! 3. From then on its outputs are those of its PEs, and its exit code is that of PE 0, if it has that one. Input and
//!    signals go to the agent of PE 0, through its standard input.
//! 4. An agent whose standard input is closed ends its PEs. So the run ends when this command does, or a connection.
//!
//! The key of the run is on no command line and in no environment. Standard input is read ahead of the program.
use super::agent;
use super::assignment::{write_table, Assignment, Places};
use super::frames::{self, Kind};
use super::hosts::Host;
use super::launch::{Element, Output, OF_TERMINAL};
use super::pipe::{is_readable, read_from, Pipe};
use super::watch::{self, Channel, End, Signals};
use crate::error::{reason, Fail, Result};
use std::{
    env,
    ffi::OsString,
    fs::File,
    io::{self, Read},
    os::{fd::OwnedFd, unix::process::CommandExt},
    process::{Command, Stdio},
};

/// The environment variable with the command that reaches a host.
const RSH: &str = "HECATON_RSH";
/// How an agent's answer begins.
pub const PORTS: &str = "hecaton-ports ";
/// Bytes of input that are read ahead while an agent takes none.
const READ_AHEAD: usize = 64 << 10;

/// Runs a program, given by its whole path and its arguments, over several hosts.
pub fn run(hosts: &[Host], program: &[OsString], signals: &Signals) -> Result<End> {
    agent::ignore_broken_pipes();
    let mut agents = Agents { pipes: vec![], has_input: true, is_over: false };
    let mut elements = start(hosts, program, signals, &mut agents)?;
    let met = meet(hosts, &mut elements, signals, &mut agents);
    if let Err(fail) = met {
        watch::kill(&mut elements);
        return Err(fail);
    }
    watch::to_the_end(elements, signals, &mut agents)
}

/// Starts the commands that reach the hosts, and tells the agents what they are to start.
fn start(hosts: &[Host], program: &[OsString], signals: &Signals, agents: &mut Agents) -> Result<Vec<Element>> {
    let rsh = env::var(RSH).unwrap_or_else(|_| "ssh".to_owned());
    let words = shlex::split(&rsh).filter(|words| !words.is_empty());
    let words = words.ok_or_else(|| Fail::new(format!("{RSH} is not a command: {rsh}")))?;
    let own = env::current_exe().ok().and_then(|path| path.into_os_string().into_string().ok());
    let own = own.as_deref().and_then(|path| shlex::try_quote(path).ok());
    let own = own.ok_or_else(|| Fail::new("cannot tell the path of this command"))?;
    let mut key = [0; super::assignment::KEY];
    File::open("/dev/urandom").and_then(|mut f| f.read_exact(&mut key)).map_err(|e| failed("make a key", &e))?;
    let passed_on = |name: &OsString| {
        let name = name.to_string_lossy();
        name.starts_with("HECATON_") && name != RSH && name != super::launch::MEMBERSHIP
    };
    let total = hosts.iter().map(|host| host.count).sum();
    let (mut elements, mut first) = (vec![], 0);
    for host in hosts {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).arg(&host.name).arg(format!("exec {own} {}", agent::COMMAND));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (launcher, mask) = (std::process::id() as libc::pid_t, signals.previous());
        // SAFETY: it makes system calls only.
        unsafe { command.pre_exec(move || prepare(launcher, &mask)) };
        let started = command.spawn();
        let mut child = match started {
            Ok(child) => child,
            Err(error) => {
                watch::kill(&mut elements);
                return Err(failed(&format!("run {}", words[0]), &error));
            }
        };
        let assignment = Assignment {
            key,
            host: host.name.clone(),
            first,
            count: host.count,
            total,
            folder: env::current_dir().map(OsString::from).unwrap_or_default(),
            environment: env::vars_os().filter(|(name, _)| passed_on(name)).collect(),
            command: program.to_vec(),
        };
        let mut pipe = Pipe::new(child.stdin.take().map(OwnedFd::from));
        frames::put(pipe.buffer(), Kind::Assignment, &assignment.write());
        agents.pipes.push(pipe);
        let outputs = Output::of(&mut child);
        elements.push(Element { name: format!("host {}", host.name), child, outputs, ended: None });
        first += host.count;
    }
    Ok(elements)
}

fn failed(what: &str, error: &io::Error) -> Fail {
    Fail::new(format!("cannot {what}: {}", reason(error)))
}

/// Runs in a child before the command that reaches a host does. That must not take signals of the terminal, which are
/// for PE 0. It makes system calls only.
fn prepare(launcher: libc::pid_t, mask: &libc::sigset_t) -> io::Result<()> {
    // SAFETY: takes plain numbers and a live set.
    unsafe {
        if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
            return Err(io::Error::last_os_error());
        }
        if libc::getppid() != launcher {
            libc::_exit(1);
        }
        for signal in OF_TERMINAL {
            libc::signal(signal, libc::SIG_IGN);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, mask, std::ptr::null_mut());
    }
    Ok(())
}

/// Waits until all agents have answered, and tells them where all PEs are.
fn meet(hosts: &[Host], elements: &mut [Element], signals: &Signals, agents: &mut Agents) -> Result<()> {
    let mut ports: Vec<Option<Vec<u16>>> = vec![None; hosts.len()];
    let mut said: Vec<Vec<u8>> = vec![vec![]; hosts.len()];
    while ports.iter().any(Option::is_none) {
        agents.pipes.iter_mut().for_each(Pipe::flush);
        let pipes = agents.pipes.iter().filter_map(Pipe::watched).collect();
        watch::wait_for_some(elements, signals, pipes, None);
        if let Some((signal, _)) = signals.arrived().first() {
            watch::kill(elements);
            watch::end_by(*signal);
        }
        for (no, element) in elements.iter_mut().enumerate() {
            while element.outputs[1].pass_on()? {}
            let has_ended = element.outputs[0].read_into(&mut said[no]);
            if ports[no].is_none() {
                ports[no] = answer(&mut said[no], hosts[no].count)?;
            }
            if has_ended && ports[no].is_none() {
                element.ended = element.child.wait().ok();
                while element.outputs[1].pass_on()? {}
                return Err(agents.loss_of(element));
            }
        }
    }
    // `localhost` is another host elsewhere.
    let all_here = hosts.iter().all(|host| host.address() == "localhost");
    let address = |host: &Host| match host.address() {
        "localhost" if !all_here => own_name(),
        name => name.to_owned(),
    };
    let places = hosts
        .iter()
        .zip(ports)
        .map(|(host, ports)| Places { address: address(host), ports: ports.unwrap_or_default() });
    let table = write_table(&places.collect::<Vec<_>>());
    agents.pipes.iter_mut().for_each(|pipe| frames::put(pipe.buffer(), Kind::Table, &table));
    Ok(())
}

/// The ports, if the agent has answered. What comes before that is not the agent's, but of what has started it.
fn answer(said: &mut Vec<u8>, count: usize) -> Result<Option<Vec<u16>>> {
    while let Some(end) = said.iter().position(|&byte| byte == b'\n') {
        let line: Vec<u8> = said.drain(..=end).collect();
        let text = String::from_utf8_lossy(&line);
        if let Some(listed) = text.strip_prefix(PORTS) {
            let ports: Option<Vec<u16>> = listed.split_whitespace().map(|port| port.parse().ok()).collect();
            let ports = ports.filter(|ports| ports.len() == count);
            return ports.map(Some).ok_or_else(|| Fail::new("what an agent says is not understood"));
        }
        watch::put(libc::STDERR_FILENO, &line)?;
    }
    Ok(None)
}

/// An agent that fails says why.
fn has_failed(element: &Element) -> bool {
    matches!(watch::end_of(element), End::Exit(agent::FAILED)) && element.outputs[1].has_spoken
}

/// The name of this machine.
fn own_name() -> String {
    let mut name = [0u8; 256];
    // SAFETY: the buffer has room for a zero byte more than that length.
    unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len() - 1) };
    let length = name.iter().position(|&byte| byte == 0).unwrap_or(0);
    String::from_utf8_lossy(&name[..length]).into_owned()
}

/// The channels to the agents.
struct Agents {
    pipes: Vec<Pipe>,
    /// There may be more input.
    has_input: bool,
    is_over: bool,
}

impl Agents {
    /// Is input to be read now?
    fn reads(&self) -> bool {
        self.has_input && !self.is_over && self.pipes[0].waiting() < READ_AHEAD
    }
}

impl Channel for Agents {
    fn watched(&self) -> Vec<libc::pollfd> {
        let input = libc::pollfd { fd: libc::STDIN_FILENO, events: libc::POLLIN, revents: 0 };
        let input = self.reads().then_some(input);
        self.pipes.iter().filter_map(Pipe::watched).chain(input).collect()
    }

    fn work(&mut self, _: &mut [Element]) -> Result<bool> {
        if self.reads() && is_readable(libc::STDIN_FILENO) {
            let mut bytes = [0; READ_AHEAD];
            match read_from(libc::STDIN_FILENO, &mut bytes) {
                Ok(length) if length > 0 => frames::put(self.pipes[0].buffer(), Kind::Input, &bytes[..length]),
                Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
                _ => {
                    self.has_input = false;
                    frames::put(self.pipes[0].buffer(), Kind::EndOfInput, &[]);
                }
            }
        }
        self.pipes.iter_mut().for_each(Pipe::flush);
        Ok(true)
    }

    fn on_signal(&mut self, _: &[Element], signal: i32, _: bool) {
        frames::put(self.pipes[0].buffer(), Kind::Signal, &signal.to_le_bytes());
    }

    fn on_end(&mut self) {
        self.is_over = true;
        self.pipes.iter_mut().for_each(Pipe::close);
    }

    fn on_loss(&mut self, element: &Element) -> Result<()> {
        let loss = self.loss_of(element);
        if has_failed(element) || watch::ends_by_loss() {
            return Err(loss);
        }
        watch::say_loss(&loss)
    }

    fn loss_of(&self, element: &Element) -> Fail {
        let end = watch::end_of(element);
        if has_failed(element) {
            return Fail::silent(1);
        }
        Fail::new(format!("{} is lost: {}", element.name, end.describe()))
    }
}
