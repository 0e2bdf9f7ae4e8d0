//! Hecaton: a runtime system for GHC-compiled Haskell.
pub mod contract;
