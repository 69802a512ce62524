//! `GatherPlan::explain`: which bytes a gather moves and which dispatches it takes, as text.

use std::fmt::Write;

use super::cut::{Cut, Dispatch, PlacedGather, Shard};
use super::find_rows::FindRows;
use super::kernel::{Kernel, Unit, WORKGROUP_SIZE};
use super::limits::{check_buffers, check_limits};
use super::scatter::{Order, Winners};
use super::shaders::EntryPoint;
use super::types::{OperandBytes, TypedPlan, range_bytes};
use super::update::{FoldPass, IndexRowsPass, Update};
use crate::bad_indices::BadIndices;
use crate::element::ElementTypes;
use crate::encoding::QPARAMS;
use crate::error::GatherError;
use crate::index::IndexKind;
use crate::operand::Operand;
use crate::plan::GatherPlan;
use crate::reduce::{NumberKind, Reduce, ScatterNumber};

/// Up to this many dispatches the text gives their number.
const MAX_SHOWN: usize = 1000;

impl GatherPlan {
    /// Describes in a few lines how a GPU with these `limits` gathers with these `types`: sizes, bytes moved, kernel and
    /// dispatches, or why it cannot. If an operand is longer than a buffer may be, a line names the ways out.
    ///
    /// ```
    /// use wgpu_gather::{ElementTypes, GatherNd, wgpu};
    ///
    /// let plan = GatherNd::new().plan(&[1000, 64], &[300, 1])?;
    /// let text = plan.explain(ElementTypes::of::<f32, i32>(), &wgpu::Limits::default());
    /// assert_eq!(
    ///     text,
    ///     "gather_nd params [1000,64], indices [300,1], batch_dims 0 -> output [300,64]\n\
    ///      300 slices of 256 bytes out of 1000 rows; params 256000 bytes, indices 1200 bytes (i32), output 76800 bytes\n\
    ///      moves 154800 bytes: reads 1200 of indices and at most 76800 of params, writes 76800\n\
    ///      kernel rows: units of 16 bytes, 1 slice a lane\n\
    ///      1 dispatch of 19 x 1 workgroups of 256 invocations"
    /// );
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    #[must_use]
    pub fn explain(&self, types: ElementTypes, limits: &wgpu::Limits) -> String {
        let mut text = self.to_string();
        if let Err(error) = self.explain_into(&mut text, types, limits) {
            let _ = write!(text, "\ncannot run: {error}");
        }
        text
    }

    fn explain_into(
        &self,
        text: &mut String,
        types: ElementTypes,
        limits: &wgpu::Limits,
    ) -> Result<(), GatherError> {
        let dims = self.dims();
        let typed = TypedPlan::new(self, types)?;
        let OperandBytes {
            params,
            qparams,
            indices,
            output,
            ..
        } = typed.bytes;
        let mut line = |line: String| text.push_str(&format!("\n{line}"));
        let slice_bytes = u128::from(dims.slice_len) * u128::from(types.element_bytes);
        let slices = u128::from(dims.output_rows()) * slice_bytes;
        let encoding = types.encoding;
        let slice_parts = [typed.parts].into_iter().chain(typed.qparam_parts);
        let slice = slice_parts.map(|of| u128::from(of.bytes_of(dims.slice_len)));
        let read = u128::from(dims.output_rows()) * slice.sum::<u128>();
        let mut operands = vec![
            (Operand::Params, params),
            (Operand::Indices, indices),
            (Operand::Output, output),
        ];
        let (mut qparams_bytes, mut qparams_names) = (String::new(), String::new());
        for (operand, bytes) in QPARAMS.into_iter().zip(qparams) {
            if bytes > 0 {
                operands.push((operand, bytes));
                qparams_bytes += &format!(", {operand} {bytes} bytes");
                qparams_names += &format!(" and {operand}");
            }
        }
        line(format!(
            "{} of {slice_bytes} bytes out of {}; params {params} bytes{}{qparams_bytes}, indices {indices} bytes ({}), \
             output {output} bytes",
            count(dims.output_rows(), "slice"),
            count(dims.params_rows(), "row"),
            encoding.map_or_else(String::new, |encoding| format!(" ({encoding})")),
            types.index_kind,
        ));
        let most = limits.max_buffer_size;
        let is_too_long = |bytes: u64| range_bytes(bytes) > most;
        let on_the_cpu = encoding.map_or("plan.run", |_| "plan.run_decoded");
        for (operand, bytes) in operands {
            if is_too_long(bytes) {
                let way = match operand {
                    Operand::Params => "give GatherBuffers::of_shards",
                    _ => "gather parts by several plans",
                };
                line(format!(
                    "no buffer of at most {most} bytes holds {operand}: {way}, or call {on_the_cpu}"
                ));
            }
        }
        let cut = Cut::new(PlacedGather::aligned(typed), limits)?;
        check_buffers(limits, &typed.bytes)?;
        let report = self.bad_indices() == BadIndices::Error;
        let finish_report = EntryPoint::FinishReport.name();
        let dispatches: Vec<_> = cut.dispatches().take(MAX_SHOWN + 1).collect();
        let Some(first) = dispatches.first() else {
            line("empty output: nothing to gather".into());
            if report {
                check_limits(limits, types, None, report, false)?;
                line(format!("{finish_report}: 1 invocation"));
            }
            return Ok(());
        };
        check_limits(limits, types, None, report, false)?;
        line(format!(
            "moves {} bytes: reads {indices} of indices and at most {read} of params{qparams_names}, writes {slices}",
            u128::from(indices) + read + slices,
        ));
        line(kernel_line(first, report));
        let size = format!(
            "{} workgroups of {WORKGROUP_SIZE} invocations",
            grid(first.workgroups)
        );
        // Shards may end within a window.
        let least = if is_too_long(params) { "at least " } else { "" };
        line(match dispatches.len() {
            1 => format!("{least}1 dispatch of {size}"),
            number if number <= MAX_SHOWN => {
                format!("{least}{number} dispatches, the first of {size}")
            }
            _ => format!("more than {MAX_SHOWN} dispatches, the first of {size}"),
        });
        if report {
            line(format!("after each {finish_report}: 1 invocation"));
        }
        Ok(())
    }

