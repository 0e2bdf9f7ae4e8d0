//! Adjusts a size by doubling and halving, with hysteresis.

/// Doubles `size` while the result is at most `up_to`. Halves it while it is more than `min` and more than `down_to`.
/// Between the bounds the size stays, because a nursery that is given back and taken again is cold.
pub(in crate::collector) fn double_or_halve(mut size: usize, min: usize, up_to: usize, down_to: usize) -> usize {
    while 2 * size <= up_to {
        size *= 2;
    }
    while size > min && size > down_to {
        size /= 2;
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_kept_between_the_bounds() {
        assert_eq!(double_or_halve(1, 1, 7, 100), 4);
        assert_eq!(double_or_halve(4, 1, 3, 4), 4);
        assert_eq!(double_or_halve(4, 1, 1, 3), 2);
        assert_eq!(double_or_halve(16, 4, 0, 0), 4);
    }
}
