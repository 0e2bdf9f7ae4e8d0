//! OS threads that the runtime starts for itself.
//!
//! *Invariants*
//!
//! - They block all signals, so that signals reach threads that run Haskell. A thread that sleeps in Haskell's service
//!   must be interrupted by its signal.
use std::io;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::thread::{Builder, Thread};

const STACK_BYTES: usize = 256 << 10;

/// Starts an OS thread that does `work` with all signals blocked.
pub fn start(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<Thread> {
    // The new thread inherits the current mask, so at no moment can it take a signal.
    let started = with_all_blocked(|_| Builder::new().name(name.into()).stack_size(STACK_BYTES).spawn(work))?;
    Ok(started.thread().clone())
}

/// Runs `f` with all signals of this OS thread blocked. `f` gets the previous mask.
pub fn with_all_blocked<R>(f: impl FnOnce(&libc::sigset_t) -> R) -> R {
    // SAFETY: changes only the mask of the calling thread.
    unsafe {
        let (mut all, mut old) = (zeroed(), zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut old);
        let result = f(&old);
        libc::pthread_sigmask(libc::SIG_SETMASK, &old, null_mut());
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask() -> libc::sigset_t {
        let mut now = unsafe { zeroed() };
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, std::ptr::null(), &mut now) };
        now
    }

    /// The blocked signals, without those that C reserves for itself.
    fn blocked(mask: &libc::sigset_t) -> Vec<i32> {
        (1..libc::SIGRTMIN()).filter(|&s| unsafe { libc::sigismember(mask, s) } == 1).collect()
    }

    #[test]
    fn threads_block_all_signals() {
        let before = blocked(&mask());
        let (tell, told) = std::sync::mpsc::channel();
        start("test", move || tell.send(blocked(&mask())).unwrap()).unwrap();
        let all: Vec<i32> = (1..32).filter(|s| ![libc::SIGKILL, libc::SIGSTOP].contains(s)).collect();
        assert_eq!(told.recv().unwrap(), all);
        assert_eq!(blocked(&mask()), before);
    }
}
