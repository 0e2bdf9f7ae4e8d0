//! Thunks, queues of waiters and threads as the thunk protocol sees them: where their words are.
use crate::abi::closure::fields::*;
use crate::abi::layout::*;
use crate::abi::symbols::is_blackhole_info;
use crate::abi::{Closure, Info, Tso, TAG_MASK, WORD};
use crate::base::atomics::AtomicUsize;
use crate::eval::thunk::{Claim, Headers, Memory};
use crate::{hec, info};

/// MSG_BLACKHOLE, a waiter's entry: {link, thread, thunk}. An abandoned entry has no thread.
pub(super) const MSG_LINK: usize = 1;
pub(super) const MSG_TSO: usize = 2;
pub(super) const MSG_BH: usize = 3;
pub(super) const MSG_WORDS: usize = 4;
/// BLOCKING_QUEUE: {link, thunk, owner, entries}. The link is to the next queue that hangs on the owner.
pub(super) const BQ_WORDS: usize = 5;

/// The heap. Its users guarantee that all objects they pass are live.
pub(super) struct Heap;

/// The thread that an entry is for.
pub(super) fn thread_of<'a>(entry: Closure) -> &'a AtomicUsize {
    word(entry.0, MSG_TSO)
}

/// Word `i` of an object, which other HECs may change.
fn word<'a>(object: usize, i: usize) -> &'a AtomicUsize {
    // SAFETY: a naturally aligned word of a live object, as `Heap` says.
    unsafe { &*(Closure(object).slot(i) as *const AtomicUsize) }
}

impl Memory for Heap {
    fn end(&self) -> usize {
        Tso::end().0
    }
    fn shared(&self) -> bool {
        hec::many()
    }
    fn headers(&self) -> Headers {
        Headers {
            ind: info!(stg_IND_info).0,
            blackhole: info!(stg_BLACKHOLE_info).0,
            whitehole: info!(stg_WHITEHOLE_info).0,
        }
    }
    fn indirectee_decides(&self, header: usize) -> bool {
        header == info!(stg_IND_info).0 || is_blackhole_info(Info(header))
    }
    fn claim(&self, indirectee: usize) -> Claim {
        if indirectee & TAG_MASK != 0 {
            return Claim::Value;
        }
        // SAFETY: an indirectee leads to an object.
        let i = unsafe { Closure(indirectee).info() };
        if i == info!(stg_TSO_info) {
            Claim::By(indirectee)
        } else if i == info!(stg_BLOCKING_QUEUE_CLEAN_info) || i == info!(stg_BLOCKING_QUEUE_DIRTY_info) {
            Claim::Queue(indirectee)
        } else {
            Claim::Value
        }
    }
    fn header(&self, thunk: usize) -> &AtomicUsize {
        word(thunk, 0)
    }
    fn indirectee(&self, thunk: usize) -> &AtomicUsize {
        word(thunk, INDIRECTEE)
    }
    fn entries(&self, queue: usize) -> &AtomicUsize {
        word(queue, BQ_QUEUE)
    }
    fn next_entry(&self, entry: usize) -> &AtomicUsize {
        word(entry, MSG_LINK)
    }
    fn thunk_of(&self, queue: usize) -> usize {
        // SAFETY: a queue's thunk and owner never change while threads run.
        unsafe { Closure(queue).word(BQ_BH) }
    }
    fn owner_of(&self, queue: usize) -> usize {
        // SAFETY: as above.
        unsafe { Closure(queue).word(BQ_OWNER) }
    }
    fn hanging(&self, thread: usize) -> &AtomicUsize {
        word(thread, OFFSET_TSO_bq / WORD)
    }
    fn next_hanging(&self, queue: usize) -> &AtomicUsize {
        word(queue, BQ_LINK)
    }
}
