//! `rts/OSThreads.h`: OS threads for C code that is written against the headers.
//!
//! *Invariants*
//!
//! - Threads and types are those of pthreads, so that the headers' macros (`OS_ACQUIRE_LOCK`) work.
//! - A failure that cannot happen in correct use ends the program, as in the stock runtime.
use crate::abi::ways::Ways;
use crate::api::set_capabilities::getNumberOfProcessors;
use crate::base::fatal;
use libc::{c_char, c_int, c_void, pthread_cond_t, pthread_key_t, pthread_mutex_t, pthread_t};
use std::ptr::null_mut;

/// Ends the program if `code`, the result of a pthreads function, is an error.
fn check(code: c_int, what: &str) {
    if code != 0 {
        fatal::broken(&format!("{what}: {}", fatal::system_error(&std::io::Error::from_raw_os_error(code))))
    }
}

#[no_mangle]
pub extern "C" fn osThreadId() -> pthread_t {
    // SAFETY: a query.
    unsafe { libc::pthread_self() }
}

/// The system's number of the calling thread.
#[no_mangle]
pub extern "C" fn kernelThreadId() -> u64 {
    // SAFETY: as above.
    unsafe { libc::gettid() as u64 }
}

/// Ends the calling thread.
/// # Safety
/// It is not in a call from Haskell.
#[no_mangle]
pub unsafe extern "C" fn shutdownThread() -> ! {
    libc::pthread_exit(null_mut())
}

/// Lets other threads run.
#[no_mangle]
pub extern "C" fn yieldThread() {
    // SAFETY: no arguments.
    unsafe { libc::sched_yield() };
}

/// Starts a detached thread that calls `body(argument)`. Returns zero or an error number. The thread has the program's
/// name, because profilers and debuggers tell the stock runtime's threads apart only by their numbers.
/// # Safety
/// `id` may be written.
#[no_mangle]
pub unsafe extern "C" fn createOSThread(
    id: *mut pthread_t,
    _name: *const c_char,
    body: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
) -> c_int {
    let mut attributes = std::mem::zeroed();
    libc::pthread_attr_init(&mut attributes);
    libc::pthread_attr_setdetachstate(&mut attributes, libc::PTHREAD_CREATE_DETACHED);
    let code = libc::pthread_create(id, &attributes, body, argument);
    libc::pthread_attr_destroy(&mut attributes);
    code
}

/// Pthreads do not tell. The headers' users take true for "it may be alive".
#[no_mangle]
pub extern "C" fn osThreadIsAlive(_id: pthread_t) -> bool {
    true
}

/// Interrupts a blocking system call of a thread, by the signal that interrupts foreign calls.
/// # Safety
/// The thread has not ended.
#[no_mangle]
pub unsafe extern "C" fn interruptOSThread(id: pthread_t) {
    libc::pthread_kill(id, libc::SIGVTALRM);
}

/// Waits for the end of a thread that is not detached. Threads of [`createOSThread`] are.
/// # Safety
/// The thread was made by `pthread_create`, and no other thread joins it.
#[no_mangle]
pub unsafe extern "C" fn joinOSThread(id: pthread_t) {
    let code = libc::pthread_join(id, null_mut());
    if code != 0 {
        let why = fatal::system_error(&std::io::Error::from_raw_os_error(code));
        fatal::print_message(&format!("joinOSThread: error {code}: {why}"));
    }
}

/// # Safety
/// For all of these: the mutex or condition is the caller's to initialise, or has been initialised.
#[no_mangle]
pub unsafe extern "C" fn initMutex(mutex: *mut pthread_mutex_t) {
    let mut attributes = std::mem::zeroed();
    libc::pthread_mutexattr_init(&mut attributes);
    if Ways::linked().debug {
        // `OS_ASSERT_LOCK_HELD` takes the lock again, and expects an error.
        libc::pthread_mutexattr_settype(&mut attributes, libc::PTHREAD_MUTEX_ERRORCHECK);
    }
    libc::pthread_mutex_init(mutex, &attributes);
    libc::pthread_mutexattr_destroy(&mut attributes);
}

/// # Safety
/// As for [`initMutex`].
#[no_mangle]
pub unsafe extern "C" fn closeMutex(mutex: *mut pthread_mutex_t) {
    libc::pthread_mutex_destroy(mutex);
}

/// # Safety
/// As for [`initMutex`].
#[no_mangle]
pub unsafe extern "C" fn initCondition(condition: *mut pthread_cond_t) {
    libc::pthread_cond_init(condition, std::ptr::null());
}

/// # Safety
/// As for [`initMutex`].
#[no_mangle]
pub unsafe extern "C" fn closeCondition(condition: *mut pthread_cond_t) {
    libc::pthread_cond_destroy(condition);
}

/// Wakes all waiting threads. True on success.
/// # Safety
/// As for [`initMutex`].
#[no_mangle]
pub unsafe extern "C" fn broadcastCondition(condition: *mut pthread_cond_t) -> bool {
    libc::pthread_cond_broadcast(condition) == 0
}

/// Wakes one waiting thread. True on success.
/// # Safety
/// As for [`initMutex`].
#[no_mangle]
pub unsafe extern "C" fn signalCondition(condition: *mut pthread_cond_t) -> bool {
    libc::pthread_cond_signal(condition) == 0
}

/// Waits for a wake-up, and releases the mutex meanwhile. True on success.
/// # Safety
/// As for [`initMutex`]; the caller holds the mutex.
#[no_mangle]
pub unsafe extern "C" fn waitCondition(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> bool {
    libc::pthread_cond_wait(condition, mutex) == 0
}

/// # Safety
/// For all of these: the key may be written, or was made here.
#[no_mangle]
pub unsafe extern "C" fn newThreadLocalKey(key: *mut pthread_key_t) {
    check(libc::pthread_key_create(key, None), "newThreadLocalKey");
}

/// # Safety
/// As for [`newThreadLocalKey`].
#[no_mangle]
pub unsafe extern "C" fn getThreadLocalVar(key: *const pthread_key_t) -> *mut c_void {
    libc::pthread_getspecific(*key)
}

/// # Safety
/// As for [`newThreadLocalKey`].
#[no_mangle]
pub unsafe extern "C" fn setThreadLocalVar(key: *const pthread_key_t, value: *const c_void) {
    check(libc::pthread_setspecific(*key, value), "setThreadLocalVar");
}

/// # Safety
/// As for [`newThreadLocalKey`].
#[no_mangle]
pub unsafe extern "C" fn freeThreadLocalKey(key: *const pthread_key_t) {
    check(libc::pthread_key_delete(*key), "freeThreadLocalKey");
}

/// Restricts the calling thread to the cores `n`, `n + m`, `n + 2m` and so on. Has no effect if the process may use
/// none of them.
#[no_mangle]
pub extern "C" fn setThreadAffinity(n: u32, m: u32) {
    // SAFETY: a local set of cores, and indices within its bounds.
    unsafe {
        let mut cores: libc::cpu_set_t = std::mem::zeroed();
        let last = getNumberOfProcessors().min(libc::CPU_SETSIZE as u32) as usize;
        for core in (n as usize..last).step_by(m.max(1) as usize) {
            libc::CPU_SET(core, &mut cores);
        }
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &cores);
    }
}

/// Without NUMA there is one node.
#[no_mangle]
pub extern "C" fn setThreadNode(_node: u32) {}

#[no_mangle]
pub extern "C" fn releaseThreadNode() {}

/// No resource outlives its thread.
#[no_mangle]
pub extern "C" fn freeThreadingResources() {}
