//! The description of a call that has no buffers yet.

use std::marker::PhantomData;

use super::placed::Placed;
use super::types::TypedPlan;
use super::work::Scatters;
use crate::bad_indices::BadIndices;
use crate::element::ElementTypes;
use crate::operand::Operand;
#[cfg(doc)]
use crate::plan::GatherPlan;
use crate::reduce::{Number, Reduce};

/// Describes a call before you have [`Buffers`](crate::Buffers): [`Gatherer::warm_up`](crate::Gatherer::warm_up) compiles its
/// pipelines, and [`GatherPlan::explain`] prints it. A gather is a `Call`, a scatter a `Call<Reduce>`. [`ElementTypes`] convert into
/// a gather without options.
///
/// ```
/// use wgpu_gather::{Call, ElementTypes, Gather, Operand, Reduce, wgpu};
///
/// let plan = Gather::new().plan(&[1000, 64], &[300])?;
/// let call = Call::scatter(ElementTypes::of::<u32, i32>()).reduce::<u32>(Reduce::Add).with(Operand::Mask);
/// let text = plan.explain(call, &wgpu::Limits::default());
/// assert!(text.starts_with("add of u32 through gather params [1000,64], indices [300]"));
/// # Ok::<(), wgpu_gather::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Call<O = ()> {
    pub(super) told: Told,
    options: PhantomData<O>,
}

/// The types of a [`Call`], its direction, and which optional operands its buffers will have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Told {
    pub(super) types: ElementTypes,
    /// `None` for a gather.
    pub(super) scatter: Option<Scatters>,
    has_report: bool,
    has_mask: bool,
    has_index_count: bool,
}

impl Call {
    /// A gather of these types.
    #[must_use]
    pub const fn gather(types: ElementTypes) -> Self {
        Self::of(types, None)
    }
}

impl From<ElementTypes> for Call {
    fn from(types: ElementTypes) -> Self {
        Self::gather(types)
    }
}

impl Call<Reduce> {
    /// A scatter of these types, which assigns unless you call [`reduce`](Self::reduce).
    #[must_use]
    pub fn scatter(types: ElementTypes) -> Self {
        Self::of(types, Some(Scatters::new(None)))
    }

    /// Reduces: see [`Buffers::reduce`](crate::Buffers::reduce).
    #[must_use]
    pub fn reduce<T: Number>(mut self, reduce: Reduce) -> Self {
        self.told.scatter = Some(Scatters::new(Some((reduce, T::KIND))));
        self
    }
}

impl<O> Call<O> {
    const fn of(types: ElementTypes, scatter: Option<Scatters>) -> Self {
        Self {
            told: Told {
                types,
                scatter,
                has_report: false,
                has_mask: false,
                has_index_count: false,
            },
            options: PhantomData,
        }
    }

    /// Says that the buffers will have [`Operand::Report`], [`Operand::Mask`] or [`Operand::IndexCount`]. All other operands are
    /// there anyway. The policy [`BadIndices::Error`] always has a report.
    #[must_use]
    pub const fn with(mut self, operand: Operand) -> Self {
        match operand {
            Operand::Report => self.told.has_report = true,
            Operand::Mask => self.told.has_mask = true,
            Operand::IndexCount => self.told.has_index_count = true,
            _ => {}
        }
        self
    }
}

impl Told {
    /// Where the operands lie: at aligned offsets, each in a buffer of its own.
    pub(super) fn placed(&self, typed: &TypedPlan<'_>) -> Placed {
        let plan = typed.plan;
        Placed {
            has_report: self.has_report || plan.bad_indices() == BadIndices::Error,
            has_index_count: self.has_index_count,
            mask_start: self.has_mask.then_some(0),
            ..Placed::aligned(plan)
        }
    }
}
