//! Floats as NumPy prints those of an array: the digits that tell a float from its neighbours, at most 8 behind the point, all
//! in the same form and of the same width.

/// Most digits behind the point.
const MAX_DIGITS: usize = 8;

/// The words of floats of `bytes` bytes; with `signs`, a plus before those that are not negative.
pub fn floats(numbers: &[f64], bytes: usize, signs: bool) -> Vec<String> {
    let finite: Vec<f64> = numbers
        .iter()
        .copied()
        .filter(|number| number.is_finite())
        .collect();
    let sizes: Vec<f64> = finite
        .iter()
        .map(|number| number.abs())
        .filter(|&size| size > 0.0)
        .collect();
    let most = sizes.iter().copied().fold(0.0, f64::max);
    let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
    // NumPy divides in the floats' own type, in which a half may overflow.
    let most_by_least = match bytes {
        2 if most / least >= 65520.0 => f64::INFINITY,
        4 => f64::from(single(most / least)),
        _ => most / least,
    };
    let large = match bytes {
        2 => 1e3,
        4 => 1e6,
        _ => 1e8,
    };
    let has_exponents =
        !sizes.is_empty() && (most >= large || least < 1e-4 || most_by_least > 1000.0);
    let digits_of = |number: f64| match has_exponents {
        true => scientific(number, bytes),
        false => (positional(number, bytes), String::new()),
    };
    let parts: Vec<(String, String)> = finite.iter().map(|&number| digits_of(number)).collect();
    let widest = |part: fn(&(String, String)) -> usize| parts.iter().map(part).max().unwrap_or(0);
    let point = |(digits, _): &(String, String)| digits.find('.').unwrap_or(digits.len());
    let left = parts
        .iter()
        .map(|part| point(part) + usize::from(signs && !part.0.starts_with('-')));
    let mut left = left.max().unwrap_or(0);
    let right = parts
        .iter()
        .map(|part| part.0.len() - point(part) - 1)
        .max()
        .unwrap_or(0);
    let exponent_chars = widest(|part| part.1.len());
    // A word without a number is as wide as the numbers, or these are wider for it.
    let others = numbers.iter().filter(|number| !number.is_finite());
    let others = others.map(|&number| special(number, signs).len());
    let behind = right + 1 + exponent_chars;
    if let Some(widest) = others.max() {
        left = left.max(widest.saturating_sub(behind));
    }
    let width = left + behind;
    let mut parts = parts.into_iter();
    let word = |&number: &f64| {
        if !number.is_finite() {
            return format!("{:>width$}", special(number, signs));
        }
        let (mut digits, mut exponent) = parts.next().expect("a word of each finite number");
        if has_exponents {
            // More digits than tell the number from its neighbours, where other numbers need them.
            (digits, exponent) = split(&format!("{number:.right$e}"));
            let sign = exponent.len().min(2);
            let zeros = exponent_chars.saturating_sub(exponent.len());
            exponent.insert_str(sign, &"0".repeat(zeros));
        }
        if signs && !digits.starts_with('-') {
            digits.insert(0, '+');
        }
        let point = digits.find('.').unwrap_or(digits.len());
        let missing = right - (digits.len() - point - 1);
        let (start, end) = (" ".repeat(left - point), " ".repeat(missing));
        format!("{start}{digits}{end}{exponent}")
    };
    numbers.iter().map(word).collect()
}

fn special(number: f64, signs: bool) -> &'static str {
    match (number.is_nan(), number > 0.0, signs) {
        (true, _, false) => "nan",
        (true, _, true) => "+nan",
        (_, false, _) => "-inf",
        (_, true, false) => "inf",
        (_, true, true) => "+inf",
    }
}

/// A float with a point and no exponent: `1.`, `0.125`.
fn positional(number: f64, bytes: usize) -> String {
    let shortest = shortest(number, bytes);
    let (mantissa, exponent) = shortest.split_once('e').expect("an exponent");
    let exponent: i64 = exponent.parse().expect("a number");
    let digits = mantissa.chars().filter(char::is_ascii_digit).count();
    let behind = i64::try_from(digits).expect("few digits") - 1 - exponent;
    let behind = usize::try_from(behind).unwrap_or(0);
    let text = match behind > MAX_DIGITS {
        // More digits are rounded.
        true => format!("{number:.MAX_DIGITS$}"),
        false => {
            let value: f64 = shortest.parse().expect("a number");
            format!("{value:.behind$}")
        }
    };
    without_zeros(&text)
}

/// The digits and the exponent of a float: `1.25` and `e-05`.
fn scientific(number: f64, bytes: usize) -> (String, String) {
    let shortest = shortest(number, bytes);
    let text = match shortest.split_once('e').expect("an exponent").0.len() {
        len if len > MAX_DIGITS + 2 + usize::from(number.is_sign_negative()) => {
            format!("{number:.MAX_DIGITS$e}")
        }
        _ => shortest,
    };
    let (digits, exponent) = split(&text);
    (without_zeros(&digits), exponent)
}

/// The digits with a point and the exponent of a text such as `1e-5`: `1.` and `e-05`.
fn split(text: &str) -> (String, String) {
    let (digits, exponent) = text.split_once('e').expect("an exponent");
    let exponent: i32 = exponent.parse().expect("a number");
    let sign = if exponent < 0 { '-' } else { '+' };
    let point = if digits.contains('.') { "" } else { "." };
    (
        format!("{digits}{point}"),
        format!("e{sign}{:02}", exponent.abs()),
    )
}

/// A number without zeros at its end, but with its point.
fn without_zeros(text: &str) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').to_owned(),
        false => format!("{text}."),
    }
}

/// The fewest digits that tell a float of so many bytes from its neighbours, with an exponent: `1.25e-5`.
pub fn shortest(number: f64, bytes: usize) -> String {
    match bytes {
        2 => {
            let size = number.abs();
            // Halves below 2^-14 are as far from each other as those above.
            let mut exponent = -14;
            while 2_f64.powi(exponent + 1) <= size {
                exponent += 1;
            }
            let half_gap = 2_f64.powi(exponent - 11);
            // Below a power of two they lie closer.
            let is_power = size == 2_f64.powi(exponent) && exponent > -14;
            let below = if is_power { half_gap / 2.0 } else { half_gap };
            // A number halfway to a neighbour is read as the one whose last bit is 0.
            let is_even = size / (2.0 * half_gap) % 2.0 == 0.0;
            let mut texts = (0..8).map(|digits| format!("{number:.digits$e}"));
            let is_near = |text: &String| {
                let off = text.parse::<f64>().expect("a number").abs() - size;
                off < half_gap && off > -below || is_even && (off == half_gap || off == -below)
            };
            texts.find(is_near).unwrap_or_else(|| format!("{number:e}"))
        }
        4 => format!("{:e}", single(number)),
        _ => format!("{number:e}"),
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the nearest float of 4 bytes is meant"
)]
fn single(number: f64) -> f32 {
    number as f32
}
