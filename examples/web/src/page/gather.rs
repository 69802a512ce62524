//! One gather: its plan, its result on the CPU, and the source of each output element.

use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;
use wgpu_gather::{
    BadIndices, Gather, GatherElements, GatherNd, GatherPlan, NegativeIndices, PlanError,
};

use crate::message;

/// The source of an output element of a bad row.
const NOWHERE: i32 = -1;

/// The values of the page's form.
struct Form<'a> {
    operation: &'a str,
    params_shape: &'a [usize],
    indices_shape: &'a [usize],
    axis: Option<i32>,
    batch_dims: i32,
    negative_indices: NegativeIndices,
}

/// A gather that can be run.
#[wasm_bindgen]
pub struct Planned {
    pub(crate) plan: GatherPlan,
    /// `plan` with the policy `Fill`, so that a fill marks bad rows.
    marked: GatherPlan,
}

#[wasm_bindgen]
impl Planned {
    /// `operation` is gather, gather_nd or gather_elements, `policy` a name of `BadIndices`.
    #[wasm_bindgen(constructor)]
    pub fn new(
        operation: &str,
        params_shape: &[usize],
        indices_shape: &[usize],
        axis: Option<i32>,
        batch_dims: i32,
        policy: &str,
        from_end: bool,
    ) -> Result<Planned, JsError> {
        let form = Form {
            operation,
            params_shape,
            indices_shape,
            axis,
            batch_dims,
            negative_indices: match from_end {
                true => NegativeIndices::FromEnd,
                false => NegativeIndices::Invalid,
            },
        };
        let policy = match policy {
            "DeviceDefault" => BadIndices::DeviceDefault,
            "Error" => BadIndices::Error,
            "Fill" => BadIndices::Fill,
            "Clamp" => BadIndices::Clamp,
            "Wrap" => BadIndices::Wrap,
            unknown => return Err(message(format!("unknown policy {unknown}"))),
        };
        Ok(Self {
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
    pub fn sources(&self, indices: &[i32]) -> Result<Vec<i32>, JsError> {
        let plan = match self.plan.bad_indices() {
            BadIndices::Clamp | BadIndices::Wrap => &self.plan,
            _ => &self.marked,
        };
        gathered_places(plan, indices)
    }

    /// For each output element 1 if its index row is a bad row, under any policy, and 0 if it is not.
    pub fn bad(&self, indices: &[i32]) -> Result<Vec<u8>, JsError> {
        let places = gathered_places(&self.marked, indices)?;
        Ok(places.into_iter().map(|at| u8::from(at < 0)).collect())
    }

    /// Gathers on the CPU.
    pub fn run(&self, params: &[f32], indices: &[i32]) -> Result<Vec<f32>, JsError> {
        self.plan.run(params, indices).map_err(message)
    }

    /// The plan in one line.
    pub fn describe(&self) -> String {
        self.plan.to_string()
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

/// Gathers from params whose elements are their own places.
fn gathered_places(plan: &GatherPlan, indices: &[i32]) -> Result<Vec<i32>, JsError> {
    let len = |elements: u64| i32::try_from(elements).expect("the page shows small tensors");
    let places: Vec<i32> = (0..len(plan.params_len())).collect();
    let mut gathered: Vec<i32> = (0..len(plan.output_len())).collect();
    let filled = plan.run_into_with_fill(&places, indices, NOWHERE, &mut gathered);
    filled.map_err(message)?;
    Ok(gathered)
}
