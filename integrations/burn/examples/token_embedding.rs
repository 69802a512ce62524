//! The token embedding of a small model, looked up in a burn module: once with burn, once through the bridge, with the
//! same numbers. Then a table that only the bridge takes.
//!
//! ```sh
//! cargo run --example token_embedding                         # on a small .safetensors file that it makes
//! cargo run --example token_embedding model.safetensors NAME  # on the f32 tensor NAME of a file
//! ```

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs, panic};

use burn::module::Param;
use burn::nn::{Embedding, EmbeddingConfig};
use burn::tensor::wgpu::WgpuSetup;
use burn::tensor::{Device, Int, Tensor, TensorData};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use wgpu_gather_burn::{BadIndices, Bridge};

/// The name of the table in the file that the example makes.
const NAME: &str = "decoder.token_embedding.weight";

fn main() -> Result<(), Box<dyn Error>> {
    let (device, setup) = Device::wgpu_options().init_with_setup()?;
    let bridge = Bridge::new(&device, &setup)?;
    println!("device: {}", setup.device.adapter_info().name);

    let mut args = env::args().skip(1);
    let (file, name) = match args.next() {
        Some(file) => (PathBuf::from(file), args.next().unwrap_or(NAME.to_owned())),
        None => (make_file()?, NAME.to_owned()),
    };
    let table = read(&file, &name)?;
    println!("{name}: {:?}", table.shape());
    let tokens = i64::try_from(table.shape()[0])?;
    let model = module(table, &device);

    // Two sentences of four tokens.
    let ids: Vec<_> = [3, 1, 4, 1, 5, 9, 2, 6].map(|id| id % tokens).into();
    let ids = Tensor::<2, Int>::from_data(TensorData::new(ids, [2, 4]), &device);
    let burns = model.forward(ids.clone());
    let ours = bridge.embedding(model.weight.val(), ids)?.tensor;
    ours.into_data().assert_eq(&burns.into_data(), true);
    println!("embedding of [2, 4] tokens: burn and the bridge give the same numbers");

    // A token that the vocabulary has not.
    let ids = Tensor::<2, Int>::from_data([[0, 99_999_999]], &device);
    let strict = bridge.bad_indices(BadIndices::Error);
    let error = strict.embedding(model.weight.val(), ids)?.checked();
    println!("token 99999999: {}", error.expect_err("a bad token"));

    larger_table(&device, &setup, &bridge)
}

/// A table just larger than a binding of the device.
fn larger_table(device: &Device, setup: &WgpuSetup, bridge: &Bridge) -> Result<(), Box<dyn Error>> {
    let binding = setup.device.limits().max_storage_buffer_binding_size;
    let rows = usize::try_from(binding / 4096)? + 1000;
    if binding > 1 << 30 {
        println!(
            "this device binds {} MiB: no larger table is tried",
            binding >> 20
        );
        return Ok(());
    }
    println!(
        "a table of {} MiB, bindings of {} MiB",
        (rows * 4096) >> 20,
        binding >> 20
    );
    let values = (0..rows * 1024)
        .map(|place| (place / 1024) as f32)
        .collect();
    let model = module(TensorData::new::<f32, _>(values, [rows, 1024]), device);
    let last = i64::try_from(rows)? - 1;
    let ids = Tensor::<2, Int>::from_data([[0, last]], device);
    let ours = bridge.embedding(model.weight.val(), ids.clone())?.tensor;
    let ours: Vec<f32> = ours.into_data().iter().collect();
    assert_eq!([ours[0], ours[2047]], [0.0, last as f32]);
    println!("the bridge: rows 0 and {last} are right");

    panic::set_hook(Box::new(|_| ()));
    // burn copies to the host when the numbers are read.
    let burn = || model.forward(ids).into_data().iter::<f32>().sum::<f32>();
    match panic::catch_unwind(panic::AssertUnwindSafe(burn)) {
        Ok(sum) => println!("burn: an answer, of sum {sum}"),
        Err(_) => println!("burn: a panic"),
    }
    Ok(())
}

/// burn loads a module's parameters in this way.
fn module(table: TensorData, device: &Device) -> Embedding {
    let mut model = EmbeddingConfig::new(1, 1).init(device);
    model.weight = Param::from_data(table, device);
    model
}

/// Makes a file with a table of 1,000 tokens of width 64.
fn make_file() -> Result<PathBuf, Box<dyn Error>> {
    let values = (0..1000 * 64).map(|place| (place as f32 * 0.37).sin());
    let bytes: Vec<u8> = values.flat_map(f32::to_le_bytes).collect();
    let view = TensorView::new(Dtype::F32, vec![1000, 64], &bytes)?;
    let file = env::temp_dir().join("wgpu-gather-burn.safetensors");
    fs::write(&file, safetensors::serialize([(NAME, view)], None)?)?;
    Ok(file)
}

fn read(file: &PathBuf, name: &str) -> Result<TensorData, Box<dyn Error>> {
    let bytes = fs::read(file)?;
    let tensors = SafeTensors::deserialize(&bytes)?;
    let view = tensors.tensor(name)?;
    if view.dtype() != Dtype::F32 || view.shape().len() != 2 {
        return Err(format!("{name} must be an F32 matrix, found {:?}", view.dtype()).into());
    }
    let values = view
        .data()
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes(bytes.try_into().expect("four bytes")));
    Ok(TensorData::new(values.collect(), view.shape().to_vec()))
}
