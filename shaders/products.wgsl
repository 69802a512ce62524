// Needs: float_sums
//
// Multiplies and divides f32s with equal bits on every device, rounded to nearest, ties to even. Every NaN becomes NAN.
//
// The device multiplies only factors that are zeros or from 2^-63 to below 2^64: neither they nor their products are subnormal or
// infinite. Which zero a product is changes no sum. The product's bits are combined with a 0 that no compiler knows, so it is not fused with
// the sum. WGSL allows a division to be 2.5 units in the last place off, so all are made by integers.

// As FIRST_PLAIN and PLAIN_END, for factors.
const FIRST_FACTOR: u32 = 64u << 24u;
const FACTORS_END: u32 = 191u << 24u;

fn are_factors(numbers: Magnitudes) -> bool {
    return (numbers.least >= FIRST_FACTOR - 1u) & (numbers.greatest < FACTORS_END);
}

// For factors only.
fn plain_products(x: Unit, y: Unit) -> Unit {
    return bitcast<Unit>(bitcast<Floats>(x) * bitcast<Floats>(y)) ^ Unit(gather.quantized.zero);
}

// The magnitude's mantissa, with its highest bit as bit 23; 0 for zero.
fn normalized(magnitudes: Unit) -> Unit {
    let mantissa = mantissas(magnitudes) >> Unit(3u);
    return mantissa << (max(countLeadingZeros(mantissa), Unit(8u)) - Unit(8u));
}

// The biased exponent of a number whose normalized mantissa stands for 1 to below 2, plus 64, so that it is positive.
fn exponents(magnitudes: Unit) -> Unit {
    let mantissa = mantissas(magnitudes) >> Unit(3u);
    return max(magnitudes >> Unit(23u), Unit(1u)) + Unit(72u) - max(countLeadingZeros(mantissa), Unit(8u));
}

// The nearest number. `mantissa` has its highest bit as bit 27: 24 bits and four after the point, the last of which is set if any
// later one is. `exponent` is biased, plus 256.
fn nearest(mantissa: Unit, exponent: Unit) -> Unit {
    let least = Unit(257u);
    let shift = min(max(exponent, least) - exponent, Unit(31u));
    let lost = mantissa & ((Unit(1u) << shift) - Unit(1u));
    let bits = (mantissa >> shift) | min(lost, Unit(1u));
    let rest = bits & Unit(15u);
    let kept = bits >> Unit(4u);
    let is_up = Unit(rest > Unit(8u)) | (Unit(rest == Unit(8u)) & kept);
    let biased = min(max(exponent, least), Unit(512u)) - least;
    return min((biased << Unit(23u)) + kept + (is_up & Unit(1u)), Unit(INFINITY));
}

fn products_by_integers(x: Unit, y: Unit) -> Unit {
    let of_x = x & Unit(~SIGN_BIT);
    let of_y = y & Unit(~SIGN_BIT);
    let a = normalized(of_x);
    let b = normalized(of_y);
    // Halves of 12 bits: their products give 48 bits, the highest of which is bit 23 or 22 of `high`.
    let middle = (a >> Unit(12u)) * (b & Unit(0xfffu)) + (a & Unit(0xfffu)) * (b >> Unit(12u));
    let low = (a & Unit(0xfffu)) * (b & Unit(0xfffu)) + ((middle & Unit(0xfffu)) << Unit(12u));
    let high = (a >> Unit(12u)) * (b >> Unit(12u)) + (middle >> Unit(12u)) + (low >> Unit(24u));
    let rest = low & Unit(0xffffffu);
    let bits = (high << Unit(4u)) | (rest >> Unit(20u)) | min(rest & Unit(0xfffffu), Unit(1u));
    let is_large = high >> Unit(23u);
    // Biases of 127 + 64 each; the result's is 127 + 256.
    let exponent = exponents(of_x) + exponents(of_y) + is_large + Unit(1u);
    let found = nearest(bits << (Unit(1u) - is_large), exponent);
    let is_zero = ones_where(Unit(min(of_x, of_y) == Unit()));
    let is_special = ones_where(Unit(max(of_x, of_y) >= Unit(INFINITY)));
    let is_nan = ones_where(Unit(max(of_x, of_y) > Unit(INFINITY))) | (is_special & is_zero);
    let magnitude = ((found & ~is_special) | (Unit(INFINITY) & is_special)) & ~is_zero;
    return (((magnitude | ((x ^ y) & Unit(SIGN_BIT))) & ~is_nan)) | (Unit(NAN) & is_nan);
}

// The numbers divided by a number of rows, which is not 0.
fn quotients(x: Unit, rows: u32) -> Unit {
    let of_x = x & Unit(~SIGN_BIT);
    let up = countLeadingZeros(rows);
    let divisor = Unit(rows << up);
    var rest = normalized(of_x) << Unit(7u);
    var bits = Unit();
    // The quotient of the mantissas is 1/4 to below 1.
    for (var turn = 0u; turn < 29u; turn++) {
        let doubled = rest << Unit(1u);
        let is_less = Unit(doubled < divisor) & (Unit(1u) - (rest >> Unit(31u)));
        bits = (bits << Unit(1u)) | (Unit(1u) - is_less);
        rest = doubled - (divisor & (is_less - Unit(1u)));
    }
    let is_large = bits >> Unit(28u);
    let mantissa = (bits >> is_large) | (bits & is_large) | min(rest, Unit(1u));
    let exponent = exponents(of_x) + Unit(up + 160u) + is_large;
    let found = nearest(mantissa, exponent);
    let is_zero = ones_where(Unit(of_x == Unit()));
    let is_special = ones_where(Unit(of_x >= Unit(INFINITY)));
    return (x & Unit(SIGN_BIT)) | (((found & ~is_special) | (of_x & is_special)) & ~is_zero);
}
