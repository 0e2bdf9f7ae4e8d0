//! Values of options: numbers as C parses them, and sizes with suffixes.
use std::ffi::CString;
use std::os::raw::c_char;

/// A number, and the length of its text (0: there is no number).
fn strtod(text: &[u8]) -> (f64, usize) {
    let c = CString::new(text).unwrap_or_default();
    let mut end: *mut c_char = std::ptr::null_mut();
    // SAFETY: a terminated string; `end` is set to an address in it.
    let value = unsafe { libc::strtod(c.as_ptr(), &mut end) };
    (value, end as usize - c.as_ptr() as usize)
}

/// The number at the start of the text; 0 if there is none.
pub fn number(text: &[u8]) -> f64 {
    strtod(text).0
}

/// A number without any text after it.
pub fn exact_number(text: &[u8]) -> Option<f64> {
    let (value, used) = strtod(text);
    (used > 0 && used == text.len()).then_some(value)
}

/// The number at the start of the text.
pub fn leading_number(text: &[u8]) -> Option<f64> {
    let (value, used) = strtod(text);
    (used > 0).then_some(value)
}

/// The decimal integer at the start of the text; 0 if there is none.
pub fn integer(text: &[u8]) -> i64 {
    let c = CString::new(text).unwrap_or_default();
    // SAFETY: a terminated string.
    unsafe { libc::strtol(c.as_ptr(), std::ptr::null_mut(), 10) }
}

/// An address in `base`, or in the base of its prefix if `base` is 0.
pub fn address(text: &[u8], base: i32) -> usize {
    let c = CString::new(text).unwrap_or_default();
    // SAFETY: a terminated string.
    unsafe { libc::strtoull(c.as_ptr(), std::ptr::null_mut(), base) as usize }
}

/// Seconds to nanoseconds.
pub fn nanoseconds(seconds: f64) -> i64 {
    (seconds * 1e9) as i64
}

/// A size: a number times the unit of the *last* letter (b: bytes, w: words, k, m, g: binary multiples). Other letters
/// mean bytes.
fn scaled(text: &[u8]) -> f64 {
    let unit = match text.last() {
        Some(b'g' | b'G') => 1024.0 * 1024.0 * 1024.0,
        Some(b'm' | b'M') => 1024.0 * 1024.0,
        Some(b'k' | b'K') => 1024.0,
        Some(b'w' | b'W') => 8.0,
        _ => 1.0,
    };
    number(text) * unit
}

/// The allowed range of a size that is out of range.
#[derive(Debug, PartialEq, Eq)]
pub struct OutOfRange {
    pub min: u64,
    pub max: u64,
}

/// A size between `min` and `max` bytes.
pub fn size(text: &[u8], min: u64, max: u64) -> Result<u64, OutOfRange> {
    let bytes = scaled(text);
    // A size that no word can hold counts as 0, so that it is refused wherever a size is needed.
    let word = if bytes < 18446744073709551616.0 { bytes as u64 } else { 0 };
    if bytes.is_nan() || bytes < 0.0 || word < min || word > max {
        return Err(OutOfRange { min, max });
    }
    Ok(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let ok = |text: &str| size(text.as_bytes(), 0, u64::MAX).unwrap();
        for (text, bytes) in [
            ("", 0),
            ("x", 0),
            ("10", 10),
            ("1k", 1024),
            ("1K", 1024),
            ("10kk", 10240),
            ("1.5m", 1572864),
            ("2g", 2 << 30),
            ("3w", 24),
            ("7b", 7),
            ("2m4", 2),
            ("16t", 16),
            ("1e1m", 10 << 20),
            ("10000x", 10000),
            ("1e30", 0),
        ] {
            assert_eq!(ok(text), bytes, "{text}");
        }
        let refused = |text: &str| size(text.as_bytes(), 8192, i64::MAX as u64).is_err();
        for text in ["", "4k", "-1", "-5m", "1e30", "nan", "16t"] {
            assert!(refused(text), "{text}");
        }
        assert!(!refused("8k") && !refused("1g"));
    }

    #[test]
    fn numbers() {
        assert_eq!(number(b"2x"), 2.0);
        assert_eq!(number(b"x"), 0.0);
        assert_eq!(exact_number(b"0.01"), Some(0.01));
        assert_eq!(exact_number(b"1x"), None);
        assert_eq!(exact_number(b""), None);
        assert_eq!(leading_number(b"3x"), Some(3.0));
        assert_eq!(leading_number(b"x"), None);
        assert_eq!(integer(b"12x"), 12);
        assert_eq!(integer(b"x"), 0);
        assert_eq!(address(b"foo", 16), 0xf);
        assert_eq!(address(b"0x10000", 0), 65536);
        assert_eq!(address(b"1000", 0), 1000);
    }
}
