//! Weak pointers: their creation and finalization.
//!
//! *Protocol*
//!
//! 1. A weak pointer is alive (`stg_WEAK_info`) until it is finalized: by `finalizeWeak#`, because its key died, or at
//!    the end of the program. Then it is dead (`stg_DEAD_WEAK_info`) for ever.
//! 2. The thread that changes the header owns the finalizers, so they run once.
//! 3. That thread runs the C finalizers, the latest one first, and returns the Haskell finalizer to its caller.
//!
//! *Locking*: one lock for all weak pointers decides between HECs. Finalizers run without it.
use crate::abi::closure::fields::*;
use crate::abi::{words, Closure};
use crate::hec::{self, Hec};
use crate::memory::heap;
use crate::prims::ffi_mutex::Lock;
use crate::{info, static_closure};

/// Held while a header is changed or a list of C finalizers is written.
static LOCK: Lock = Lock::new();

const WEAK_WORDS: usize = WEAK_LINK + 1;

/// `StgCFinalizerList`.
#[repr(C)]
struct CFinalizer {
    info: usize,
    next: Closure,
    function: usize,
    argument: usize,
    environment: usize,
    has_environment: usize,
}

/// A new weak pointer; `finalizer` may be `stg_NO_FINALIZER_closure`.
/// # Safety
/// Called from Cmm with the HEC held and Hp saved.
#[no_mangle]
pub unsafe extern "C" fn hec_new_weak(hec: &mut Hec, key: Closure, value: Closure, finalizer: Closure) -> Closure {
    let w = hec.allocate(WEAK_WORDS);
    w.set_info(info!(stg_WEAK_info));
    w.set_word(WEAK_CFINALIZERS, static_closure!(stg_NO_FINALIZER_closure).0);
    w.set_word(WEAK_KEY, key.0);
    w.set_word(WEAK_VALUE, value.0);
    w.set_word(WEAK_FINALIZER, finalizer.0);
    w.set_word(WEAK_LINK, 0);
    hec.new_weaks.push(w);
    w
}

unsafe fn is_dead(w: Closure) -> bool {
    w.info() == info!(stg_DEAD_WEAK_info)
}

/// Adds a C finalizer. Returns 0 if the weak pointer is dead.
/// # Safety
/// As for [`hec_new_weak`]. `function` takes the environment, if there is one, and then the argument.
#[no_mangle]
pub unsafe extern "C" fn hec_add_c_finalizer(
    hec: &mut Hec,
    w: Closure,
    function: usize,
    argument: usize,
    has_environment: usize,
    environment: usize,
) -> usize {
    let _locked = LOCK.among_hecs();
    if is_dead(w) {
        return 0;
    }
    let c = hec.allocate(words(std::mem::size_of::<CFinalizer>()));
    *(c.0 as *mut CFinalizer) = CFinalizer {
        info: info!(stg_C_FINALIZER_LIST_info).0,
        next: w.field(WEAK_CFINALIZERS),
        function,
        argument,
        environment,
        has_environment,
    };
    hec.remember(w);
    w.set_word(WEAK_CFINALIZERS, c.0);
    1
}

/// Calls the C finalizers of a list.
unsafe fn run_c_finalizers(mut c: Closure) {
    while c != static_closure!(stg_NO_FINALIZER_closure) {
        let f = &*(c.0 as *const CFinalizer);
        if f.has_environment != 0 {
            let call: extern "C" fn(usize, usize) = std::mem::transmute(f.function);
            call(f.environment, f.argument);
        } else {
            let call: extern "C" fn(usize) = std::mem::transmute(f.function);
            call(f.argument);
        }
        c = f.next;
    }
}

/// Makes `w` dead, and returns its C finalizers. `None` if it was dead.
unsafe fn kill(w: Closure) -> Option<Closure> {
    let _locked = LOCK.among_hecs();
    if is_dead(w) {
        return None;
    }
    w.set_info(info!(stg_DEAD_WEAK_info));
    let list = w.field(WEAK_CFINALIZERS);
    w.set_word(WEAK_CFINALIZERS, static_closure!(stg_NO_FINALIZER_closure).0);
    Some(list)
}

/// Finalizes `w`: runs its C finalizers and returns the Haskell one. `None` if there is none or `w` was dead.
/// # Safety
/// `w` is live and a HEC is held. The finalizers are foreign code, so no reference into the runtime's tables may be in
/// use.
pub unsafe fn finalize(w: Closure) -> Option<Closure> {
    run_c_finalizers(kill(w)?);
    Some(w.field(WEAK_FINALIZER)).filter(|&f| f != static_closure!(stg_NO_FINALIZER_closure))
}

/// [`finalize`] for Cmm; null for `None`.
/// # Safety
/// As for [`finalize`].
#[no_mangle]
pub unsafe extern "C" fn hec_finalize_weak(w: Closure) -> Closure {
    finalize(w).unwrap_or(Closure::NULL)
}

/// Finalizes weak pointers whose keys a collection found dead. Returns the number of Haskell finalizers and a frozen
/// array of them, for `runFinalizerBatch`.
/// # Safety
/// The world runs again, and the weak pointers have been kept alive.
pub unsafe fn finalize_batch(hec: &mut Hec, dead: &[Closure]) -> Option<(usize, Closure)> {
    let finalizers: Vec<Closure> = dead.iter().filter_map(|&w| finalize(w)).collect();
    if finalizers.is_empty() {
        return None;
    }
    Some((finalizers.len(), super::array::frozen(hec, &finalizers)))
}

/// Runs all C finalizers at the end of the program, but no Haskell one.
/// # Safety
/// The world is stopped for ever.
pub unsafe fn finalize_all() {
    let mut all = Vec::new();
    for no in 0..hec::count() {
        all.append(&mut (*hec::address(no)).new_weaks);
    }
    for gen in &mut heap().gens {
        all.append(&mut gen.weaks);
    }
    for w in all {
        finalize(w);
    }
}
