//! The call of a request: its operands, their checks, and the run of a gather on the CPU.

use std::borrow::Cow;
use std::sync::Arc;

use super::bags::BagsOperand;
use super::indices::{IndexOperand, Indices};
use super::owner::Owner;
use super::tensor::Tensor;
use crate::cpu::{self, with_values};
use crate::element::{Element, ElementTypes};
use crate::encoding::{Decoding, Encoded, Float, FloatKind};
use crate::error::{GatherError, GpuError, PlanError, RunError};
use crate::gpu::bags;
use crate::gpu::fill::Fill;
use crate::gpu::types::TypedPlan;
use crate::gpu::update::Reduction;
use crate::index::{Index, IndexValues};
use crate::operand::Operand;
use crate::plan::lengths::{check_bytes, check_len, check_shape};
use crate::plan::{GatherPlan, ScatterRules, ToPlan, With};
use crate::reduce::Reduce;

/// All that a gather or a scatter needs, unchecked.
pub(super) struct Unchecked<'a, T> {
    /// `None` for the CPU.
    pub(super) owner: Option<&'a Arc<Owner>>,
    pub(super) plan: Result<Cow<'a, GatherPlan>, Option<GpuError>>,
    pub(super) types: ElementTypes,
    pub(super) is_scatter: bool,
    /// True if operands are bytes, so that their lengths are in bytes.
    pub(super) in_bytes: bool,
    /// The tensor that is read: params, or a scatter's updates.
    pub(super) params: ParamsOperand<'a, T>,
    pub(super) indices: IndexOperand<'a>,
    pub(super) fill: Option<Fill>,
    /// The tensor that takes the output, if it is the caller's; a scatter's target.
    pub(super) output: Option<&'a mut Tensor<T>>,
    /// The tensor that takes the mask of bad rows.
    pub(super) mask: Option<&'a mut Tensor<bool>>,
    /// Of a scatter: its options, and its reduction with the run on the CPU.
    pub(super) rules: ScatterRules,
    pub(super) reduction: Option<Reduction>,
    pub(super) reduce_on_cpu: Option<ReduceOnCpu<T>>,
    /// Which index rows a sum over bags combines; `None` for a gather or a scatter.
    pub(super) bags: Option<BagsOperand<'a, T>>,
}

/// A scatter on the CPU that reduces.
pub(super) type ReduceOnCpu<T> =
    fn(With<'_, Reduce>, Reduce, &[T], IndexValues<'_>, &mut [T]) -> Result<(), RunError>;

/// What a request takes as params: `&tensor`, which `into` converts. A [`Tensor`]'s elements are copied; an
/// [`Encoded`]'s rows, whose shape is `[.., bytes of a row]`, are decoded to its `T`.
#[derive(Debug)]
pub struct Params<'a, T>(pub(super) ParamsOperand<'a, T>);

#[derive(Debug)]
pub(super) enum ParamsOperand<'a, T> {
    Elements(&'a Tensor<T>),
    Encoded(Encoded<&'a Tensor<u8>>, FloatKind),
}

impl<'a, T> From<&'a Tensor<T>> for Params<'a, T> {
    fn from(tensor: &'a Tensor<T>) -> Self {
        Self(ParamsOperand::Elements(tensor))
    }
}

impl<'a, T: Float> From<&'a Encoded<Tensor<u8>, T>> for Params<'a, T> {
    fn from(params: &'a Encoded<Tensor<u8>, T>) -> Self {
        Self(ParamsOperand::Encoded(params.map(|of| of), T::KIND))
    }
}

/// The buffer of params, and those of scales and zero points.
pub(super) type ParamsBuffers<'a> = (&'a wgpu::Buffer, [Option<&'a wgpu::Buffer>; 2]);

impl<'a, T> ParamsOperand<'a, T> {
    /// The shape, in values: an error if encoded rows cut a block.
    pub(super) fn shape(&self) -> Result<Cow<'a, [usize]>, GpuError> {
        let (params, bytes) = match self {
            Self::Elements(tensor) => return Ok(Cow::Borrowed(tensor.shape())),
            Self::Encoded(params, _) => (params, params.rows.shape()),
        };
        let mut shape = bytes.to_vec();
        if let Some(last) = shape.last_mut() {
            let len = params.encoding.row_len(*last as u64);
            let len = len.and_then(|len| usize::try_from(len).ok());
            *last = len.ok_or_else(|| PlanError::CutBlock {
                part: "the bytes of a row",
                encoding: params.encoding.to_string(),
                block_len: params.encoding.block_len(),
                found: *last as u64,
            })?;
        }
        Ok(Cow::Owned(shape))
    }

    pub(super) fn decoding(&self) -> Option<Decoding> {
        match self {
            Self::Elements(_) => None,
            &Self::Encoded(Encoded { encoding, .. }, to) => Some(Decoding { encoding, to }),
        }
    }

    pub(super) fn on_gpu(&self, owner: &Arc<Owner>) -> Result<ParamsBuffers<'a>, GpuError> {
        Ok(match self {
            Self::Elements(tensor) => (tensor.storage.on_gpu(Operand::Params, owner)?, [None; 2]),
            Self::Encoded(params, _) => {
                let on_gpu = params.try_map(|operand, of| of.storage.on_gpu(operand, owner))?;
                (on_gpu.rows, on_gpu.qparams)
            }
        })
    }

    fn on_host(&self) -> Result<cpu::Params<'a, T>, GpuError> {
        Ok(match self {
            Self::Elements(tensor) => {
                cpu::Params::Elements(tensor.storage.on_host(Operand::Params)?)
            }
            Self::Encoded(params, to) => {
                let on_host = |operand, of: &&'a Tensor<u8>| of.storage.on_host(operand);
                let params = params.try_map(on_host)?;
                cpu::Params::Encoded(params.map(|bytes| bytes.as_slice()), *to)
            }
        })
    }
}

