//! Runs the shader's float sums in the interpreter: compares them with the processor's, and checks which numbers the device adds
//! itself.

use super::scatters::reduced;
use crate::gpu::shaders::all_texts;
use crate::reduce::{NumberKind, Reduce};
use naga_interpreter::{Access, Machine, Memory};

/// Two operands' words, and what the shader stores.
struct Operands {
    operands: [[u32; 4]; 2],
    found: [u32; 4],
}

impl Memory for Operands {
    fn load(&mut self, access: Access) -> [u32; 4] {
        match access.binding {
            12 => self.operands[usize::from(access.offset > 0)],
            _ => [0; 4],
        }
    }

    fn store(&mut self, _: Access, words: &[u32]) {
        self.found[..words.len()].copy_from_slice(words);
    }

    fn atomic(&mut self, access: Access, _: &dyn Fn(u32) -> u32) -> u32 {
        panic!("{access:?}")
    }

    fn bytes(&self, _: u32) -> u64 {
        32
    }
}

/// Runs `result`, a WGSL expression with the units `a` and `b`, for each pair of operands. `units` names the file in shaders/
/// that declares the unit: vec4, or words, with which the shader reads each operand's first word.
fn run(
    units: &str,
    result: &str,
    pairs: impl Iterator<Item = [[u32; 4]; 2]>,
    mut check: impl FnMut([[u32; 4]; 2], [u32; 4]),
) {
    let main = format!(
        "@group(0) @binding(12) var<storage, read> operands: array<Unit>;
        @group(0) @binding(13) var<storage, read_write> found: array<Unit>;
        @compute @workgroup_size(1) fn main() {{
            let a = operands[0];
            let b = operands[1];
            found[0] = {result};
        }}"
    );
    let source = [
        all_texts("common"),
        all_texts(units),
        all_texts("float_sums"),
        all_texts("products"),
        &main,
    ]
    .join("\n");
    let module = naga::front::wgsl::parse_str(&source)
        .unwrap_or_else(|error| panic!("{}", error.emit_to_string(&source)));
    let machine = Machine::new(&module, "main");
    for operands in pairs {
        let mut memory = Operands {
            operands,
            found: [0; 4],
        };
        machine.run([0; 3], 0, &mut memory);
        check(operands, memory.found);
    }
}

fn sum(a: u32, b: u32) -> u32 {
    reduced(Reduce::Add, NumberKind::F32, a, b)
}

/// Zeros, subnormals, infinities, NaNs, both ends of each exponent range, and ties between them.
pub(super) fn hostile() -> Vec<u32> {
    let mantissas = [
        0, 1, 2, 3, 0x3f_ffff, 0x40_0000, 0x40_0001, 0x7f_fffe, 0x7f_ffff,
    ];
    let exponents = [
        0, 1, 2, 23, 24, 25, 26, 126, 127, 128, 149, 150, 151, 241, 242, 243, 253, 254, 255,
    ];
    let words = exponents
        .into_iter()
        .flat_map(|exponent| mantissas.map(|mantissa| exponent << 23 | mantissa));
    words.flat_map(|word| [word, word | 1 << 31]).collect()
}

#[test]
fn sums_have_the_bits_of_the_processor() {
    let all = hostile();
    let number = |at: usize| all[at % all.len()];
    // Pairs each word with each; the other words in the vectors are of other kinds.
    let pairs = || {
        (0..all.len() * all.len()).map(|at| {
            let (a, b) = (at / all.len(), at % all.len());
            [
                [number(a), number(a + 7), number(b), number(a * 31 + b)],
                [number(b), number(b + 100), number(a + 3), number(b * 17)],
            ]
        })
    };
    let check = |[a, b]: [[u32; 4]; 2], found: [u32; 4]| {
        for k in 0..4 {
            assert_eq!(found[k], sum(a[k], b[k]), "{:#x} + {:#x}", a[k], b[k]);
        }
    };
    run("vec4", "float_sums(a, b)", pairs(), check);
    run("vec4", "sums_by_integers(a, b)", pairs().step_by(7), check);
    let of_words = |[a, b]: [[u32; 4]; 2], found: [u32; 4]| {
        assert_eq!(found[0], sum(a[0], b[0]), "{:#x} + {:#x}", a[0], b[0]);
    };
    run("words", "float_sums(a, b)", pairs(), of_words);
}

