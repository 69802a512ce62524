use super::*;

mod units;

const WORDS: FindRows = FindRows::Words {
    index_words: 1,
    depth: 1,
};
const PAIRS: FindRows = FindRows::Words {
    index_words: 1,
    depth: 2,
};
const NARROW: FindRows = FindRows::Words {
    index_words: 0,
    depth: 1,
};
const TRIPLES: FindRows = FindRows::Words {
    index_words: 1,
    depth: 3,
};
const WRAPPED: FindRows = FindRows::Wrapped { index_words: 1 };
const WRAPPED_NARROW: FindRows = FindRows::Wrapped { index_words: 0 };
const GENERAL: FindRows = FindRows::General;

/// Of bytes.
const ONE_WORD: Kernel = Kernel::Bytes { lane_words: 1 };
const FOUR_WORDS: Kernel = Kernel::Bytes { lane_words: 4 };

const VEC4: Unit = Unit::Vec4;
const WORD: Unit = Unit::Word;

const fn packed(slice_bytes: u32) -> Kernel {
    Kernel::Packed { slice_bytes }
}

/// `rows` slices of `bytes` bytes without a fill, one after another from aligned offsets on, in one block that is bound
/// whole.
fn sizes(rows: u64, bytes: u64) -> Sizes {
    Sizes {
        rows,
        first_n: 0,
        index_count: rows,
        whole_blocks: None,
        max_grid_width: 65_535,
        binds_blocks: true,
        bytes,
        has_gaps: false,
        decoding: None,
        alignment: 1 << bytes.trailing_zeros(),
        fill_words: 1,
        indices_start: 0,
        output_start: 0,
        find: WORDS,
        element_rows: rows,
        is_indirect: false,
        update: None,
    }
}

#[track_caller]
fn assert_choice(sizes: Sizes, kernel: Kernel, find: FindRows, rows: u64) {
    let expected = Choice { kernel, find, rows };
    assert_eq!(Choice::of(&sizes), expected, "{sizes:?}");
}

