//! ndarray: `select`.

use bytemuck::Pod;
use ndarray::{ArrayViewD, Axis};

use super::{Job, Peer, made};
use crate::data::{Data, Params};

pub struct Ndarray;

impl Peer for Ndarray {
    fn name(&self) -> &'static str {
        "ndarray"
    }

    fn package(&self) -> Option<&'static str> {
        Some("ndarray")
    }

    fn measure(&self) -> &'static str {
        "gather"
    }

    fn note(&self) -> &'static str {
        "select on one thread, allocates its output; takes usize in place of i32 and i64; \
         along axis 1 (W9, W9s) its output is not row-major"
    }

    fn start<'a>(&'a self, data: &'a Data) -> Result<Box<dyn Job + 'a>, String> {
        match &data.params {
            Params::F32(params) => start(data, params),
            Params::F16(params) => start(data, params),
            Params::U8(params) => start(data, params),
        }
    }
}

fn start<'a, T: Pod + Send + Sync>(
    data: &'a Data,
    params: &'a [T],
) -> Result<Box<dyn Job + 'a>, String> {
    let axis = data.select_axis();
    let axis = Axis(axis.ok_or("select takes one index along one axis, without batch dims")?);
    let indices = data.indices.to_usize();
    let params = ArrayViewD::from_shape(&data.workload.params_shape[..], params);
    let params = params.map_err(|error| error.to_string())?;
    // ndarray is faster with a static rank.
    macro_rules! of_rank {
        ($rank:ty) => {{
            let params = params.into_dimensionality::<$rank>();
            let params = params.map_err(|error| error.to_string())?;
            Ok(made(
                move || params.select(axis, &indices),
                |output| {
                    let values: Vec<T> = output.iter().copied().collect();
                    bytemuck::cast_slice(&values).to_vec()
                },
            ))
        }};
    }
    match params.ndim() {
        1 => of_rank!(ndarray::Ix1),
        2 => of_rank!(ndarray::Ix2),
        _ => of_rank!(ndarray::Ix3),
    }
}
