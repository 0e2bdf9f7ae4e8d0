//! Watches the processing elements (PEs) of a run: passes on output and signals, and ends the run.
//!
//! *Protocol*
//!
//! 1. The run ends as PE 0 ends. The others see that and end, too; what is left after [`END_LIMIT`] is killed.
//! 2. If another PE ends first, it is lost. The run ends with an error, unless PE 0 ends by itself within [`GRACE`]: it
//!    may have reported the reason, and a signal may have been for all.
//! 3. A signal that a process sends to this command goes to PE 0. One that the terminal sends has reached PE 0 already.
//! 4. Outputs are read until all PEs have ended, and then as far as they are filled. A process that a PE has left
//!    behind may hold them open.
use super::launch::{Element, Output};
use crate::error::{reason, Fail, Result};
use crate::process;
use std::{
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

/// How a run has ended.
pub enum End {
    Exit(i32),
    Signal(i32),
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

    /// Passes on what has arrived to the process `to`, if it still runs.
    fn pass_on(&self, to: Option<u32>) {
        let mut info = [0; size_of::<libc::signalfd_siginfo>()];
        while (&self.arrived).read(&mut info).is_ok_and(|n| n == info.len()) {
            // SAFETY: the system has filled it, and any bytes are a valid one.
            let info: libc::signalfd_siginfo = unsafe { std::ptr::read_unaligned(info.as_ptr().cast()) };
            let (signal, by_process) = (info.ssi_signo as i32, info.ssi_code <= 0);
            if let Some(to) = to.filter(|_| by_process && signal != libc::SIGCHLD) {
                // SAFETY: no memory is involved. The process has not been waited for.
                unsafe { libc::kill(to as libc::pid_t, signal) };
            }
        }
    }

    /// Ends this command by a signal, as a PE was.
    pub fn end_by(&self, signal: i32) -> ! {
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
}

/// Watches a run to its end.
pub fn to_the_end(mut elements: Vec<Element>, signals: &Signals) -> Result<End> {
    let watched = watch(&mut elements, signals);
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
    for (pe, element) in elements.iter_mut().enumerate().rev() {
        for output in &mut element.outputs {
            let mut rest = output.lines.rest();
            if pe > 0 && !rest.is_empty() {
                rest.push(b'\n');
            }
            put(output.to, &rest)?;
        }
    }
    watched
}

fn watch(elements: &mut [Element], signals: &Signals) -> Result<End> {
    // When PE 0 has ended, and when another one had before.
    let (mut ended, mut lost): (Option<Instant>, Option<(usize, Instant)>) = (None, None);
    loop {
        let deadline = ended.map(|at| at + END_LIMIT).or(lost.map(|(_, at)| at + GRACE));
        wait_for_some(elements, signals, deadline);
        signals.pass_on(elements[0].ended.is_none().then(|| elements[0].child.id()));
        for output in elements.iter_mut().flat_map(|element| &mut element.outputs) {
            output.pass_on()?;
        }
        let now = Instant::now();
        for (pe, element) in elements.iter_mut().enumerate().filter(|(_, element)| element.ended.is_none()) {
            element.ended = element.child.try_wait().ok().flatten();
            if element.ended.is_some() {
                match pe {
                    0 => ended = Some(now),
                    _ => lost = lost.or(Some((pe, now))),
                }
            }
        }
        if ended.is_some() && elements.iter().all(|element| element.ended.is_some()) {
            return Ok(end_of(&elements[0]));
        }
        if deadline.is_some_and(|deadline| now >= deadline) {
            match (ended, lost) {
                (None, Some((pe, _))) => {
                    let end = match end_of(&elements[pe]) {
                        End::Exit(code) => process::End::Exit(code),
                        End::Signal(signal) => process::End::Signal(signal),
                    };
                    return Err(Fail::new(format!("PE {pe} is lost: {}", end.describe())));
                }
                _ => {
                    kill(elements);
                    return Ok(end_of(&elements[0]));
                }
            }
        }
    }
}

fn end_of(element: &Element) -> End {
    let status = element.ended.unwrap_or_default();
    status.code().map_or_else(|| End::Signal(status.signal().unwrap_or(0)), End::Exit)
}

fn kill(elements: &mut [Element]) {
    for element in elements.iter_mut().filter(|element| element.ended.is_none()) {
        // It may have ended by itself.
        let _ = element.child.kill();
    }
}

/// Sleeps until there is output or a signal, or until the deadline.
fn wait_for_some(elements: &[Element], signals: &Signals, deadline: Option<Instant>) {
    let outputs = elements.iter().flat_map(|element| &element.outputs);
    let pipes = outputs.filter_map(|output| output.pipe.as_ref());
    let mut all: Vec<libc::pollfd> = [&signals.arrived]
        .into_iter()
        .chain(pipes)
        .map(|file| libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 })
        .collect();
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    let rounded = left.map_or(-1, |left| left.as_millis() as i32 + 1);
    // SAFETY: the pointer is to that many live elements.
    unsafe { libc::poll(all.as_mut_ptr(), all.len() as libc::nfds_t, rounded) };
}

impl Output {
    /// Passes on what has come. False if there is nothing now, or ever.
    fn pass_on(&mut self) -> Result<bool> {
        let Some(pipe) = &mut self.pipe else { return Ok(false) };
        let mut bytes = [0; 64 << 10];
        match pipe.read(&mut bytes) {
            Ok(0) => self.pipe = None,
            Ok(n) => {
                put(self.to, &self.lines.take(&bytes[..n]))?;
                return Ok(true);
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => return Ok(true),
            Err(e) if e.kind() == ErrorKind::WouldBlock => {}
            Err(_) => self.pipe = None,
        }
        Ok(false)
    }
}

/// Writes all bytes, to a descriptor that may be one that does not block.
fn put(to: RawFd, mut bytes: &[u8]) -> Result<()> {
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
            _ => {
                let name = if to == libc::STDOUT_FILENO { "standard output" } else { "standard error" };
                return Err(Fail::new(format!("cannot write {name}: {}", reason(&error))));
            }
        }
    }
    Ok(())
}