/// The table at the start of kernel/mod.rs, from above. Below each line, what keeps rows from it.
#[test]
fn the_first_line_of_the_table_that_fits_is_taken() {
    // Packed rows: whole lanes.
    for (rows, bytes, packed_rows) in [
        (16, 1, 16),
        (2000, 1, 2000),
        (2015, 1, 2000),
        (8, 2, 8),
        (2001, 2, 2000),
        (4, 4, 4),
        (2003, 4, 2000),
        // From 1,024 rows on, the rows left over are a dispatch of their own.
        (1025, 1, 1024),
        (1025, 2, 1024),
        (1025, 4, 1024),
    ] {
        let slice_bytes = u32::try_from(bytes).expect("a few bytes");
        assert_choice(sizes(rows, bytes), packed(slice_bytes), WORDS, packed_rows);
        let pairs = Sizes {
            find: PAIRS,
            ..sizes(rows, bytes)
        };
        assert_choice(pairs, packed(slice_bytes), PAIRS, packed_rows);
    }
    let of = || sizes(2000, 4);
    let several_blocks = |first_n, index_count| Sizes {
        first_n,
        index_count,
        ..of()
    };
    assert_choice(several_blocks(0, 400), packed(4), WORDS, 2000);
    assert_choice(several_blocks(396, 400), packed(4), WORDS, 2000);
    for (not_packed, find) in [
        (sizes(3, 4), WORDS),
        // Of fewer rows, those left over are not worth a dispatch.
        (sizes(1023, 4), WORDS),
        // Blocks of two rows, of which a lane would have three.
        (several_blocks(0, 2), WORDS),
        (
            Sizes {
                binds_blocks: false,
                ..of()
            },
            WORDS,
        ),
        (
            Sizes {
                has_gaps: true,
                ..of()
            },
            WORDS,
        ),
        (
            Sizes {
                output_start: 20,
                ..of()
            },
            WORDS,
        ),
        (
            Sizes {
                is_indirect: true,
                ..of()
            },
            WORDS,
        ),
        (
            Sizes {
                find: TRIPLES,
                ..of()
            },
            TRIPLES,
        ),
        (
            Sizes {
                find: GENERAL,
                ..of()
            },
            GENERAL,
        ),
    ] {
        assert_choice(not_packed, Kernel::Rows(WORD), find, not_packed.rows);
    }
    // Narrow index values start with a word.
    for find in [NARROW, WRAPPED_NARROW] {
        let narrow = |indices_start| Sizes {
            find,
            indices_start,
            ..of()
        };
        assert_choice(narrow(4), packed(4), find, 2000);
        assert_choice(narrow(3), Kernel::Lines, find, 2000);
    }
    // Elements of 4 bytes, in stretches of whole lanes.
    let elements = FindRows::Elements { index_words: 1 };
    let of_elements = |element_rows, first_n| Sizes {
        find: elements,
        element_rows,
        first_n,
        index_count: 4000,
        ..of()
    };
    assert_choice(of_elements(8, 4), packed(4), elements, 2000);
    for (element_rows, first_n) in [(10, 0), (8, 2), (3, 1)] {
        let rows = of_elements(element_rows, first_n);
        assert_choice(rows, Kernel::Lines, elements, 2000);
    }
    for element_rows in [2, 0] {
        let rows = of_elements(element_rows, 0);
        assert_choice(rows, Kernel::Rows(WORD), elements, 2000);
    }
    // Index rows that start no vector.
    let in_vector = Sizes {
        indices_start: 8,
        ..of()
    };
    assert_choice(in_vector, Kernel::Lines, WORDS, 2000);
    // Lanes of two blocks.
    for find in [WORDS, NARROW, WRAPPED] {
        for (first_n, index_count) in [(0, 401), (397, 400), (1, 3)] {
            let lines = Sizes {
                find,
                ..several_blocks(first_n, index_count)
            };
            assert_choice(lines, Kernel::Lines, find, 2000);
        }
    }
    let of_bytes = Sizes {
        bytes: 1,
        alignment: 1,
        ..several_blocks(0, 401)
    };
    assert_choice(of_bytes, ONE_WORD, WORDS, 2000);
    for (bytes, kernel) in [
        (2, ONE_WORD),
        (16, Kernel::Rows(VEC4)),
        (4112, Kernel::Long(VEC4)),
    ] {
        let find = elements;
        assert_choice(
            Sizes {
                find,
                ..sizes(2000, bytes)
            },
            kernel,
            GENERAL,
            2000,
        );
    }
    // Slices of 4 bytes that lie in two words, and slices of other sizes.
    let in_two_words = Sizes {
        alignment: 2,
        ..of()
    };
    assert_choice(in_two_words, ONE_WORD, WORDS, 2000);
    assert_choice(sizes(2000, 3), ONE_WORD, WORDS, 2000);
    assert_choice(sizes(2000, 8), Kernel::Rows(WORD), WORDS, 2000);

    // Four rows a lane: 2^15 lanes of units.
    let many = || sizes(1 << 15, 64);
    assert_choice(many(), Kernel::FourRows(VEC4), WORDS, 1 << 15);
    // Of 3 units, 2^15 lanes and one more are the fewest.
    assert_choice(sizes(43_691, 48), Kernel::Rows(VEC4), WORDS, 43_691);
    assert_choice(sizes(43_692, 48), Kernel::FourRows(VEC4), WORDS, 43_692);
    let pairs = Sizes {
        find: PAIRS,
        ..many()
    };
    assert_choice(pairs, Kernel::FourRows(VEC4), PAIRS, 1 << 15);
    let words = Sizes {
        alignment: 4,
        ..sizes(1 << 15, 16)
    };
    assert_choice(words, Kernel::FourRows(WORD), WORDS, 1 << 15);
    // 128 whole blocks of 256 rows, which are 1,024 units.
    let blocks = |whole_blocks, index_count| Sizes {
        index_count,
        whole_blocks,
        ..many()
    };
    for whole_blocks in [[128, 1], [1, 128], [16, 8]] {
        let blocks = blocks(Some(whole_blocks), 256);
        assert_choice(blocks, Kernel::FourRows(VEC4), WORDS, 1 << 15);
    }
    for (one_row, find) in [
        (sizes((1 << 15) - 4, 64), WORDS),
        (blocks(None, 256), WORDS),
        (blocks(Some([1, 129]), 255), WORDS),
        (blocks(Some([65_536, 1]), 256), WORDS),
        (blocks(Some([1, 65_536]), 256), WORDS),
        (
            Sizes {
                first_n: 1,
                ..many()
            },
            WORDS,
        ),
        (
            Sizes {
                binds_blocks: false,
                ..many()
            },
            WORDS,
        ),
        (
            Sizes {
                find: GENERAL,
                ..many()
            },
            GENERAL,
        ),
    ] {
        assert_choice(one_row, Kernel::Rows(VEC4), find, one_row.rows);
    }

    // Long slices, and bytes: index rows of two values are found in general.
    for (bytes, kernel) in [
        (14, ONE_WORD),
        (1028, Kernel::Long(WORD)),
        (4112, Kernel::Long(VEC4)),
        (1 << 40, Kernel::Long(VEC4)),
    ] {
        assert_choice(sizes(9, bytes), kernel, WORDS, 9);
        for find in [PAIRS, GENERAL] {
            let deep = Sizes {
                find,
                ..sizes(9, bytes)
            };
            assert_choice(deep, kernel, GENERAL, 9);
        }
    }
    // Four words a lane.
    for bytes in [18, 31, 1030] {
        let odd = || sizes(9, bytes);
        assert_choice(odd(), FOUR_WORDS, WORDS, 9);
        for (one_word, find) in [
            (
                Sizes {
                    fill_words: 3,
                    ..odd()
                },
                WORDS,
            ),
            (
                Sizes {
                    is_indirect: true,
                    ..odd()
                },
                WORDS,
            ),
            (
                Sizes {
                    find: NARROW,
                    ..odd()
                },
                NARROW,
            ),
            (
                Sizes {
                    find: PAIRS,
                    ..odd()
                },
                GENERAL,
            ),
        ] {
            assert_choice(one_word, ONE_WORD, find, 9);
        }
    }
    // Index rows of several values.
    let of_triples = |rows, bytes| Sizes {
        find: TRIPLES,
        ..sizes(rows, bytes)
    };
    assert_choice(
        of_triples(1 << 17, 4),
        Kernel::FourRows(WORD),
        TRIPLES,
        1 << 17,
    );
    assert_choice(of_triples(9, 16), Kernel::Rows(VEC4), TRIPLES, 9);
    assert_choice(of_triples(9, 3), ONE_WORD, GENERAL, 9);
    // Index values that wrap.
    for find in [WRAPPED, WRAPPED_NARROW] {
        let of = |rows, bytes| Sizes {
            find,
            ..sizes(rows, bytes)
        };
        let is_narrow = find == WRAPPED_NARROW;
        let of_long = if is_narrow { GENERAL } else { find };
        let of_bytes = if is_narrow { ONE_WORD } else { FOUR_WORDS };
        assert_choice(of(2000, 4), packed(4), find, 2000);
        assert_choice(of(1 << 17, 64), Kernel::FourRows(VEC4), find, 1 << 17);
        assert_choice(of(9, 16), Kernel::Rows(VEC4), find, 9);
        assert_choice(of(9, 8192), Kernel::Long(VEC4), of_long, 9);
        assert_choice(of(9, 3), ONE_WORD, find, 9);
        assert_choice(of(9, 17), of_bytes, find, 9);
    }
    let deep = |bytes| Sizes {
        find: FindRows::Deep,
        ..sizes(1 << 17, bytes)
    };
    assert_choice(deep(4), Kernel::Rows(WORD), FindRows::Deep, 1 << 17);
    assert_choice(deep(64), Kernel::Rows(VEC4), FindRows::Deep, 1 << 17);
    assert_choice(deep(3), ONE_WORD, GENERAL, 1 << 17);
    // A short piece of a long slice.
    let piece = Sizes {
        alignment: 1 << 20,
        ..sizes(1, 16)
    };
    assert_choice(piece, Kernel::Rows(VEC4), WORDS, 1);
}