    /// As [`explain`](Self::explain), for a scatter that assigns through this plan.
    ///
    /// ```
    /// use wgpu_gather::{ElementTypes, Gather, wgpu};
    ///
    /// let plan = Gather::new().plan(&[1000, 64], &[300])?;
    /// let text = plan.explain_scatter(ElementTypes::of::<f32, i32>(), &wgpu::Limits::default());
    /// assert_eq!(
    ///     text,
    ///     "scatter through gather params [1000,64], indices [300], axis 0, batch_dims 0 -> output [300,64]\n\
    ///      300 slices of 256 bytes into 1000 rows; target 256000 bytes, indices 1200 bytes (i32), updates 76800 bytes\n\
    ///      rows may repeat: 4000 bytes of winners; clear_winners and find_winners: 1 dispatch each\n\
    ///      kernel rows: units of 16 bytes, 1 slice a lane\n\
    ///      1 dispatch of 19 x 1 workgroups of 256 invocations"
    /// );
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    #[must_use]
    pub fn explain_scatter(&self, types: ElementTypes, limits: &wgpu::Limits) -> String {
        let mut text = format!("scatter through {self}");
        if let Err(error) = self.explain_scatter_into(&mut text, types, None, limits) {
            let _ = write!(text, "\ncannot run: {error}");
        }
        text
    }

    /// As [`explain_scatter`](Self::explain_scatter), for a scatter that reduces numbers of type `T`.
    ///
    /// ```
    /// use wgpu_gather::{Gather, IndexKind, Reduce, wgpu};
    ///
    /// let plan = Gather::new().plan(&[1000, 64], &[3000])?;
    /// let text = plan.explain_scatter_reduce::<f32>(Reduce::Add, IndexKind::I32, &wgpu::Limits::default());
    /// assert_eq!(
    ///     text,
    ///     "add of f32 through gather params [1000,64], indices [3000], axis 0, batch_dims 0 -> output [3000,64]\n\
    ///      3000 slices of 256 bytes into 1000 rows; target 256000 bytes, indices 12000 bytes (i32), updates 768000 bytes\n\
    ///      rows may repeat: sorted in 65536 bytes of pairs, 1028 of counts and 768 of sums; write_keys: 1 dispatch; sort: 8 dispatches\n\
    ///      kernel fold_rows: units of 16 bytes\n\
    ///      3 dispatches, the first of 188 x 1 workgroups of 256 invocations"
    /// );
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    #[must_use]
    pub fn explain_scatter_reduce<T: ScatterNumber>(
        &self,
        reduce: Reduce,
        index_kind: IndexKind,
        limits: &wgpu::Limits,
    ) -> String {
        let types = ElementTypes::new(size_of::<T>() as u64, index_kind);
        let reduction = Some((reduce, T::KIND));
        let mut text = format!("{reduce} of {} through {self}", T::KIND.name());
        if let Err(error) = self.explain_scatter_into(&mut text, types, reduction, limits) {
            let _ = write!(text, "\ncannot run: {error}");
        }
        text
    }

