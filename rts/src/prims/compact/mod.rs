//! Compact regions: closed, evaluated, immutable data that the collector keeps or frees as a whole.
//!
//! `region.rs` has the region and its blocks, and `copy_in.rs` copies data in. `sharing.rs` and `table.rs` record what
//! has been copied. `import.rs` makes a region of blocks from elsewhere.
//!
//! *Locking*: two threads must not add to a region at the same time, on whatever HECs. `ghc-compact` has a lock for
//! each region. Queries read only fields that do not change, and descriptors of blocks.
pub mod copy_in;
pub mod import;
pub mod region;
pub mod sharing;
pub mod table;
