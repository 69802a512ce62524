//! The chart of the sweep: time against slice size, a panel for each device.

use std::path::Path;

use plotters::prelude::*;

use crate::peers::{COPY, Device, OURS};
use crate::report::{Row, ms};
use testkit::bench::workloads::{SWEEP_OUTPUT_BYTES, SWEEP_PARAMS_BYTES};

const WIDTH: u32 = 1200;
const HEIGHT: u32 = 560;
const PAPER: RGBColor = RGBColor(252, 252, 250);
const INK: RGBColor = RGBColor(60, 60, 60);
const GRID: RGBColor = RGBColor(228, 228, 224);
const GREY: RGBColor = RGBColor(150, 150, 150);
const OURS_COLOUR: RGBColor = RGBColor(20, 90, 170);
const OURS_ALLOCATING: RGBColor = RGBColor(125, 170, 215);

/// The peers' colours, which differ in lightness too.
const COLOURS: [RGBColor; 7] = [
    RGBColor(200, 90, 60),
    RGBColor(90, 150, 90),
    RGBColor(160, 110, 180),
    RGBColor(210, 160, 50),
    RGBColor(70, 160, 170),
    RGBColor(190, 100, 130),
    RGBColor(130, 110, 80),
];

struct Series {
    label: String,
    /// Slice bytes and milliseconds.
    points: Vec<(f64, f64)>,
    colour: RGBColor,
    width: u32,
    /// True for copies, floors and more than one thread.
    is_dashed: bool,
}

/// # Errors
///
/// The SVG file cannot be written.
pub fn draw(path: &Path, rows: &[Row]) -> Result<(), String> {
    let panels = [Device::Cpu, Device::Gpu].map(|device| (device, series(rows, device)));
    let panels: Vec<_> = panels
        .into_iter()
        .filter(|panel| !panel.1.is_empty())
        .collect();
    let root = SVGBackend::new(path, (WIDTH, HEIGHT)).into_drawing_area();
    let drawn = root
        .fill(&PAPER)
        .map_err(|error| error.to_string())
        .and_then(|()| {
            let areas = root.split_evenly((1, panels.len()));
            for (area, (device, series)) in areas.iter().zip(&panels) {
                panel(area, *device, series).map_err(|error| error.to_string())?;
            }
            root.present().map_err(|error| error.to_string())
        });
    drawn.map_err(|error| format!("{}: {error}", path.display()))
}

fn series(rows: &[Row], device: Device) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    let mut colours = COLOURS.iter().cycle();
    let mut named: Vec<(&str, RGBColor)> = Vec::new();
    for row in rows {
        let slice = row.slice_bytes as f64;
        for line in row.lines.iter().filter(|line| line.figure.device == device) {
            let figure = &line.figure;
            let (peer, threads, measure) = (figure.peer, figure.threads, figure.measure);
            let label = match (peer, threads) {
                (OURS, 0) => peer.to_owned(),
                (OURS, 1) => format!("{peer} {measure}, 1 thread"),
                (OURS, threads) => format!("{peer} {measure}, {threads} threads"),
                (_, 0 | 1) => peer.to_owned(),
                (_, threads) => format!("{peer}, {threads} threads"),
            };
            let point = (slice, ms(figure.median));
            if let Some(known) = all.iter_mut().find(|series| series.label == label) {
                known.points.push(point);
                continue;
            }
            let is_known = named.iter().find(|known| known.0 == peer);
            let colour = match (peer, measure) {
                (OURS, "run") => OURS_ALLOCATING,
                (OURS, _) => OURS_COLOUR,
                (_, COPY) => GREY,
                _ => is_known.map_or_else(|| *colours.next().expect("a cycle"), |known| known.1),
            };
            named.push((peer, colour));
            all.push(Series {
                label,
                points: vec![point],
                colour,
                width: if peer == OURS && measure != "run" {
                    3
                } else {
                    1
                },
                is_dashed: threads > 1 || measure == COPY,
            });
        }
    }
    let floors = rows.iter().filter_map(|row| {
        let floor = row.floors.iter().find(|floor| floor.0 == device)?;
        Some((row.slice_bytes as f64, ms(floor.1)))
    });
    let points: Vec<_> = floors.collect();
    if !points.is_empty() {
        all.push(Series {
            label: "floor".into(),
            points,
            colour: INK,
            width: 1,
            is_dashed: true,
        });
    }
    all
}

fn panel(
    area: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    device: Device,
    series: &[Series],
) -> Result<(), Box<dyn std::error::Error>> {
    let points = || series.iter().flat_map(|series| &series.points);
    let (slices, times) = (points().map(|point| point.0), points().map(|point| point.1));
    let range = |numbers: &mut dyn Iterator<Item = f64>| {
        numbers.fold((f64::MAX, f64::MIN), |(least, most), number| {
            (least.min(number), most.max(number))
        })
    };
    let (least, most) = range(&mut { slices });
    let (fastest, slowest) = range(&mut { times });
    // The legend needs room above the lines.
    let (low, high) = (
        fastest * 0.8,
        slowest * (slowest / fastest).powf(0.045 * series.len() as f64),
    );
    let named = match device {
        Device::Cpu => "CPU",
        Device::Gpu => "GPU",
    };
    let title = format!(
        "{named}: {} MiB gathered from {} MiB",
        SWEEP_OUTPUT_BYTES >> 20,
        SWEEP_PARAMS_BYTES >> 20
    );
    let text = |size: i32| ("sans-serif", size).into_font().color(&INK);
    let mut chart = ChartBuilder::on(area)
        .caption(title, text(18))
        .margin(12)
        .margin_right(28)
        .x_label_area_size(44)
        .y_label_area_size(64)
        .build_cartesian_2d((least..most).log_scale().base(2.0), (low..high).log_scale())?;
    chart
        .configure_mesh()
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .axis_style(GREY)
        .label_style(text(13))
        .axis_desc_style(text(14))
        .x_desc("bytes in a slice")
        .y_desc("median ms")
        .x_label_formatter(&|&bytes| match bytes {
            bytes if bytes >= 1024.0 => format!("{} Ki", bytes / 1024.0),
            bytes => format!("{bytes}"),
        })
        .y_label_formatter(&|&ms| format!("{ms}"))
        .draw()?;
    for Series {
        label,
        points,
        colour,
        width,
        is_dashed,
    } in series
    {
        let style = colour.stroke_width(*width);
        let points = points.iter().copied();
        let drawn = if *is_dashed {
            chart.draw_series(DashedLineSeries::new(points, 5, 3, style))?
        } else {
            chart.draw_series(LineSeries::new(points, style))?
        };
        let is_dashed = *is_dashed;
        drawn.label(label).legend(move |(x, y)| {
            let end = if is_dashed { x + 9 } else { x + 22 };
            PathElement::new(vec![(x, y), (end, y)], style)
        });
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(PAPER)
        .border_style(GRID)
        .label_font(text(12))
        .draw()?;
    Ok(())
}
