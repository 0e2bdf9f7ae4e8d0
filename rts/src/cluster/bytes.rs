//! Numbers, text and lists as bytes.
//!
//! A number is in groups of seven bits, the lowest first; the top bit of a byte says that another one follows. Text,
//! bytes and lists have their length before them.
use super::credit::Credit;
use super::ids::{Block, Pe};

/// Adds a number.
pub fn put_number(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

pub(super) fn put_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    put_number(to, bytes.len() as u64);
    to.extend_from_slice(bytes);
}

pub(super) fn put_credits(to: &mut Vec<u8>, credits: &[Credit]) {
    put_number(to, credits.len() as u64);
    for credit in credits {
        put_number(to, credit.block.0);
        put_number(to, credit.weight);
    }
}

/// What is left of the bytes of a message.
pub struct Reader<'a> {
    pub(super) left: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.left.split_first()?;
        self.left = rest;
        Some(first)
    }

    pub(super) fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return None;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.left)
    }

    pub(super) fn pe(&mut self) -> Option<Pe> {
        Some(Pe(self.number()?.try_into().ok()?))
    }

    pub(super) fn text(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.left.split_at_checked(length)?;
        self.left = rest;
        String::from_utf8(bytes.to_vec()).ok()
    }

    /// A list, each of whose elements has a byte at least.
    pub fn list<T>(&mut self, element: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.number()?;
        if length > self.left.len() as u64 {
            return None;
        }
        (0..length).map(|_| element(self)).collect()
    }

    pub(super) fn credit(&mut self) -> Option<Credit> {
        Some(Credit { block: Block(self.number()?), weight: self.number()? })
    }
}
