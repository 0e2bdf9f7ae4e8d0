//! The number of cores that could work for this process now.
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Asking the system may take at most this part of the time: one in 1000.
const COST_DIVISOR: u32 = 1000;

/// The system's last answer, and how long it is used.
pub struct Cores {
    /// Cores that only the caller uses.
    idle: usize,
    valid_until: Option<Instant>,
}

impl Cores {
    pub const fn new() -> Cores {
        Cores { idle: 1, valid_until: None }
    }

    /// Cores that this process may use and that no other process uses. They include the caller's, and those of `awake`
    /// threads of the runtime that spin for work.
    pub fn free(&mut self, awake: usize) -> usize {
        let now = Instant::now();
        if self.valid_until.is_none_or(|t| t <= now) {
            self.idle = allowed().min(idle(awake).unwrap_or(usize::MAX)).max(1);
            let cost = now.elapsed().max(Duration::from_micros(1));
            self.valid_until = Some(now + cost * COST_DIVISOR);
        }
        self.idle
    }
}

/// Cores that this thread may run on.
pub fn allowed() -> usize {
    affinity().map_or(1, |affinity| unsafe { libc::CPU_COUNT(&affinity) }.max(1) as usize)
}

/// The result of [`allowed`] when it was first asked for.
pub fn at_start() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(allowed)
}

fn affinity() -> Option<libc::cpu_set_t> {
    // SAFETY: fills the set; all zeros are a valid value.
    unsafe {
        let mut affinity: libc::cpu_set_t = std::mem::zeroed();
        let size = std::mem::size_of_val(&affinity);
        (libc::sched_getaffinity(0, size, &mut affinity) == 0).then_some(affinity)
    }
}

/// Binds the calling thread to the `n`th of the cores that it may use, modulo their number.
pub fn pin(n: usize) {
    let Some(affinity) = affinity() else { return };
    // SAFETY: the indices are in the set's range.
    unsafe {
        let cores: Vec<usize> = (0..libc::CPU_SETSIZE as usize).filter(|&i| libc::CPU_ISSET(i, &affinity)).collect();
        let Some(&core) = cores.get(n % cores.len().max(1)) else { return };
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut one);
        // If this fails the thread runs on any core, as it would without.
        libc::sched_setaffinity(0, std::mem::size_of_val(&one), &one);
    }
}

/// The machine's cores without those that other processes use now; `None` if the system does not tell. The caller and
/// `awake` more threads are among those that run.
fn idle(awake: usize) -> Option<usize> {
    // SAFETY: a query.
    let online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    let load = std::fs::read_to_string("/proc/loadavg").ok()?;
    let running = runnable(&load)?;
    (online > 0).then(|| (online as usize + 1 + awake).saturating_sub(running))
}

/// Threads that run or are ready, from the text of `/proc/loadavg`: `0.20 0.18 0.12 1/80 11206`.
fn runnable(loadavg: &str) -> Option<usize> {
    loadavg.split_whitespace().nth(3)?.split_once('/')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runnable_threads_are_parsed() {
        assert_eq!(runnable("0.20 0.18 0.12 3/80 11206\n"), Some(3));
        assert_eq!(runnable("0.20"), None);
    }

    #[test]
    fn at_least_one_core_is_free() {
        let mut cores = Cores::new();
        assert!(cores.free(0) >= 1 && cores.free(0) <= allowed());
    }
}
