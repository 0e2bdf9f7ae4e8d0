//! OS threads of the runtime's own.
use std::io;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::thread::{Builder, Thread};

const STACK_BYTES: usize = 256 << 10;

/// Starts one that does `work`, and sees no signals: they are for threads that run Haskell. One that sleeps has to be woken by a signal, and
/// is not if that is handled here.
pub fn start(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<Thread> {
    // It begins with the mask that this thread has now: there is no moment in which it could take a signal.
    let started = with_all_blocked(|_| Builder::new().name(name.into()).stack_size(STACK_BYTES).spawn(work))?;
    Ok(started.thread().clone())
}

/// Runs `f`, which gets the mask that was there before, with all signals blocked on this OS thread.
pub fn with_all_blocked<R>(f: impl FnOnce(&libc::sigset_t) -> R) -> R {
    // SAFETY: masks of the calling thread; numbers only.
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

    /// As far as programs may block signals: C keeps some for itself.
    fn blocked(mask: &libc::sigset_t) -> Vec<i32> {
        (1..libc::SIGRTMIN()).filter(|&s| unsafe { libc::sigismember(mask, s) } == 1).collect()
    }

    #[test]
    fn its_threads_see_no_signals() {
        let before = blocked(&mask());
        let (tell, told) = std::sync::mpsc::channel();
        start("test", move || tell.send(blocked(&mask())).unwrap()).unwrap();
        let all: Vec<i32> = (1..32).filter(|s| ![libc::SIGKILL, libc::SIGSTOP].contains(s)).collect();
        assert_eq!(told.recv().unwrap(), all);
        assert_eq!(blocked(&mask()), before);
    }
}
