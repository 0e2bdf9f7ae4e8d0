//! Placed calls: thunks that other processing elements have placed here, and that nobody has begun to evaluate.
//!
//! A HEC without runnable threads begins the newest, before any spark. They are never stolen: who placed them has said
//! where they belong [FN96, §3.1].
use crate::base::poison::unpoisoned;
use crate::cluster::ids::Address;
use crate::hec::Hec;
use crate::sched::packets;
use crate::spread::readers::serve;
use std::sync::Mutex;

/// The names of the thunks, the newest last. They are kept, and so are roots.
static PLACED: Mutex<Vec<Address>> = Mutex::new(Vec::new());

/// Adds a thunk, and wakes an idle HEC for it if this one is busy.
/// # Safety
/// The caller holds the HEC.
pub unsafe fn add(hec: &Hec, name: Address) {
    unpoisoned(PLACED.lock()).push(name);
    if hec.has_runnable() {
        packets::wake_idle();
    }
}

/// Takes a thunk that nobody has begun. False if somebody has.
pub fn remove(name: Address) -> bool {
    let mut placed = unpoisoned(PLACED.lock());
    let before = placed.len();
    placed.retain(|&n| n != name);
    placed.len() < before
}

/// Makes a thread for the newest. False if there is none.
/// # Safety
/// The caller holds the HEC, and no thread runs on it.
pub unsafe fn begin(hec: &mut Hec) -> bool {
    let newest = unpoisoned(PLACED.lock()).pop();
    if let Some(name) = newest {
        serve(hec, name);
    }
    newest.is_some()
}
