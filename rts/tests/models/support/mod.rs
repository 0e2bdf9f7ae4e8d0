//! Small worlds that several models share.
pub mod hec_world;
pub mod scont_world;
pub mod throwto_world;

/// A value that lives as long as the tests.
pub fn leaked<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}
