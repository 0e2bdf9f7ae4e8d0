//! OS threads that the runtime starts for itself.
//!
//! *Invariants*
//!
//! - They block all signals, so that signals reach threads that run Haskell. A thread that sleeps in Haskell's service
//!   must be interrupted by its signal.
//! - Those that run Haskell have the mask of the OS thread that needed them. If that is one of the runtime's own, they
//!   have the mask that the program began with.
use std::cell::Cell;
use std::io;
use std::mem::zeroed;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use std::thread::{Builder, Thread};

const STACK_BYTES: usize = 256 << 10;

/// Starts an OS thread that does `work` with all signals blocked.
pub fn start(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<Thread> {
    // The new thread inherits the current mask, so at no moment can it take a signal.
    let work = || {
        BLOCKS_SIGNALS.set(true);
        work()
    };
    let started = with_all_blocked(|_| Builder::new().name(name.into()).stack_size(STACK_BYTES).spawn(work))?;
    Ok(started.thread().clone())
}

thread_local! {
    /// Is it one of the runtime's own, which block all signals?
    static BLOCKS_SIGNALS: Cell<bool> = const { Cell::new(false) };
}

/// The mask of the OS thread that has started the runtime.
static FIRST_MASK: OnceLock<libc::sigset_t> = OnceLock::new();

/// The runtime starts on this OS thread.
pub fn note_first_mask() {
    let _ = FIRST_MASK.set(mask());
}

/// The mask of an OS thread that is started now to run Haskell.
pub fn mask_for_haskell() -> libc::sigset_t {
    FIRST_MASK.get().copied().filter(|_| BLOCKS_SIGNALS.get()).unwrap_or_else(mask)
}

/// The mask of this OS thread.
fn mask() -> libc::sigset_t {
    // SAFETY: only reads the mask.
    unsafe {
        let mut now = zeroed();
        libc::pthread_sigmask(libc::SIG_SETMASK, null(), &mut now);
        now
    }
}

/// Sets the mask of this OS thread.
pub fn set_mask(mask: &libc::sigset_t) {
    // SAFETY: changes only the mask of the calling thread.
    unsafe {
        libc::pthread_sigmask(libc::SIG_SETMASK, mask, null_mut());
    }
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

    #[test]
    fn who_runs_haskell_takes_signals() {
        note_first_mask();
        let before = blocked(&mask());
        let (tell, told) = std::sync::mpsc::channel();
        start("test", move || tell.send(blocked(&mask_for_haskell())).unwrap()).unwrap();
        assert_eq!(told.recv().unwrap(), before);
        let others = with_all_blocked(|_| mask_for_haskell());
        assert!(blocked(&others).len() > before.len());
    }
}
