//! A hierarchical timing wheel [VL87, scheme 7]: deadlines of any number of timers, at a constant amortised cost each.
//!
//! Times are ticks, whose length the caller chooses. The caller stores the timers and knows them by number. The wheel
//! links them through a [`Links`] in each, and allocates nothing after it is made.
//!
//! *How it works*
//!
//! 1. A level has 64 slots. A slot of level 0 is one tick long, a slot of level *k* is 64^*k* ticks long. Eleven levels
//!    cover all ticks.
//! 2. Read in base 64, a deadline and the wheel's time agree in their leading digits. The first digit in which they
//!    differ is the level of the timer, and that digit of the deadline is its slot.
//! 3. So the timers of a lower level are due before those of a higher one, and those of a lower slot before those of a
//!    higher one. The first occupied slot of the first occupied level holds the next timer; bitmaps find it.
//! 4. The wheel knows the earliest deadline in each slot. It moves its time only to deadlines that have come, never to
//!    the beginning of a slot. A slot of level 1 or higher is cascaded when its first timer is due: its timers are
//!    linked again in the levels below. So nothing has to be done while no timer is due, and a timer is moved at most
//!    once for each level.
//!
//! *Invariants*
//!
//! - No deadline in the wheel is before its time. What is late when inserted is due at the wheel's time.
//! - The wheel's time is in no occupied slot of level 1 or higher. Timers with equal deadlines are therefore always in
//!   one slot, in the order in which they were inserted.
//! - A slot's earliest deadline is exact, or the slot is marked as stale and its timers are due then or later.
//!
//! *Checked by* `timer_wheel_tests.rs`.

/// The number of no timer.
pub const NONE: u32 = u32::MAX;
/// In [`Links::next`]: the timer is in no wheel.
const UNLINKED: u32 = u32::MAX - 1;

const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;
/// All 64 bits of a deadline. The last level uses four of them.
const LEVELS: usize = u64::BITS.div_ceil(SLOT_BITS) as usize;
/// The most timers that are searched for the earliest deadline of a slot from which the earliest was removed, and the
/// most operations for which such searches may be saved up. Each operation pays for one step, so the cost of the
/// searches is constant. If a slot has more timers, the program wakes up once too often, and cascades the slot then.
const MAX_SEARCH: u32 = 32;

/// What a timer needs to be in a wheel.
#[derive(Clone, Copy, Debug)]
pub struct Links {
    next: u32,
    prev: u32,
    deadline: u64,
}

const _: () = assert!(std::mem::size_of::<Links>() == 16);

impl Default for Links {
    fn default() -> Links {
        Links { next: UNLINKED, prev: NONE, deadline: 0 }
    }
}

impl Links {
    /// Is the timer in a wheel?
    pub fn is_linked(&self) -> bool {
        self.next != UNLINKED
    }
    /// When the timer is due, or was due when it was last in a wheel.
    pub fn deadline(&self) -> u64 {
        self.deadline
    }
}

/// Where the caller stores timers.
pub trait Entries {
    /// The links of a timer. Numbers are less than `u32::MAX - 1`.
    fn links(&mut self, entry: u32) -> &mut Links;
}

/// A list of timers. What it holds counts only if the slot is marked as occupied.
#[derive(Clone, Copy)]
struct Slot {
    head: u32,
    tail: u32,
    earliest: u64,
}

/// The slots of a level.
#[derive(Clone, Copy)]
struct Level {
    /// One bit for each slot.
    occupied: u64,
    /// The slots whose earliest deadline was removed.
    stale: u64,
    slots: [Slot; SLOTS],
}

pub struct TimerWheel {
    /// The wheel's time.
    time: u64,
    len: usize,
    /// One bit for each level that has a timer.
    occupied: u16,
    /// The steps of a search that operations have paid for.
    credit: u32,
    levels: Box<[Level; LEVELS]>,
    /// How often a timer was linked again.
    #[cfg(test)]
    pub(super) moves: usize,
}

/// The number of ticks in a slot of a level, as a power of two.
fn shift(level: usize) -> u32 {
    SLOT_BITS * level as u32
}

impl TimerWheel {
    /// A wheel without timers.
    pub fn new(now: u64) -> TimerWheel {
        const EMPTY: Level = Level { occupied: 0, stale: 0, slots: [Slot { head: 0, tail: 0, earliest: 0 }; SLOTS] };
        TimerWheel {
            time: now,
            len: 0,
            occupied: 0,
            credit: MAX_SEARCH,
            levels: Box::new([EMPTY; LEVELS]),
            #[cfg(test)]
            moves: 0,
        }
    }

    /// How many timers are in the wheel.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a timer that is in no wheel. If its deadline has passed, it is due at once.
    pub fn insert(&mut self, es: &mut impl Entries, e: u32, deadline: u64) {
        debug_assert!(e < UNLINKED && !es.links(e).is_linked());
        self.len += 1;
        self.earn();
        self.link(es, e, deadline.max(self.time));
    }

    /// Removes a timer that is in this wheel.
    pub fn remove(&mut self, es: &mut impl Entries, e: u32) {
        let (level, slot) = self.place(es.links(e).deadline);
        self.earn();
        self.unlink(es, e, level, slot);
    }