impl<'a, T> Unchecked<'a, T> {
    /// A call without options.
    pub(super) fn new(
        owner: Option<&'a Arc<Owner>>,
        plan: Result<Cow<'a, GatherPlan>, GpuError>,
        types: ElementTypes,
        params: ParamsOperand<'a, T>,
        indices: IndexOperand<'a>,
    ) -> Self {
        Self {
            owner,
            plan: plan.map_err(Some),
            is_scatter: false,
            types,
            in_bytes: false,
            params,
            indices,
            fill: None,
            output: None,
            mask: None,
            rules: ScatterRules::default(),
            reduction: None,
            reduce_on_cpu: None,
            bags: None,
        }
    }
}

impl<T> Unchecked<'_, T> {
    /// Checks whose the tensors are, and then whether there is a plan.
    pub(super) fn check(&mut self) -> Result<(), GpuError> {
        let owner = self.owner;
        let [read, written] = match self.is_scatter {
            true => [Operand::Updates, Operand::Target],
            false => [Operand::Params, Operand::Output],
        };
        match &self.params {
            ParamsOperand::Elements(tensor) => tensor.storage.check_owner(read, owner)?,
            ParamsOperand::Encoded(params, _) => {
                params.try_map(|operand, of| of.storage.check_owner(operand, owner))?;
            }
        }
        if owner.is_none() || !self.indices.is_slice {
            self.indices.storage.check_owner(Operand::Indices, owner)?;
        }
        if let Some(mask) = &self.mask {
            mask.storage.check_owner(Operand::Mask, owner)?;
        }
        if let Some(output) = &self.output {
            output.storage.check_owner(written, owner)?;
        }
        if let Some(bags) = &self.bags {
            bags.check_owner(owner)?;
        }
        match &mut self.plan {
            Ok(_) => Ok(()),
            Err(error) => Err(error.take().expect("checked once")),
        }
    }
}

