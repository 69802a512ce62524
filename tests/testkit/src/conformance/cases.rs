//! Reads conformance files into cases. A file or a line that cannot be read becomes a case that fails.

use std::fs;
use std::path::{Path, PathBuf};

use super::BUILT_IN;
use super::line::Line;

/// The environment variable that names more files, separated as in `PATH`.
const MORE_FILES: &str = "GATHER_CASES";

pub struct Case {
    pub name: String,
    /// The line's text, for failures to show.
    pub json: String,
    pub line: Result<Line, String>,
}

/// A case for each recorded result: those built in, and those in the files that `GATHER_CASES` names.
pub fn all() -> Vec<Case> {
    let built_in = BUILT_IN
        .iter()
        .flat_map(|(name, text)| lines(Path::new(name), text));
    let more = more_files().into_iter().flat_map(|file| read(&file));
    built_in.chain(more).collect()
}

fn more_files() -> Vec<PathBuf> {
    match std::env::var_os(MORE_FILES) {
        Some(paths) if !paths.is_empty() => std::env::split_paths(&paths).collect(),
        _ => Vec::new(),
    }
}

/// One case for each line. A file that cannot be read, or has no lines, is one case, which fails.
fn read(path: &Path) -> Vec<Case> {
    let no_line = |problem: String| {
        vec![Case {
            name: path.display().to_string(),
            json: String::new(),
            line: Err(problem),
        }]
    };
    let text = match fs::read_to_string(path) {
        Ok(text) if text.is_empty() => return no_line("a file without lines".into()),
        Ok(text) => text,
        Err(error) => return no_line(error.to_string()),
    };
    lines(path, &text)
}

/// The cases in a file's text.
pub fn lines(path: &Path, text: &str) -> Vec<Case> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    (1..)
        .zip(text.lines())
        .map(|(number, json)| {
            let line = parse(json);
            let name = match &line {
                Ok(line) => format!("{stem}::{}", line.id),
                Err(_) => format!("{}:{number}", path.display()),
            };
            Case {
                name,
                json: json.to_owned(),
                line,
            }
        })
        .collect()
}

fn parse(json: &str) -> Result<Line, String> {
    let value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    Line::parse(&value)
}
