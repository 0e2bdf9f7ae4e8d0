//! Clocks, in nanoseconds, and the processor's tick counter.
use crate::abi::c_struct::Time;
use libc::clockid_t;

fn read(clock: clockid_t) -> Time {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes `t`.
    unsafe { libc::clock_gettime(clock, &mut t) };
    t.tv_sec * 1_000_000_000 + t.tv_nsec
}

/// Time that has passed since some fixed moment.
#[no_mangle]
pub extern "C" fn getProcessElapsedTime() -> Time {
    read(libc::CLOCK_MONOTONIC)
}

#[no_mangle]
pub extern "C" fn getMonotonicNSec() -> u64 {
    read(libc::CLOCK_MONOTONIC) as u64
}

/// The processor's tick counter, one to five ticks per nanosecond. It is for events that are too frequent for a clock.
#[inline(always)]
pub fn ticks() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: all processors of this architecture have the instruction.
    return unsafe { std::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    return 3 * getMonotonicNSec();
}

/// CPU time of this process.
#[no_mangle]
pub extern "C" fn getProcessCPUTime() -> Time {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

#[no_mangle]
pub extern "C" fn getCurrentThreadCPUTime() -> Time {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// A moment on both clocks, or the difference of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimePair {
    pub cpu: Time,
    pub elapsed: Time,
}

impl TimePair {
    pub fn now() -> TimePair {
        TimePair { cpu: getProcessCPUTime(), elapsed: getProcessElapsedTime() }
    }
}

impl std::ops::Sub for TimePair {
    type Output = TimePair;
    fn sub(self, other: TimePair) -> TimePair {
        TimePair { cpu: self.cpu - other.cpu, elapsed: self.elapsed - other.elapsed }
    }
}

impl std::ops::Add for TimePair {
    type Output = TimePair;
    fn add(self, other: TimePair) -> TimePair {
        TimePair { cpu: self.cpu + other.cpu, elapsed: self.elapsed + other.elapsed }
    }
}

/// Page faults so far that read from a device.
pub fn page_faults() -> i64 {
    // SAFETY: writes `usage`, whose zero value is valid.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage.ru_majflt
    }
}

/// Seconds, for a report.
pub fn seconds(ns: i64) -> f64 {
    ns as f64 / 1e9
}
