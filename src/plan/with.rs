//! A plan with the options of one call.

#[cfg(feature = "gpu")]
use std::borrow::Cow;

use super::GatherPlan;
use super::scatter::ScatterRules;
use crate::reduce::Reduce;

/// A plan, with what you tell one call. [`GatherPlan::fill`], [`unique`](GatherPlan::unique) and
/// [`one_update`](GatherPlan::one_update) return it. A `Gatherer` and an `Executor` take a scatter's in place of the plan; a
/// gather ignores `unique` and `one_update`.
///
/// `O` is the type of the fill for a gather. For a scatter it is [`Reduce`], even if the scatter assigns.
///
/// A scatter takes no fill:
///
/// ```compile_fail,E0599
/// # let plan = wgpu_gather::Gather::new().plan(&[2], &[1]).unwrap();
/// plan.fill(0).scatter(&[1], &[0], &mut [0, 0]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct With<'a, O> {
    pub(crate) plan: &'a GatherPlan,
    /// A gather's fill. A scatter has none.
    pub(crate) fill: Option<O>,
    pub(crate) rules: ScatterRules,
}

impl GatherPlan {
    /// The plan with `fill` for the slices of bad rows, where [`BadIndices::Fill`](crate::BadIndices::Fill) puts
    /// `T::default()` otherwise. With `Clamp` and `Wrap` only an indexed dim of 0 is filled.
    ///
    /// ```
    /// use wgpu_gather::{BadIndices, Gather};
    ///
    /// let plan = Gather::new().bad_indices(BadIndices::Fill).plan(&[2], &[2])?;
    /// let mut output = ["", ""];
    /// plan.fill("?").gather_into(&["a", "b"], &[7, 0], &mut output)?;
    /// assert_eq!(output, ["?", "a"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn fill<T: Copy + Default + Send + Sync>(&self, fill: T) -> With<'_, T> {
        With {
            plan: self,
            fill: Some(fill),
            rules: ScatterRules::default(),
        }
    }

    /// The plan with the promise that no two index rows of a batch select the same row: JAX's `unique_indices=True`. A scatter
    /// need not keep the order of updates then.
    ///
    /// The promise is about the rows that indices select, after they are counted from the end, clamped or wrapped. Bad rows,
    /// and rows of another shard, do not count. If the promise is broken, a row that several index rows select gets a part
    /// of its updates or a mix of their bits; no other row changes.
    ///
    /// ```
    /// use wgpu_gather::Gather;
    ///
    /// let plan = Gather::new().plan(&[4], &[2])?;
    /// let mut target = [0; 4];
    /// plan.unique().scatter(&[7, 8], &[3, 1], &mut target)?;
    /// assert_eq!(target, [0, 8, 0, 7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn unique(&self) -> With<'_, Reduce> {
        With::from(self).unique()
    }

    /// The plan for scatters that take one slice of updates, of [`slice_len`](Self::slice_len) elements, for all index rows:
    /// to count, to clear slots, to make one-hot rows.
    ///
    /// ```
    /// use wgpu_gather::{Gather, Reduce};
    ///
    /// let plan = Gather::new().plan(&[3], &[4])?;
    /// let mut counts = [0; 3];
    /// plan.one_update().scatter_reduce(Reduce::Add, &[1], &[2, 0, 2, 2], &mut counts)?;
    /// assert_eq!(counts, [1, 0, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn one_update(&self) -> With<'_, Reduce> {
        With::from(self).one_update()
    }

    pub(crate) const fn with_rules(&self, rules: ScatterRules) -> With<'_, Reduce> {
        With {
            plan: self,
            fill: None,
            rules,
        }
    }
}

/// A plan without promises, for a gather too.
impl<'a> From<&'a GatherPlan> for With<'a, Reduce> {
    fn from(plan: &'a GatherPlan) -> Self {
        plan.with_rules(ScatterRules::default())
    }
}

impl<'a> With<'a, Reduce> {
    /// The plan by which a GPU gathers or scatters: one slice of updates for all index rows is a stride of 0.
    #[cfg(feature = "gpu")]
    pub(crate) fn of_updates(&self, is_scatter: bool) -> Cow<'a, GatherPlan> {
        let mut plan = Cow::Borrowed(self.plan);
        if is_scatter && self.rules.one_update {
            plan.to_mut().dims.output_stride = 0;
        }
        plan
    }

    /// As [`GatherPlan::unique`].
    #[must_use]
    pub const fn unique(mut self) -> Self {
        self.rules.unique = true;
        self
    }

    /// As [`GatherPlan::one_update`].
    #[must_use]
    pub const fn one_update(mut self) -> Self {
        self.rules.one_update = true;
        self
    }
}
