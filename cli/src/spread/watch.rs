//! Watches the processing elements (PEs) of a run: passes on output and signals, and ends the run.
//!
//! *Protocol*
//!
//! 1. The run ends as PE 0 ends. The others see that and end, too; what is left after [`END_LIMIT`] is killed.
//! 2. If another PE ends first, it is lost. This command says so and goes on, as the other PEs do, unless PE 0 ends by
//!    itself within [`GRACE`]: it may have reported the reason, and a signal may have been for all. With
//!    [`LOSS`]`=end` in the environment, the run ends with an error instead: in tests a PE that crashes is one.
//! 3. A signal that a process sends to this command goes to PE 0. One that the terminal sends has reached PE 0 already.
//! 4. Outputs are read until all PEs have ended, and then as far as they are filled. A process that a PE has left
//!    behind may hold them open.
//!
//! The same is done in a run over several hosts, by the launcher for the commands that reach the hosts (`remote.rs`),
//! and by each agent for its PEs (`agent.rs`). What is different there is a [`Channel`].
use super::launch::{Element, Output};
use crate::error::{reason, Fail, Result};
use crate::process;
use std::{
    collections::VecDeque,
    env,
    fs::File,
    io::{self, ErrorKind, Read},
    mem::{size_of, zeroed},
    os::{
        fd::{AsRawFd, FromRawFd, RawFd},
        unix::process::ExitStatusExt,
    },
    process::exit,
    ptr::null_mut,
    time::{Duration, Instant},
};

/// How long the others may take to end after PE 0.
const END_LIMIT: Duration = Duration::from_secs(1);
/// How long PE 0 may take to end by itself after another PE has.
const GRACE: Duration = Duration::from_millis(200);
/// Signals that are passed on to PE 0.
const PASSED_ON: [i32; 6] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGUSR1, libc::SIGUSR2];

/// The environment variable that says what the loss of a PE does.
pub const LOSS: &str = "HECATON_LOSS";

/// How a run has ended.
pub enum End {
    Exit(i32),
    Signal(i32),
}

impl End {
    pub fn describe(&self) -> String {
        match *self {
            End::Exit(code) => process::End::Exit(code),
            End::Signal(signal) => process::End::Signal(signal),
        }
        .describe()
    }
}

/// The signals of this command, which arrive on a descriptor.
pub struct Signals {
    arrived: File,
    previous: libc::sigset_t,
}

impl Signals {
    /// Blocks the signals that are to be passed on, and those of ended children.
    pub fn block() -> Result<Signals> {
        // SAFETY: the sets are live locals; all-zero bytes are a valid one. The descriptor is new.
        unsafe {
            let (mut set, mut previous): (libc::sigset_t, libc::sigset_t) = (zeroed(), zeroed());
            libc::sigemptyset(&mut set);
            for signal in PASSED_ON.into_iter().chain([libc::SIGCHLD]) {
                libc::sigaddset(&mut set, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut previous);
            // If the caller ignored it, the system would forget how children end.
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            match libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
                -1 => Err(Fail::new(format!("cannot wait for signals: {}", reason(&io::Error::last_os_error())))),
                fd => Ok(Signals { arrived: File::from_raw_fd(fd), previous }),
            }
        }
    }

    /// The signals that were blocked before.
    pub fn previous(&self) -> libc::sigset_t {
        self.previous
    }

    /// What has arrived: each signal, and whether a process has sent it to this one.
    pub fn arrived(&self) -> Vec<(i32, bool)> {
        let mut all = vec![];
        let mut info = [0; size_of::<libc::signalfd_siginfo>()];
        while (&self.arrived).read(&mut info).is_ok_and(|n| n == info.len()) {
            // SAFETY: the system has filled it, and any bytes are a valid one.
            let info: libc::signalfd_siginfo = unsafe { std::ptr::read_unaligned(info.as_ptr().cast()) };
            all.push((info.ssi_signo as i32, info.ssi_code <= 0));
        }
        all.retain(|(signal, _)| *signal != libc::SIGCHLD);
        all
    }
}

