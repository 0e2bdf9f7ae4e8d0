//! `rts/Threads.h`, `interruptStgRts`, and `allocate` of `rts/storage/GC.h`: threads and heap objects that C creates.
//!
//! *Locking*
//!
//! C may hold the HEC in two ways. After `rts_lock` no Haskell thread runs on it. In an unsafe foreign call, compiled
//! code has the heap pointer in its register ([`Hec::allocate_for_c`]).
use crate::abi::{Closure, Stack, Tso};
use crate::api::rts_api::run;
use crate::hec::run_queue::{dirty_tso, set_link};
use crate::hec::{out_of_memory, Hec};
use crate::prims::alloc;
use crate::sched::{interrupt, settings};
use crate::thread::create;
use crate::thread::stack::{dirty_stack, StackSizes};

fn stack_sizes(words: usize) -> StackSizes {
    StackSizes { initial: words, ..settings().stack }
}

/// A thread with an empty stack. `words` is the size of its first chunk. The caller pushes frames for what the thread
/// is to do.
/// # Safety
/// For all of these: the caller holds the HEC, and `closure` is live.
#[no_mangle]
pub unsafe extern "C" fn createThread(hec: &mut Hec, words: usize) -> Tso {
    hec.allocate_for_c(|hec| create::new_thread(hec, &stack_sizes(words)))
}

/// A thread that evaluates `closure`.
/// # Safety
/// As for [`createThread`].
#[no_mangle]
pub unsafe extern "C" fn createGenThread(hec: &mut Hec, words: usize, closure: Closure) -> Tso {
    hec.allocate_for_c(|hec| create::new_eval_thread(hec, closure, &stack_sizes(words)))
}

/// A thread that performs `closure`.
/// # Safety
/// As for [`createThread`].
#[no_mangle]
pub unsafe extern "C" fn createIOThread(hec: &mut Hec, words: usize, closure: Closure) -> Tso {
    hec.allocate_for_c(|hec| create::new_io_thread(hec, closure, &stack_sizes(words)))
}

/// A thread that performs `closure` and evaluates its result.
/// # Safety
/// As for [`createThread`].
#[no_mangle]
pub unsafe extern "C" fn createStrictIOThread(hec: &mut Hec, words: usize, closure: Closure) -> Tso {
    hec.allocate_for_c(|hec| create::new_strict_io_thread(hec, closure, &stack_sizes(words)))
}

/// Runs a new thread to its end, bound to the calling OS thread.
/// # Safety
/// `thread` was created by one of the functions above, and is run only once. There was no collection in between. `*hec`
/// is the HEC that the caller holds, before and after the call.
#[no_mangle]
pub unsafe extern "C" fn scheduleWaitThread(thread: Tso, result: *mut Closure, hec: *mut *mut Hec) {
    run(hec, thread, result)
}

/// Ends all Haskell threads, without their handlers. In-calls return `Interrupted`. Async-signal-safe. Any OS thread
/// may call it.
#[no_mangle]
pub extern "C" fn interruptStgRts() {
    // SAFETY: `errno` is the calling OS thread's own.
    unsafe {
        let errno = *libc::__errno_location();
        interrupt::request();
        *libc::__errno_location() = errno;
    }
}

/// Room for a heap object. Ends the program if there is none.
/// # Safety
/// For all of these: the caller holds the HEC, and writes a whole object before anything else reads the heap.
#[no_mangle]
pub unsafe extern "C" fn allocate(hec: &mut Hec, words: usize) -> Closure {
    let room = allocateMightFail(hec, words);
    if room.is_null() {
        out_of_memory(words.saturating_mul(8));
    }
    room
}

/// Room for a heap object, or null.
/// # Safety
/// As for [`allocate`].
#[no_mangle]
pub unsafe extern "C" fn allocateMightFail(hec: &mut Hec, words: usize) -> Closure {
    hec.allocate_for_c(|hec| alloc::array(hec, words))
}

/// Room for a byte array that does not move, or null. Its byte `offset` is at a multiple of `alignment`, a power of
/// two.
/// # Safety
/// As for [`allocate`].
#[no_mangle]
pub unsafe extern "C" fn allocatePinned(hec: &mut Hec, words: usize, alignment: usize, offset: usize) -> Closure {
    alloc::pinned(hec, words, alignment, offset)
}

/// Must be called before a pointer is written into a thread object.
/// # Safety
/// For all of these: the caller holds the HEC, and the threads are live and do not run.
#[no_mangle]
pub unsafe extern "C" fn dirty_TSO(hec: &mut Hec, t: Tso) {
    dirty_tso(&mut hec.remembered, t)
}

/// Must be called before anything is written to a stack.
/// # Safety
/// As for [`dirty_TSO`].
#[no_mangle]
pub unsafe extern "C" fn dirty_STACK(hec: &mut Hec, stack: Stack) {
    dirty_stack(hec, stack)
}

/// Sets the next thread of a queue.
/// # Safety
/// As for [`dirty_TSO`].
#[no_mangle]
pub unsafe extern "C" fn setTSOLink(hec: &mut Hec, t: Tso, next: Tso) {
    set_link(&mut hec.remembered, t, next)
}

/// Sets the previous thread of a queue. In doubly linked queues the headers store it in `block_info`.
/// # Safety
/// As for [`dirty_TSO`].
#[no_mangle]
pub unsafe extern "C" fn setTSOPrev(hec: &mut Hec, t: Tso, previous: Tso) {
    dirty_tso(&mut hec.remembered, t);
    t.obj().block_info = previous.0;
}
