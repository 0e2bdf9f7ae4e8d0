//! `--scheduler` with the name of a scheduler of the Haskell package `hecaton`: the program's `main` runs under it.
use crate::abi::Closure;
use crate::prims::stable_ptr::{deRefStablePtr, getStablePtr, hs_free_stable_ptr};
use std::ffi::{c_char, CString};
use std::sync::OnceLock;

extern "C" {
    /// Is the program linked with the package? (`rts/c/package.c`)
    fn hec_has_package() -> u8;
    /// The action that runs an action under a scheduler. An unknown name makes one that ends the program.
    fn hec_main_under(scheduler: *const c_char, action: usize) -> usize;
}

static NAME: OnceLock<CString> = OnceLock::new();

/// Is the program linked with the package?
pub fn is_linked() -> bool {
    // SAFETY: it reads the address of a symbol.
    unsafe { hec_has_package() != 0 }
}

/// `main` is to run under the scheduler of this name. Called at start; [`is_linked`].
pub fn select(name: CString) {
    NAME.get_or_init(|| name);
}

/// An action that stands for `main` until it is freed.
pub struct Main(usize);

/// Makes the action that runs `main` under the scheduler that was selected, if one was.
/// # Safety
/// The runtime has started, and the OS thread holds no HEC: this is a call of Haskell code.
pub unsafe fn main_under_selected(main: Closure) -> Option<Main> {
    let name = NAME.get()?;
    let plain = getStablePtr(main);
    let under = Main(hec_main_under(name.as_ptr(), plain));
    hs_free_stable_ptr(plain);
    Some(under)
}

impl Main {
    /// The action. It is not used any more afterwards.
    /// # Safety
    /// The caller holds a HEC, and keeps the action.
    pub unsafe fn take(self) -> Closure {
        let action = deRefStablePtr(self.0);
        hs_free_stable_ptr(self.0);
        action
    }
}