/// Ends this command by a signal, as a PE was.
pub fn end_by(signal: i32) -> ! {
    // SAFETY: the limit and the set are live locals.
    unsafe {
        // The core, if there is to be one, is that of the PE.
        libc::setrlimit(libc::RLIMIT_CORE, &libc::rlimit { rlim_cur: 0, rlim_max: 0 });
        libc::signal(signal, libc::SIG_DFL);
        let mut one: libc::sigset_t = zeroed();
        libc::sigemptyset(&mut one);
        libc::sigaddset(&mut one, signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &one, null_mut());
        libc::raise(signal);
    }
    exit(128 + signal)
}

/// What connects this process with others that watch parts of the same run.
pub trait Channel {
    /// Is the first element the one with whose end the run ends?
    fn leads(&self) -> bool {
        true
    }
    /// The descriptors that it waits for.
    fn watched(&self) -> Vec<libc::pollfd> {
        vec![]
    }
    /// Does what can be done without waiting. False if the run is over.
    /// # Errors
    /// If the run is to be broken off.
    fn work(&mut self, _elements: &mut [Element]) -> Result<bool> {
        Ok(true)
    }
    /// A signal has arrived.
    fn on_signal(&mut self, elements: &[Element], signal: i32, by_process: bool);
    /// The run is over.
    fn on_end(&mut self) {}
    /// An element has ended before the run has: says so.
    /// # Errors
    /// If the run is to be broken off.
    fn on_loss(&mut self, element: &Element) -> Result<()> {
        let loss = self.loss_of(element);
        if ends_by_loss() {
            return Err(loss);
        }
        say_loss(&loss)
    }
    /// The error that an element has ended.
    fn loss_of(&self, element: &Element) -> Fail {
        Fail::new(format!("{} is lost: {}", element.name, end_of(element).describe()))
    }
}

/// The channel of a run on one machine: there is none.
pub struct Alone;

impl Channel for Alone {
    fn on_signal(&mut self, elements: &[Element], signal: i32, by_process: bool) {
        if by_process {
            elements[0].signal(signal);
        }
    }
}

/// Watches a run to its end.
pub fn to_the_end(mut elements: Vec<Element>, signals: &Signals, channel: &mut dyn Channel) -> Result<End> {
    let watched = watch(&mut elements, signals, channel);
    if watched.is_err() {
        kill(&mut elements);
    }
    for element in &mut elements {
        if element.ended.is_none() {
            let _ = element.child.wait();
        }
        for output in &mut element.outputs {
            while output.pass_on()? {}
        }
    }
    // The line of PE 0 that has no end comes last.
    for (no, element) in elements.iter_mut().enumerate().rev() {
        for output in &mut element.outputs {
            let mut rest = output.lines.rest();
            if (no > 0 || !channel.leads()) && !rest.is_empty() {
                rest.push(b'\n');
            }
            put(output.to, &rest)?;
        }
    }
    watched
}

fn watch(elements: &mut [Element], signals: &Signals, channel: &mut dyn Channel) -> Result<End> {
    // When the run has ended, and when elements have before, of which nothing has been said yet.
    let (mut ended, mut lost): (Option<Instant>, VecDeque<(usize, Instant)>) = (None, VecDeque::new());
    loop {
        let deadline = ended.map(|at| at + END_LIMIT).or(lost.front().map(|(_, at)| *at + GRACE));
        wait_for_some(elements, signals, channel.watched(), deadline);
        for (signal, by_process) in signals.arrived() {
            channel.on_signal(elements, signal, by_process);
        }
        let now = Instant::now();
        let goes_on = channel.work(elements)?;
        for output in elements.iter_mut().flat_map(|element| &mut element.outputs) {
            output.pass_on()?;
        }
        let was_over = ended.is_some();
        if !goes_on {
            ended = ended.or(Some(now));
        }
        for (no, element) in elements.iter_mut().enumerate().filter(|(_, element)| element.ended.is_none()) {
            element.ended = element.child.try_wait().ok().flatten();
            if element.ended.is_some() {
                match no {
                    0 if channel.leads() => ended = Some(now),
                    _ => lost.push_back((no, now)),
                }
            }
        }
        if ended.is_some() && !was_over {
            channel.on_end();
        }
        let end = |elements: &[Element]| if channel.leads() { end_of(&elements[0]) } else { End::Exit(0) };
        if ended.is_some() && elements.iter().all(|element| element.ended.is_some()) {
            return Ok(end(elements));
        }
        if deadline.is_some_and(|deadline| now >= deadline) {
            match lost.pop_front() {
                Some((no, _)) if ended.is_none() => channel.on_loss(&elements[no])?,
                _ => {
                    kill(elements);
                    return Ok(end(elements));
                }
            }
        }
    }
}

