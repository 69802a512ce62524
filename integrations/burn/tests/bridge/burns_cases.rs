//! The inputs of burn's own tests of select, take, gather, gather_nd and embedding, in burn and through the bridge: equal
//! shapes, types and bytes. Each group states how many of burn's tests it covers.

use burn::tensor::kind::Basic;
use burn::tensor::module::embedding;
use burn::tensor::{Bool, DType, Float, Int, Tensor, TensorData};
use libtest_mimic::Trial;
use wgpu_gather_burn::wgpu_gather::Gather;

use crate::common::{Gpu, trial};

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for dtype in [DType::F32, DType::F16] {
        let kind = format!("{dtype:?}");
        trials.extend(of_kind::<Float>(&kind, dtype));
    }
    for dtype in [DType::I32, DType::I64, DType::U32] {
        trials.extend(of_kind::<Int>(&format!("{dtype:?}"), dtype));
    }
    trials.extend([
        trial("burn::select::of_bools", |gpu| {
            let params = Tensor::<1, Bool>::from_data([true, false, true], &gpu.device);
            let indices = ints(gpu, [5], &[1, 1, 0, 1, 2]);
            let expected = params.clone().select(0, indices.clone());
            let found = gpu.bridge.select(params, 0, indices).unwrap().tensor;
            found.into_data().assert_eq(&expected.into_data(), true);
        }),
        trial("burn::select::invalid_dims", |gpu| {
            for dim in [10, -3] {
                let params = params::<2, Float>(gpu, [2, 3], DType::F32);
                let error = gpu.bridge.select(params, dim, ints(gpu, [2], &[1, 0]));
                let expected = format!("axis must be in [-2, 2) for params of rank 2, found {dim}");
                assert_eq!(error.unwrap_err().to_string(), expected);
            }
        }),
        trial("burn::embedding::forward", |gpu| {
            let weights = params::<2, Float>(gpu, [2, 3], DType::F32);
            let indices = ints(gpu, [2, 2], &[0, 1, 1, 1]);
            let expected = embedding(weights.clone(), indices.clone());
            let found = gpu.bridge.embedding(weights, indices).unwrap().tensor;
            same(found.into_data(), expected.into_data());
        }),
    ]);
    trials
}

fn of_kind<K: Basic + Send + 'static>(kind: &str, dtype: DType) -> Vec<Trial> {
    let name = |name: &str| format!("burn::{name}::{kind}");
    vec![
        // 9 of the floats' tests, 1 of the ints'.
        trial(name("select"), move |gpu| {
            let select = Beside::<K>::new(gpu, dtype);
            select.select([3], 0, &[1, 1, 0, 1, 2]);
            select.select([2, 3], 0, &[1, 0]);
            select.select([2, 3], 0, &[1, 0, 1, 1]);
            select.select([4, 2], 0, &[1, 0, 3, 2]);
            select.select([2, 3], 1, &[1, 1, 0, 1, 2]);
            select.select([2, 4, 2], 1, &[1, 0, 3, 2]);
            select.select([2, 3], -1, &[1, 0, 2]);
            select.select([2, 3], -2, &[1, 0]);
        }),
        // 10 of the floats' tests.
        trial(name("take"), move |gpu| {
            let take = Beside::<K>::new(gpu, dtype);
            take.take::<1, 1, 1>([3], 0, [5], &[1, 1, 0, 1, 2]);
            take.take::<2, 1, 2>([2, 3], 0, [4], &[1, 0, 1, 1]);
            take.take::<2, 1, 2>([2, 3], 1, [3], &[2, 0, 1]);
            take.take::<2, 2, 3>([3, 4], 0, [2, 2], &[0, 2, 1, 0]);
            take.take::<2, 2, 3>([2, 4], 1, [2, 2], &[0, 3, 2, 1]);
            take.take::<3, 2, 4>([2, 3, 2], 1, [2, 2], &[0, 2, 1, 0]);
            take.take::<2, 3, 4>([2, 3], 1, [2, 2, 2], &[0, 2, 1, 0, 2, 1, 0, 2]);
            take.take::<2, 1, 2>([2, 3], 0, [1], &[1]);
            take.take::<2, 1, 2>([2, 3], -1, [3], &[2, 0, 1]);
        }),
        // 5 of the floats' tests, 2 of the ints'.
        trial(name("gather"), move |gpu| {
            let gather = Beside::<K>::new(gpu, dtype);
            gather.gather([3], 0, [5], &[1, 1, 0, 1, 2]);
            gather.gather([2, 3], 0, [2, 3], &[0, 1, 0, 1, 0, 1]);
            gather.gather([2, 3], 1, [2, 4], &[2, 1, 0, 0, 2, 0, 1, 2]);
            let indices = [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1];
            gather.gather([2, 2, 3], 1, [2, 2, 3], &indices);
            gather.gather([2, 3], 1, [2, 1], &[1, 2]);
            gather.gather_by_repeated_indices();
        }),
        // 6 of the floats' tests, 1 of the ints'.
        trial(name("gather_nd"), move |gpu| {
            let gather_nd = Beside::<K>::new(gpu, dtype);
            gather_nd.gather_nd::<2, 2, 1>([3, 3], [3, 2], &[0, 1, 1, 2, 2, 0]);
            gather_nd.gather_nd::<3, 2, 3>([2, 3, 4], [2, 1], &[1, 0]);
            gather_nd.gather_nd::<3, 2, 1>([2, 2, 2], [2, 3], &[0, 0, 1, 1, 1, 0]);
            gather_nd.gather_nd::<2, 2, 1>([2, 3], [3, 2], &[0, 0, 0, 2, 1, 1]);
            gather_nd.gather_nd::<1, 2, 1>([3], [1, 1], &[1]);
            gather_nd.gather_nd::<2, 2, 2>([3, 3], [2, 1], &[0, 2]);
            gather_nd.gather_nd::<2, 2, 1>([2, 3], [2, 2], &[0, 1, 1, 2]);
        }),
    ]
}

