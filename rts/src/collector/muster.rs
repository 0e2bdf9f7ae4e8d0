//! How many GC threads a collection gets.
use super::crew::Crew;
use super::policy;
pub(super) use super::team::Muster;
use crate::observe::fatal;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// How often a helper looks for more to do before it sleeps: about what it takes to wake it.
const PATIENCE: usize = 500;

static CREW: AtomicPtr<Crew> = AtomicPtr::new(ptr::null_mut());
/// Helpers that have been hired.
static HIRED: AtomicUsize = AtomicUsize::new(0);

/// Who collects `generation`: `None` for the calling thread alone.
/// # Safety
/// The world is stopped.
pub(super) unsafe fn muster(hecs: usize, generation: usize) -> Option<Muster> {
    let s = policy::settings();
    let _ = (hecs, generation);
    let threads = s.forced_threads?;
    (threads > 1).then(|| Muster { crew: crew(threads - 1), threads, balanced: true, eager: true })
}

/// The crew, with at least so many helpers.
unsafe fn crew(helpers: usize) -> &'static Crew {
    let mut crew = CREW.load(Ordering::Acquire);
    if crew.is_null() {
        crew = Box::into_raw(Box::new(Crew::new(PATIENCE)));
        CREW.store(crew, Ordering::Release);
    }
    let crew: &'static Crew = &*crew;
    for _ in HIRED.load(Ordering::Relaxed)..helpers {
        hire(crew);
    }
    crew
}

/// Starts a helper. It sees no signals: they are for threads that run Haskell.
fn hire(crew: &'static Crew) {
    HIRED.fetch_add(1, Ordering::Relaxed);
    let started = std::thread::Builder::new().name("haskell-gc".into()).spawn(move || {
        block_signals();
        crew.help();
    });
    if let Err(e) = started {
        fatal::exit_with(1, &format!("cannot start a GC thread: {e}"));
    }
}

fn block_signals() {
    // SAFETY: a full signal set is a valid mask for this thread.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_BLOCK, &all, ptr::null_mut());
    }
}

/// In the child of a fork there are no helpers; the next collection that wants some hires them.
pub fn after_fork() {
    // The old crew is forgotten as it was: the lock in it may never be freed again.
    CREW.store(ptr::null_mut(), Ordering::Relaxed);
    HIRED.store(0, Ordering::Relaxed);
}
