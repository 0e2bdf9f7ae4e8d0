//! Small worlds that several models share.
pub mod hec_world;
pub mod throwto_world;
