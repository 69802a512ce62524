//! Gathers each row's k best scores, and the names that belong to them, with one plan.
//!
//! ```sh
//! cargo run --release --example top_k
//! ```

use std::cmp::Reverse;
use std::error::Error;

use wgpu_gather::Gather;

const PLAYERS: usize = 5;
const BEST: usize = 3;

fn main() -> Result<(), Box<dyn Error>> {
    // Two games, each with its own players.
    let names = [
        "Ada", "Bob", "Cleo", "Dan", "Eve", //
        "Finn", "Gus", "Hal", "Ida", "Jo",
    ];
    let scores = [
        70_u32, 95, 20, 95, 40, //
        15, 60, 85, 30, 5,
    ];

    // Where each row's best scores are, best first. If scores are equal, the earlier place comes first.
    let mut best: Vec<u32> = Vec::new();
    for row in scores.chunks(PLAYERS) {
        let mut places: Vec<u32> = (0..).take(PLAYERS).collect();
        places.sort_by_key(|&place| Reverse(row[place as usize]));
        best.extend(&places[..BEST]);
    }

    // One batch dim: row n in indices selects from row n in params.
    let plan = Gather::new()
        .batch_dims(1)
        .plan(&[2, PLAYERS], &[2, BEST])?;
    let best_names = plan.run(&names, &best)?;
    let best_scores = plan.run(&scores, &best)?;
    println!("{plan}");
    let rows = best_names.chunks(BEST).zip(best_scores.chunks(BEST));
    for (names, scores) in rows {
        println!("{names:?} {scores:?}");
    }
    assert_eq!(best_names, ["Bob", "Dan", "Ada", "Hal", "Gus", "Ida"]);
    assert_eq!(best_scores, [95, 95, 70, 85, 60, 30]);
    Ok(())
}
