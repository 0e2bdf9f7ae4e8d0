//! Sizes that follow something by doubling and halving.

/// `size`, doubled while that is no more than `up_to`, and halved while it is more than `least` and than `down_to`. Between the two bounds it
/// keeps what it was: a nursery that is given back and taken again is cold.
pub(in crate::collector) fn following(mut size: usize, least: usize, up_to: usize, down_to: usize) -> usize {
    while 2 * size <= up_to {
        size *= 2;
    }
    while size > least && size > down_to {
        size /= 2;
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_kept_between_the_bounds() {
        assert_eq!(following(1, 1, 7, 100), 4);
        assert_eq!(following(4, 1, 3, 4), 4);
        assert_eq!(following(4, 1, 1, 3), 2);
        assert_eq!(following(16, 4, 0, 0), 4);
    }
}
