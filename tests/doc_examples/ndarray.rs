use ndarray::array;
use wgpu_gather::Gather;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let params = array![["a", "b", "c"], ["d", "e", "f"]];
    let columns = Gather::new().axis(-1).gather_array(&params, &array![2, 0])?;
    assert_eq!(columns, array![["c", "a"], ["f", "d"]].into_dyn());
    Ok(())
}
