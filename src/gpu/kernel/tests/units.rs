//! The units of kernels, those of decoded values, and the most elements that one word counts.

use super::*;

#[test]
fn starts_are_counted_in_units() {
    let decoded = Unit::FourDecoded(Encoding::Q8_0);
    for (kernel, expected) in [
        (Kernel::Rows(VEC4), [16, 16, 16]),
        (Kernel::Long(WORD), [4, 4, 4]),
        (Kernel::FourRows(decoded), [1, 16, 16]),
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
    let encoding = Encoding::BlockQuantized(numbers);
    for (kernel, expected) in [
        (Kernel::Rows(Unit::FourDecoded(encoding)), Some(numbers)),
        (Kernel::Long(Unit::OneDecoded(encoding)), Some(numbers)),
        (Kernel::Rows(Unit::FourDecoded(Encoding::Q8_0)), None),
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
    let encoding = Encoding::Q8_0;
    let (four, one) = (Unit::FourDecoded(encoding), Unit::OneDecoded(encoding));
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
    ] {
        let sizes = Sizes {
            encoding: Some(encoding),
            find,
            ..sizes(rows, bytes)
        };
        assert_choice(sizes, kernel, found, rows);
    }
}
