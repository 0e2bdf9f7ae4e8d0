//! The time of event loops, in ticks of the timer wheel: 1,024 nanoseconds.
use crate::events::clock::nanoseconds;
use std::time::Duration;

/// The length of a tick, as a power of two of nanoseconds.
const SHIFT: u32 = 10;

/// The current time.
pub fn now() -> u64 {
    nanoseconds() >> SHIFT
}

/// How many ticks are a number of milliseconds.
pub const fn millis(n: u64) -> u64 {
    (n * 1_000_000) >> SHIFT
}

/// The tick after which this many microseconds have passed. Far ones never come.
pub fn after(micros: isize) -> u64 {
    let ns = (micros.max(0) as u64).saturating_mul(1000).saturating_add(nanoseconds());
    ns.saturating_add((1 << SHIFT) - 1) >> SHIFT
}

/// The time until a tick. None if it never comes.
pub fn until(tick: u64) -> Option<Duration> {
    let comes = tick <= u64::MAX >> SHIFT;
    comes.then(|| Duration::from_nanos(start_of(tick).saturating_sub(nanoseconds())))
}

/// The time of a tick, in nanoseconds.
pub fn start_of(tick: u64) -> u64 {
    tick.saturating_mul(1 << SHIFT)
}

/// The time since a tick.
pub fn since(tick: u64) -> Duration {
    Duration::from_nanos(nanoseconds().saturating_sub(start_of(tick)))
}
