//! Compact regions: closed, evaluated, immutable data that the collector keeps or drops whole.
//!
//! `region.rs` is the region and its blocks, `add.rs` copies data in, `share.rs` remembers what
//! has been copied, and `import.rs` makes a region of blocks that came from elsewhere.
pub mod add;
pub mod import;
pub mod region;
pub mod share;
