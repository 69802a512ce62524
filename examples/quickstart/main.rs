//! Gathers images by label, on the GPU and on the CPU. They show handwritten digits.
//!
//! ```sh
//! cargo run --release --example quickstart
//! ```
//!
//! Without a GPU the CPU does all the work, and the pictures are equal.

#[path = "../common/mod.rs"]
mod common;

use std::env;
use std::error::Error;
use std::fmt::Display;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::exit;

use wgpu_gather::{BadIndices, Executor, GatherNd};

const IMAGES: usize = 1797;
/// The images are 8 x 8, their pixels 0 (paper) to 16 (ink).
const WIDTH: usize = 8;
const PIXELS: usize = WIDTH * WIDTH;
const DIGITS: usize = 10;
const SHAPE: [usize; 3] = [IMAGES, WIDTH, WIDTH];

const USAGE: &str = "\
Gathers images of handwritten digits by their label, on the GPU and on the CPU.

Usage: cargo run --release --example quickstart

It takes no arguments. WGPU_BACKEND chooses the GPU's back end; without a GPU the CPU does all the work.";

fn main() -> Result<(), Box<dyn Error>> {
    if let Some(argument) = env::args_os().nth(1) {
        if argument == "--help" || argument == "-h" {
            say(USAGE);
            return Ok(());
        }
        eprintln!("error: the argument {argument:?}\n\n{USAGE}");
        exit(2);
    }
    let images = read_data("digits_images_u8.npy")?;
    let labels = numbers(&read_data("digits_labels_i64.npy")?, i64::from_le_bytes);

    let gpu = common::gpu();
    match &gpu {
        Ok(gpu) => say(format!("Gathering on {gpu}")),
        Err(error) => {
            // The rest of the text says why each back end failed.
            let error = error.to_string();
            let reason = error.split(':').next().unwrap_or(&error);
            say(format!("Gathering on the CPU ({reason})"));
        }
    }
    let executor = gpu.unwrap_or_else(|_| Executor::cpu());
    first_of_each_digit(&executor, &images)?;
    mean_of_each_digit(&executor, &images, &labels)?;
    index_out_of_range(&executor, &images)
}

/// The plain case: indices select table rows.
fn first_of_each_digit(executor: &Executor, images: &[u8]) -> Result<(), Box<dyn Error>> {
    let three_of_each = numbers(&read_data("digits_indices_i32.npy")?, i32::from_le_bytes);
    let plan = GatherNd::new()
        .bad_indices(BadIndices::Error)
        .plan(&SHAPE, &[3 * DIGITS, 1])?;

    let table = executor.upload(images, plan.params_shape())?;
    let rows = executor.gather(&plan, &table, &three_of_each).wait()?;
    assert_eq!(rows, plan.gather(images, &three_of_each)?);
    assert_eq!(rows, read_data("digits_expected_u8.npy")?);

    let who = match executor.device() {
        Ok(_) => "GPU, CPU and expected output",
        Err(_) => "CPU and expected output",
    };
    say(format!(
        "\nThe first of each digit. {who} are equal, bit for bit:\n{plan}\n"
    ));
    let firsts = rows.chunks(3 * PIXELS).flat_map(|three| &three[..PIXELS]);
    draw(&firsts.copied().map(f32::from).collect::<Vec<_>>());
    Ok(())
}

/// A gather puts all images in the order of their digits; the host takes each digit's mean.
fn mean_of_each_digit(
    executor: &Executor,
    images: &[u8],
    labels: &[i64],
) -> Result<(), Box<dyn Error>> {
    let mut indices: Vec<u32> = (0..).take(labels.len()).collect();
    indices.sort_by_key(|&image| labels[image as usize]);
    // Each digit's first row, and after the last digit the number of rows.
    let starts: Vec<u32> = (0..=10)
        .map(|digit| u32::try_from(labels.iter().filter(|&&label| label < digit).count()))
        .collect::<Result<_, _>>()?;
    let plan = GatherNd::new().plan(&SHAPE, &[indices.len(), 1])?;

    let table = executor.upload(images, plan.params_shape())?;
    let rows = executor.gather(&plan, &table, &indices).wait()?;
    assert_eq!(rows, plan.gather(images, &indices)?);
    say(format!(
        "\nThe mean of each digit, of all images in the order of their digits:\n{plan}\n"
    ));
    draw(&average(&rows, &starts));
    Ok(())
}

fn average(rows: &[u8], starts: &[u32]) -> Vec<f32> {
    let mut means = Vec::with_capacity(DIGITS * PIXELS);
    for group in starts.windows(2) {
        let (start, end) = (group[0] as usize, group[1] as usize);
        let rows = &rows[start * PIXELS..end * PIXELS];
        for pixel in 0..PIXELS {
            let pixels = rows.iter().skip(pixel).step_by(PIXELS);
            let sum: f32 = pixels.copied().map(f32::from).sum();
            means.push(sum / (end - start) as f32);
        }
    }
    means
}

/// TensorFlow's two answers to an index that names no image: an error on the CPU, zeros on the GPU.
fn index_out_of_range(executor: &Executor, images: &[u8]) -> Result<(), Box<dyn Error>> {
    let good_and_bad = [0, 1797];
    let gather = GatherNd::new();
    let plan = gather.plan(&SHAPE, &[2, 1])?;
    let (device, rows) = match executor.device() {
        Ok(_) => {
            let table = executor.upload(images, plan.params_shape())?;
            ("GPU", executor.gather(&plan, &table, &good_and_bad).wait()?)
        }
        Err(_) => {
            let zeros = gather.bad_indices(BadIndices::Fill);
            let plan = zeros.plan(&SHAPE, &[2, 1])?;
            (
                "CPU, told BadIndices::Fill",
                plan.gather(images, &good_and_bad)?,
            )
        }
    };
    let (good, bad) = rows.split_at(PIXELS);
    assert_eq!(good, &images[..PIXELS]);
    assert_eq!(bad, [0; PIXELS]);
    let Err(error) = plan.gather(images, &good_and_bad) else {
        return Err("the CPU took an index that is out of range".into());
    };
    say(format!(
        "\nAn index that is out of range:\n  CPU: {error}\n  {device}: an image of zeros"
    ));
    Ok(())
}

/// Draws images side by side, one character a pixel.
fn draw(images: &[f32]) {
    const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
    for y in 0..WIDTH {
        let line: Vec<String> = images
            .chunks(PIXELS)
            .map(|image| {
                let pixels = &image[y * WIDTH..][..WIDTH];
                pixels.iter().map(|pixel| SHADES[shade(*pixel)]).collect()
            })
            .collect();
        say(line.join("  ").trim_end());
    }
}

/// One of five shades for ink 0 to 16.
fn shade(ink: f32) -> usize {
    [3.4, 6.8, 10.2, 13.6]
        .iter()
        .filter(|&&limit| ink >= limit)
        .count()
}

/// Prints a line. A closed pipe is no error: `quickstart | head -1` reads one line only.
fn say(line: impl Display) {
    let _ = writeln!(io::stdout(), "{line}");
}

/// A .npy file's elements, as bytes. Byte 8 begins the header's length, byte 10 the header.
fn read_data(name: &str) -> io::Result<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut file = fs::read(folder.join(name))?;
    let header_len = usize::from(u16::from_le_bytes([file[8], file[9]]));
    Ok(file.split_off(10 + header_len))
}

fn numbers<T, const BYTES: usize>(bytes: &[u8], from_bytes: impl Fn([u8; BYTES]) -> T) -> Vec<T> {
    let (numbers, _) = bytes.as_chunks();
    numbers.iter().copied().map(from_bytes).collect()
}
