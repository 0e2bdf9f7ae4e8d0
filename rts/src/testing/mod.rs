//! Support for unit tests: a heap and HECs without a Haskell program, random numbers.
#[cfg(test)]
pub(crate) mod random;
#[cfg(test)]
pub mod symbols;
#[cfg(test)]
pub(crate) mod world;
