//! The error for a member or tensor that an archive lacks.

use super::array::start_of;

/// The error for a `name` that is absent or not in the archive. It lists the first of the archive's `names`;
/// `kind` is the noun for an entry: member or tensor.
pub fn not_found<'a>(
    kind: &str,
    name: Option<&str>,
    names: impl Iterator<Item = &'a str>,
) -> String {
    const SHOWN: usize = 8;
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    let mut list: Vec<String> = names
        .iter()
        .take(SHOWN)
        .map(|name| start_of(name))
        .collect();
    if names.len() > SHOWN {
        list.push(format!("{} more", names.len() - SHOWN));
    }
    let list = if list.is_empty() {
        "none".to_owned()
    } else {
        format!("{list:?}").replace(['[', ']', '"'], "")
    };
    match name {
        Some(name) => format!("no {kind} {:?}, it has {list}", start_of(name)),
        None => format!("name a {kind}, as FILE:NAME; it has {list}"),
    }
}
