//! Tables in plain text, and styles and progress bars for terminals: anstream drops the styles if the output is no terminal or
//! `NO_COLOR` is set.

use std::fmt;

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressStyle};

/// Rows of cells under a header. Columns from `numbers_from` on are aligned to the right.
pub struct Table {
    numbers_from: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(texts: &[&str], numbers: &[&str]) -> Self {
        let header = texts.iter().chain(numbers);
        Self {
            numbers_from: texts.len(),
            rows: vec![header.map(|name| bold(name)).collect()],
        }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let column_count = self.rows[0].len();
        let widths: Vec<usize> = (0..column_count)
            .map(|column| {
                let cells = self.rows.iter().filter_map(|row| row.get(column));
                cells.map(|cell| width(cell)).max().unwrap_or(0)
            })
            .collect();
        for (number, row) in self.rows.iter().enumerate() {
            let cells = row.iter().zip(&widths).enumerate();
            let cells = cells.map(|(column, (cell, column_width))| {
                let space = " ".repeat(column_width - width(cell));
                if column < self.numbers_from {
                    format!("{cell}{space}")
                } else {
                    format!("{space}{cell}")
                }
            });
            let line = cells.collect::<Vec<_>>().join("  ");
            let start = if number == 0 { "" } else { "\n" };
            write!(f, "{start}{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// The width of a text in characters, without its styles.
fn width(text: &str) -> usize {
    anstream::adapter::strip_str(text)
        .to_string()
        .chars()
        .count()
}

pub fn bold(text: &str) -> String {
    styled(text, Style::new().bold())
}

pub fn passed(text: &str) -> String {
    styled(text, AnsiColor::Green.on_default())
}

pub fn failed(text: &str) -> String {
    styled(text, AnsiColor::Red.on_default().bold())
}

fn styled(text: &str, style: Style) -> String {
    format!("{style}{text}{style:#}")
}

/// A progress bar, hidden unless stderr is a terminal.
pub fn progress(steps: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}");
    ProgressBar::new(steps).with_style(style.expect("a valid template"))
}
