//! Tables in plain text, and styles for terminals: anstream drops the styles if the output is no terminal or
//! `NO_COLOR` is set.

use std::fmt;

use anstyle::{AnsiColor, Style};

/// Columns as wide as their widest cell. Those from `numbers_from` on are aligned to the right.
pub struct Columns {
    numbers_from: usize,
    header: Vec<String>,
    widths: Vec<usize>,
}

impl Columns {
    pub fn new(texts: &[&str], numbers: &[&str]) -> Self {
        let header = texts.iter().chain(numbers).map(|name| bold(name));
        let mut columns = Self {
            numbers_from: texts.len(),
            header: header.collect(),
            widths: vec![0; texts.len() + numbers.len()],
        };
        columns.widen(&columns.header.clone());
        columns
    }

    /// Makes the columns wide enough for a row.
    pub fn widen(&mut self, cells: &[String]) {
        for (column, cell) in self.widths.iter_mut().zip(cells) {
            *column = width(cell).max(*column);
        }
    }

    pub fn header(&self) -> String {
        self.line(&self.header)
    }

    /// The line of a row.
    pub fn line(&self, cells: &[String]) -> String {
        let cells = cells.iter().zip(&self.widths).enumerate();
        let cells = cells.map(|(column, (cell, column_width))| {
            let space = " ".repeat(column_width.saturating_sub(width(cell)));
            match column < self.numbers_from {
                true => format!("{cell}{space}"),
                false => format!("{space}{cell}"),
            }
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        format!("{}\n", line.trim_end())
    }
}

/// Rows of cells under a header.
pub struct Table {
    columns: Columns,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(texts: &[&str], numbers: &[&str]) -> Self {
        Self {
            columns: Columns::new(texts, numbers),
            rows: Vec::new(),
        }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.columns.widen(&cells);
        self.rows.push(cells);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.rows.iter().map(|cells| self.columns.line(cells));
        let text: String = std::iter::once(self.columns.header())
            .chain(lines)
            .collect();
        f.write_str(text.trim_end())
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
