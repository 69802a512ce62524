//! `GatherPlan::explain`: which bytes a gather moves and which dispatches it takes, as text.

use std::fmt::Write;

use super::call::{Call, Told};
use super::find_rows::FindRows;
use super::kernel::{Kernel, Unit, WORKGROUP_SIZE};
use super::limits::{Needs, check_buffers};
use super::pass::{Grid, Pass};
use super::shaders::EntryPoint;
use super::types::{OperandBytes, TypedPlan, range_bytes};
use super::update::{IndexRowsPass, Update};
use super::work::{Stage, Work, typed};
use crate::encoding::QPARAMS;
use crate::error::GatherError;
use crate::operand::Operand;
use crate::plan::{GatherPlan, ScatterRules, With};
use crate::reduce::Reduce;

/// Up to this many dispatches the text gives their number.
const MAX_SHOWN: usize = 1000;

impl GatherPlan {
    /// Describes in a few lines how a GPU with these `limits` makes a call: sizes, bytes moved, kernel and
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
    ///
    /// A scatter's text begins with its name. A [`Call`] tells of a report, a mask or an index count, too.
    ///
    /// ```
    /// use wgpu_gather::{Call, ElementTypes, Gather, Reduce, wgpu};
    ///
    /// let plan = Gather::new().plan(&[1000, 64], &[300])?;
    /// let (types, limits) = (ElementTypes::of::<f32, i32>(), wgpu::Limits::default());
    /// assert_eq!(
    ///     plan.explain(Call::scatter(types), &limits),
    ///     "scatter through gather params [1000,64], indices [300], axis 0, batch_dims 0 -> output [300,64]\n\
    ///      300 slices of 256 bytes into 1000 rows; target 256000 bytes, indices 1200 bytes (i32), updates 76800 bytes\n\
    ///      rows may repeat: 4000 bytes of winners; clear_winners and find_winners: 1 dispatch each\n\
    ///      kernel rows: units of 16 bytes, 1 slice a lane\n\
    ///      1 dispatch of 19 x 1 workgroups of 256 invocations"
    /// );
    ///
    /// let plan = Gather::new().plan(&[1000, 64], &[3000])?;
    /// assert_eq!(
    ///     plan.explain(Call::scatter(types).reduce::<f32>(Reduce::Add), &limits),
    ///     "add of f32 through gather params [1000,64], indices [3000], axis 0, batch_dims 0 -> output [3000,64]\n\
    ///      3000 slices of 256 bytes into 1000 rows; target 256000 bytes, indices 12000 bytes (i32), updates 768000 bytes\n\
    ///      rows may repeat: sorted in 65536 bytes of pairs, 1028 of counts and 768 of sums; write_keys: 1 dispatch; sort: 8 dispatches\n\
    ///      kernel fold_rows: units of 16 bytes\n\
    ///      3 dispatches, the first of 188 x 1 workgroups of 256 invocations"
    /// );
    /// # Ok::<(), wgpu_gather::PlanError>(())
    /// ```
    #[must_use]
    pub fn explain<O>(&self, call: impl Into<Call<O>>, limits: &wgpu::Limits) -> String {
        With::from(self).explain(call, limits)
    }
}

impl With<'_, Reduce> {
    /// As [`GatherPlan::explain`], with these options.
    #[must_use]
    pub fn explain<O>(&self, call: impl Into<Call<O>>, limits: &wgpu::Limits) -> String {
        let (plan, told) = (self.plan, call.into().told);
        let scatter = told.scatter.map(|of| of.told(self.rules));
        let mut text = match scatter {
            None => plan.to_string(),
            Some(scatter) => {
                let ScatterRules { unique, one_update } = scatter.rules;
                let unique = if unique { ", unique indices" } else { "" };
                let one_update = if one_update { ", one update" } else { "" };
                format!("{scatter} through {plan}{unique}{one_update}")
            }
        };
        if let Err(error) = self.explain_into(&mut text, &told, limits) {
            let _ = write!(text, "\ncannot run: {error}");
        }
        text
    }

    fn explain_into(
        &self,
        text: &mut String,
        told: &Told,
        limits: &wgpu::Limits,
    ) -> Result<(), GatherError> {
        let plan = self.of_updates(told.scatter.is_some());
        let typed = typed(&plan, told.types, told.scatter, self.rules)?;
        let (placed, index_rows) = (told.placed(&typed), typed.index_rows());
        explain(text, typed, limits, || {
            Work::new(
                typed,
                told.scatter.zip(index_rows.as_ref()),
                &placed,
                limits,
            )
        })
    }
}

