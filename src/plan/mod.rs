//! Plans: checked shapes and sizes, without a device or data. Each operation makes one.

mod checks;
pub(crate) mod dims;
mod element_dims;
mod gather;
mod gather_elements;
mod gather_nd;
mod gather_plan;
pub(crate) mod lengths;
mod scatter;
mod strides;
#[cfg(feature = "gpu")]
mod to_plan;
mod with;

#[cfg(feature = "gpu")]
pub(crate) use self::checks::MAX_ELEMENTS;
pub(crate) use self::dims::GatherDims;
pub use self::gather::Gather;
pub use self::gather_elements::GatherElements;
pub use self::gather_nd::GatherNd;
pub use self::gather_plan::GatherPlan;
pub(crate) use self::gather_plan::Operation;
#[cfg(feature = "gpu")]
pub(crate) use self::scatter::ScatterRules;
#[cfg(feature = "gpu")]
pub use self::to_plan::ToPlan;
pub use self::with::With;
use crate::bad_indices::{BadIndices, NegativeIndices};

/// Gives each operation the rules for indices.
macro_rules! rules_for_indices {
    ($($operation:ty)*) => {$(
        impl $operation {
            /// Says what an index out of range gives; [`BadIndices::DeviceDefault`] unless set.
            #[must_use]
            pub fn bad_indices(mut self, bad_indices: BadIndices) -> Self {
                self.bad_indices = bad_indices;
                self
            }

            /// Says what a negative index means. Unless you set it, it is out of range ([`NegativeIndices::Invalid`]), as in
            /// TensorFlow, `torch.gather` and `torch.index_select`. PyTorch's `x[ids]`, Paddle, ONNX and NumPy count from the
            /// end: [`NegativeIndices::FromEnd`].
            #[must_use]
            pub fn negative_indices(mut self, negative_indices: NegativeIndices) -> Self {
                self.negative_indices = negative_indices;
                self
            }
        }
    )*};
}
rules_for_indices! { Gather GatherNd GatherElements }
