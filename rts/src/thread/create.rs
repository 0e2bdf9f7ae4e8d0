//! Creating threads, and the small heap objects that their creators need.
use crate::abi::closure::fields::{ARR_BYTES, ARR_BYTES_PAYLOAD, THUNK_PAYLOAD};
use crate::abi::layout::*;
use crate::abi::tso::{Priority, TSO_WORDS};
use crate::abi::{Closure, Info, Tso, WORD};
use crate::hec::Hec;
use crate::observe::eventlog::hooks as eventlog;
use crate::thread::stack::{new_chunk, StackSizes};
use crate::{info, static_closure};
use std::sync::atomic::{AtomicU64, Ordering};

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// Sets the number of the first thread. Called before any is made.
pub fn number_from(first: u64) {
    NEXT_ID.store(first, Ordering::Relaxed);
}

/// Makes a thread with an empty stack (just the stop frame). It is on no queue.
/// # Safety
/// As for [`Hec::allocate`].
pub unsafe fn new_thread(hec: &mut Hec, sizes: &StackSizes) -> Tso {
    let stack = new_chunk(hec, sizes.first_chunk());
    push(stack, &[info!(stg_stop_thread_info).0]);
    let t = Tso(hec.allocate(TSO_WORDS).0);
    let o = t.obj();
    o.info = info!(stg_TSO_info).0;
    o.link = Tso::end();
    (o.chunks_used, o.usual_chunks, o.burst_began) = (0, 0, 0);
    o.stackobj = stack;
    o.what_next = ThreadRunGHC as u16;
    o.why_blocked = NotBlocked as u16;
    o.flags = 0;
    o.block_info = Tso::end().0;
    o.id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
    o.saved_errno = 0;
    o.dirty = 1;
    o.bound = 0;
    o.cap = hec as *mut Hec as usize;
    o.trec = static_closure!(stg_NO_TREC_closure).0;
    o.blocked_exceptions = Tso::end().closure();
    o.bq = Tso::end().closure();
    o.alloc_limit = 0;
    o.tot_stack_size = stack.obj().size;
    o.priority = Priority::Interactive;
    o.losses = 0;
    o.sched = Tso::end().closure();
    hec.new_threads.push(t);
    eventlog::thread_created(hec.no, o.id);
    t
}

/// Pushes words on a stack that is not running; the first word gets the lowest address.
/// # Safety
/// There is room for the words, and the chunk is dirty or young.
pub unsafe fn push(stack: crate::abi::Stack, ws: &[usize]) {
    let o = stack.obj();
    o.sp -= ws.len() * 8;
    debug_assert!(o.sp >= stack.base());
    std::ptr::copy_nonoverlapping(ws.as_ptr(), o.sp as *mut usize, ws.len());
}

/// Makes a constructor of one unboxed field; the result is tagged.
/// # Safety
/// As for [`Hec::allocate`].
pub unsafe fn boxed(hec: &mut Hec, con: Info, value: usize) -> Closure {
    let c = hec.allocate(2);
    c.set_info(con);
    c.set_word(1, value);
    c.with_tag(1)
}

/// Makes a byte array of these words.
/// # Safety
/// As for [`Hec::allocate`].
pub unsafe fn byte_array(hec: &mut Hec, words: &[usize]) -> Closure {
    let c = hec.allocate(ARR_BYTES_PAYLOAD + words.len());
    c.set_info(info!(stg_ARR_WORDS_info));
    c.set_word(ARR_BYTES, words.len() * WORD);
    std::ptr::copy_nonoverlapping(words.as_ptr(), c.slot(ARR_BYTES_PAYLOAD), words.len());
    c
}

/// Makes a thunk that applies `f` to one or two pointers.
/// # Safety
/// As for [`Hec::allocate`].
pub unsafe fn apply(hec: &mut Hec, f: Closure, args: &[Closure]) -> Closure {
    let header = match args.len() {
        1 => info!(stg_ap_2_upd_info),
        2 => info!(stg_ap_3_upd_info),
        n => crate::base::fatal::broken(&format!("apply to {n} arguments")),
    };
    let thunk = hec.allocate(THUNK_PAYLOAD + 1 + args.len());
    thunk.set_info(header);
    thunk.set_word(THUNK_PAYLOAD, f.0);
    for (i, a) in args.iter().enumerate() {
        thunk.set_word(THUNK_PAYLOAD + 1 + i, a.0);
    }
    thunk
}

/// Makes a thread that evaluates `closure` to weak head normal form.
/// # Safety
/// As for [`Hec::allocate`].
pub unsafe fn new_eval_thread(hec: &mut Hec, closure: Closure, sizes: &StackSizes) -> Tso {
    let t = new_thread(hec, sizes);
    push(t.obj().stackobj, &[info!(stg_enter_info).0, closure.0]);
    t
}

/// Makes a thread that performs the `IO` action `closure`. Its result is what the action returns.
/// # Safety
/// As for [`Hec::allocate`].
pub unsafe fn new_io_thread(hec: &mut Hec, closure: Closure, sizes: &StackSizes) -> Tso {
    let t = new_thread(hec, sizes);
    push(t.obj().stackobj, &[info!(stg_enter_info).0, closure.0, info!(stg_ap_v_info).0]);
    t
}

/// As [`new_io_thread`], but the thread also evaluates the result.
/// # Safety
/// As for [`Hec::allocate`].
pub unsafe fn new_strict_io_thread(hec: &mut Hec, closure: Closure, sizes: &StackSizes) -> Tso {
    let t = new_thread(hec, sizes);
    push(t.obj().stackobj, &[info!(stg_enter_info).0, closure.0, info!(stg_ap_v_info).0, info!(stg_forceIO_info).0]);
    t
}
