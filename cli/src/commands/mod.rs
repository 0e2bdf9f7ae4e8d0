//! One file per command.
pub mod ghc;
pub mod run;
pub mod test;
