//! Public types may go to and be shared with other threads, and futures may go to another thread.

use wgpu_gather::{
    BadIndexError, BadRows, Buffers, Call, ElementTypes, Encoded, Executor, Gather, GatherElements,
    GatherError, GatherNd, GatherPlan, Gatherer, GpuError, Indices, Params, PlanError, Prepared,
    Reduce, Request, RunError, Tensor, With, wgpu,
};

const fn shared<T: Send + Sync>() {}

const _: () = {
    shared::<(Gather, GatherNd, GatherElements, GatherPlan, ElementTypes)>();
    shared::<(PlanError, RunError, BadIndexError, GatherError, GpuError)>();
    shared::<(Gatherer, Prepared, Buffers<'_>, BadRows)>();
    shared::<(Buffers<'_, Reduce>, Call, Call<Reduce>, With<'_, f32>)>();
    shared::<(Executor, Tensor<f32>, Encoded<Tensor<u8>>, Encoded<Vec<u8>>)>();
    shared::<(Params<'_, f32>, Indices<'_, i32>)>();
    moved::<Request<'_, f32, Tensor<f32>>>();
    moved::<Request<'_, u8, Vec<u8>, [u8]>>();
    moved::<Request<'_, f32>>();
    moved::<Request<'_, f32, (), Reduce>>();
};

const fn moved<T: Send>() {}

fn is_send<F: IntoFuture<IntoFuture: Send>>(_: F) {}

#[test]
fn futures_are_send() {
    is_send(Executor::gpu());
    is_send(Executor::gpu_or_cpu());
    let _unused = |adapter: &wgpu::Adapter| is_send(Executor::from_adapter(adapter));
    let _unused = |gpu: &Executor, tensor: &Tensor<f32>, output: &mut Tensor<f32>| {
        is_send(gpu.gather(Gather::new(), tensor, &[0]));
        is_send(gpu.gather(Gather::new(), tensor, &[0]).on_gpu());
        is_send(gpu.gather(Gather::new(), tensor, &[0]).into_tensor(output));
        is_send(gpu.scatter(Gather::new(), tensor, &[0], output));
        is_send(tensor.download());
    };
    let _unused = |executor: &Executor, tensor: &Tensor<f32>| {
        is_send(executor.gather(Gather::new(), tensor, &[0]));
    };
    let _unused = |executor: &Executor, plan: &GatherPlan, bytes: &Tensor<u8>| {
        let types = ElementTypes::of::<f32, i32>();
        is_send(executor.gather_bytes(plan, types, bytes, bytes));
    };
}