/// burn and the bridge, side by side, on params of numbers from 0.
struct Beside<K> {
    gpu: &'static Gpu,
    dtype: DType,
    kind: std::marker::PhantomData<K>,
}

impl<K: Basic> Beside<K> {
    fn new(gpu: &'static Gpu, dtype: DType) -> Self {
        let kind = std::marker::PhantomData;
        Self { gpu, dtype, kind }
    }

    fn select<const D: usize>(&self, shape: [usize; D], dim: i64, indices: &[i64]) {
        let params = params::<D, K>(self.gpu, shape, self.dtype);
        let indices = ints(self.gpu, [indices.len()], indices);
        let expected = params.clone().select(dim, indices.clone());
        let found = self.gpu.bridge.select(params, dim, indices).unwrap();
        same(found.tensor.into_data(), expected.into_data());
    }

    fn take<const D: usize, const M: usize, const O: usize>(
        &self,
        shape: [usize; D],
        dim: i64,
        indices_shape: [usize; M],
        indices: &[i64],
    ) {
        let params = params::<D, K>(self.gpu, shape, self.dtype);
        let indices = ints(self.gpu, indices_shape, indices);
        let expected: Tensor<O, K> = params.clone().take(dim, indices.clone());
        let plan = Gather::new().axis(dim).plan(&shape, &indices_shape);
        let found = self.gpu.bridge.run(&plan.unwrap(), params, indices);
        let found: Tensor<O, K> = found.unwrap().tensor;
        same(found.into_data(), expected.into_data());
    }

    fn gather<const D: usize>(
        &self,
        shape: [usize; D],
        dim: i64,
        indices_shape: [usize; D],
        indices: &[i64],
    ) {
        let params = params::<D, K>(self.gpu, shape, self.dtype);
        let indices = ints(self.gpu, indices_shape, indices);
        self.gather_of(params, dim, indices);
    }

    fn gather_of<const D: usize>(&self, params: Tensor<D, K>, dim: i64, indices: Tensor<D, Int>) {
        let expected = params.clone().gather(dim, indices.clone());
        let found = self.gpu.bridge.gather(params, dim, indices).unwrap();
        same(found.tensor.into_data(), expected.into_data());
    }

    /// Indices that are repeated views, on params that are permuted and not.
    fn gather_by_repeated_indices(&self) {
        let params = params::<3, K>(self.gpu, [3, 4, 2], self.dtype);
        let indices = ints(self.gpu, [4], &[0, 2, 1, 3]);
        let last = indices.clone().reshape([1, 1, 4]);
        let last = last.repeat_dim(0, 3).repeat_dim(1, 2);
        self.gather_of(params.clone().permute([0, 2, 1]), 2, last);
        let middle = indices.reshape([1, 4, 1]);
        let middle = middle.repeat_dim(0, 3).repeat_dim(2, 2);
        self.gather_of(params, 1, middle);
    }

    fn gather_nd<const D: usize, const M: usize, const O: usize>(
        &self,
        shape: [usize; D],
        indices_shape: [usize; M],
        indices: &[i64],
    ) {
        let params = params::<D, K>(self.gpu, shape, self.dtype);
        let indices = ints(self.gpu, indices_shape, indices);
        let expected: Tensor<O, K> = params.clone().gather_nd(indices.clone());
        let found = self.gpu.bridge.gather_nd(params, indices).unwrap();
        let found: Tensor<O, K> = found.tensor;
        same(found.into_data(), expected.into_data());
    }
}

/// Numbers from 0, as params.
fn params<const D: usize, K: Basic>(gpu: &Gpu, shape: [usize; D], dtype: DType) -> Tensor<D, K> {
    let len: i64 = shape.iter().product::<usize>().try_into().unwrap();
    let data = TensorData::new((0..len).collect(), shape).convert_dtype(dtype);
    Tensor::from_data(data, (&gpu.device, dtype))
}

fn ints<const D: usize>(gpu: &Gpu, shape: [usize; D], values: &[i64]) -> Tensor<D, Int> {
    let data = TensorData::new(values.to_vec(), shape);
    Tensor::from_data(data, (&gpu.device, DType::I32))
}

/// Asserts equal shapes, types and bytes.
fn same(found: TensorData, expected: TensorData) {
    assert_eq!(found.shape(), expected.shape());
    assert_eq!(found.dtype(), expected.dtype());
    assert_eq!(found.as_bytes(), expected.as_bytes());
}
