//! The pages read on a forge as in the docs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/guide")
}

/// The definitions in a text: a label's target.
fn definitions(text: &str) -> BTreeMap<&str, &str> {
    let lines = text.lines().filter_map(|line| line.strip_prefix('['));
    let pairs = lines.filter_map(|line| line.split_once("]: "));
    pairs.filter(|(label, _)| !label.contains(']')).collect()
}

/// A heading as a forge and rustdoc write it in an address.
fn address(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || *c == ' ' || *c == '-';
    let kept: String = heading.trim().chars().filter(kept).collect();
    kept.to_lowercase().replace(' ', "-")
}

#[test]
fn links_lead_on_in_the_docs_and_on_a_forge() {
    let in_docs = fs::read_to_string(folder().join("links.md")).unwrap();
    let in_docs = definitions(&in_docs);
    let mut used = Vec::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension() != Some("md".as_ref()) || path.ends_with("links.md") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let mut found = definitions(&text);
        for label in in_docs.keys() {
            // A label may also be the text of a link that leads to another label: then it needs no definition.
            let link = format!("[{label}]");
            let shown = text.split(&link).skip(1);
            let shown = shown.filter(|after| !after.starts_with('[')).count();
            let target = found.remove(label);
            assert_eq!(shown > 0, target.is_some(), "{path:?}: {label}");
            let Some(target) = target else { continue };
            assert!(shown > 1, "{path:?}: {label} is not used");
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let file = fs::read_to_string(folder().join(file)).unwrap();
            let mut headings = file.lines().filter(|line| line.starts_with('#'));
            let is_there = |line: &str| address(line.trim_start_matches('#')) == heading;
            assert!(
                heading.is_empty() || headings.any(is_there),
                "{path:?}: {target}"
            );
            used.push(*label);
        }
        assert!(found.is_empty(), "{path:?}: links.md lacks {found:?}");
        let is_hidden = |line: &str| line.starts_with("# ") && line.contains([';', '{', '}']);
        let hidden: Vec<_> = text.lines().filter(|line| is_hidden(line)).collect();
        assert!(
            hidden.is_empty() && !text.contains("](crate::"),
            "{path:?}: {hidden:?}"
        );
    }
    assert!(in_docs.keys().all(|label| used.contains(label)));
}
