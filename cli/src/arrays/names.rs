//! Errors, and a file's texts in them: on one line, and not longer than a line.

use std::cmp::Reverse;
use std::error::Error;
use std::path::Path;

/// A value, or an error whose text is one line.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Most characters that an error shows of a name.
const SHOWN_CHARS: usize = 80;
/// Most characters that an error shows of another text.
const START_CHARS: usize = 20;
/// Most names that an error lists.
const SHOWN_NAMES: usize = 8;

/// Stands for characters that are left out.
const LEFT_OUT: &str = "..";

/// The error, with `source` before its text.
pub(super) fn named_by(source: &Path, error: &dyn Error) -> Box<dyn Error> {
    format!("{}: {error}", source.display()).into()
}

/// Replaces each line break and terminal control code in a text with a space.
pub fn on_one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// A name on one line, without its middle if it is long.
pub fn shown(name: &str) -> String {
    let half = SHOWN_CHARS / 2;
    let is_short = name.chars().nth(SHOWN_CHARS).is_none();
    let end = name.char_indices().nth_back(half - 1);
    let text = match end {
        Some((end, _)) if !is_short => [&of_chars(name, half), LEFT_OUT, &name[end..]].concat(),
        _ => name.to_owned(),
    };
    on_one_line(&text)
}

/// The start of a text that is no name, on one line.
pub fn start_of(text: &str) -> String {
    let start = of_chars(text, START_CHARS);
    let end = if start.len() < text.len() {
        LEFT_OUT
    } else {
        ""
    };
    on_one_line(&[start.as_str(), end].concat())
}

fn of_chars(text: &str, chars: usize) -> String {
    text.chars().take(chars).collect()
}

/// The error if `name` is absent, or not in the file. It lists some of the file's `names`, those like `name` first. `kind` says
/// what they name: member or tensor.
pub fn not_found(kind: &str, name: Option<&str>, mut names: Vec<String>) -> String {
    names.sort_unstable();
    if let Some(name) = name {
        names.sort_by_cached_key(|other| {
            let same_end = name.bytes().rev().zip(other.bytes().rev());
            let same_end = same_end.take_while(|(left, right)| left == right).count();
            (!other.contains(name), Reverse(same_end))
        });
    }
    let mut list: Vec<String> = (names.iter().take(SHOWN_NAMES))
        .map(|name| shown(name))
        .collect();
    if names.len() > SHOWN_NAMES {
        list.push(format!("{} more", names.len() - SHOWN_NAMES));
    }
    let list = match list.is_empty() {
        true => "none".to_owned(),
        false => list.join(", "),
    };
    match name {
        Some(name) => format!("no {kind} \"{}\", it has {list}", shown(name)),
        None => format!("name a {kind}, as FILE:NAME; it has {list}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_both_ends() {
        let name = "é".repeat(80);
        assert_eq!(shown(&name), name);
        let name = format!("{}x{}", "a".repeat(40), "é".repeat(40));
        assert_eq!(
            shown(&name),
            format!("{}..{}", "a".repeat(40), "é".repeat(40))
        );
        assert_eq!(shown("a\n\x1bb"), "a  b");
        assert_eq!(start_of(&"k".repeat(20)), "k".repeat(20));
        assert_eq!(start_of(&"k".repeat(21)), format!("{}..", "k".repeat(20)));
    }

    #[test]
    fn names_like_the_asked_one_come_first() {
        let mut names: Vec<String> = (0..9).map(|n| format!("a{n}")).collect();
        names.extend(["z.wte.weight", "x.bias", "b.weight"].map(str::to_owned));
        let text = not_found("tensor", Some("wte.weight"), names);
        let expected = "no tensor \"wte.weight\", it has z.wte.weight, b.weight, a0, a1, ";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.ends_with(", a5, 4 more"), "{text}");
    }
}
