//! Floats as NumPy prints them in an array: the digits that tell a float from its neighbours, at most 8 behind the point, all
//! in the same form and width.

/// Most decimal places that are printed, as by NumPy.
const MAX_DIGITS: usize = 8;

/// Words for floats that have `bytes` bytes; with `signs`, a plus stands before those that are not negative.
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
    // NumPy compares and divides in the floats' own type, in which a half may overflow.
    let in_type = |number: f64| match bytes {
        2 => nearest_half(number),
        4 => single(number).into(),
        _ => number,
    };
    let most_by_least = in_type(most / least);
    let has_exponents = !sizes.is_empty()
        && (most >= large(bytes) || least < in_type(1e-4) || most_by_least > 1000.0);
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
    // A word such as `nan` is as wide as the numbers, or widens them.
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
        let behind = digits.len() - digits.find('.').unwrap_or(digits.len()) - 1;
        if has_exponents && behind < right {
            // Other numbers need more digits, so this one gets as many.
            (digits, exponent) = split(&format!("{number:.right$e}"));
        }
        if has_exponents {
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

/// The fewest digits that tell a float of `bytes` bytes from its neighbours, with an exponent: `1.25e-5`.
pub fn shortest(number: f64, bytes: usize) -> String {
    match bytes {
        2 => {
            let size = number.abs();
            let half_gap = half_unit(size) / 2.0;
            // Below a power of two the halves lie closer.
            let is_power = size / half_unit(size) == 1024.0 && size > 2_f64.powi(-14);
            let below = if is_power { half_gap / 2.0 } else { half_gap };
            // A number halfway to a neighbour is read as the one whose last bit is 0.
            let is_even = size / (2.0 * half_gap) % 2.0 == 0.0;
            let is_near = |text: &String| {
                let off = text.parse::<f64>().expect("a number").abs() - size;
                off < half_gap && off > -below || is_even && (off == half_gap || off == -below)
            };
            // The nearest digits, or else those on the other side.
            let texts = |digits: usize| {
                let text = format!("{number:.digits$e}");
                let off = text.parse::<f64>().expect("a number") - number;
                let exponent = text
                    .split_once('e')
                    .and_then(|(_, exponent)| exponent.parse().ok());
                let places = i32::try_from(digits).unwrap_or(0);
                let step = 10_f64.powi(exponent.unwrap_or(0) - places).copysign(-off);
                [format!("{:.digits$e}", number + off + step), text]
            };
            let mut texts = (0..8).flat_map(|digits| {
                let [other, nearest] = texts(digits);
                [nearest, other]
            });
            texts.find(is_near).unwrap_or_else(|| format!("{number:e}"))
        }
        4 => {
            let text = format!("{:e}", single(number));
            half_even(number, text, |text| text.parse().map(|of: f32| of.into()))
        }
        _ => half_even(number, format!("{number:e}"), str::parse),
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the nearest float of 4 bytes is meant"
)]
fn single(number: f64) -> f32 {
    number as f32
}

/// As many digits as `text` has, rounded half to even as NumPy does, if they give the number too.
fn half_even(
    number: f64,
    text: String,
    parse: fn(&str) -> Result<f64, std::num::ParseFloatError>,
) -> String {
    let digits = text.split_once('e').map_or(0, |(digits, _)| digits.len());
    let behind = digits.saturating_sub(2 + usize::from(text.starts_with('-')));
    let even = format!("{number:.behind$e}");
    match parse(&even) == Ok(number) {
        true => even,
        false => text,
    }
}

/// The gap between half floats, from `size` on.
fn half_unit(size: f64) -> f64 {
    let mut exponent = -14;
    while exponent < 15 && 2_f64.powi(exponent + 1) <= size {
        exponent += 1;
    }
    2_f64.powi(exponent - 10)
}

/// The half float nearest to a number that is not negative; infinity beyond the largest.
fn nearest_half(number: f64) -> f64 {
    match number {
        number if number >= 65_520.0 => f64::INFINITY,
        number => (number / half_unit(number)).round_ties_even() * half_unit(number),
    }
}

/// A float by itself, as Python prints it.
pub fn alone(number: f64, bytes: usize) -> String {
    if !number.is_finite() {
        return special(number, false).to_owned();
    }
    let shortest = shortest(number, bytes);
    let (digits, exponent) = shortest.split_once('e').expect("an exponent");
    let exponent: i32 = exponent.parse().expect("a number");
    let size = number.abs();
    if (1e-4..if bytes == 8 { 1e16 } else { large(bytes) }).contains(&size) || size == 0.0 {
        let value: f64 = shortest.parse().expect("a number");
        let text = value.to_string();
        return if text.contains('.') {
            text
        } else {
            text + ".0"
        };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// In an array, NumPy prints floats from this size on with an exponent.
fn large(bytes: usize) -> f64 {
    match bytes {
        2 => 1e3,
        4 => 1e6,
        _ => 1e8,
    }
}
