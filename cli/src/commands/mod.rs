//! One file per command.
pub mod bench;
pub mod demo;
pub mod ghc;
pub mod run;
pub mod study;
pub mod test;
