//! OS threads of the runtime's own.
use std::io;
use std::thread::{Builder, Thread};

const STACK_BYTES: usize = 256 << 10;

/// Starts one that does `work`, and sees no signals: they are for threads that run Haskell.
pub fn start(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<Thread> {
    let all = move || {
        block_signals();
        work()
    };
    let started = Builder::new().name(name.into()).stack_size(STACK_BYTES).spawn(all)?;
    Ok(started.thread().clone())
}

fn block_signals() {
    // SAFETY: a full signal set is a valid mask for this thread.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, std::ptr::null_mut());
    }
}
