//! The steps that write the mask of bad rows.

use super::{Maker, Step, Workgroups};
use crate::error::GatherError;
use crate::gpu::bindings::Bindings;
use crate::gpu::cut::Span;
use crate::gpu::mask::MaskDispatch;
use crate::gpu::scope::scoped;
use crate::gpu::shaders::EntryPoint;
use crate::plan::GatherPlan;

impl Maker<'_> {
    /// Appends a step for each dispatch of the mask.
    pub(super) fn make_mask_steps(
        &self,
        plan: &GatherPlan,
        dispatches: &[MaskDispatch],
        steps: &mut Vec<Step>,
    ) -> Result<(), GatherError> {
        let index_kind = self.operands.types.index_kind;
        let key = EntryPoint::OutOfRange.key(self.operands.mask_aliased);
        for dispatches in dispatches.chunks(self.uniforms_per_buffer()) {
            let uniforms = dispatches.iter();
            let uniforms: Vec<_> = uniforms.map(|of| of.uniform(plan, index_kind)).collect();
            let buffer = scoped(&self.pipelines.device, || self.make_uniforms(&uniforms))?;
            for (number, dispatch) in dispatches.iter().enumerate() {
                let bindings = Bindings {
                    operands: self.operands,
                    uniform: (&buffer, number as u64 * self.stride),
                    dummy: self.dummy.as_ref(),
                    counter: None,
                    workgroups: None,
                    params: None,
                    params_span: Span::default(),
                    indices_span: dispatch.indices,
                    output_span: Span::default(),
                    mask_span: dispatch.mask,
                };
                let (width, height) = dispatch.workgroups;
                steps.push(self.make_step(key, &bindings, Workgroups::Direct(width, height))?);
            }
        }
        Ok(())
    }
}