    /// Removes the timer that is due first, if it is due at `now`. Timers that are due at the same tick come in the
    /// order in which they were inserted.
    pub fn pop_expired(&mut self, es: &mut impl Entries, now: u64) -> Option<u32> {
        let now = now.max(self.time);
        while let Some((level, slot)) = self.first_slot() {
            let Slot { head, earliest, .. } = self.levels[level].slots[slot];
            if earliest > now {
                // The time stays outside of the slot.
                self.time = now.min(self.slot_start(level, slot) - (level > 0) as u64);
                return None;
            }
            self.time = earliest;
            if level == 0 {
                self.earn();
                self.unlink(es, head, level, slot);
                return Some(head);
            }
            self.cascade(es, level, slot);
        }
        self.time = now;
        None
    }

    /// When the next timer is due. If timers were removed, the answer may be too early, but is never too late.
    pub fn next_deadline(&mut self, es: &mut impl Entries) -> Option<u64> {
        let (level, slot) = self.first_slot()?;
        if self.levels[level].stale & 1 << slot != 0 && self.credit as usize >= self.len.min(MAX_SEARCH as usize) {
            self.search(es, level, slot);
        }
        Some(self.levels[level].slots[slot].earliest)
    }

    /// The slot that has the timer which is due first.
    fn first_slot(&self) -> Option<(usize, usize)> {
        if self.occupied == 0 {
            return None;
        }
        let level = self.occupied.trailing_zeros() as usize;
        Some((level, self.levels[level].occupied.trailing_zeros() as usize))
    }

    /// The level and the slot of a deadline that is not before the wheel's time.
    fn place(&self, deadline: u64) -> (usize, usize) {
        let differing = (deadline ^ self.time) | (SLOTS as u64 - 1);
        let level = (differing.ilog2() / SLOT_BITS) as usize;
        (level, (deadline >> shift(level)) as usize % SLOTS)
    }

    /// The first tick of a slot.
    fn slot_start(&self, level: usize, slot: usize) -> u64 {
        let leading = u64::MAX.checked_shl(shift(level + 1)).unwrap_or(0);
        self.time & leading | (slot as u64) << shift(level)
    }

    /// Counts an operation that pays for a step of a search.
    fn earn(&mut self) {
        self.credit = (self.credit + 1).min(MAX_SEARCH);
    }

    fn link(&mut self, es: &mut impl Entries, e: u32, deadline: u64) {
        let (level, slot) = self.place(deadline);
        let l = &mut self.levels[level];
        let s = &mut l.slots[slot];
        let bit = 1 << slot;
        let mut prev = NONE;
        if l.occupied & bit == 0 {
            l.occupied |= bit;
            self.occupied |= 1 << level;
            *s = Slot { head: e, tail: e, earliest: deadline };
        } else {
            prev = s.tail;
            es.links(prev).next = e;
            s.tail = e;
            if deadline <= s.earliest {
                s.earliest = deadline;
                l.stale &= !bit;
            }
        }
        *es.links(e) = Links { next: NONE, prev, deadline };
    }

    fn unlink(&mut self, es: &mut impl Entries, e: u32, level: usize, slot: usize) {
        let links = es.links(e);
        let Links { next, prev, deadline } = *links;
        debug_assert!(links.is_linked());
        links.next = UNLINKED;
        self.len -= 1;
        if next != NONE {
            es.links(next).prev = prev;
        } else {
            self.levels[level].slots[slot].tail = prev;
        }
        if prev != NONE {
            es.links(prev).next = next;
        } else {
            self.levels[level].slots[slot].head = next;
        }
        if next == NONE && prev == NONE {
            self.set_vacant(level, slot);
        } else if level > 0 && deadline == self.levels[level].slots[slot].earliest {
            self.levels[level].stale |= 1 << slot;
        }
    }

    fn set_vacant(&mut self, level: usize, slot: usize) {
        let l = &mut self.levels[level];
        l.occupied &= !(1 << slot);
        l.stale &= !(1 << slot);
        if l.occupied == 0 {
            self.occupied &= !(1 << level);
        }
    }

    /// Links the timers of a slot again. The time has moved into the slot, so they go to lower levels.
    fn cascade(&mut self, es: &mut impl Entries, level: usize, slot: usize) {
        let mut e = self.levels[level].slots[slot].head;
        self.set_vacant(level, slot);
        while e != NONE {
            let Links { next, deadline, .. } = *es.links(e);
            self.link(es, e, deadline);
            #[cfg(test)]
            {
                self.moves += 1;
            }
            e = next;
        }
    }

    /// Searches a slot for its earliest deadline. Gives up if the slot has too many timers.
    fn search(&mut self, es: &mut impl Entries, level: usize, slot: usize) {
        let mut earliest = u64::MAX;
        let mut e = self.levels[level].slots[slot].head;
        while e != NONE && self.credit > 0 {
            let links = es.links(e);
            earliest = earliest.min(links.deadline);
            e = links.next;
            self.credit -= 1;
        }
        if e == NONE {
            self.levels[level].slots[slot].earliest = earliest;
            self.levels[level].stale &= !(1 << slot);
        }
    }
}
