//! Compact regions: closed, evaluated, immutable data that the collector keeps or drops whole.
//!
//! `region.rs` is the region and its blocks, `copy_in.rs` copies data in, `sharing.rs` remembers what
//! has been copied (in `table.rs`), and `import.rs` makes a region of blocks that came from elsewhere.
//!
//! Two threads must not add to one region at a time, whatever HECs they run on: `ghc-compact` has a
//! lock for each. What only asks reads fields that do not change, or the descriptors of blocks.
pub mod copy_in;
pub mod import;
pub mod region;
pub mod sharing;
mod table;