impl<T: Element> Unchecked<'_, T> {
    /// The plan, after [`check`](Self::check).
    pub(super) fn plan(&self) -> &GatherPlan {
        match &self.plan {
            Ok(plan) => plan,
            Err(_) => unreachable!("the plan is checked"),
        }
    }

    /// The shape of a new output. Bytes have those of an element as a last dim.
    pub(super) fn output_shape(&self) -> Vec<usize> {
        let mut shape = match &self.bags {
            Some(of) => [&[of.bags.offsets.bags()], &self.plan().params_shape()[1..]].concat(),
            None => self.plan().output_shape().to_vec(),
        };
        if self.in_bytes {
            shape.push(usize::try_from(self.types.element_bytes).unwrap_or(usize::MAX));
        }
        shape
    }

    /// Checks lengths, of the caller's mask and output too, and the fill.
    pub(super) fn checked(
        &self,
        mask: Option<usize>,
        output: Option<usize>,
    ) -> Result<TypedPlan<'_>, GpuError> {
        let plan = self.plan();
        let indices = self.indices.len;
        // The error of a length comes before that of a plan whose bytes cannot be counted.
        if let (ParamsOperand::Elements(tensor), false) = (&self.params, self.in_bytes) {
            plan.check_lengths(tensor.len(), indices)?;
        }
        let typed = TypedPlan::new(plan, self.types)?;
        let (dims, element_bytes) = (plan.dims(), self.types.element_bytes);
        let params_len = [dims.params_len(), dims.params_len_with_gap()];
        let indices_len = [dims.indices_len(); 2];
        let output_len = [dims.output_len(), dims.output_len_with_gap()];
        match &self.params {
            ParamsOperand::Elements(tensor) if self.in_bytes => {
                check_bytes(Operand::Params, params_len, element_bytes, tensor.len())?;
            }
            ParamsOperand::Elements(_) => {}
            ParamsOperand::Encoded(params, _) => {
                let params = params.map(|of| of.len());
                params.check(typed.parts, params_len[0]..=params_len[1])?;
            }
        }
        let index_bytes = self.types.index_kind.bytes();
        match self.in_bytes {
            true => check_bytes(Operand::Indices, indices_len, index_bytes, indices)?,
            false => plan.check_indices_length(indices)?,
        }
        if let Some(mask) = mask {
            let rows = plan.dims().index_rows();
            check_len(Operand::Mask, rows..=rows, mask)?;
        }
        if let Some(of) = &self.bags {
            return self.checked_bags(of, mask, output);
        }
        match output {
            Some(len) if self.in_bytes => {
                check_bytes(Operand::Output, output_len, element_bytes, len)?;
            }
            Some(len) => plan.check_output_length(len)?,
            None => plan.check_new_output()?,
        }
        if let Some(fill) = &self.fill {
            fill.pattern(self.types.element_bytes)?;
        }
        Ok(typed)
    }

    /// As [`checked`](Self::checked), of what bags have besides.
    fn checked_bags(
        &self,
        of: &BagsOperand<'_, T>,
        mask: Option<usize>,
        output: Option<usize>,
    ) -> Result<TypedPlan<'_>, GpuError> {
        let plan = self.plan();
        plan.check_bags().map_err(RunError::from)?;
        if mask.is_some() {
            let operand = Operand::Mask;
            return Err(GatherError::UnexpectedOperand { operand }.into());
        }
        let typed = bags::typed(plan, self.types, &of.bags)?;
        if let Some(output) = output {
            let len = typed.bytes.output / self.types.element_bytes();
            check_len(Operand::Output, len..=len, output)?;
        }
        Ok(typed)
    }

    /// Writes the mask, and gathers on the CPU, with the checks of a GPU: into the caller's tensor, or else into the vector
    /// that is returned.
    pub(super) fn run(&mut self, output: Option<&mut Tensor<T>>) -> Result<Vec<T>, GpuError> {
        let params = self.params.on_host()?;
        let indices = *self.indices.storage.on_host(Operand::Indices)?;
        let mask = self.mask.take();
        let mask_len = mask.as_ref().map(|mask| mask.len());
        let mask = mask.map(|mask| mask.storage.on_host_mut(Operand::Mask));
        let mask = mask.transpose()?;
        let output_len = output.as_ref().map(|output| output.len());
        let output = output.map(|output| output.storage.on_host_mut(Operand::Output));
        let output = output.transpose()?;
        let TypedPlan {
            plan, types, parts, ..
        } = self.checked(mask_len, output_len)?;
        if let Some(bags) = &self.bags {
            let found = bags.run_on_cpu(plan, params, indices)?;
            return Ok(match output {
                Some(output) => {
                    output.copy_from_slice(&found);
                    Vec::new()
                }
                None => found,
            });
        }
        let fill = match &self.fill {
            Some(fill) => fill.elements(types.element_bytes)?,
            None => vec![T::zeroed()],
        };
        let run = |indices: IndexValues<'_>| {
            if let Some(mask) = mask {
                *mask = plan.bad_rows_of(indices)?;
            }
            let operands = cpu::Operands {
                element_bytes: usize::try_from(types.element_bytes).unwrap_or(usize::MAX),
                parts,
                params,
                indices,
                zero: &[T::zeroed()],
                fill: &fill,
            };
            match output {
                Some(output) => plan
                    .gather_operands_into(&operands, output)
                    .map(|()| Vec::new()),
                None => plan.gather_operands(&operands),
            }
        };
        Ok(match indices {
            IndexValues::U8(bytes) if self.in_bytes => with_values(types.index_kind, bytes, run)?,
            indices => run(indices)?,
        })
    }
}

/// The plan, or that of an operation, for these indices and the shape of params, or of the target of a scatter.
pub(super) fn planned<'a, I: Index>(
    plan: impl ToPlan<'a>,
    (operand, params_shape): (Operand, &[usize]),
    indices: &Indices<'_, I>,
) -> Result<Cow<'a, GatherPlan>, GpuError> {
    let indices_shape = indices.shape()?;
    if plan.needs_index_shape() && !indices.has_shape() {
        return Err(GpuError::MissingShape);
    }
    let plan = plan.to_plan(params_shape, &indices_shape)?;
    // Params of a shard, or with gaps between its rows, has a shape of its own.
    if plan.dims().params_are_whole() {
        check_shape(operand, &plan.params_shape, params_shape)?;
    }
    if indices.has_shape() {
        check_shape(Operand::Indices, &plan.indices_shape, &indices_shape)?;
    }
    Ok(plan)
}
