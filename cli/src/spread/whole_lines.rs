//! Lines that arrive in pieces, passed on whole, so that the lines of several processes do not run into each other.

/// Bytes of the longest line that is kept for its end. What is longer may not be text, and is passed on as it comes.
const MAX_LINE: usize = 64 << 10;

/// The end of what has come from one process: a line without its end.
#[derive(Default)]
pub struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    /// Takes what has come. Returns what may be passed on.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        let Some(last) = bytes.iter().rposition(|&byte| byte == b'\n') else {
            self.begun.extend_from_slice(bytes);
            return if self.begun.len() > MAX_LINE { std::mem::take(&mut self.begun) } else { Vec::new() };
        };
        let (whole, begun) = bytes.split_at(last + 1);
        let mut passed = std::mem::replace(&mut self.begun, begun.to_vec());
        passed.extend_from_slice(whole);
        passed
    }

    /// The line that has no end, if there is one.
    pub fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.begun)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_passed_on_when_they_end() {
        let mut lines = Lines::default();
        assert_eq!(lines.take(b"one"), b"");
        assert_eq!(lines.take(b" line\nand\nano"), b"one line\nand\n");
        assert_eq!(lines.take(b"ther\n"), b"another\n");
        assert_eq!(lines.rest(), b"");
        assert_eq!(lines.take(b"\nno end"), b"\n");
        assert_eq!(lines.rest(), b"no end");
        assert_eq!(lines.rest(), b"");
    }

    #[test]
    fn what_is_too_long_for_a_line_does_not_pile_up() {
        let mut lines = Lines::default();
        assert_eq!(lines.take(&[7; MAX_LINE]), b"");
        assert_eq!(lines.take(&[7; 1]), vec![7; MAX_LINE + 1]);
        assert_eq!(lines.take(b"8\n"), b"8\n");
    }
}
