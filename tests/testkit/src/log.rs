//! Logs warnings and errors from wgpu and the layers under it: with `GATHER_LOG=FILE`, each message is a line in that file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::OnceLock;

use log::{LevelFilter, Log, Metadata, Record};

const FILE: &str = "GATHER_LOG";

/// Appends each message to the file in one write.
struct ToFile(File);

impl Log for ToFile {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        let text = record.args().to_string();
        let text: Vec<&str> = text.split_whitespace().collect();
        let line = format!(
            "{} {}: {}\n",
            record.level(),
            record.target(),
            text.join(" ")
        );
        (&self.0)
            .write_all(line.as_bytes())
            .expect("the log can be written");
    }

    fn flush(&self) {}
}

/// The file that `GATHER_LOG` names.
pub fn file() -> Option<PathBuf> {
    std::env::var_os(FILE).map(PathBuf::from)
}

/// The file's contents; empty without a file.
pub fn text() -> io::Result<String> {
    file().map_or(Ok(String::new()), fs::read_to_string)
}

/// Sets the logger. Messages before the call are lost, so it must precede the first GPU object.
pub fn watch() {
    let Some(path) = file() else { return };
    let file = OpenOptions::new().create(true).append(true).open(&path);
    let file = file.unwrap_or_else(|error| panic!("{FILE}={path:?}: {error}"));
    static TO_FILE: OnceLock<ToFile> = OnceLock::new();
    log::set_logger(TO_FILE.get_or_init(|| ToFile(file))).expect("the only logger");
    log::set_max_level(LevelFilter::Warn);
}
