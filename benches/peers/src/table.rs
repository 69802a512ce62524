//! The printed tables, in Markdown: one for each device.

use std::fmt::Write;

use crate::peers::{COPY, Device, OURS, Peer};
use crate::report::{Line, Row, ms, ratio, version};

/// A column: peer, threads, measure.
type Column = (&'static str, usize, &'static str);

/// For each device the table, the reasons for empty cells, and the notes on the peers.
pub fn tables(rows: &[Row], peers: &[Box<dyn Peer>]) -> String {
    let mut text = String::new();
    for device in [Device::Cpu, Device::Gpu] {
        let columns = columns(rows, device);
        if columns.len() > 1 {
            text += &table(rows, device, &columns);
            text += &refusals(rows, peers, device);
            text += &notes(peers, device);
        }
    }
    text
}

fn columns(rows: &[Row], device: Device) -> Vec<Column> {
    let mut columns = Vec::new();
    for line in rows.iter().flat_map(|row| &row.lines) {
        if line.figure.device == device && !columns.contains(&column(line)) {
            columns.push(column(line));
        }
    }
    columns
}

fn column(line: &Line) -> Column {
    let figure = &line.figure;
    (figure.peer, figure.threads, figure.measure)
}

fn table(rows: &[Row], device: Device, columns: &[Column]) -> String {
    let mut lines = vec![vec![String::new()]];
    lines[0].extend(columns.iter().map(|column| heading(column, columns)));
    let ours: Vec<Column> = ours(columns).collect();
    lines[0].extend(ours.iter().map(|(_, threads, measure)| match threads {
        0 => format!("{measure} / best peer"),
        threads => format!("{measure} / best peer, {threads}T"),
    }));
    for row in rows {
        let mut cells = vec![row.workload.clone()];
        cells.extend(columns.iter().map(|wanted| {
            let line = row.lines.iter().find(|line| column(line) == *wanted);
            line.map_or("-".to_owned(), cell)
        }));
        cells.extend(ours.iter().map(|&ours| lead(row, device, ours)));
        lines.push(cells);
    }
    let copy = match device {
        Device::Cpu => "a memcpy",
        Device::Gpu => "a buffer copy",
    };
    let named = device.name();
    let mut text = format!(
        "\n{named}: median ms, in brackets the ratio to {copy} of the output's bytes in the same run\n\n"
    );
    text += &markdown(&lines);
    text
}

/// A column's heading: the peer, or for this crate the measure. Adds the threads if columns differ in them.
fn heading((peer, threads, measure): &Column, columns: &[Column]) -> String {
    let name = if *peer == OURS { measure } else { peer };
    let same = |column: &&Column| column.0 == *peer && column.2 == *measure;
    if columns.iter().filter(same).count() > 1 {
        format!("{name} {threads}T")
    } else {
        (*name).to_owned()
    }
}

fn cell(line: &Line) -> String {
    if line.figure.measure == COPY {
        return significant(ms(line.figure.median));
    }
    let (time, ratio) = (ms(line.figure.median), line.ratio_to_copy);
    format!("{} ({})", significant(time), significant(ratio))
}

/// A number with three significant digits.
fn significant(number: f64) -> String {
    let digits = (0..8).find(|&digits| number * 10_f64.powi(digits) >= 99.95);
    let digits = usize::try_from(digits.unwrap_or(8)).unwrap_or(0);
    format!("{number:.digits$}")
}

/// This crate's columns.
fn ours(columns: &[Column]) -> impl Iterator<Item = Column> {
    columns.iter().copied().filter(|column| column.0 == OURS)
}

/// The time in one of this crate's columns, divided by the best peer's with at most as many threads. The peer must have the
/// same measure, so that calls that allocate are compared with each other.
fn lead(row: &Row, device: Device, ours: Column) -> String {
    let (_, threads, measure) = ours;
    let of_device = row.lines.iter().filter(|line| line.figure.device == device);
    let our_time = of_device
        .clone()
        .find(|line| column(line) == ours)
        .map(|line| line.figure.median);
    let peers = of_device.map(|line| &line.figure).filter(|figure| {
        figure.peer != OURS && figure.measure == measure && figure.threads <= threads
    });
    match (our_time, peers.min_by_key(|figure| figure.median)) {
        (Some(ours), Some(best)) => format!("{:.2} {}", ratio(ours, best.median), best.peer),
        _ => "-".to_owned(),
    }
}

/// A Markdown table with columns as wide as their widest cell.
fn markdown(lines: &[Vec<String>]) -> String {
    let widths = (0..lines[0].len()).map(|column| {
        let width = lines.iter().map(|cells| cells[column].len()).max();
        width.unwrap_or(0).max(2)
    });
    let widths: Vec<usize> = widths.collect();
    let mut text = String::new();
    for (number, cells) in lines.iter().enumerate() {
        for (cell, &width) in cells.iter().zip(&widths) {
            let _ = write!(text, "| {cell:<width$} ");
        }
        text += "|\n";
        if number == 0 {
            for width in &widths {
                let _ = write!(text, "|{:-<1$}", "", width + 2);
            }
            text += "|\n";
        }
    }
    text
}

/// The reasons for empty cells, each once.
fn refusals(rows: &[Row], peers: &[Box<dyn Peer>], device: Device) -> String {
    let mut reasons: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for row in rows {
        for (peer, reason) in &row.refusals {
            let mut here = peers.iter().filter(|known| known.device() == device);
            if !here.any(|known| known.name() == *peer) {
                continue;
            }
            match reasons
                .iter_mut()
                .find(|known| known.0 == *peer && known.1 == reason)
            {
                Some(known) => known.2.push(&row.workload),
                None => reasons.push((peer, reason, vec![&row.workload])),
            }
        }
    }
    let mut text = String::new();
    for (peer, reason, workloads) in reasons {
        let _ = write!(
            text,
            "\n- {peer} cannot do {}: {reason}",
            workloads.join(", ")
        );
    }
    if text.is_empty() { text } else { text + "\n" }
}

/// A note on each peer of this device, with its library's version.
pub fn notes(peers: &[Box<dyn Peer>], device: Device) -> String {
    let mut text = String::from("\n");
    for peer in peers.iter().filter(|peer| peer.device() == device) {
        let version = peer.package().and_then(|package| {
            let version = version(package)?;
            Some(format!(" ({package} {version})"))
        });
        let (name, measure) = (peer.name(), peer.measure());
        let named = if name == OURS {
            format!("{name} {measure}")
        } else {
            name.to_owned()
        };
        let _ = writeln!(
            text,
            "- {named}{}: {}",
            version.unwrap_or_default(),
            peer.note()
        );
    }
    text
}
