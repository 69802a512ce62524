//! What archives say where they do not have what is asked for.

use super::npy_read::start_of;

/// The error for a name that an archive does not have, with those that it has.
pub fn not_found<'a>(
    what: &str,
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
        Some(name) => format!("no {what} {:?}, it has {list}", start_of(name)),
        None => format!("name a {what}, as FILE:NAME; it has {list}"),
    }
}
