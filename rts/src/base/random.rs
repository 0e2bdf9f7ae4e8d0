//! Random numbers that can be repeated: SplitMix64. Random schedules use them, and tests.
pub struct Random(pub u64);

impl Random {
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    /// A number less than `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.number() % n
    }
    #[cfg(test)]
    /// A number of at most `bits` bits. All lengths are equally likely.
    pub fn magnitude(&mut self, bits: u64) -> u64 {
        match self.below(bits + 1) {
            0 => 0,
            n => self.number() >> (64 - n),
        }
    }
    #[cfg(test)]
    pub fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize].clone()
    }
}
