//! Device limits: the least that the shaders need, all within WebGPU's defaults, and what to request for a gather. Pure.

use super::kernel::WORKGROUP_SIZE;
use super::report::REPORT_BYTES;
use super::scatter::pairs_bytes;
use super::shaders::{EntryPoint, PipelineKey, binding};
use super::types::{OperandBytes, TypedPlan, range_bytes};
use super::uniform::UNIFORM_BYTES;
use crate::element::ElementTypes;
use crate::error::GatherError;
use crate::plan::GatherPlan;

/// Limits that a device must have to run some passes: of each limit, the most that one of them needs.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Needs {
    /// One more than the greatest number of a binding.
    bindings: u64,
    storage_buffers: u64,
    /// Bytes in a binding whose size no cut decides.
    binding_bytes: u64,
    workgroup_bytes: u64,
}

impl Needs {
    pub(crate) fn of(entry_point: EntryPoint) -> Self {
        let numbers = entry_point.bindings();
        let last = numbers.last().map_or(0, |&last| u64::from(last) + 1);
        let storage = numbers.iter().filter(|&&number| number != binding::UNIFORM);
        Self {
            bindings: last,
            storage_buffers: storage.count() as u64,
            binding_bytes: match entry_point {
                EntryPoint::CountRows => UNIFORM_BYTES,
                EntryPoint::FinishReport => REPORT_BYTES,
                _ => 0,
            },
            workgroup_bytes: match entry_point {
                EntryPoint::Alone(of) => of.workgroup_bytes.into(),
                _ => 0,
            },
        }
    }

    pub(crate) fn of_all(keys: &[PipelineKey]) -> Self {
        let mut needs = Self::default();
        keys.iter().for_each(|key| needs.add(key.entry_point));
        needs
    }

    /// Adds what an entry point needs.
    pub(crate) fn add(&mut self, entry_point: EntryPoint) {
        let other = Self::of(entry_point);
        *self = Self {
            bindings: self.bindings.max(other.bindings),
            storage_buffers: self.storage_buffers.max(other.storage_buffers),
            binding_bytes: self.binding_bytes.max(other.binding_bytes),
            workgroup_bytes: self.workgroup_bytes.max(other.workgroup_bytes),
        };
    }

    /// Checks that a device's limits allow the passes, if there are any.
    pub(crate) fn check(&self, limits: &wgpu::Limits) -> Result<(), GatherError> {
        if *self == Self::default() {
            return Ok(());
        }
        let invocations = u64::from(WORKGROUP_SIZE);
        for (name, expected, found) in [
            ("max_bind_groups", 1, limits.max_bind_groups.into()),
            (
                "max_bindings_per_bind_group",
                self.bindings,
                limits.max_bindings_per_bind_group.into(),
            ),
            (
                "max_storage_buffers_per_shader_stage",
                self.storage_buffers,
                limits.max_storage_buffers_per_shader_stage.into(),
            ),
            (
                "max_uniform_buffers_per_shader_stage",
                1,
                limits.max_uniform_buffers_per_shader_stage.into(),
            ),
            (
                "max_uniform_buffer_binding_size",
                UNIFORM_BYTES,
                limits.max_uniform_buffer_binding_size,
            ),
            ("max_buffer_size", UNIFORM_BYTES, limits.max_buffer_size),
            (
                "max_storage_buffer_binding_size",
                self.binding_bytes,
                limits.max_storage_buffer_binding_size,
            ),
            (
                "max_compute_workgroup_storage_size",
                self.workgroup_bytes,
                limits.max_compute_workgroup_storage_size.into(),
            ),
            (
                "max_compute_invocations_per_workgroup",
                invocations,
                limits.max_compute_invocations_per_workgroup.into(),
            ),
            (
                "max_compute_workgroup_size_x",
                invocations,
                limits.max_compute_workgroup_size_x.into(),
            ),
            (
                "max_compute_workgroups_per_dimension",
                1,
                limits.max_compute_workgroups_per_dimension.into(),
            ),
        ] {
            if found < expected {
                return Err(GatherError::DeviceLimit {
                    name,
                    expected,
                    found,
                });
            }
        }
        Ok(())
    }
}

