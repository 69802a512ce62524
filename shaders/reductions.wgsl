// Needs: float_sums
//
// Reduces two units. Floats are compared as integers, so that no device changes the bits of a NaN or a zero.

// The reduction: 0 add, 1 mul, 2 min, 3 max; and the numbers: 0 u32, 1 i32, 2 f32. Floats are not multiplied.
override REDUCE: u32 = 0u;
override NUMBER: u32 = 0u;

// Words that compare as the numbers do, with -0 before 0. GLSL before 4.50 cannot select vectors by vectors.
fn in_order(value: Unit) -> Unit {
    if NUMBER == 0u {
        return value;
    }
    if NUMBER == 1u {
        return value ^ Unit(SIGN_BIT);
    }
    // Flips all bits of a negative number, and the sign of others.
    return value ^ ((Unit() - (value >> Unit(31u))) | Unit(SIGN_BIT));
}

// The inverse of in_order.
fn numbers_of(words: Unit) -> Unit {
    if NUMBER < 2u {
        return in_order(words);
    }
    return words ^ (((words >> Unit(31u)) - Unit(1u)) | Unit(SIGN_BIT));
}

fn are_float_sums() -> bool {
    return REDUCE == 0u && NUMBER == 2u;
}

fn reduced(value: Unit, update: Unit) -> Unit {
    if are_float_sums() {
        return float_sums(value, update);
    }
    if REDUCE == 0u {
        return value + update;
    }
    if REDUCE == 1u {
        return value * update;
    }
    let least = numbers_of(min(in_order(value), in_order(update)));
    let greatest = numbers_of(max(in_order(value), in_order(update)));
    let found = select(greatest, least, REDUCE == 2u);
    if NUMBER < 2u {
        return found;
    }
    // All ones where either is a NaN: larger than infinity without its sign.
    let most = max(value & Unit(~SIGN_BIT), update & Unit(~SIGN_BIT));
    let is_nan = Unit() - ((Unit(INFINITY) - most) >> Unit(31u));
    return (found & ~is_nan) | (Unit(NAN) & is_nan);
}