/// Appends the lines that follow the plan's.
fn explain<'w>(
    text: &mut String,
    typed: TypedPlan<'_>,
    limits: &wgpu::Limits,
    work: impl FnOnce() -> Result<Work<'w>, GatherError>,
) -> Result<(), GatherError> {
    let (dims, types) = (typed.plan.dims(), typed.types);
    let is_scatter = typed.update.is_some();
    let OperandBytes {
        params,
        qparams,
        indices,
        output,
    } = typed.bytes;
    let mut line = |line: String| text.push_str(&format!("\n{line}"));
    let slice_bytes = u128::from(dims.slice_len) * u128::from(types.element_bytes);
    let [table, rows] = [Operand::Params, Operand::Output].map(|operand| typed.named(operand));
    let mut operands = vec![(table, params), (Operand::Indices, indices), (rows, output)];
    let (mut qparams_bytes, mut qparams_names) = (String::new(), String::new());
    for (operand, bytes) in QPARAMS.into_iter().zip(qparams) {
        if bytes > 0 {
            operands.push((operand, bytes));
            qparams_bytes += &format!(", {operand} {bytes} bytes");
            qparams_names += &format!(" and {operand}");
        }
    }
    let decoding = types.decoding;
    line(format!(
        "{} of {slice_bytes} bytes {} {}; {table} {params} bytes{}{qparams_bytes}, indices {indices} bytes ({}), {rows} {output} bytes",
        count(dims.output_rows(), "slice"),
        if is_scatter { "into" } else { "out of" },
        count(dims.params_rows(), "row"),
        decoding.map_or_else(String::new, |decoding| format!(" ({decoding})")),
        types.index_kind,
    ));
    let most = limits.max_buffer_size;
    let is_too_long = |bytes: u64| range_bytes(bytes) > most;
    let (verb, buffers, on_the_cpu) = match (typed.update, decoding) {
        (None, None) => ("gather", "gather_shards", "gather"),
        (None, Some(_)) => ("gather", "gather_shards", "gather_encoded"),
        (Some(Update::Assign | Update::AssignLast), _) => ("scatter", "scatter_shards", "scatter"),
        (Some(_), _) => ("scatter", "scatter_shards", "scatter_reduce"),
    };
    for (operand, _) in operands
        .into_iter()
        .filter(|&(_, bytes)| is_too_long(bytes))
    {
        let way = match operand == table {
            true => format!("give Buffers::{buffers}"),
            false => format!("{verb} parts by several plans"),
        };
        line(format!(
            "no buffer of at most {most} bytes holds {operand}: {way}, or call plan.{on_the_cpu}"
        ));
    }
    let work = work()?;
    check_buffers(limits, &typed.bytes)?;
    let mut needs = Needs::default();
    let stages = work.stages();
    let stages: Vec<_> = stages
        .filter_map(|stage| Shown::of(&work, stage, &mut needs))
        .collect();
    needs.check(limits)?;
    let of = |stage| stages.iter().find(|of| of.stage == stage);
    let finish_report = EntryPoint::FinishReport.name();
    let last = of(Stage::Slices).or(of(Stage::Fold));
    if last.is_none() {
        line(match is_scatter {
            true => "nothing to scatter".to_owned(),
            false => "empty output: nothing to gather".to_owned(),
        });
    }
    if let (Some(_), false) = (last, is_scatter) {
        let slices = u128::from(dims.output_rows()) * slice_bytes;
        let slice_parts = [typed.parts].into_iter().chain(typed.qparam_parts);
        let slice = slice_parts.map(|of| u128::from(of.bytes_of(dims.slice_len)));
        let read = u128::from(dims.output_rows()) * slice.sum::<u128>();
        line(format!(
            "moves {} bytes: reads {indices} of indices and at most {read} of params{qparams_names}, writes {slices}",
            u128::from(indices) + read + slices,
        ));
    }
    let counts = of(Stage::IndexRows(IndexRowsPass::CountBad));
    if let Some(winners) = &work.winners {
        let [clear, find] = [IndexRowsPass::ClearWinners, IndexRowsPass::FindWinners];
        line(format!(
            "rows may repeat: {} bytes of winners; {} and {}: {} each",
            winners.bytes(),
            clear.name(),
            find.name(),
            of(Stage::IndexRows(clear)).map_or_else(String::new, Shown::number),
        ));
    }
    if let Some(counts) = counts {
        let (name, number) = (IndexRowsPass::CountBad.name(), counts.number());
        line(format!(
            "bad rows are counted; {name}: {number}; {finish_report} after each"
        ));
    }
    if let Some(order) = &work.order {
        let [pairs, others, counts, sums, slots] = order.scratch_bytes();
        let keys = IndexRowsPass::WriteKeys;
        let slots = match slots {
            0 => String::new(),
            bytes => format!(", {bytes} of slots for halves"),
        };
        line(format!(
            "rows may repeat: sorted in {} bytes of pairs, {counts} of counts and {sums} of sums{slots}; {}: {}; sort: {}",
            pairs + others,
            keys.name(),
            of(Stage::IndexRows(keys)).map_or_else(String::new, Shown::number),
            of(Stage::Sort).map_or_else(String::new, Shown::number),
        ));
    }
    if let Some(last) = last {
        line(kernel_line(&last.first));
        // Shards may end within a window.
        let least = if is_too_long(params) { "at least " } else { "" };
        let of_first = if last.passes == 1 { "" } else { ", the first" };
        let workgroups = match last.first.grid {
            Grid::Given(workgroups) => format!("{} workgroups", grid(workgroups)),
            Grid::Counted => "the workgroups that the index count needs,".to_owned(),
        };
        line(format!(
            "{}{}{of_first} of {workgroups} of {WORKGROUP_SIZE} invocations",
            if last.passes > MAX_SHOWN { "" } else { least },
            last.number(),
        ));
    }
    if work.placed.has_index_count && last.is_some() {
        let name = EntryPoint::CountRows.name();
        line(format!(
            "{name} before each dispatch over indices or slices: 1 invocation"
        ));
    }
    if work.placed.has_report && counts.is_none() {
        let after = if last.is_some() { "after each " } else { "" };
        line(format!("{after}{finish_report}: 1 invocation"));
    }
    if let Some(mask) = of(Stage::Mask) {
        let rows = count(dims.index_rows(), "index row");
        line(format!("mask of {rows}: {}", mask.number()));
    }
    Ok(())
}

