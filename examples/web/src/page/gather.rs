//! One gather: its plan, its result on the CPU, and the source of each output element.

use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;
use wgpu_gather::{
    BadIndices, ElementTypes, Gather, GatherElements, GatherNd, GatherPlan, NegativeIndices,
    PlanError,
};

use crate::message;

/// The values of the page's form.
struct Form<'a> {
    operation: &'a str,
    params_shape: &'a [usize],
    indices_shape: &'a [usize],
    axis: Option<i32>,
    batch_dims: i32,
    broadcast: bool,
    negative_indices: NegativeIndices,
}

/// A gather that can be run.
#[wasm_bindgen]
pub struct Planned {
    pub(crate) plan: GatherPlan,
    /// Elements of 4 bytes, and the type of the indices, which the page gives as bytes.
    pub(crate) types: ElementTypes,
    /// `plan` with the policy `Fill`, so that a fill marks bad rows.
    marked: GatherPlan,
}

#[wasm_bindgen]
impl Planned {
    /// `operation` is gather, gather_nd or gather_elements, `policy` a variant of `BadIndices`, and
    /// `index_type` one of Rust's.
    #[wasm_bindgen(constructor)]
    #[expect(
        clippy::too_many_arguments,
        reason = "a value of each control of the form"
    )]
    pub fn new(
        operation: &str,
        params_shape: &[usize],
        indices_shape: &[usize],
        axis: Option<i32>,
        batch_dims: i32,
        broadcast: bool,
        policy: &str,
        from_end: bool,
        index_type: &str,
    ) -> Result<Planned, JsError> {
        let form = Form {
            operation,
            params_shape,
            indices_shape,
            axis,
            batch_dims,
            broadcast,
            negative_indices: match from_end {
                true => NegativeIndices::FromEnd,
                false => NegativeIndices::Invalid,
            },
        };
        // The page shows Rust code, and names a policy as that does.
        let mut policies = BadIndices::ALL.iter().copied();
        let unknown = || message(format!("unknown policy {policy}"));
        let policy = policies
            .find(|known| format!("{known:?}") == policy)
            .ok_or_else(unknown)?;
        Ok(Self {
            types: ElementTypes::new(4, index_type.parse().map_err(message)?),
            plan: form.plan(policy).map_err(message)?,
            marked: form.plan(BadIndices::Fill).map_err(message)?,
        })
    }

    #[wasm_bindgen(getter)]
    pub fn output_shape(&self) -> Vec<usize> {
        self.plan.output_shape().to_vec()
    }

    /// The place in params of each output element's source; -1 in a bad row, unless the policy
    /// selects another entry for it.
    pub fn sources(&self, indices: &[u8]) -> Result<Vec<i32>, JsError> {
        let plan = match self.plan.bad_indices() {
            BadIndices::Clamp | BadIndices::Wrap => &self.plan,
            _ => &self.marked,
        };
        self.places(plan, indices)
    }

    /// For each output element 1 if its index row is a bad row, under any policy, and 0 if it is not.
    pub fn bad(&self, indices: &[u8]) -> Result<Vec<u8>, JsError> {
        let places = self.places(&self.marked, indices)?;
        Ok(places.into_iter().map(|at| u8::from(at < 0)).collect())
    }

    /// Gathers on the CPU.
    pub fn gather(&self, params: &[f32], indices: &[u8]) -> Result<Vec<f32>, JsError> {
        let params = bytemuck::cast_slice(params);
        let output = self.plan.gather_bytes(self.types, params, indices);
        Ok(bytemuck::pod_collect_to_vec(&output.map_err(message)?))
    }

    /// The plan in one line.
    pub fn describe(&self) -> String {
        self.plan.to_string()
    }
}

impl Planned {
    /// Gathers from params whose elements count from 1, and takes 1 off: zeros of bad rows become -1.
    fn places(&self, plan: &GatherPlan, indices: &[u8]) -> Result<Vec<i32>, JsError> {
        let count = i32::try_from(plan.params_len()).expect("few");
        let params: Vec<i32> = (1..=count).collect();
        let output = plan.gather_bytes(self.types, bytemuck::cast_slice(&params), indices);
        let places: Vec<i32> = bytemuck::pod_collect_to_vec(&output.map_err(message)?);
        Ok(places.into_iter().map(|place| place - 1).collect())
    }
}

impl Form<'_> {
    fn plan(&self, policy: BadIndices) -> Result<GatherPlan, PlanError> {
        match self.operation {
            "gather_nd" => {
                let gather_nd = match self.axis {
                    Some(axis) => GatherNd::new().axis(axis.into()),
                    None => GatherNd::new(),
                };
                gather_nd
                    .batch_dims(self.batch_dims.into())
                    .bad_indices(policy)
                    .negative_indices(self.negative_indices)
                    .plan(self.params_shape, self.indices_shape)
            }
            "gather_elements" => GatherElements::new()
                .axis(self.axis.unwrap_or(0).into())
                .broadcast(self.broadcast)
                .bad_indices(policy)
                .negative_indices(self.negative_indices)
                .plan(self.params_shape, self.indices_shape),
            _ => {
                let gather = match self.axis {
                    Some(axis) => Gather::new().axis(axis.into()),
                    None => Gather::new(),
                };
                gather
                    .batch_dims(self.batch_dims.into())
                    .bad_indices(policy)
                    .negative_indices(self.negative_indices)
                    .plan(self.params_shape, self.indices_shape)
            }
        }
    }
}
