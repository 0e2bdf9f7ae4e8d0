//! Answers to pings (`api/ping.rs`): how long a message to another processing element (PE) and its answer take.
//!
//! One kind is answered by the network tasks of both PEs: that is what the transport costs. The other kind goes through
//! a HEC of each, as most messages do, and its answer fills an MVar. `./hecaton bench spread` prints both.
use crate::abi::Closure;
use crate::base::poison::unpoisoned;
use crate::hec::Hec;
use crate::prims::stable_ptr::{deRefStablePtr, freeStablePtr};
use crate::static_closure;
use crate::sync::mvar::try_put_mvar;
use std::sync::{Condvar, Mutex};

/// The number of the last answer that the network task has got.
static LAST_HERE: Mutex<u64> = Mutex::new(0);
static CAME_HERE: Condvar = Condvar::new();

/// From now on no answer has come.
pub fn begin_here() {
    *unpoisoned(LAST_HERE.lock()) = 0;
}

/// Waits until the network task has got this answer.
pub fn wait_here(number: u64) {
    let last = unpoisoned(LAST_HERE.lock());
    drop(unpoisoned(CAME_HERE.wait_while(last, |last| *last < number)));
}

/// The network task has got an answer.
pub fn on_pong_here(number: u64) {
    *unpoisoned(LAST_HERE.lock()) = number;
    CAME_HERE.notify_one();
}

/// A HEC has got an answer.
/// # Safety
/// The caller holds the HEC, and no thread runs on it. The number is one that this PE has sent.
pub unsafe fn on_pong(hec: &mut Hec, number: u64) {
    let mvar: Closure = deRefStablePtr(number as usize);
    let unit = static_closure!(ghczmprim_GHCziTuple_Z0T_closure).with_tag(1);
    try_put_mvar(hec, mvar.untag(), unit);
    freeStablePtr(number as usize);
}
