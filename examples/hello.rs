//! Gathers on the CPU: each index selects a row with 2 words.
//!
//! ```sh
//! cargo run --release --example hello
//! ```

use wgpu_gather::Gather;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let params = ["zero", "null", "one", "eins", "two", "zwei"];
    let plan = Gather::new().plan(&[3, 2], &[2])?;
    let output = plan.run(&params, &[2, 0])?;
    println!("{plan}\n{output:?}");
    assert_eq!(output, ["two", "zwei", "zero", "null"]);
    Ok(())
}
