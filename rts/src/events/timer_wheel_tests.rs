//! The timing wheel against an ordered map.
use super::timer_wheel::{Entries, Links, TimerWheel};
use crate::base::random::Random;
use std::collections::BTreeMap;

struct Timers(Vec<Links>);

impl Entries for Timers {
    fn links(&mut self, entry: u32) -> &mut Links {
        &mut self.0[entry as usize]
    }
}

/// What the wheel must do: a map from deadlines, and serial numbers that order equal ones.
struct Model {
    wheel: TimerWheel,
    timers: Timers,
    map: BTreeMap<(u64, u64), u32>,
    /// The keys of timers in the map.
    keys: Vec<Option<(u64, u64)>>,
    serial: u64,
    now: u64,
    removed: bool,
}

impl Model {
    fn new(n: usize, now: u64) -> Model {
        Model {
            wheel: TimerWheel::new(now),
            timers: Timers(vec![Links::default(); n]),
            map: BTreeMap::new(),
            keys: vec![None; n],
            serial: 0,
            now,
            removed: false,
        }
    }
    fn insert(&mut self, e: u32, deadline: u64) {
        assert!(!self.timers.links(e).is_linked());
        self.wheel.insert(&mut self.timers, e, deadline);
        self.serial += 1;
        // What is late is due now or earlier, but not before its deadline.
        let due = self.timers.links(e).deadline();
        assert!(due == deadline || due > deadline && due <= self.now);
        let key = (due, self.serial);
        self.keys[e as usize] = Some(key);
        self.map.insert(key, e);
    }
    fn remove(&mut self, e: u32) {
        self.wheel.remove(&mut self.timers, e);
        assert!(!self.timers.links(e).is_linked());
        self.map.remove(&self.keys[e as usize].take().unwrap());
        self.removed = true;
    }
    /// Takes at most `most` timers that are due.
    fn pop(&mut self, now: u64, most: usize) {
        self.now = now;
        for _ in 0..most {
            let expected =
                self.map.first_entry().filter(|first| first.key().0 <= now).map(|first| first.remove_entry());
            assert_eq!(self.wheel.pop_expired(&mut self.timers, now), expected.map(|(_, e)| e), "at {now}");
            let Some((_, e)) = expected else {
                return;
            };
            self.keys[e as usize] = None;
        }
    }
    fn check_next(&mut self) {
        let first = self.map.first_key_value().map(|(key, _)| key.0);
        let next = self.wheel.next_deadline(&mut self.timers);
        assert_eq!(next.is_some(), first.is_some());
        assert!(next <= first, "next_deadline is {next:?}, but the first timer is due at {first:?}");
        if !self.removed {
            assert_eq!(next, first);
        }
        assert_eq!(self.wheel.len(), self.map.len());
        assert_eq!(self.wheel.is_empty(), self.map.is_empty());
        if first.is_none() {
            self.removed = false;
        }
    }
}

fn random_operations(seed: u64, n: usize, operations: usize, bits: u64, removals: bool) {
    let mut r = Random(seed);
    let start = r.pick(&[0, 1, 63, 1 << 40, u64::MAX - (1 << 20)]);
    let mut m = Model::new(n, start);
    for _ in 0..operations {
        let e = r.below(n as u64) as u32;
        match r.below(10) {
            0..=5 => match m.keys[e as usize] {
                Some(_) if removals => m.remove(e),
                Some(_) => {}
                None => {
                    let deadline = match r.below(8) {
                        0 => m.now.saturating_sub(r.magnitude(20)),
                        1 => u64::MAX - r.magnitude(8),
                        // Equal to that of another timer.
                        2 => m.keys[r.below(n as u64) as usize].map_or(m.now, |key| key.0),
                        _ => m.now.saturating_add(r.magnitude(bits)),
                    };
                    m.insert(e, deadline);
                }
            },
            6 => m.check_next(),
            // To the next deadline, as a program that sleeps till then.
            7 => {
                let next = m.wheel.next_deadline(&mut m.timers).unwrap_or(m.now);
                let now = next.max(m.now);
                let most = r.pick(&[1, 3, usize::MAX]);
                m.pop(now, most);
            }
            _ => {
                let now = m.now.saturating_add(r.magnitude(bits));
                let most = r.pick(&[1, 3, usize::MAX, usize::MAX]);
                m.pop(now, most);
            }
        }
    }
    m.check_next();
    m.pop(u64::MAX, usize::MAX);
    assert!(m.wheel.is_empty());
}

