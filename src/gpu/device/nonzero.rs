//! The numbers of a mask's true entries, as a tensor: the one call whose output has a length that the GPU tells.

use std::sync::Arc;

use super::owner::{Owner, Storage};
use super::tensor::Tensor;
use super::waiting::{Mapping, Wait};
use crate::element::Element;
use crate::error::{GatherError, GpuError};
use crate::gpu::nonzero::Nonzero;
use crate::gpu::pass::COUNT_BYTES;
use crate::gpu::scope::scoped_start;
use crate::mask::Mask;
use crate::operand::Operand;
use crate::plan::lengths::check_byte_len;

/// Masks of the types of which each element is an entry.
macro_rules! mask_of {
    ($($element:ty: $kind:ident,)*) => {$(
        impl<'a> From<&'a Tensor<$element>> for Mask<&'a Tensor<$element>> {
            fn from(mask: &'a Tensor<$element>) -> Self {
                Self::$kind(mask, mask.len())
            }
        }
    )*};
}

mask_of! {
    bool: bytes,
    u8: bytes,
    u32: words,
}

pub(super) async fn nonzero<M: Element>(
    owner: Option<&Arc<Owner>>,
    mask: Mask<&Tensor<M>>,
    wait: Wait,
) -> Result<Tensor<u32>, GpuError> {
    mask.data.storage.check_owner(Operand::Mask, owner)?;
    let Some(owner) = owner else {
        let entries = bytemuck::cast_slice(mask.data.storage.on_host(Operand::Mask)?);
        let numbers = mask.over::<&[u8]>(entries).nonzero()?;
        let shape = [numbers.len()];
        return Ok(Tensor::new(Storage::Host(numbers), &shape));
    };
    let (bytes, found) = (mask.byte_len(), mask.data.len() * size_of::<M>());
    check_byte_len(Operand::Mask, bytes..=bytes, found)?;
    let (numbers, mapping) = scoped_start(&owner.device, || start(owner, &mask)).await?;
    let count = |bytes: &[u8]| u32::from_le_bytes(*bytes.first_chunk().expect("a count"));
    let count = mapping.read(wait, count).await?;
    let storage = Storage::Gpu(numbers, Arc::clone(owner));
    Ok(Tensor::new(storage, &[count as usize]))
}

/// Submits the passes that number a mask's true entries, and starts to map the buffer of their count.
fn start<'o, M>(
    owner: &'o Arc<Owner>,
    mask: &Mask<&Tensor<M>>,
) -> Result<(wgpu::Buffer, Mapping<'o>), GpuError> {
    let entries = mask.data.storage.on_gpu(Operand::Mask, owner)?;
    let numbers = owner.make_tensor(Operand::Indices, (mask.len as u64).saturating_mul(4))?;
    let count = owner.make_tensor(Operand::IndexCount, COUNT_BYTES)?;
    let readback = owner.make_readback(Operand::IndexCount, COUNT_BYTES)?;
    let prepared = owner.gatherer.prepare_nonzero(&Nonzero {
        mask: mask.over(entries.slice(..)),
        numbers: numbers.slice(..),
        count: count.slice(..),
        fill: None,
    });
    let prepared = prepared.map_err(|error: GatherError| GpuError::from(error))?;
    let submission = owner.submit("wgpu-gather/nonzero", |encoder| {
        prepared.encode(encoder);
        encoder.copy_buffer_to_buffer(&count, 0, &readback, 0, COUNT_BYTES);
    })?;
    Ok((numbers, owner.map(readback, submission)?))
}