    fn explain_scatter_into(
        &self,
        text: &mut String,
        types: ElementTypes,
        reduction: Option<(Reduce, NumberKind)>,
        limits: &wgpu::Limits,
    ) -> Result<(), GatherError> {
        let plan = &self.of_updates();
        let dims = plan.dims();
        let typed = TypedPlan::of_updates(plan, types, reduction)?;
        let OperandBytes {
            params,
            indices,
            output,
            ..
        } = typed.bytes;
        let mut line = |line: String| text.push_str(&format!("\n{line}"));
        line(format!(
            "{} of {} bytes into {}; target {params} bytes, indices {indices} bytes ({}), updates {output} bytes",
            count(dims.output_rows(), "slice"),
            u128::from(dims.slice_len) * u128::from(types.element_bytes),
            count(dims.params_rows(), "row"),
            types.index_kind,
        ));
        check_buffers(limits, &typed.bytes)?;
        check_limits(limits, types, typed.update, false, false)?;
        if params == 0 || output == 0 {
            line("nothing to scatter".into());
            return Ok(());
        }
        let shown = |number: usize| match number {
            1 => "1 dispatch".to_owned(),
            number if number <= MAX_SHOWN => format!("{number} dispatches"),
            _ => format!("more than {MAX_SHOWN} dispatches"),
        };
        let index_rows = plan.of_index_rows();
        let passes = |shards: Option<Vec<Shard>>| {
            let of_rows = ElementTypes::new(4, types.index_kind);
            let of_rows = TypedPlan::of_scatter(&index_rows, of_rows, Update::IndexRows)?;
            let mut placed = PlacedGather::aligned(of_rows);
            placed.shards = shards.unwrap_or(placed.shards);
            let cut = Cut::new(placed, limits)?;
            Ok::<_, GatherError>(cut.dispatches().take(MAX_SHOWN + 1).count())
        };
        let mut winner_rows = u64::MAX;
        let mut order = None;
        if let Some(Update::Fold(..)) = typed.update {
            let found = Order::new(dims, types.element_bytes, limits)?;
            let [pairs, others, counts, sums] = found.scratch_bytes();
            line(format!(
                "rows may repeat: sorted in {} bytes of pairs, {counts} of counts and {sums} of sums; {}: {}; sort: {}",
                pairs + others,
                IndexRowsPass::WriteKeys.name(),
                shown(passes(None)?),
                shown(found.sort_dispatches().len()),
            ));
            order = Some(found);
        }
        if typed.update == Some(Update::AssignLast) {
            let winners = Winners::new(dims, limits)?;
            winner_rows = winners.cut_rows();
            let passes = passes(Some(winners.shards()))?;
            line(format!(
                "rows may repeat: {} bytes of winners; {} and {}: {} each",
                4 * index_rows.dims().params_rows(),
                IndexRowsPass::ClearWinners.name(),
                IndexRowsPass::FindWinners.name(),
                shown(passes),
            ));
        }
        let placed = PlacedGather {
            winner_rows,
            ..PlacedGather::aligned(typed)
        };
        let cut = Cut::new(placed, limits)?;
        let dispatches: Vec<_> = cut.dispatches().take(MAX_SHOWN + 1).collect();
        let first = dispatches.first().expect("a scatter with slices");
        let (mut number, mut workgroups) = (dispatches.len(), first.workgroups);
        match (order, typed.update, first.kernel.unit()) {
            (Some(order), Some(update), Some(unit)) => {
                let folds = order.fold_dispatches(plan, types.index_kind, update, &dispatches);
                (number, workgroups) = (folds.len(), folds[0].workgroups);
                let name = FoldPass::Rows.name();
                line(format!("kernel {name}: units of {} bytes", unit.bytes()));
            }
            _ => line(kernel_line(first, false)),
        }
        let of_first = if number == 1 { "" } else { ", the first" };
        line(format!(
            "{}{of_first} of {} workgroups of {WORKGROUP_SIZE} invocations",
            shown(number),
            grid(workgroups)
        ));
        Ok(())
    }
}

/// The kernel of a dispatch, and how lanes or workgroups share its slices.
fn kernel_line(dispatch: &Dispatch, report: bool) -> String {
    let name = dispatch.kernel.name(report);
    let shares = dispatch.shares;
    let units = |unit: Unit| format!("units of {} bytes", unit.bytes());
    let share = match dispatch.kernel {
        Kernel::Rows(unit) | Kernel::FourRows(unit) => format!(
            "{}, {} a lane",
            units(unit),
            count(dispatch.kernel.lane_rows(), "slice"),
        ),
        Kernel::Long(unit) => format!(
            "{}, {} a slice",
            units(unit),
            count(shares.slice_workgroups, "workgroup")
        ),
        Kernel::Packed { slice_bytes } => {
            format!("{} a lane", count(u64::from(16 / slice_bytes), "slice"))
        }
        Kernel::Lines => "4 slices a lane".to_owned(),
        Kernel::WordParts => "4 bytes of the target a lane".to_owned(),
        Kernel::Bytes { lane_words } => format!("{} bytes of output a lane", 4 * lane_words),
    };
    let find = match dispatch.find {
        FindRows::General => ", rows found by 64-bit arithmetic",
        _ => "",
    };
    format!("kernel {name}: {share}{find}")
}

/// "19 x 1", or "19 x 1 x 3" if the grid has a depth.
fn grid([width, height, depth]: [u32; 3]) -> String {
    match depth {
        1 => format!("{width} x {height}"),
        _ => format!("{width} x {height} x {depth}"),
    }
}

/// "1 row", "2 rows".
fn count(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
