//! The policy on options: which of them a program lets its users give.
use crate::abi::layout::*;

/// The options that a source may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Options are an error on the command line; GHCRTS is ignored with a warning.
    None,
    /// All of the command line is for the program.
    Ignore,
    /// The same, and GHCRTS is ignored.
    IgnoreAll,
    /// Only options that do no harm when another user chooses them.
    SafeOnly,
    All,
}

impl Policy {
    pub fn of(rts_opts_enabled: u32) -> Policy {
        match rts_opts_enabled as usize {
            RtsOptsNone => Policy::None,
            RtsOptsIgnore => Policy::Ignore,
            RtsOptsIgnoreAll => Policy::IgnoreAll,
            RtsOptsAll => Policy::All,
            _ => Policy::SafeOnly,
        }
    }
}

/// The part of `RtsConfig` that concerns options.
#[derive(Clone, Debug)]
pub struct Config {
    pub policy: Policy,
    /// Options that were built in when the program was linked.
    pub rts_opts: Vec<u8>,
    /// `main` is GHC's, not one in C.
    pub hs_main: bool,
    /// The program is linked with the package `hecaton`.
    pub package: bool,
}

impl Config {
    pub fn how_to_enable(&self) -> &'static str {
        match self.hs_main {
            true => "Link with -rtsopts to enable them.",
            false => "Use hs_init_with_rtsopts() to enable them.",
        }
    }
}
