//! `RtsAPI.h`: how C builds Haskell values, calls Haskell, and reads the results.
//!
//! *Locking*: the caller holds the HEC, except where a function says otherwise.
use crate::abi::{Closure, Tso};
use crate::hec::Hec;
use crate::sched::in_call::{run_to_end, Status};
use crate::sched::{handoff, hec, settings, task_table};
use crate::thread::create::{apply, boxed, new_eval_thread, new_io_thread, new_strict_io_thread};
use crate::{info, static_closure};
use std::cell::Cell;

/// Constructors and readers of boxed values: constructors with one field of one word.
macro_rules! boxed_values {
    ($($make:ident, $get:ident, $ty:ty, $con:ident, $to:expr, $from:expr;)*) => {$(
        /// # Safety
        /// The caller holds the HEC.
        #[no_mangle]
        pub unsafe extern "C" fn $make(hec: &mut Hec, v: $ty) -> Closure {
            let to: fn($ty) -> usize = $to;
            hec.allocate_for_c(|hec| boxed(hec, info!($con), to(v)))
        }
        /// # Safety
        /// `c` is an evaluated value of the type.
        #[no_mangle]
        pub unsafe extern "C" fn $get(c: Closure) -> $ty {
            let from: fn(usize) -> $ty = $from;
            from(c.untag().word(1))
        }
    )*};
}

boxed_values! {
    rts_mkChar, rts_getChar, u32, ghczmprim_GHCziTypes_Czh_con_info, |v| v as usize, |w| w as u32;
    rts_mkInt, rts_getInt, i64, ghczmprim_GHCziTypes_Izh_con_info, |v| v as usize, |w| w as i64;
    rts_mkInt8, rts_getInt8, i8, base_GHCziInt_I8zh_con_info, |v| v as isize as usize, |w| w as i8;
    rts_mkInt16, rts_getInt16, i16, base_GHCziInt_I16zh_con_info, |v| v as isize as usize, |w| w as i16;
    rts_mkInt32, rts_getInt32, i32, base_GHCziInt_I32zh_con_info, |v| v as isize as usize, |w| w as i32;
    rts_mkInt64, rts_getInt64, i64, base_GHCziInt_I64zh_con_info, |v| v as usize, |w| w as i64;
    rts_mkWord, rts_getWord, u64, ghczmprim_GHCziTypes_Wzh_con_info, |v| v as usize, |w| w as u64;
    rts_mkWord8, rts_getWord8, u8, base_GHCziWord_W8zh_con_info, |v| v as usize, |w| w as u8;
    rts_mkWord16, rts_getWord16, u16, base_GHCziWord_W16zh_con_info, |v| v as usize, |w| w as u16;
    rts_mkWord32, rts_getWord32, u32, base_GHCziWord_W32zh_con_info, |v| v as usize, |w| w as u32;
    rts_mkWord64, rts_getWord64, u64, base_GHCziWord_W64zh_con_info, |v| v as usize, |w| w as u64;
    rts_mkPtr, rts_getPtr, usize, base_GHCziPtr_Ptr_con_info, |v| v, |w| w;
    rts_mkFunPtr, rts_getFunPtr, usize, base_GHCziPtr_FunPtr_con_info, |v| v, |w| w;
    rts_mkFloat, rts_getFloat, f32, ghczmprim_GHCziTypes_Fzh_con_info,
        |v| v.to_bits() as usize, |w| f32::from_bits(w as u32);
    rts_mkDouble, rts_getDouble, f64, ghczmprim_GHCziTypes_Dzh_con_info,
        |v| v.to_bits() as usize, |w| f64::from_bits(w as u64);
    rts_mkStablePtr, rts_getStablePtr, usize, base_GHCziStable_StablePtr_con_info, |v| v, |w| w;
}

/// # Safety
/// The caller holds the HEC.
#[no_mangle]
pub unsafe extern "C" fn rts_mkBool(_hec: &mut Hec, v: i64) -> Closure {
    if v != 0 {
        static_closure!(ghczmprim_GHCziTypes_True_closure).with_tag(2)
    } else {
        static_closure!(ghczmprim_GHCziTypes_False_closure).with_tag(1)
    }
}

/// # Safety
/// `c` is an evaluated `Bool`.
#[no_mangle]
pub unsafe extern "C" fn rts_getBool(c: Closure) -> i64 {
    (c.untag().info().con_tag() != 0) as i64
}

