//! Exceptions that say why an object or a result is not there. Their types are in `rts/haskell/Spread.hs`.
use crate::abi::Closure;
use crate::base::poison::unpoisoned;
use crate::cluster::message::Unavailable;
use crate::hec::Hec;
use crate::thread::create::{apply, boxed};
use crate::{info, static_closure};
use std::collections::HashSet;
use std::ffi::{c_char, CStr, CString};
use std::sync::{LazyLock, Mutex};

/// Texts that exceptions refer to: few, because they name types.
static TEXTS: LazyLock<Mutex<HashSet<&'static CStr>>> = LazyLock::new(Mutex::default);

/// The text as a string of C's that is never freed.
pub fn lasting(text: &str) -> *const c_char {
    let text = CString::new(text.replace('\0', "?")).unwrap_or_default();
    let mut texts = unpoisoned(TEXTS.lock());
    if let Some(known) = texts.get(text.as_c_str()) {
        return known.as_ptr();
    }
    let text: &'static CStr = Box::leak(text.into_boxed_c_str());
    texts.insert(text);
    text.as_ptr()
}

/// # Safety
/// The caller holds the HEC.
pub unsafe fn of(hec: &mut Hec, why: &Unavailable) -> Closure {
    match why {
        Unavailable::PeLost => static_closure!(hecatonzmrts_Spread_peLost_closure),
        Unavailable::Stays(text) => {
            let text = boxed(hec, info!(base_GHCziPtr_Ptr_con_info), lasting(text) as usize);
            apply(hec, static_closure!(hecatonzmrts_Spread_notTransferable_closure), &[text])
        }
        Unavailable::StackOverflow => static_closure!(base_GHCziIOziException_stackOverflow_closure),
        Unavailable::HeapOverflow => static_closure!(base_GHCziIOziException_heapOverflow_closure),
    }
}
