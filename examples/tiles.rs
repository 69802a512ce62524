//! Puts a picture together from tiles and a map, as games do, in one gather. Runs on the GPU if there is one.
//!
//! ```sh
//! cargo run --release --example tiles -- tiles.png
//! ```
//!
//! Without a path the picture goes to the folder for temporary files.

mod common;

use std::env;
use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::PathBuf;

use wgpu_gather::{BadIndices, Gather};

/// A tile is 16 x 16 pixels, each red, green and blue.
const TILE: usize = 16;
type Pixel = [u8; 3];

/// Grass, sand, water, road, tree, house and mountain.
const TILES: &str = ".:~=TH^";

const MAP: [&str; 14] = [
    "^^^^^^^TTT......TTTT....",
    "^^^^^TTTT........TTT....",
    "^^^^TT............T.....",
    "^^TTT....H.H............",
    "^TT.......=......:::....",
    "TT.....H..=....::~~~::..",
    "T.........=...::~~~~~~:.",
    "....=======...:~~~~~~~::",
    "..H.=.....=...:~~~~~~~~:",
    "....=..H..=...::~~~~~~::",
    "TT..=.....=.....::~~~::.",
    "TTT.=.....=====...:::...",
    "TTTT=...T.....=....TT...",
    "TTTT=..TTT....=...TTTT..",
];

fn main() -> Result<(), Box<dyn Error>> {
    let (columns, rows) = (MAP[0].len(), MAP.len());
    let (width, height) = (columns * TILE, rows * TILE);

    // The tiles stand one below the other: a params row is a pixel line in one tile.
    let mut params: Vec<Pixel> = Vec::new();
    for tile in TILES.chars() {
        for y in 0..TILE {
            params.extend((0..TILE).map(|x| draw(tile, x, y)));
        }
    }
    // The picture from top left to bottom right: each index selects a pixel line in one tile.
    let mut indices: Vec<u32> = Vec::new();
    for row in MAP {
        for y in 0..TILE {
            for tile in row.chars() {
                let tile = TILES.find(tile).ok_or("the map has an unknown tile")?;
                indices.push(u32::try_from(tile * TILE + y)?);
            }
        }
    }

    let plan = Gather::new()
        .bad_indices(BadIndices::Error)
        .plan(&[TILES.len() * TILE, TILE], &[height, columns])?;
    let executor = common::executor()?;
    let tiles = executor.upload(params, plan.params_shape())?;
    let picture = executor.gather(&plan, &tiles, &indices).wait()?;
    println!("{plan}");

    let path = match env::args_os().nth(1) {
        Some(path) => PathBuf::from(path),
        None => env::temp_dir().join("wgpu-gather-tiles.png"),
    };
    let file = BufWriter::new(File::create(&path)?);
    let mut encoder = png::Encoder::new(file, u32::try_from(width)?, u32::try_from(height)?);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(picture.as_flattened())?;
    writer.finish()?;
    println!("a picture of {width} x {height} pixels");
    eprintln!("written to {}", path.display());

    // Every pixel of the file equals the pixel of its tile.
    let mut reader = png::Decoder::new(BufReader::new(File::open(&path)?)).read_info()?;
    let mut bytes = vec![0; width * height * size_of::<Pixel>()];
    reader.next_frame(&mut bytes)?;
    let mut pixels = bytes.chunks(size_of::<Pixel>());
    for y in 0..height {
        let row: Vec<char> = MAP[y / TILE].chars().collect();
        for x in 0..width {
            let expected = draw(row[x / TILE], x % TILE, y % TILE);
            assert_eq!(pixels.next(), Some(&expected[..]), "at {x}, {y}");
        }
    }
    Ok(())
}

/// The pixel of a tile, counted from its top left.
fn draw(tile: char, x: usize, y: usize) -> Pixel {
    // Distances from the tile's middle column and row.
    let (dx, dy) = (x.abs_diff(8), y.abs_diff(7));
    match tile {
        ':' => grain([222, 200, 142], x, y),
        '~' if (x + 3 * (y / 4)) % 8 < 4 && y % 4 == 1 => [120, 170, 220],
        '~' => grain([58, 116, 188], x, y),
        '=' => grain([176, 158, 130], x, y),
        'T' if dx * dx + dy * dy < 12 && x < 9 => grain([70, 140, 60], x, y),
        'T' if dx * dx + dy * dy < 38 => grain([40, 104, 48], x, y),
        'T' if dx < 2 && y > 12 => [96, 66, 40],
        'H' if (2..8).contains(&y) && dx < y => grain([178, 66, 52], x, y),
        'H' if (10..15).contains(&y) && dx < 2 => [90, 60, 40],
        'H' if (8..15).contains(&y) && dx < 6 => [236, 222, 190],
        '^' if 2 * dx <= y && y < 6 => [240, 244, 248],
        '^' if 2 * dx <= y && x < 8 => grain([150, 146, 150], x, y),
        '^' if 2 * dx <= y => grain([112, 108, 116], x, y),
        _ => grain([104, 164, 76], x, y),
    }
}

/// A colour, lightened a little and differently from pixel to pixel.
fn grain(colour: Pixel, x: usize, y: usize) -> Pixel {
    let light = [0, 9, 4, 12, 2, 7][(x * 7 + y * 13 + x * y) % 6];
    colour.map(|channel| channel.saturating_add(light))
}