/// Checks that one buffer can hold each operand. Params may be in shards.
pub(crate) fn check_buffers(
    limits: &wgpu::Limits,
    bytes: &OperandBytes,
) -> Result<(), GatherError> {
    let most_of_qparams = bytes.qparams.into_iter().fold(0, u64::max);
    let expected = range_bytes(bytes.indices.max(bytes.output).max(most_of_qparams));
    let found = limits.max_buffer_size;
    if found < expected {
        return Err(GatherError::DeviceLimit {
            name: "max_buffer_size",
            expected,
            found,
        });
    }
    Ok(())
}

impl GatherPlan {
    /// Returns the limits with which to request a device for this gather. Bindings and buffers then hold each operand whole, as
    /// far as the adapter allows. Several dispatches gather from an operand that is longer than a binding. Other limits are WebGPU's defaults, or the adapter's
    /// where those are lower. No feature is needed.
    ///
    /// If params is longer than the result's `max_buffer_size`, put it into several buffers, with
    /// [`Buffers::gather_shards`](crate::Buffers::gather_shards), or keep it in host memory, for [`gather`](Self::gather).
    ///
    /// The limits suffice for scatters through the plan too. A reduction that sorts needs a binding with 8 bytes for each index
    /// row, rounded up to 4,096 rows; if the adapter has none so large, the scatter returns an error.
    ///
    /// For several gathers, combine the limits by `wgpu::Limits::or_better_values_from`.
    ///
    /// # Errors
    ///
    /// - [`GatherError::ZeroSizedElement`] if elements have no bytes.
    /// - [`GatherError::TooManyBytes`] if an operand has more than `i64::MAX` bytes.
    /// - [`PlanError::CutBlock`](crate::PlanError::CutBlock) if the plan cuts the encoding's blocks.
    /// - [`GatherError::DeviceLimit`] if no buffer of the adapter holds an operand other than params: gather in several plans,
    ///   each for a part.
    ///
    /// ```
    /// use wgpu_gather::{ElementTypes, Gather, wgpu};
    ///
    /// let adapter = wgpu::Limits { // adapter.limits()
    ///     max_storage_buffer_binding_size: 1 << 30,
    ///     max_buffer_size: 1 << 32,
    ///     ..Default::default()
    /// };
    /// let plan = Gather::new().plan(&[1 << 20, 128], &[1000])?;
    /// let required_limits = plan.required_limits(ElementTypes::of::<f32, u32>(), &adapter)?;
    /// assert_eq!(required_limits.max_storage_buffer_binding_size, 512 << 20);
    ///
    /// let descriptor = wgpu::DeviceDescriptor { required_limits, ..Default::default() };
    /// // let (device, queue) = adapter.request_device(&descriptor).await?;
    /// // let executor = Executor::from_parts(device, queue); // or Gatherer::new(&device)
    /// # let _ = descriptor;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn required_limits(
        &self,
        types: ElementTypes,
        adapter: &wgpu::Limits,
    ) -> Result<wgpu::Limits, GatherError> {
        let bytes = TypedPlan::new(self, types)?.bytes;
        check_buffers(adapter, &bytes)?;
        // A scatter that sorts has a pair for each index row.
        let pairs = match types.element_bytes {
            2 | 4 => pairs_bytes(self.of_index_rows().dims().output_rows()),
            _ => 0,
        };
        // A sum of halves keeps the target as f32s if a binding is too small for all updates.
        let is_cut = bytes.output.max(bytes.indices) > adapter.max_storage_buffer_binding_size;
        let slots = match types.element_bytes {
            2 if is_cut => bytes.params.saturating_mul(2),
            _ => 0,
        };
        let operands = [bytes.params, bytes.indices, bytes.output, pairs, slots]
            .into_iter()
            .chain(bytes.qparams);
        let largest = operands.map(range_bytes).fold(0, u64::max);
        let limits = wgpu::Limits::default().or_worse_values_from(adapter);
        let raised = |limit: u64, most: u64| limit.max(largest.min(most));
        Ok(wgpu::Limits {
            max_storage_buffer_binding_size: raised(
                limits.max_storage_buffer_binding_size,
                adapter.max_storage_buffer_binding_size,
            ),
            max_buffer_size: raised(limits.max_buffer_size, adapter.max_buffer_size),
            ..limits
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::cut::Cut;
    use crate::gpu::placed::Placed;
    use crate::{Gather, GatherNd};

    #[test]
    fn required_limits_cut_no_more_than_the_adapter_does() {
        let adapters = [1 << 20, 128 << 20, 1 << 29, 1 << 31].map(|binding| wgpu::Limits {
            max_storage_buffer_binding_size: binding,
            max_buffer_size: 1 << 33,
            ..Default::default()
        });
        let plans = [
            Gather::new().plan(&[4], &[4]),
            Gather::new().plan(&[0, 4], &[0]),
            Gather::new().plan(&[1 << 22, 64], &[10]),
            Gather::new().plan(&[10, 64], &[1 << 22]),
            GatherNd::new().plan(&[10], &[1 << 27, 1]),
            GatherNd::new().plan(&[1 << 28, 64], &[10, 1]),
        ];
        for plan in plans.map(|plan| plan.expect("a valid shape")) {
            for adapter in &adapters {
                let limits = plan.required_limits(ElementTypes::of::<f32, i64>(), adapter);
                let limits = limits.expect("few bytes");
                assert!(limits.check_limits(adapter), "{plan} {limits:?}");
                let dispatches = |limits| {
                    let types = ElementTypes::of::<f32, i64>();
                    let typed = TypedPlan::new(&plan, types).expect("few bytes");
                    let cut = Cut::new(typed, &Placed::aligned(&plan), limits);
                    cut.expect("rows are short").dispatches().count()
                };
                assert_eq!(dispatches(&limits), dispatches(adapter), "{plan}");
            }
        }
        let plan = Gather::new().plan(&[4], &[4]).expect("a valid shape");
        let none = plan.required_limits(ElementTypes::of::<(), i32>(), &adapters[0]);
        assert_eq!(none, Err(GatherError::ZeroSizedElement));
        let output = Gather::new().plan(&[10, 64], &[1 << 26]);
        let output = output.expect("a valid shape");
        let output = output.required_limits(ElementTypes::of::<f32, u8>(), &adapters[0]);
        assert_eq!(
            output.map_err(|error| error.to_string()),
            Err(
                "device limit max_buffer_size must be at least 17179869184, found 8589934592"
                    .into()
            )
        );
        let few = plan.required_limits(ElementTypes::of::<f32, i32>(), &adapters[3]);
        assert_eq!(
            few,
            Ok(wgpu::Limits::default().or_worse_values_from(&adapters[3]))
        );
    }

    #[cfg(feature = "half")]
    #[test]
    fn required_limits_suffice_for_sums_of_halves() {
        let adapter = wgpu::Limits {
            max_storage_buffer_binding_size: 128 << 20,
            max_buffer_size: 1 << 33,
            ..Default::default()
        };
        let types = ElementTypes::of::<half::f16, i32>();
        let call = crate::Call::scatter(types).reduce::<half::f16>(crate::Reduce::Add);
        for (rows, updates) in [(1 << 20, 1 << 20), (1 << 20, 1000), (3, 1 << 20)] {
            let plan = Gather::new().plan(&[rows, 128], &[updates]);
            let plan = plan.expect("a valid shape");
            let limits = plan.required_limits(types, &adapter).expect("few bytes");
            let text = plan.explain(call, &limits);
            assert!(!text.contains("device limit"), "{text}");
        }
    }
}
