//! Remote objects: fixed objects that stand, on other processing elements (PEs), for an MVar, a TVar, a thread or a
//! weak pointer. All operations on those are calls. Where they would wait, fail or be unusual, they look at the header,
//! and then have the owner perform the operation (`cmm/Remote.cmm`, `rts/haskell/Spread.hs`).
//!
//! A remote object has four words:
//!
//! ```text
//!   hec_REMOTE_MVAR     exit   empty   empty     as an MVar: no thread waits, and there is no value
//!   hec_REMOTE_TVAR     exit   0       1         as a TVar: locked
//!   hec_REMOTE_THREAD   exit   number  0
//!   hec_REMOTE_WEAK     exit   0       0
//! ```
//!
//! *Invariants*
//!
//! - At the owner the exit leads to the object itself. In packets and elsewhere it is a static closure.
//! - At the owner nothing refers to a remote object. Where a fixed object has a pointer to it, its words have the
//!   object itself, as an exit ([`RemoteExits`]), and packets have the remote object in its place. So comparisons of
//!   pointers tell whether two are the same, on each PE.
use crate::abi::layout::*;
use crate::abi::{Closure, Info, Tso, WORD};
use crate::memory::{age_of, exits, Age};
use crate::prims::thread_info::REMOTE_NUMBER;
use crate::{info, static_closure};
use std::collections::BTreeMap;

pub const REMOTE_WORDS: usize = 4;
/// The word of the exit.
pub const REMOTE_EXIT: usize = 1;

/// The header of what stands for objects of this closure type, if there is such a thing.
pub fn header_for(kind: usize) -> Option<Info> {
    Some(match kind {
        MVAR_CLEAN | MVAR_DIRTY => info!(hec_REMOTE_MVAR_info),
        TVAR => info!(hec_REMOTE_TVAR_info),
        TSO => info!(hec_REMOTE_THREAD_info),
        WEAK => info!(hec_REMOTE_WEAK_info),
        _ => return None,
    })
}

/// Is it the header of a remote object?
pub fn is_remote(header: Info) -> bool {
    let headers = [
        info!(hec_REMOTE_MVAR_info),
        info!(hec_REMOTE_TVAR_info),
        info!(hec_REMOTE_THREAD_info),
        info!(hec_REMOTE_WEAK_info),
    ];
    headers.contains(&header)
}

/// What is in the place of the exit elsewhere.
fn elsewhere() -> usize {
    static_closure!(stg_END_TSO_QUEUE_closure).0
}

/// Writes the remote object for a local one.
/// # Safety
/// There is room at `to`, and `local` is live and of such a type.
pub unsafe fn write(to: Closure, local: Closure, header: Info) {
    let empty = elsewhere();
    let rest = if header == info!(hec_REMOTE_MVAR_info) {
        [empty, empty]
    } else if header == info!(hec_REMOTE_TVAR_info) {
        [0, 1]
    } else if header == info!(hec_REMOTE_THREAD_info) {
        [Tso(local.0).obj().id as usize, 0]
    } else {
        [0, 0]
    };
    to.set_info(header);
    to.set_word(REMOTE_EXIT, local.0);
    to.set_word(REMOTE_NUMBER, rest[0]);
    to.set_word(REMOTE_NUMBER + 1, rest[1]);
}

/// Words of fixed objects that lead to local MVars and the like, and what packets have in their place: by address.
#[derive(Default)]
pub struct RemoteExits(BTreeMap<usize, usize>);

impl RemoteExits {
    /// The exit of a new remote object.
    pub fn add_own(&mut self, remote: Closure) {
        self.insert(remote.slot(REMOTE_EXIT), elsewhere());
    }

    /// A word of another fixed object leads to what a remote object stands for.
    pub fn add(&mut self, slot: *mut usize, remote: Closure) {
        if self.0.get(&(slot as usize)) != Some(&remote.0) {
            self.insert(slot, remote.0);
        }
    }

    fn insert(&mut self, slot: *mut usize, elsewhere: usize) {
        self.0.insert(slot as usize, elsewhere);
        exits::add(slot);
    }

    /// Forgets words that a full collection has cleared, or whose runs it frees.
    /// # Safety
    /// The world is stopped.
    pub unsafe fn forget_dead(&mut self) {
        self.0.retain(|&slot, _| !age_of(slot).is(Age::CONDEMNED) && *(slot as *const usize) != 0);
    }

    /// Puts into a packet what it has in the place of exits. `bytes` are those of the objects from this address on.
    pub fn replace(&self, address: usize, bytes: &mut [u8]) {
        for (&slot, word) in self.0.range(address..address + bytes.len()) {
            let at = slot - address;
            bytes[at..at + WORD].copy_from_slice(&word.to_le_bytes());
        }
    }
}
