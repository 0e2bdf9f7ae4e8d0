//! Shared parts of Rust's copies of the headers' structures.

/// Nanoseconds, like the headers' `Time`.
pub type Time = i64;

/// Asserts that a structure has the size and the field offsets of the headers.
macro_rules! same_layout {
    ($type:ty, $layout:ident, $($field:ident)*) => {
        const _: () = {
            let layout = [std::mem::size_of::<$type>() $(, std::mem::offset_of!($type, $field))*];
            assert!(layout.len() == $layout.len());
            let mut i = 0;
            while i < layout.len() {
                assert!(layout[i] == $layout[i]);
                i += 1;
            }
        };
    };
}
pub(crate) use same_layout;
