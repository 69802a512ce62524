//! Dates in the form of ISO 8601: a count of units since 1970 becomes `2026-11-28T09:27`.

/// Days from March 1 in the year 0 to 1970.
const DAYS_TO_1970: i128 = 719_468;
/// Days in 400 years.
const DAYS_OF_ERA: i128 = 146_097;

/// Formats a time in a unit, which may have a number before it: `25s`.
pub fn date(time: i64, unit: &str) -> String {
    let named = unit.trim_start_matches(|digit: char| digit.is_ascii_digit());
    let count = match &unit[..unit.len() - named.len()] {
        "" => Ok(1),
        count => count.parse::<i32>(),
    };
    // NumPy has no larger count.
    let Ok(count) = count else {
        return time.to_string();
    };
    let time = i128::from(time) * i128::from(count);
    // Units of fixed length: how many make a second, or the seconds in one; and decimal places.
    let (per_second, seconds, digits) = match named {
        "Y" => return year(1970 + time),
        "M" => {
            let month = 1970 * 12 + time;
            return format!(
                "{}-{:02}",
                year(month.div_euclid(12)),
                month.rem_euclid(12) + 1
            );
        }
        "W" => (1, 7 * 86_400, 0),
        "D" => (1, 86_400, 0),
        "h" => (1, 3600, 0),
        "m" => (1, 60, 0),
        "s" => (1, 1, 0),
        "ms" => (1_000, 1, 3),
        "us" => (1_000_000, 1, 6),
        "ns" => (1_000_000_000, 1, 9),
        "ps" => (1_000_000_000_000, 1, 12),
        "fs" => (1_000_000_000_000_000, 1, 15),
        "as" => (1_000_000_000_000_000_000, 1, 18),
        _ => return time.to_string(),
    };
    let (second, part) = (
        time.div_euclid(per_second) * seconds,
        time.rem_euclid(per_second),
    );
    let (day, of_day) = (day(second.div_euclid(86_400)), second.rem_euclid(86_400));
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    match named {
        "W" | "D" => day,
        "h" => format!("{day}T{hour:02}"),
        "m" => format!("{day}T{hour:02}:{minute:02}"),
        "s" => format!("{day}T{hour:02}:{minute:02}:{second:02}"),
        _ => format!("{day}T{hour:02}:{minute:02}:{second:02}.{part:0digits$}"),
    }
}

/// Formats the date that lies `days` days after 1970 began. Here years begin in March, so that a leap day ends one.
fn day(days: i128) -> String {
    let days = days + DAYS_TO_1970;
    let (era, of_era) = (days.div_euclid(DAYS_OF_ERA), days.rem_euclid(DAYS_OF_ERA));
    let of_years = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * of_years + of_years / 4 - of_years / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let in_next = i128::from(month < 3);
    format!(
        "{}-{month:02}-{date:02}",
        year(era * 400 + of_years + in_next)
    )
}

fn year(year: i128) -> String {
    format!("{year:04}")
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_are_those_of_numpy() {
        for (time, unit, expected) in [
            (-2273, "Y", "-303"),
            (-1, "M", "1969-12"),
            (1, "W", "1970-01-08"),
            (18_321, "D", "2020-02-29"),
            (-1, "h", "1969-12-31T23"),
            (1, "25m", "1970-01-01T00:25"),
            (1_582_934_400, "s", "2020-02-29T00:00:00"),
            (-1, "ns", "1969-12-31T23:59:59.999999999"),
            (1, "as", "1970-01-01T00:00:00.000000000000000001"),
            (i64::MAX, "2147483647Y", "19807040619342712359383730099"),
            (7, "generic", "7"),
            // No unit of NumPy.
            (7, "99999999999999999999999999999999999999999Y", "7"),
        ] {
            assert_eq!(date(time, unit), expected, "{time} {unit}");
        }
    }
}
