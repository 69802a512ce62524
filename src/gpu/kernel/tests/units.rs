//! The units of kernels, those of decoded values, and the most elements that one word counts.

use super::*;
use crate::encoding::{Encoding, FloatKind};

const Q8_0: Decoding = Decoding {
    encoding: Encoding::Q8_0,
    to: FloatKind::F32,
};
const Q8_0_TO_F16: Decoding = Decoding {
    to: FloatKind::F16,
    ..Q8_0
};

#[test]
fn starts_are_counted_in_units() {
    let decoded = Unit::FourDecoded(Q8_0);
    let halves = Unit::FourDecoded(Q8_0_TO_F16);
    for (kernel, expected) in [
        (Kernel::Rows(VEC4), [16, 16, 16]),
        (Kernel::Long(WORD), [4, 4, 4]),
        (Kernel::FourRows(decoded), [1, 16, 16]),
        (Kernel::FourRows(halves), [1, 8, 8]),
        (Kernel::Halves(Q8_0_TO_F16), [1, 2, 2]),
        (packed(2), [1, 1, 16]),
        (ONE_WORD, [1, 1, 1]),
        (FOUR_WORDS, [1, 1, 1]),
    ] {
        let found = [
            kernel.params_unit_bytes(),
            kernel.slice_unit_bytes(),
            kernel.output_unit_bytes(),
        ];
        assert_eq!(found, expected, "{kernel:?}");
    }
}

#[test]
fn kernels_of_quantised_units_have_their_numbers() {
    let numbers = BlockQuantized::new(2, 64).expect("valid numbers");
    let decoding = |to| Decoding {
        encoding: Encoding::BlockQuantized(numbers),
        to,
    };
    let [to_f32, to_f16] = [FloatKind::F32, FloatKind::F16].map(decoding);
    for (kernel, expected) in [
        (Kernel::Rows(Unit::FourDecoded(to_f32)), Some(numbers)),
        (Kernel::Long(Unit::OneDecoded(to_f32)), Some(numbers)),
        (Kernel::Halves(to_f16), Some(numbers)),
        (Kernel::Rows(Unit::FourDecoded(Q8_0)), None),
        (Kernel::Rows(VEC4), None),
        (ONE_WORD, None),
    ] {
        assert_eq!(kernel.block_quantized(), expected, "{kernel:?}");
    }
}

#[test]
fn one_word_counts_the_elements_of_a_block() {
    let checked = |len| {
        let plan = crate::GatherElements::new().plan(&[65_537, len], &[1, len]);
        check_element_dims(plan.expect("valid shapes").dims())
    };
    assert_eq!(checked(65_535), Ok(())); // 2^32 - 1 elements
    let limit = u32::MAX.into();
    let rows = 65_537 << 16;
    assert_eq!(
        checked(65_536),
        Err(GatherError::TooManyElementRows { rows, limit })
    );
}

#[test]
fn only_units_of_four_decoded_values_find_rows_in_words() {
    let (four, one) = (Unit::FourDecoded(Q8_0), Unit::OneDecoded(Q8_0));
    let halves = Unit::FourDecoded(Q8_0_TO_F16);
    for (rows, bytes, find, kernel, found) in [
        (9, 64, WORDS, Kernel::Rows(four), WORDS),
        (9, 64, PAIRS, Kernel::Rows(four), GENERAL),
        (9, 64, NARROW, Kernel::Rows(four), GENERAL),
        (9, 8192, WORDS, Kernel::Long(four), WORDS),
        (1 << 20, 64, WORDS, Kernel::FourRows(four), WORDS),
        (1 << 20, 64, PAIRS, Kernel::Rows(four), GENERAL),
        (16, 4, WORDS, Kernel::Rows(one), GENERAL),
        (9, 4100, WORDS, Kernel::Long(one), GENERAL),
        (1 << 20, 36, WORDS, Kernel::Rows(one), GENERAL),
        (9, 72, WORDS, Kernel::Rows(halves), WORDS),
        (9, 2056, WORDS, Kernel::Long(halves), WORDS),
        (1 << 20, 72, WORDS, Kernel::FourRows(halves), WORDS),
        (9, 36, WORDS, Kernel::Halves(Q8_0_TO_F16), GENERAL),
        (1 << 20, 2, WORDS, Kernel::Halves(Q8_0_TO_F16), GENERAL),
    ] {
        let is_of_halves = matches!(kernel, Kernel::Halves(_)) || kernel.unit() == Some(halves);
        let sizes = Sizes {
            decoding: Some(if is_of_halves { Q8_0_TO_F16 } else { Q8_0 }),
            find,
            ..sizes(rows, bytes)
        };
        assert_choice(sizes, kernel, found, rows);
    }
}
