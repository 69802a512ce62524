// Needs: float_sums
//
// Reductions of two units. Floats are compared as integers, so that no device changes the bits of a NaN or of a zero.

// The reduction: 0 add, 1 mul, 2 min, 3 max; and the numbers: 0 u32, 1 i32, 2 f32. Floats are not multiplied.
override REDUCE: u32 = 0u;
override NUMBER: u32 = 0u;

// Words in the order of the numbers: of floats -0 before 0. Selects of vectors by vectors are no part of GLSL before 4.50.
fn in_order(value: Unit) -> Unit {
    if NUMBER == 0u {
        return value;
    }
    if NUMBER == 1u {
        return value ^ Unit(SIGN_BIT);
    }
    // All bits of a number below zero change, and of others the sign.
    return value ^ ((Unit() - (value >> Unit(31u))) | Unit(SIGN_BIT));
}

// The numbers whose words in order these are.
fn numbers_of(words: Unit) -> Unit {
    if NUMBER < 2u {
        return in_order(words);
    }
    return words ^ (((words >> Unit(31u)) - Unit(1u)) | Unit(SIGN_BIT));
}

fn reduced(value: Unit, update: Unit) -> Unit {
    if REDUCE == 0u && NUMBER == 2u {
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
    // Ones where one of the two is a NaN: larger than infinity without its sign.
    let most = max(value & Unit(~SIGN_BIT), update & Unit(~SIGN_BIT));
    let is_nan = Unit() - ((Unit(INFINITY) - most) >> Unit(31u));
    return (found & ~is_nan) | (Unit(NAN) & is_nan);
}