#[test]
fn the_wheel_does_as_an_ordered_map() {
    for seed in 0..400 {
        let bits = [3, 8, 14, 30, 62][seed as usize % 5];
        let n = [3, 20, 200][seed as usize % 3];
        random_operations(seed, n, 1500, bits, seed % 4 != 0);
    }
}

#[test]
fn late_timers_are_due_at_once_in_the_order_of_their_insertion() {
    let mut m = Model::new(4, 100);
    m.insert(0, 100);
    m.insert(1, 7);
    m.insert(2, 99);
    m.insert(3, 100);
    for e in 0..4 {
        assert_eq!(m.wheel.pop_expired(&mut m.timers, 100), Some(e));
    }
    assert_eq!(m.wheel.pop_expired(&mut m.timers, 100), None);
}

#[test]
fn equal_deadlines_stay_in_order_through_all_levels() {
    let n = 500;
    let mut m = Model::new(2 * n, 0);
    let deadline = 0x0123_4567_89AB_CDEF;
    // Half of them is inserted while the time comes nearer, between cascades that other timers cause.
    for e in 0..n {
        m.insert(e as u32, deadline);
        let now = deadline - deadline / (1 << (e / 9));
        m.insert((n + e) as u32, now + 1);
        m.pop(now.max(m.now), usize::MAX);
    }
    m.pop(deadline, usize::MAX);
    assert!(m.wheel.is_empty());
}

#[test]
fn a_timer_is_moved_at_most_once_for_each_level() {
    let n = 20_000;
    let mut r = Random(1);
    for bits in [10, 20, 40, 64] {
        let mut m = Model::new(n, 0);
        for e in 0..n {
            m.insert(e as u32, r.magnitude(bits));
        }
        while let Some(next) = m.wheel.next_deadline(&mut m.timers) {
            m.pop(next, usize::MAX);
        }
        let levels = bits.div_ceil(6) as usize;
        assert!(m.wheel.moves <= n * (levels - 1), "{} moves of {bits} bits", m.wheel.moves);
    }
}

#[test]
fn nothing_is_moved_while_no_timer_is_due() {
    let mut m = Model::new(100, 0);
    for e in 0..100 {
        m.insert(e, 1_000_000 + 997 * e as u64);
    }
    for now in (0..1_000_000).step_by(50) {
        m.pop(now, usize::MAX);
        assert_eq!(m.wheel.next_deadline(&mut m.timers), Some(1_000_000));
    }
    assert_eq!(m.wheel.moves, 0);
}

#[test]
fn a_few_timers_never_wake_the_program_too_early() {
    let mut r = Random(2);
    let mut m = Model::new(12, 0);
    for _ in 0..20_000 {
        let e = r.below(12) as u32;
        if m.keys[e as usize].is_some() {
            m.remove(e);
        } else {
            m.insert(e, m.now + r.magnitude(30));
        }
        let next = m.wheel.next_deadline(&mut m.timers);
        if r.below(8) == 0 {
            m.pop(m.now + r.magnitude(20), usize::MAX);
        } else {
            assert_eq!(next, m.map.first_key_value().map(|(key, _)| key.0));
        }
    }
}

/// Timeouts of one length that are cancelled in order, as a server's: each is the first when it is removed.
#[test]
fn after_removals_the_program_wakes_up_seldom() {
    let n = 10_000;
    let mut m = Model::new(n, 0);
    for i in 0..20 * n {
        let e = (i % n) as u32;
        if m.keys[e as usize].is_some() {
            m.remove(e);
        }
        m.pop(i as u64, usize::MAX);
        m.insert(e, i as u64 + 10_000_000);
        m.wheel.next_deadline(&mut m.timers);
    }
    let mut wakes = 0;
    while let Some(next) = m.wheel.next_deadline(&mut m.timers) {
        let due = m.map.first_key_value().unwrap().0 .0;
        if next < due {
            wakes += 1;
        }
        m.pop(next, usize::MAX);
    }
    assert!(wakes <= 4, "{wakes} times too early");
}
