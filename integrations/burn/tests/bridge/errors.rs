//! The text of each error that a caller can meet.

use burn::module::Param;
use burn::tensor::{DType, Device, Int, Tensor, TensorData};
use libtest_mimic::Trial;
use wgpu_gather_burn::wgpu_gather::Gather;
use wgpu_gather_burn::{Bridge, BridgeError};

use crate::common::{Gpu, bytes, trial};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("errors::shapes", |gpu| {
            let indices = Tensor::<2, Int>::from_data([[0], [0], [0]], &gpu.device);
            let error = gpu.bridge.gather(params(gpu), 1, indices).unwrap_err();
            let expected = "indices.shape[0] must be at most params.shape[0] = 2, found 3";
            assert_eq!(error.to_string(), expected);
        }),
        trial("errors::lengths", |gpu| {
            let plan = Gather::new().plan(&[3, 3], &[2]).unwrap();
            let error = gpu
                .bridge
                .run::<2, 1, 2, _>(&plan, params(gpu), indices(gpu));
            let expected = "params must have 9 elements, found 6";
            assert_eq!(error.unwrap_err().to_string(), expected);
            let plan = Gather::new().plan(&[2, 3], &[5]).unwrap();
            let error = gpu
                .bridge
                .run::<2, 1, 2, _>(&plan, params(gpu), indices(gpu));
            let expected = "indices must have 5 elements, found 2";
            assert_eq!(error.unwrap_err().to_string(), expected);
        }),
        trial("errors::ranks_of_the_output", |gpu| {
            let plan = Gather::new().plan(&[2, 3], &[2]).unwrap();
            let error = gpu
                .bridge
                .run::<2, 1, 3, _>(&plan, params(gpu), indices(gpu));
            let expected = "output must have rank 2, found rank 3 asked for";
            assert_eq!(error.unwrap_err().to_string(), expected);
            let plan = Gather::new()
                .plan(&[2, 3], &[2, 1, 1, 1, 1, 1, 1, 1])
                .unwrap();
            let error = gpu
                .bridge
                .run::<2, 1, 9, _>(&plan, params(gpu), indices(gpu));
            let expected = "output must have at most 8 dims in burn, found 9";
            assert_eq!(error.unwrap_err().to_string(), expected);
        }),
        trial("errors::types_of_indices", |gpu| {
            let narrow = |device: &Device| {
                let data = TensorData::new(vec![1_i16, 0], [2]);
                Tensor::<1, Int>::from_data(data, (device, DType::I16))
            };
            let picked = gpu
                .bridge
                .select(params(gpu), 0, narrow(&gpu.device))
                .unwrap();
            let expected = [3.0_f32, 4.0, 5.0, 0.0, 1.0, 2.0];
            assert_eq!(
                picked.tensor.into_data().try_to_vec::<f32>().unwrap(),
                expected
            );

            let device = gpu.device.clone().autodiff();
            let params = Tensor::<2>::from_data([[0.0, 1.0], [2.0, 3.0]], &device).require_grad();
            let error = gpu.bridge.select(params, 0, narrow(&device)).unwrap_err();
            let expected = "indices must have 32 or 64 bits if params uses autodiff, found I16";
            assert_eq!(error.to_string(), expected);
        }),
        trial("errors::a_copy_that_burn_cannot_make", |gpu| {
            // burn's WGSL has no u8, so burn cannot make the tensor row-major.
            let params: Tensor<2, Int> = gpu.tensor(vec![1, 2, 3, 4, 5, 6], [2, 3], DType::U8);
            match gpu.bridge.select(params.transpose(), 0, indices(gpu)) {
                Ok(gathered) => assert_eq!(bytes(gathered.tensor), [2, 5, 1, 4]),
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.starts_with("burn failed at params: "), "{text}");
                }
            }
        }),
        trial("errors::a_copy_larger_than_a_binding", |gpu| {
            let limit = gpu.setup.device.limits().max_storage_buffer_binding_size;
            if limit > 1 << 30 {
                return;
            }
            let rows = usize::try_from(limit / 4096).unwrap() + 1;
            let data = TensorData::new(vec![0.0_f32; rows * 1024], [rows, 1024]);
            let params = Param::<Tensor<2>>::from_data(data, &gpu.device).val();
            let error = gpu.bridge.select(params.transpose(), 0, indices(gpu));
            let expected = format!(
                "params must be row-major or have at most {limit} bytes, found {} in another order",
                rows * 4096
            );
            assert_eq!(error.unwrap_err().to_string(), expected);
        }),
        trial("errors::fills", |gpu| {
            let error = gpu
                .bridge
                .fill(&[1, 2])
                .select(params(gpu), 0, indices(gpu));
            let expected = "the fill has 2 bytes, an element 4";
            assert_eq!(error.unwrap_err().to_string(), expected);
        }),
        trial("errors::devices", |gpu| {
            let other = Device::wgpu_options()
                .setup(gpu.setup.clone())
                .init()
                .unwrap();
            let bridge = Bridge::new(&other, &gpu.setup).unwrap();
            let error = bridge.select(params(gpu), 0, indices(gpu)).unwrap_err();
            assert!(
                matches!(&error, BridgeError::OtherDevice { .. }),
                "{error:?}"
            );
            let text = error.to_string();
            assert!(
                text.starts_with("params must be on the bridge's device, found Wgpu("),
                "{text}"
            );
        }),
        trial("errors::an_output_larger_than_a_buffer", |gpu| {
            let params = Tensor::<2>::zeros([2, 1 << 20], &gpu.device);
            let indices = Tensor::<1, Int>::zeros([1 << 16], &gpu.device);
            let error = gpu.bridge.select(params, 0, indices).unwrap_err();
            let limit = gpu.setup.device.limits().max_buffer_size;
            let bytes = 1_u64 << 38;
            let expected =
                format!("output must have at most {limit} bytes on this device, found {bytes}");
            assert_eq!(error.to_string(), expected);
        }),
    ]
}

fn params(gpu: &Gpu) -> Tensor<2> {
    Tensor::from_data([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], &gpu.device)
}

fn indices(gpu: &Gpu) -> Tensor<1, Int> {
    Tensor::from_data([1, 0], &gpu.device)
}
