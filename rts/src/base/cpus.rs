//! How many cores could work for this process just now.
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Asking the system may cost this part of the time.
const PRICE: u32 = 1000;

/// What the system has last said, and for how long that will do.
pub struct Cores {
    /// Cores that nobody uses but the caller.
    idle: usize,
    good_until: Option<Instant>,
}

impl Cores {
    pub const fn new() -> Cores {
        Cores { idle: 1, good_until: None }
    }

    /// Cores that this process may use and that nobody else uses, the caller's included, and those
    /// of `awake` threads of ours that wait for something to do.
    pub fn free(&mut self, awake: usize) -> usize {
        let now = Instant::now();
        if self.good_until.is_none_or(|t| t <= now) {
            self.idle = allowed().min(idle(awake).unwrap_or(usize::MAX)).max(1);
            let cost = now.elapsed().max(Duration::from_micros(1));
            self.good_until = Some(now + cost * PRICE);
        }
        self.idle
    }
}

/// Cores that this thread may run on.
pub fn allowed() -> usize {
    set().map_or(1, |set| unsafe { libc::CPU_COUNT(&set) }.max(1) as usize)
}

/// The same, as it was when first asked.
pub fn at_start() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(allowed)
}

fn set() -> Option<libc::cpu_set_t> {
    // SAFETY: fills the set, of which all zero is a value.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let size = std::mem::size_of_val(&set);
        (libc::sched_getaffinity(0, size, &mut set) == 0).then_some(set)
    }
}

/// Keeps the calling thread on the `n`th of the cores that it may use, counted round.
pub fn pin(n: usize) {
    let Some(set) = set() else { return };
    // SAFETY: the indices are in the set's range.
    unsafe {
        let cores: Vec<usize> = (0..libc::CPU_SETSIZE as usize).filter(|&i| libc::CPU_ISSET(i, &set)).collect();
        let Some(&core) = cores.get(n % cores.len().max(1)) else { return };
        let mut one: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut one);
        // It is a wish: where it fails the thread runs anywhere, as it would without.
        libc::sched_setaffinity(0, std::mem::size_of_val(&one), &one);
    }
}

/// The machine's cores but for those that others run on now; `None` if it does not tell. The caller
/// and `awake` threads more are among those that run.
fn idle(awake: usize) -> Option<usize> {
    // SAFETY: a query.
    let online = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) };
    let load = std::fs::read_to_string("/proc/loadavg").ok()?;
    let running = runnable(&load)?;
    (online > 0).then(|| (online as usize + 1 + awake).saturating_sub(running))
}

/// Threads that run or could, from the text of `/proc/loadavg`: `0.20 0.18 0.12 1/80 11206`.
fn runnable(loadavg: &str) -> Option<usize> {
    loadavg.split_whitespace().nth(3)?.split_once('/')?.0.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_is_read() {
        assert_eq!(runnable("0.20 0.18 0.12 3/80 11206\n"), Some(3));
        assert_eq!(runnable("0.20"), None);
    }

    #[test]
    fn there_is_a_core() {
        let mut cores = Cores::new();
        assert!(cores.free(0) >= 1 && cores.free(0) <= allowed());
    }
}
