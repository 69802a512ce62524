//! A workload's operands, for all element and index types.

use bytemuck::Pod;
use testkit::bench::workloads::{Element, Workload};
use wgpu_gather::{Index, IndexKind};

/// An element or an index that can be made from a number.
pub trait Number: Pod + Default + PartialEq + Send + Sync {
    fn from_u32(number: u32) -> Self;
    fn to_usize(self) -> usize;
}

macro_rules! number {
    ($($number:ty),*) => {
        $(impl Number for $number {
            #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_lossless)]
            fn from_u32(number: u32) -> Self {
                number as $number
            }

            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_lossless)]
            fn to_usize(self) -> usize {
                self as usize
            }
        })*
    };
}

number!(u8, u16, u32, i32, i64);

/// A workload with its operands. A gather moves bits, so integers stand in for floats of their width.
pub struct Data<T, I> {
    pub workload: Workload,
    pub params: Vec<T>,
    pub indices: Vec<I>,
}

impl<T: Number, I: Number> Data<T, I> {
    pub fn new(workload: &Workload) -> Self {
        Self {
            workload: workload.clone(),
            params: workload.params_bits().map(T::from_u32).collect(),
            indices: workload.indices().map(I::from_u32).collect(),
        }
    }
}

/// A function on a workload's data, for all element and index types.
pub trait Visit {
    fn visit<T: Number + wgpu_gather::Element, I: Number + Index>(&mut self, data: &Data<T, I>);
}

/// Calls `visitor` with the workload's data.
pub fn visit(workload: &Workload, visitor: &mut impl Visit) {
    match (workload.element, workload.index) {
        (Element::F32, IndexKind::I64) => visitor.visit(&Data::<u32, i64>::new(workload)),
        (Element::F32, IndexKind::U8) => visitor.visit(&Data::<u32, u8>::new(workload)),
        (Element::F32, _) => visitor.visit(&Data::<u32, i32>::new(workload)),
        (Element::F16, _) => visitor.visit(&Data::<u16, i32>::new(workload)),
        (Element::U8, _) => visitor.visit(&Data::<u8, i32>::new(workload)),
    }
}