/// The passes of a stage that a text counts, up to [`MAX_SHOWN`] and one more, and the first of them.
struct Shown {
    stage: Stage,
    passes: usize,
    first: Pass,
}

impl Shown {
    /// `None` without a pass. Adds what the passes need of a device.
    fn of(work: &Work<'_>, stage: Stage, needs: &mut Needs) -> Option<Self> {
        let (mut first, mut passes) = (None, 0);
        let mut add = |pass: Pass| {
            needs.add(pass.key.entry_point);
            if !matches!(
                pass.key.entry_point,
                EntryPoint::FinishReport | EntryPoint::CountRows
            ) {
                passes += 1;
                first.get_or_insert(pass);
            }
            if passes > MAX_SHOWN { Err(()) } else { Ok(()) }
        };
        // An error ends the count.
        let _ = work.each_of(stage, usize::MAX, &mut add);
        first.map(|first| Self {
            stage,
            passes,
            first,
        })
    }

    fn number(&self) -> String {
        match self.passes {
            1 => "1 dispatch".to_owned(),
            number if number <= MAX_SHOWN => format!("{number} dispatches"),
            _ => format!("more than {MAX_SHOWN} dispatches"),
        }
    }
}

/// The kernel of a pass, and how lanes or workgroups share its slices.
fn kernel_line(pass: &Pass) -> String {
    let entry_point = pass.key.entry_point;
    let (kernel, find, report) = match entry_point {
        EntryPoint::Gather {
            kernel,
            find,
            report,
        } => (kernel, find, report),
        EntryPoint::Scatter { kernel, find, .. } => (kernel, find, false),
        EntryPoint::Fold { unit, .. } => {
            let name = entry_point.name();
            return format!("kernel {name}: units of {} bytes", unit.bytes());
        }
        _ => unreachable!("slices are copied, updated or folded"),
    };
    let slice_workgroups = pass.uniform.map_or(1, |uniform| uniform.slice_workgroups);
    let units = |unit: Unit| format!("units of {} bytes", unit.bytes());
    let share = match kernel {
        Kernel::Rows(unit) | Kernel::FourRows(unit) => format!(
            "{}, {} a lane",
            units(unit),
            count(kernel.lane_rows(), "slice"),
        ),
        Kernel::Long(unit) => format!(
            "{}, {} a slice",
            units(unit),
            count(slice_workgroups.into(), "workgroup")
        ),
        Kernel::Packed { slice_bytes } => {
            format!("{} a lane", count(u64::from(16 / slice_bytes), "slice"))
        }
        Kernel::Lines => "4 slices a lane".to_owned(),
        Kernel::WordParts => "4 bytes of the target a lane".to_owned(),
        Kernel::Bytes { lane_words } => format!("{} bytes of output a lane", 4 * lane_words),
        Kernel::Halves(_) => "2 halves of output a lane".to_owned(),
    };
    let find = match find {
        FindRows::General => ", rows found by 64-bit arithmetic",
        _ => "",
    };
    format!("kernel {}: {share}{find}", kernel.name(report))
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
