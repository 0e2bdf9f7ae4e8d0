//! Values that exist once in a program, even if the library that owns them is linked twice.
//!
//! *Protocol*: the first stable pointer that is offered for a name is kept.
use std::sync::atomic::{AtomicUsize, Ordering};

/// Keeps `offered` if the store is empty. Returns the kept value.
fn get_or_set(store: &AtomicUsize, offered: usize) -> usize {
    match store.compare_exchange(0, offered, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => offered,
        Err(kept) => kept,
    }
}

macro_rules! stores {
    ($($name:ident)*) => {$(
        #[no_mangle]
        pub extern "C" fn $name(offered: usize) -> usize {
            static STORE: AtomicUsize = AtomicUsize::new(0);
            get_or_set(&STORE, offered)
        }
    )*};
}

stores! {
    getOrSetGHCConcSignalSignalHandlerStore
    getOrSetGHCConcWindowsPendingDelaysStore
    getOrSetGHCConcWindowsIOManagerThreadStore
    getOrSetGHCConcWindowsProddingStore
    getOrSetSystemEventThreadEventManagerStore
    getOrSetSystemEventThreadIOManagerThreadStore
    getOrSetSystemTimerThreadEventManagerStore
    getOrSetSystemTimerThreadIOManagerThreadStore
    getOrSetLibHSghcFastStringTable
    getOrSetLibHSghcPersistentLinkerState
    getOrSetLibHSghcInitLinkerDone
    getOrSetLibHSghcGlobalDynFlags
    getOrSetLibHSghcStaticOptions
    getOrSetLibHSghcStaticOptionsReady
}