#[test]
fn the_widest_unit_divides_the_slice_and_its_fill() {
    for (slice_bytes, fill_words, expected) in [
        (1_u64, 1, None),
        (6, 3, None),
        (4, 1, Some(WORD)),
        (8, 2, Some(WORD)),
        (12, 3, Some(WORD)),
        (16, 4, Some(VEC4)),
        (48, 1, Some(VEC4)),
        (48, 2, Some(VEC4)),
        (48, 3, Some(WORD)),
        (64, 16, Some(WORD)),
        (4096, 8, Some(WORD)),
    ] {
        let alignment = 1 << slice_bytes.trailing_zeros();
        let found = Unit::of(alignment, fill_words, None);
        assert_eq!(found, expected, "{slice_bytes} bytes, {fill_words} words");
    }
    // Rows copies up to 256 units, Long all longer slices.
    for (slice_bytes, expected) in [
        (1020, Kernel::Rows(WORD)),
        (1028, Kernel::Long(WORD)),
        (4096, Kernel::Rows(VEC4)),
        (4112, Kernel::Long(VEC4)),
    ] {
        assert_choice(sizes(1, slice_bytes), expected, WORDS, 1);
    }
}

/// Scatters find single values in words, and elements in units of 4 bytes; their kernels own units of slices, or words of the
/// target.
#[test]
fn scatters_take_the_kernels_that_own_what_they_store() {
    let of = |update, find, sizes: Sizes| Sizes {
        update: Some(update),
        find,
        ..sizes
    };
    let assign = |find, sizes| of(Update::Assign, find, sizes);
    let elements = FindRows::Elements { index_words: 1 };
    let odd = |bytes| Sizes {
        alignment: 1,
        ..sizes(2000, bytes)
    };
    for (sizes, kernel, find) in [
        (assign(WORDS, sizes(2000, 4)), Kernel::Rows(WORD), WORDS),
        (
            assign(elements, sizes(2000, 4)),
            Kernel::Rows(WORD),
            elements,
        ),
        (assign(PAIRS, sizes(2000, 16)), Kernel::Rows(VEC4), GENERAL),
        (
            assign(WORDS, sizes(1 << 18, 64)),
            Kernel::FourRows(VEC4),
            WORDS,
        ),
        (
            assign(PAIRS, sizes(1 << 18, 64)),
            Kernel::Rows(VEC4),
            GENERAL,
        ),
        (assign(WORDS, sizes(9, 4112)), Kernel::Long(VEC4), WORDS),
        (assign(WORDS, sizes(9, 4100)), Kernel::Long(WORD), GENERAL),
        (assign(WORDS, odd(1)), Kernel::WordParts, WORDS),
        (assign(elements, odd(3)), Kernel::WordParts, GENERAL),
        (assign(WORDS, odd(4113)), Kernel::WordParts, WORDS),
        (
            of(Update::IndexRows, WORDS, sizes(1 << 20, 4)),
            Kernel::Rows(WORD),
            WORDS,
        ),
    ] {
        assert_choice(sizes, kernel, find, sizes.rows);
    }
}
