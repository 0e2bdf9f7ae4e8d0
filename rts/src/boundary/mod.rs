//! The boundary: what C and compiled code call by name, start and stop, flags.
pub mod api;
pub mod exit;
pub mod flags;
pub mod fork;
pub mod hecs;
pub mod init;
mod lifetime;
pub mod misc;
pub mod os_threads;
mod report;
pub mod threads;
