//! Fetch: the values of other PEs' objects, and readers of objects that are not evaluated yet.
//!
//! *States at the reader*, for each address: `ABSENT → ASKED(threads) → present`.
//!
//! 1. A thread that enters an absent object waits. The first one sends FETCH; later ones only wait: requests are
//!    merged.
//! 2. VALUE makes the object present and wakes the threads. They enter it again.
//! 3. UNAVAILABLE raises an exception in the threads: `PELost`, or that the value may not leave its owner. So does the
//!    loss of the owner. If the part of a result is meant, the lender's clone has another (`loan.rs`), and they go on.
//!
//! *States at the owner*, for each address: `no readers → READERS(PEs) → no readers`.
//!
//! 1. FETCH of an evaluated object is answered at once.
//! 2. FETCH of another one notes the reader. If nobody evaluates the object, a service thread is made that does. Or, if
//!    the owner is busy, the thunk is lent to the reader (`loan.rs`), which is the answer; if that fails, the reader
//!    asks again, and the thunk is evaluated here.
//! 3. The thread that evaluates the object, or the PE that has borrowed it, updates it. The update takes the readers,
//!    and answers all of them.
//! 4. If the evaluating thread is killed while readers are noted, a new service thread is made. If the evaluation is
//!    given up because of something that is unavailable, or the value may not leave this PE, readers get UNAVAILABLE.
//!
//! *Race*: a FETCH beside the update. Noting and taking are one step each, under one lock in the runtime: a reader is
//! noted before the update and answered by it, or finds the object evaluated.
//!
//! *Checked by*: `rts/tests/simulation`.
use super::ids::{Address, Pe, Thread};
use std::collections::{btree_map::Entry, BTreeMap};

/// The reader's side.
#[derive(Default)]
pub struct Fetches {
    asked: BTreeMap<Address, Vec<Thread>>,
    wanted: u64,
}

impl Fetches {
    pub fn new() -> Fetches {
        Fetches::default()
    }

    /// A thread waits for an absent object. True if FETCH is to be sent.
    pub fn want(&mut self, address: Address, thread: Thread) -> bool {
        self.wanted += 1;
        match self.asked.entry(address) {
            Entry::Vacant(entry) => {
                entry.insert(vec![thread]);
                true
            }
            Entry::Occupied(mut entry) => {
                entry.get_mut().push(thread);
                false
            }
        }
    }

    /// How often a thread has waited for an absent object.
    pub fn wanted(&self) -> u64 {
        self.wanted
    }

    /// An answer has come: the threads that have waited for it.
    pub fn on_answer(&mut self, address: Address) -> Vec<Thread> {
        self.asked.remove(&address).unwrap_or_default()
    }

    /// Objects of a lost PE, and the threads that wait for them.
    pub fn on_lost(&mut self, is_of_lost: impl Fn(Address) -> bool) -> Vec<(Address, Vec<Thread>)> {
        self.asked.extract_if(.., |&address, _| is_of_lost(address)).collect()
    }

    /// A thread that waited is gone. Its FETCH stays under way: others may join it.
    pub fn withdraw(&mut self, thread: Thread) {
        self.asked.values_mut().for_each(|threads| threads.retain(|t| *t != thread));
    }

    /// Has FETCH been sent for an address, and no answer come?
    pub fn is_asked(&self, address: Address) -> bool {
        self.asked.contains_key(&address)
    }

    pub fn addresses(&self) -> impl Iterator<Item = Address> + '_ {
        self.asked.keys().copied()
    }
}

/// The owner's side.
#[derive(Default)]
pub struct Readers {
    noted: BTreeMap<Address, Vec<Pe>>,
}

impl Readers {
    pub fn new() -> Readers {
        Readers::default()
    }

    pub fn note(&mut self, address: Address, reader: Pe) {
        self.noted.entry(address).or_default().push(reader);
    }

    /// The object is evaluated, or can never be: the PEs to answer.
    pub fn take(&mut self, address: Address) -> Vec<Pe> {
        self.noted.remove(&address).unwrap_or_default()
    }

    pub fn has_readers(&self, address: Address) -> bool {
        self.noted.contains_key(&address)
    }

    pub fn on_lost(&mut self, pe: Pe) {
        self.noted.retain(|_, readers| {
            readers.retain(|reader| *reader != pe);
            !readers.is_empty()
        });
    }

    /// What readers wait for, which is a root.
    pub fn addresses(&self) -> impl Iterator<Item = Address> + '_ {
        self.noted.keys().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_for_one_object_are_merged_and_counted() {
        let mut fetches = Fetches::new();
        let asks = [(1, 10), (1, 11), (2, 12)].map(|(address, thread)| fetches.want(Address(address), Thread(thread)));
        assert_eq!(asks, [true, false, true]);
        assert_eq!(fetches.wanted(), 3);
        assert_eq!(fetches.on_answer(Address(1)), [Thread(10), Thread(11)]);
    }
}
