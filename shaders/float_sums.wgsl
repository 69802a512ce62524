// Needs: vec4 or words or four_decoded or one_decoded
//
// Sums f32s with equal bits on every device. WGSL lets a device flush subnormal numbers, ignore NaNs, infinities and the sign
// of zero, and reassociate sums. The device adds only where none of this can show:
//
// - All numbers are zeros or have biased exponents from 25 to 242. They and their sums are multiples of 2^-125, so none is
//   subnormal, and 1,025 of them cannot sum to infinity.
// - No sum begins with -0, so none is -0.
// - Each sum's bits are combined with a 0 from the uniform, which no compiler knows: two sums cannot become another two.
//
// What is left to believe: the device rounds to nearest, ties to even. Other numbers are added as integers.

const SIGN_BIT: u32 = 0x80000000u;
const INFINITY: u32 = 0x7f800000u;
const NAN: u32 = 0x7fc00000u;

// The least magnitude of a plain number, and the first above them all.
const FIRST_PLAIN: u32 = 25u << 24u;
const PLAIN_END: u32 = 243u << 24u;

// Bounds on magnitudes, which are words shifted left by one, so that the sign is gone.
struct Magnitudes {
    // The least magnitude, less 1: a zero wraps to the greatest number, and does not count.
    least: u32,
    greatest: u32,
}

fn no_magnitudes() -> Magnitudes {
    return Magnitudes(PLAIN_END, 0u);
}

// A unit of one word is splat to four.
fn least_word(unit: Unit) -> u32 {
    let words = vec4<u32>(unit);
    return min(min(words.x, words.y), min(words.z, words.w));
}

fn greatest_word(unit: Unit) -> u32 {
    let words = vec4<u32>(unit);
    return max(max(words.x, words.y), max(words.z, words.w));
}

fn with_magnitudes(others: Magnitudes, numbers: Unit) -> Magnitudes {
    let words = numbers << Unit(1u);
    return Magnitudes(min(others.least, least_word(words - Unit(1u))), max(others.greatest, greatest_word(words)));
}

fn are_plain(numbers: Magnitudes) -> bool {
    return (numbers.least >= FIRST_PLAIN - 1u) & (numbers.greatest < PLAIN_END);
}

// True if a sum may begin with these numbers.
fn can_begin(numbers: Unit) -> bool {
    let negative_zeros = Unit(numbers == Unit(SIGN_BIT));
    return are_plain(with_magnitudes(no_magnitudes(), numbers)) & (greatest_word(negative_zeros) == 0u);
}

// For plain numbers only.
fn plain_sums(a: Unit, b: Unit) -> Unit {
    return bitcast<Unit>(bitcast<Floats>(a) + bitcast<Floats>(b)) ^ Unit(gather.quantized.zero);
}

// All ones where the condition is 1, zero where it is 0.
fn ones_where(condition: Unit) -> Unit {
    return Unit() - condition;
}

// For any numbers. Rounds to nearest, ties to even; every NaN becomes NAN.
fn sums_by_integers(x: Unit, y: Unit) -> Unit {
    let magnitude = Unit(~SIGN_BIT);
    let swapped = (x ^ y) & ones_where(Unit((y & magnitude) > (x & magnitude)));
    let a = x ^ swapped;
    let b = y ^ swapped;
    let of_a = a & magnitude;
    let of_b = b & magnitude;
    let differ = ones_where((a ^ b) >> Unit(31u));
    // Mantissas with three bits after the point. Subnormal numbers have the exponent 1.
    let exponent = max(of_a >> Unit(23u), Unit(1u));
    let shift = min(exponent - max(of_b >> Unit(23u), Unit(1u)), Unit(31u));
    let mantissa = mantissas(of_a);
    let lost = mantissas(of_b) & ((Unit(1u) << shift) - Unit(1u));
    let other = (mantissas(of_b) >> shift) | min(lost, Unit(1u));
    let sum = mantissa + ((other ^ differ) - differ);
    let carry = sum >> Unit(27u);
    let halved = (sum >> carry) | (sum & carry);
    let carried = exponent + carry;
    let up = min(countLeadingZeros(halved) - Unit(5u), carried - Unit(1u));
    let bits = halved << up;
    let rest = bits & Unit(7u);
    let kept = bits >> Unit(3u);
    let is_up = Unit(rest > Unit(4u)) | (Unit(rest == Unit(4u)) & kept);
    let rounded = ((carried - up - Unit(1u)) << Unit(23u)) + kept + (is_up & Unit(1u));
    // Numbers that cancel sum to 0, and two zeros with one sign to that zero.
    let cancels = ones_where(Unit(sum == Unit())) & differ;
    let found = ((a & Unit(SIGN_BIT)) | min(rounded, Unit(INFINITY))) & ~cancels;
    let is_special = ones_where(Unit(of_a >= Unit(INFINITY)));
    let is_nan = ones_where(Unit(of_a > Unit(INFINITY))) | (is_special & differ & ones_where(Unit(of_b == of_a)));
    return (((found & ~is_special) | (a & is_special)) & ~is_nan) | (Unit(NAN) & is_nan);
}

fn mantissas(magnitudes: Unit) -> Unit {
    let implicit = min(magnitudes >> Unit(23u), Unit(1u)) << Unit(23u);
    return ((magnitudes & Unit(0x7fffffu)) | implicit) << Unit(3u);
}

fn float_sums(a: Unit, b: Unit) -> Unit {
    if can_begin(a) && are_plain(with_magnitudes(no_magnitudes(), b)) {
        return plain_sums(a, b);
    }
    return sums_by_integers(a, b);
}