/// A lazily unpacked `String`.
/// # Safety
/// `s` outlives the value.
#[no_mangle]
pub unsafe extern "C" fn rts_mkString(hec: &mut Hec, s: usize) -> Closure {
    let p = rts_mkPtr(hec, s);
    hec.allocate_for_c(|hec| apply(hec, static_closure!(base_GHCziPack_unpackCString_closure), &[p]))
}

/// A thunk of `f x`.
/// # Safety
/// The caller holds the HEC.
#[no_mangle]
pub unsafe extern "C" fn rts_apply(hec: &mut Hec, f: Closure, x: Closure) -> Closure {
    hec.allocate_for_c(|hec| apply(hec, f, &[x]))
}

thread_local! {
    static LAST_STATUS: Cell<Status> = const { Cell::new(Status::Success) };
}

/// Runs a new thread to its end. The result is null if an exception ended the thread. The caller may hold another HEC
/// afterwards, which `*cap` names.
pub(super) unsafe fn run(cap: *mut *mut Hec, thread: Tso, result: *mut Closure) {
    let (status, value) = run_to_end(task_table::current(), thread);
    *cap = hec();
    LAST_STATUS.with(|s| s.set(status));
    if !result.is_null() {
        *result = if status == Status::Success { value } else { Closure::NULL };
    }
}

/// Evaluates to weak head normal form.
/// # Safety
/// For all of these: the caller holds the HEC, `*cap` is it, and `result` is null or writable.
#[no_mangle]
pub unsafe extern "C" fn rts_eval(cap: *mut *mut Hec, p: Closure, result: *mut Closure) {
    let t = new_eval_thread(hec(), p, &settings().stack);
    run(cap, t, result)
}

/// Like [`rts_eval`], with an initial stack of `words` words.
/// # Safety
/// As for [`rts_eval`].
#[no_mangle]
pub unsafe extern "C" fn rts_eval_(cap: *mut *mut Hec, p: Closure, words: u32, result: *mut Closure) {
    let mut sizes = settings().stack;
    sizes.initial = words as usize;
    let t = new_eval_thread(hec(), p, &sizes);
    run(cap, t, result)
}

/// Performs an action and evaluates its result.
/// # Safety
/// As for [`rts_eval`].
#[no_mangle]
pub unsafe extern "C" fn rts_evalIO(cap: *mut *mut Hec, p: Closure, result: *mut Closure) {
    let t = new_strict_io_thread(hec(), p, &settings().stack);
    run(cap, t, result)
}

/// Performs an action; its result may be unevaluated.
/// # Safety
/// As for [`rts_eval`].
#[no_mangle]
pub unsafe extern "C" fn rts_evalLazyIO(cap: *mut *mut Hec, p: Closure, result: *mut Closure) {
    let t = new_io_thread(hec(), p, &settings().stack);
    run(cap, t, result)
}

/// Like [`rts_evalLazyIO`], with an initial stack of `words` words.
/// # Safety
/// As for [`rts_eval`].
#[no_mangle]
pub unsafe extern "C" fn rts_evalLazyIO_(cap: *mut *mut Hec, p: Closure, words: u32, result: *mut Closure) {
    let mut sizes = settings().stack;
    sizes.initial = words as usize;
    let t = new_io_thread(hec(), p, &sizes);
    run(cap, t, result)
}

/// Performs the action behind a stable pointer, without a handler around it. Asynchronous exceptions are masked, as in
/// a thread of `forkOS`. The result is a stable pointer.
/// # Safety
/// As for [`rts_eval`].
#[no_mangle]
pub unsafe extern "C" fn rts_evalStableIO(cap: *mut *mut Hec, sp: usize, result: *mut usize) {
    eval_stable(cap, crate::prims::stable_ptr::deRefStablePtr(sp), result)
}

/// Like [`rts_evalStableIO`], with the action as the program's `main`: an exception that it does not handle ends the
/// program.
/// # Safety
/// As for [`rts_eval`].
#[no_mangle]
pub unsafe extern "C" fn rts_evalStableIOMain(cap: *mut *mut Hec, sp: usize, result: *mut usize) {
    let action = crate::prims::stable_ptr::deRefStablePtr(sp);
    eval_stable(cap, apply(hec(), static_closure!(base_GHCziTopHandler_runMainIO_closure), &[action]), result)
}

