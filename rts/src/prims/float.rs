//! Decoding and encoding of floating-point numbers, with integral mantissas.

/// Mantissa and exponent of a number in a binary format with `mantissa_bits` (including the implicit one) and exponent
/// bias `bias`. The mantissa of a nonzero number is normalised. Infinities and NaNs are decoded as if their exponent
/// were an ordinary one.
fn decode(bits: u64, mantissa_bits: u32, bias: i64) -> (i64, i64) {
    let fraction_bits = mantissa_bits - 1;
    let exponent_bits = match mantissa_bits {
        24 => 8,
        _ => 11,
    };
    let fraction = bits & ((1 << fraction_bits) - 1);
    let biased = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    let negative = bits >> (fraction_bits + exponent_bits) != 0;
    let (mantissa, exponent) = match (biased, fraction) {
        (0, 0) => return (0, 0),
        (0, f) => {
            // Subnormal: shift the leading one to its position in normal numbers.
            let shift = f.leading_zeros() - (64 - mantissa_bits);
            (f << shift, 1 - shift as i64)
        }
        (e, f) => (f | 1 << fraction_bits, e as i64),
    };
    let signed = if negative { -(mantissa as i64) } else { mantissa as i64 };
    (signed, exponent - bias - fraction_bits as i64)
}

/// Returns the mantissa of `x` and writes its exponent to `exponent`.
/// # Safety
/// `exponent` may be written.
#[no_mangle]
pub unsafe extern "C" fn hec_decode_double(x: f64, exponent: *mut i64) -> i64 {
    let (m, e) = decode(x.to_bits(), f64::MANTISSA_DIGITS, 1023);
    *exponent = e;
    m
}

/// As [`hec_decode_double`].
/// # Safety
/// `exponent` may be written.
#[no_mangle]
pub unsafe extern "C" fn hec_decode_float(x: f32, exponent: *mut i64) -> i64 {
    let (m, e) = decode(x.to_bits() as u64, f32::MANTISSA_DIGITS, 127);
    *exponent = e;
    m
}

extern "C" {
    fn ldexp(x: f64, exponent: i32) -> f64;
}

/// `x` times two to the power `e`, for any `e`. The result does not depend on how far `e` is beyond the range of the
/// format.
fn scale(x: f64, e: i64) -> f64 {
    // SAFETY: a pure function.
    unsafe { ldexp(x, e.clamp(i32::MIN as i64, i32::MAX as i64) as i32) }
}

#[no_mangle]
pub extern "C" fn __int_encodeDouble(mantissa: i64, exponent: i64) -> f64 {
    scale(mantissa as f64, exponent)
}

#[no_mangle]
pub extern "C" fn __word_encodeDouble(mantissa: u64, exponent: i64) -> f64 {
    scale(mantissa as f64, exponent)
}

#[no_mangle]
pub extern "C" fn __int_encodeFloat(mantissa: i64, exponent: i64) -> f32 {
    scale(mantissa as f32 as f64, exponent) as f32
}

#[no_mangle]
pub extern "C" fn __word_encodeFloat(mantissa: u64, exponent: i64) -> f32 {
    scale(mantissa as f32 as f64, exponent) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(x: f64) -> (i64, i64) {
        let mut e = 0;
        (unsafe { hec_decode_double(x, &mut e) }, e)
    }

    #[test]
    fn encoding_inverts_decoding() {
        for x in [1.0, -1.5, 0.1, 1e300, -1e-300, f64::MIN_POSITIVE, 5e-324, -2.5e-310] {
            let (m, e) = double(x);
            assert_eq!(__int_encodeDouble(m, e), x);
            assert_eq!(64 - m.unsigned_abs().leading_zeros(), 53);
        }
        for x in [1.0f32, -0.1, 1e-45, f32::MAX] {
            let mut e = 0;
            let m = unsafe { hec_decode_float(x, &mut e) };
            assert_eq!(__int_encodeFloat(m, e), x);
            assert_eq!(64 - m.unsigned_abs().leading_zeros(), 24);
        }
    }

    #[test]
    fn zeros_infinities_and_nans_are_decoded() {
        assert_eq!(double(0.0), (0, 0));
        assert_eq!(double(-0.0), (0, 0));
        assert_eq!(double(f64::INFINITY), (1 << 52, 972));
        assert_eq!(double(f64::NAN), (3 << 51, 972));
    }

    #[test]
    fn exponents_out_of_range() {
        assert_eq!(__word_encodeDouble(1, i64::MAX), f64::INFINITY);
        assert_eq!(__int_encodeDouble(-1, i64::MIN), -0.0);
        assert_eq!(__int_encodeFloat(0, i64::MAX), 0.0);
    }
}
