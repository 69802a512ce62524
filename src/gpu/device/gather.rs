//! The gather of a request: its operands, their checks, and its run on the CPU.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::owner::{Owner, Storage};
use super::tensor::Tensor;
use crate::cpu::{HostOperands, HostParams, with_values};
use crate::element::{ElementTypes, GatherElement};
use crate::encoding::{Encoded, Encoding};
use crate::error::GpuError;
use crate::gpu::fill::Fill;
use crate::gpu::types::{OperandBytes, QPARAMS};
use crate::index::IndexValues;
use crate::operand::Operand;
use crate::plan::GatherPlan;
use crate::plan::lengths::check_len;

/// All that a gather needs, unchecked.
pub struct UncheckedGather<'a, T> {
    /// `None` for the CPU.
    pub(super) owner: Option<&'a Arc<Owner>>,
    pub(super) plan: Result<Cow<'a, GatherPlan>, GpuError>,
    pub(super) types: ElementTypes,
    /// True if operands are bytes, so that their lengths are in bytes.
    pub(super) in_bytes: bool,
    pub(super) params: ParamsOperand<'a, T>,
    pub(super) indices: IndexOperand<'a>,
    pub(super) fill: Option<Fill>,
    /// The tensor that takes the output, if it is the caller's.
    pub(super) output: Option<&'a mut Tensor<T>>,
    /// The tensor that takes the mask of bad rows.
    pub(super) mask: Option<&'a mut Tensor<bool>>,
}

/// A tensor of elements, or of encoded rows of them.
#[derive(Clone, Copy)]
pub(super) enum ParamsOperand<'a, T> {
    Elements(&'a Tensor<T>),
    Encoded(Encoded<&'a Tensor<u8>>, Encoding),
}

/// The buffers of params, of scales and of zero points.
pub(super) struct ParamsBuffers<'a> {
    pub(super) params: &'a wgpu::Buffer,
    pub(super) qparams: [Option<&'a wgpu::Buffer>; 2],
}

impl<'a, T> ParamsOperand<'a, T> {
    fn lens(&self) -> Encoded<usize> {
        match self {
            Self::Elements(tensor) => tensor.len().into(),
            Self::Encoded(params, _) => params.map(|tensor| tensor.len()),
        }
    }

    pub(super) fn on_gpu(&self, owner: &Arc<Owner>) -> Result<ParamsBuffers<'a>, GpuError> {
        let (params, qparams) = match self {
            Self::Elements(tensor) => (tensor.storage.on_gpu(Operand::Params, owner)?, [None; 2]),
            Self::Encoded(params, _) => (
                params.rows.storage.on_gpu(Operand::Params, owner)?,
                [params.scales, params.zero_points],
            ),
        };
        let [scales, zero_points] = [0, 1].map(|at| {
            let tensor = qparams[at];
            tensor.map(|tensor: &Tensor<u8>| tensor.storage.on_gpu(QPARAMS[at], owner))
        });
        Ok(ParamsBuffers {
            params,
            qparams: [scales.transpose()?, zero_points.transpose()?],
        })
    }

    fn on_host(&self) -> Result<HostParams<'a, T>, GpuError> {
        Ok(match self {
            Self::Elements(tensor) => {
                HostParams::Elements(tensor.storage.on_host(Operand::Params)?)
            }
            Self::Encoded(params, encoding) => {
                let on_host = |operand, tensor: Option<&'a Tensor<u8>>| {
                    let bytes = tensor.map(|tensor| tensor.storage.on_host(operand));
                    Ok::<_, GpuError>(bytes.transpose()?.map(Vec::as_slice))
                };
                let params = Encoded {
                    rows: params.rows.storage.on_host(Operand::Params)?.as_slice(),
                    scales: on_host(Operand::Scales, params.scales)?,
                    zero_points: on_host(Operand::ZeroPoints, params.zero_points)?,
                };
                HostParams::Encoded(params, *encoding)
            }
        })
    }
}

/// Indices of a type that is known only at run time.
pub(super) struct IndexOperand<'a> {
    /// Values; bytes, as `U8`, if the request is for bytes.
    pub(super) storage: Storage<IndexValues<'a>>,
    /// True for a slice of the caller's, which a GPU takes too.
    pub(super) is_slice: bool,
    /// Values, or bytes.
    pub(super) len: usize,
}

impl<T: GatherElement> UncheckedGather<'_, T> {
    pub(super) fn plan(&self) -> Result<&GatherPlan, GpuError> {
        self.plan.as_deref().map_err(Clone::clone)
    }

    /// Plans for an output that the gather makes, which has no gaps.
    pub(super) fn make_output_dense(&mut self) {
        let Ok(plan) = &self.plan else { return };
        if let Cow::Owned(plan) = plan.with_dense_output() {
            self.plan = Ok(Cow::Owned(plan));
        }
    }

    /// The shape of a new output. Bytes have those of an element as a last dim.
    pub(super) fn output_shape(&self) -> Result<Vec<usize>, GpuError> {
        let mut shape = self.plan()?.output_shape().to_vec();
        if self.in_bytes {
            shape.push(usize::try_from(self.types.element_bytes).expect("bytes in memory"));
        }
        Ok(shape)
    }

    /// Checks lengths, of the caller's mask and output too, and the fill. Returns the plan and the bytes of its operands.
    pub(super) fn checked(
        &self,
        mask: Option<usize>,
        output: Option<usize>,
    ) -> Result<(&GatherPlan, OperandBytes), GpuError> {
        let plan = self.plan()?;
        let (params, indices) = (self.params.lens(), self.indices.len);
        match (self.in_bytes, self.types.encoding) {
            (false, None) => plan.check_lengths(params.rows, indices)?,
            (false, Some(encoding)) => plan.check_encoded_lengths(encoding, &params, indices)?,
            (true, Some(encoding)) => plan.check_encoded_bytes(encoding, &params)?,
            (true, None) => {}
        }
        let bytes = self.types.operand_bytes(plan)?;
        if self.in_bytes {
            bytes.check_lengths(params.rows, indices)?;
        }
        if let Some(mask) = mask {
            let rows = plan.index_row_count();
            check_len(Operand::Mask, rows..=rows, mask)?;
        }
        match output {
            Some(len) if self.in_bytes => bytes.check_output_length(len)?,
            Some(len) => plan.check_output_length(len)?,
            None => {}
        }
        if let Some(fill) = &self.fill {
            fill.pattern(self.types.element_bytes)?;
        }
        Ok((plan, bytes))
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
        let (plan, _) = self.checked(mask_len, output_len)?;
        let types = self.types;
        let fill = match &self.fill {
            Some(fill) => fill.elements(types.element_bytes)?,
            None => vec![T::zeroed()],
        };
        let run = |indices: IndexValues<'_>| {
            if let Some(mask) = mask {
                *mask = plan.bad_rows_of(indices)?;
            }
            let operands = HostOperands {
                element_bytes: usize::try_from(types.element_bytes).unwrap_or(usize::MAX),
                params,
                indices,
                zero: &[T::zeroed()],
                fill: &fill,
            };
            match output {
                Some(output) => plan.run_into_with(&operands, output).map(|()| Vec::new()),
                None => plan.run_with(&operands),
            }
        };
        Ok(match indices {
            IndexValues::U8(bytes) if self.in_bytes => with_values(types.index_kind, bytes, run)?,
            indices => run(indices)?,
        })
    }
}

impl<T> fmt::Debug for UncheckedGather<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UncheckedGather")
            .field("plan", &self.plan)
            .field("types", &self.types)
            .finish_non_exhaustive()
    }
}