unsafe fn eval_stable(cap: *mut *mut Hec, action: Closure, result: *mut usize) {
    use crate::abi::layout::{TSO_BLOCKEX, TSO_INTERRUPTIBLE};
    let t = new_strict_io_thread(hec(), action, &settings().stack);
    t.obj().flags |= (TSO_BLOCKEX | TSO_INTERRUPTIBLE) as u32;
    let mut value = Closure::NULL;
    run(cap, t, &mut value);
    if !result.is_null() && LAST_STATUS.with(|s| s.get()) == Status::Success {
        *result = crate::prims::stable_ptr::getStablePtr(value);
    }
}

/// How the last in-call of this OS thread ended.
/// # Safety
/// The caller holds the HEC.
#[no_mangle]
pub unsafe extern "C" fn rts_getSchedStatus(_hec: *mut Hec) -> Status {
    LAST_STATUS.with(|s| s.get())
}

/// Ends the program if the last in-call failed, with a message that names `site`.
/// # Safety
/// `site` is a C string.
#[no_mangle]
pub unsafe extern "C" fn rts_checkSchedStatus(site: *const libc::c_char, _hec: *mut Hec) {
    let (text, code) = match LAST_STATUS.with(|s| s.get()) {
        Status::Success => return,
        Status::Killed => ("uncaught exception", crate::api::exit_code::EXIT_FAILURE),
        Status::Interrupted => ("interrupted", crate::api::exit_code::EXIT_INTERRUPTED),
        Status::HeapExhausted => ("heap exhausted", crate::api::exit_code::EXIT_HEAP_OVERFLOW),
        Status::NotFinished => ("not finished", crate::api::exit_code::EXIT_INTERNAL_ERROR),
    };
    let site = std::ffi::CStr::from_ptr(site).to_string_lossy();
    crate::base::fatal::print_message(&format!("{site}: {text}"));
    crate::api::shutdown::exit_process(code)
}

/// Acquires a HEC, for building values and calling Haskell.
#[no_mangle]
pub extern "C" fn rts_lock() -> *mut Hec {
    crate::api::admission::require_running();
    handoff::acquire_for_call(task_table::current());
    // SAFETY: just acquired.
    unsafe { hec() }
}

/// Releases the HEC.
/// # Safety
/// The caller holds it.
#[no_mangle]
pub unsafe extern "C" fn rts_unlock(_hec: *mut Hec) {
    handoff::release_to_c(task_table::current())
}

/// The HEC that the caller holds.
#[no_mangle]
pub extern "C" fn rts_unsafeGetMyCapability() -> *mut Hec {
    // SAFETY: only the address is computed.
    unsafe { hec() }
}

/// Lets calls of this OS thread into Haskell begin on HEC `preferred` modulo their number, or on any HEC if the number
/// is negative. The system chooses the core.
#[no_mangle]
pub extern "C" fn rts_setInCallCapability(preferred: i32, _affinity: i32) {
    task_table::current().preferred.set(usize::try_from(preferred).ok())
}

#[no_mangle]
pub extern "C" fn rts_pinThreadToNumaNode(_node: i32) {}

/// This OS thread makes no more calls into Haskell for the present.
#[no_mangle]
pub extern "C" fn rts_done() {
    task_table::release_current()
}

#[no_mangle]
pub extern "C" fn hs_thread_done() {
    rts_done()
}

/// Puts `()` into the `MVar` behind a stable pointer if it is empty, and frees the pointer. Any OS thread may call
/// this.
/// # Safety
/// `sp` is a live stable pointer to an `MVar ()`.
#[no_mangle]
pub unsafe extern "C" fn hs_try_putmvar(_capability: i32, sp: usize) {
    let me = task_table::current();
    // A callback may run while this OS thread holds the HEC (a C finalizer, an unsafe call). Then it uses the HEC
    // directly.
    let held = handoff::holds_hec();
    if !held {
        handoff::acquire(me);
    }
    let mvar = crate::prims::stable_ptr::deRefStablePtr(sp);
    let unit = static_closure!(ghczmprim_GHCziTuple_Z0T_closure).with_tag(1);
    crate::sync::mvar::try_put_mvar(hec(), mvar.untag(), unit);
    crate::prims::stable_ptr::freeStablePtr(sp);
    if !held {
        handoff::release_to_c(me);
    }
}
