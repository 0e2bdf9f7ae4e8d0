//! Support for unit tests: a heap and HECs without a Haskell program.
#[cfg(test)]
#[cfg(test)]
pub mod symbols;
#[cfg(test)]
pub(crate) mod world;
