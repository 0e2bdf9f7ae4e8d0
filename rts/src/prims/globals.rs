//! Values that libraries want to exist once in a program, even when the library is in it twice:
//! the first stable pointer offered for a name stays.
use std::sync::atomic::{AtomicUsize, Ordering};

/// Keeps `offered` if the store is empty; returns what is kept.
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