/// One product or quotient has the bits of the processor's, but the one NaN; and the sign of a zero product may differ.
#[test]
#[expect(clippy::cast_possible_truncation, reason = "rounded once")]
fn products_and_quotients_have_the_bits_of_the_processor() {
    let all = hostile();
    let number = |at: usize| all[at % all.len()];
    let pairs = || {
        (0..all.len() * all.len()).step_by(3).map(|at| {
            let (a, b) = (at / all.len(), at % all.len());
            [
                [number(a), number(a + 7), number(b + 1), number(a * 31 + b)],
                [number(b), 0, 0, 0],
            ]
        })
    };
    let float = f32::from_bits;
    let is = |found: u32, expected: f32, text: &dyn Fn() -> String| {
        let expected = if expected.is_nan() {
            f32::NAN
        } else {
            expected
        };
        let zeros = found << 1 == 0 && expected == 0.0;
        assert!(
            zeros || found == expected.to_bits(),
            "{}: {found:#x}",
            text()
        );
    };
    for product in [
        "select(products_by_integers(a, Unit(vec4<u32>(b).x)), plain_products(a, Unit(vec4<u32>(b).x)), \
         are_factors(with_magnitudes(with_magnitudes(no_magnitudes(), a), Unit(vec4<u32>(b).x))))",
        "products_by_integers(a, Unit(vec4<u32>(b).x))",
    ] {
        run("vec4", product, pairs(), |[a, b], found| {
            for k in 0..4 {
                let text = || format!("{:#x} * {:#x}", a[k], b[0]);
                is(found[k], float(a[k]) * float(b[0]), &text);
            }
        });
    }
    let rows = [
        1,
        2,
        3,
        5,
        7,
        10,
        1023,
        65_537,
        (1 << 24) - 1,
        1 << 24,
        (1 << 24) + 1,
        3 << 29,
        u32::MAX,
    ];
    let divided = || {
        let all = all.iter().enumerate();
        all.flat_map(|(at, &a)| rows.map(|rows| [[a, number(at + 3), 0, a], [rows, 0, 0, 0]]))
    };
    run(
        "vec4",
        "quotients(a, vec4<u32>(b).x)",
        divided(),
        |[a, b], found| {
            for k in [0, 1, 3] {
                let text = || format!("{:#x} / {}", a[k], b[0]);
                // A sum's NaN stays as it is.
                if float(a[k]).is_nan() {
                    assert_eq!(found[k], a[k]);
                    continue;
                }
                // An f64 has more than twice the digits of either, if rows have no more than an f32.
                let quotient = f64::from(float(a[k])) / f64::from(b[0]);
                if b[0] < 1 << 24 {
                    is(found[k], float(a[k]) / b[0] as f32, &text);
                } else {
                    is(found[k], quotient as f32, &text);
                }
            }
        },
    );
    run(
        "words",
        "quotients(a, vec4<u32>(b).x)",
        divided(),
        |[a, b], found| {
            if float(a[0]).is_nan() {
                return;
            }
            is(
                found[0],
                (f64::from(float(a[0])) / f64::from(b[0])) as f32,
                &|| format!("{a:x?} / {b:?}"),
            );
        },
    );
}

/// The device adds only numbers whose sums no liberty in WGSL changes. Past these bounds, other drivers than the tests' could
/// take one.
#[test]
fn a_device_adds_plain_numbers_only() {
    let numbers = hostile();
    let words = || numbers.iter().map(|&word| [[word, 0, 0, 0]; 2]);
    let exponent = |word: u32| word >> 23 & 255;
    let is_plain = |word: u32| word << 1 == 0 || (25..=242).contains(&exponent(word));
    let all_plain = "Unit(are_plain(with_magnitudes(with_magnitudes(no_magnitudes(), Unit()), a)))";
    run("words", all_plain, words(), |[a, _], found| {
        assert_eq!(found[0] == 1, is_plain(a[0]), "{:#x}", a[0]);
    });
    run("words", "Unit(can_begin(a))", words(), |[a, _], found| {
        assert_eq!(
            found[0] == 1,
            is_plain(a[0]) && a[0] != 1 << 31,
            "{:#x}",
            a[0]
        );
    });
    // The least plain numbers cancel to no subnormal number, and the greatest do not reach infinity.
    let least = f32::from_bits(25 << 23);
    assert!(f32::from_bits((25 << 23) + 1) - least >= f32::MIN_POSITIVE);
    let greatest = f64::from(f32::from_bits((243 << 23) - 1));
    assert!(greatest * 1025.0 < f64::from(f32::MAX));
}
