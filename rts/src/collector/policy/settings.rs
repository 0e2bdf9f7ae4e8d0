//! The collector's settings, as the flags choose them.
use crate::base::config::HeapSuggestion;
use std::ptr;

/// The settings chosen by flags, once at start.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The nursery of each HEC.
    pub nursery_bytes: usize,
    /// The chunks of nurseries, where there are several HECs; `None` for the default.
    pub chunk_bytes: Option<usize>,
    pub generations: usize,
    /// A size that nurseries may grow to fill (`-H`).
    pub suggestion: HeapSuggestion,
    /// Growth factor of the old generations between full collections (`-F`).
    pub factor: f64,
    pub min_old_bytes: usize,
    pub max_heap_bytes: Option<usize>,
    /// Bytes in large objects after which a collection is due.
    pub large_bytes: usize,
    /// Give memory back to the system after full collections.
    pub return_memory: bool,
    /// The number of GC workers for every collection, however little there is to do.
    pub forced_threads: Option<usize>,
    /// Check the whole heap before and after each collection, and poison free memory.
    pub check: bool,
    /// Leave out checks where they have taken long.
    pub spaced_checks: bool,
    /// Give nurseries another size at every collection, unless `-M` limits the heap.
    pub vary_nurseries: bool,
    /// Nurseries keep the size that the flags say, so that collections do not depend on how long they take.
    pub fixed_nurseries: bool,
    /// Nothing ages: survivors of their first collection are promoted.
    pub promote_at_once: bool,
}

impl Settings {
    pub const DEFAULT: Settings = Settings {
        nursery_bytes: 1 << 20,
        chunk_bytes: None,
        generations: 2,
        suggestion: HeapSuggestion::None,
        factor: 2.0,
        min_old_bytes: 1 << 20,
        max_heap_bytes: None,
        large_bytes: 1 << 20,
        return_memory: true,
        forced_threads: None,
        check: false,
        spaced_checks: false,
        vary_nurseries: false,
        fixed_nurseries: false,
        promote_at_once: false,
    };

    /// Do the flags name the nursery size, or a limit that bounds it?
    pub(super) fn has_nursery_size(&self) -> bool {
        self.fixed_nurseries || self.nursery_bytes != Settings::DEFAULT.nursery_bytes || self.max_heap_bytes.is_some()
    }

    /// Do the flags say how much the old generations grow?
    pub(super) fn has_growth_flag(&self) -> bool {
        self.factor != Settings::DEFAULT.factor || self.max_heap_bytes.is_some()
    }
}

static mut SETTINGS: Settings = Settings::DEFAULT;

/// # Safety
/// Called once at start, before any HEC runs.
pub(super) unsafe fn set(settings: Settings) {
    *ptr::addr_of_mut!(SETTINGS) = settings;
}

pub fn settings() -> &'static Settings {
    // SAFETY: written at start only.
    unsafe { &*ptr::addr_of!(SETTINGS) }
}