/// Does the run end when a PE is lost?
pub fn ends_by_loss() -> bool {
    env::var_os(LOSS).is_some_and(|value| value == "end")
}

pub fn say_loss(loss: &Fail) -> Result<()> {
    put(libc::STDERR_FILENO, format!("hecaton: {loss}; its work is done again\n").as_bytes())
}

pub fn end_of(element: &Element) -> End {
    let status = element.ended.unwrap_or_default();
    status.code().map_or_else(|| End::Signal(status.signal().unwrap_or(0)), End::Exit)
}

pub fn kill(elements: &mut [Element]) {
    for element in elements.iter_mut().filter(|element| element.ended.is_none()) {
        // It may have ended by itself.
        let _ = element.child.kill();
    }
}

/// Sleeps until there is output or a signal, or until the deadline.
pub fn wait_for_some(elements: &[Element], signals: &Signals, others: Vec<libc::pollfd>, deadline: Option<Instant>) {
    let outputs = elements.iter().flat_map(|element| &element.outputs);
    let pipes = outputs.filter_map(|output| output.pipe.as_ref());
    let mut all: Vec<libc::pollfd> = [&signals.arrived]
        .into_iter()
        .chain(pipes)
        .map(|file| libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 })
        .chain(others)
        .collect();
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    let rounded = left.map_or(-1, |left| left.as_millis() as i32 + 1);
    // SAFETY: the pointer is to that many live elements.
    unsafe { libc::poll(all.as_mut_ptr(), all.len() as libc::nfds_t, rounded) };
}

impl Element {
    /// Sends it a signal, if it still runs.
    pub fn signal(&self, signal: i32) {
        if self.ended.is_none() {
            // SAFETY: no memory is involved. The process has not been waited for.
            unsafe { libc::kill(self.child.id() as libc::pid_t, signal) };
        }
    }
}

impl Output {
    /// Passes on what has come. False if there is nothing now, or ever.
    pub fn pass_on(&mut self) -> Result<bool> {
        let Some(pipe) = &mut self.pipe else { return Ok(false) };
        let mut bytes = [0; 64 << 10];
        match pipe.read(&mut bytes) {
            Ok(0) => self.pipe = None,
            Ok(n) => {
                self.has_spoken = true;
                put(self.to, &self.lines.take(&bytes[..n]))?;
                return Ok(true);
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => return Ok(true),
            Err(e) if e.kind() == ErrorKind::WouldBlock => {}
            Err(_) => self.pipe = None,
        }
        Ok(false)
    }

    /// Takes what has come, instead of passing it on. True at the end.
    pub fn read_into(&mut self, to: &mut Vec<u8>) -> bool {
        let Some(pipe) = &mut self.pipe else { return true };
        match pipe.read_to_end(to) {
            Err(e) if e.kind() == ErrorKind::WouldBlock => false,
            _ => {
                self.pipe = None;
                true
            }
        }
    }
}

/// Writes all bytes, to a descriptor that may be one that does not block.
pub fn put(to: RawFd, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        // SAFETY: the bytes live until the call returns.
        let written = unsafe { libc::write(to, bytes.as_ptr().cast(), bytes.len()) };
        if written >= 0 {
            bytes = &bytes[written as usize..];
            continue;
        }
        let error = io::Error::last_os_error();
        match error.kind() {
            ErrorKind::Interrupted => {}
            ErrorKind::WouldBlock => {
                let mut one = libc::pollfd { fd: to, events: libc::POLLOUT, revents: 0 };
                // SAFETY: the pointer is to a live local.
                unsafe { libc::poll(&mut one, 1, -1) };
            }
            // Where this signal is ignored, it is not for the sake of the outputs.
            ErrorKind::BrokenPipe => end_by(libc::SIGPIPE),
            _ => {
                let name = if to == libc::STDOUT_FILENO { "standard output" } else { "standard error" };
                return Err(Fail::new(format!("cannot write {name}: {}", reason(&error))));
            }
        }
    }
    Ok(())
}
