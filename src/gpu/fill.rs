//! The fill: the element that bad rows hold instead of zeros.

use std::any::type_name;

use crate::element::Element;
use crate::error::{GatherError, GpuError};

/// Bytes of the longest pattern, as many as a uniform holds.
const MAX_BYTES: usize = 64;

/// A fill as words, which repeat through a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FillPattern {
    /// The number of words in `pattern` before they repeat.
    pub(crate) words: u32,
    pub(crate) pattern: [u32; MAX_BYTES / 4],
}

impl FillPattern {
    /// The pattern of a gather without a fill.
    pub(crate) const ZEROS: Self = Self {
        words: 1,
        pattern: [0; MAX_BYTES / 4],
    };

    /// The words from word `word` of a slice on, as many as repeat.
    pub(crate) fn words_from(&self, word: u64) -> [u32; MAX_BYTES / 4] {
        let mut words = self
            .pattern
            .iter()
            .copied()
            .take(self.words as usize)
            .cycle();
        let before = word % u64::from(self.words);
        words
            .by_ref()
            .take(usize::try_from(before).expect("a few words"))
            .for_each(drop);
        std::array::from_fn(|_| words.next().expect("the words repeat"))
    }
}

/// The value of one element, as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fill {
    bytes: [u8; MAX_BYTES],
    /// The width of the element, which may exceed `MAX_BYTES`.
    element_bytes: u64,
}

impl Fill {
    pub(crate) fn new(element: &[u8]) -> Self {
        let mut bytes = [0; MAX_BYTES];
        for (byte, &value) in bytes.iter_mut().zip(element) {
            *byte = value;
        }
        Self {
            bytes,
            element_bytes: element.len() as u64,
        }
    }

    /// The fill as elements `T`, of which `element_bytes` bytes are one or several, for a gather on the CPU: an error for a
    /// fill that a GPU refuses too.
    pub(crate) fn elements<T: Element>(&self, element_bytes: u64) -> Result<Vec<T>, GpuError> {
        self.pattern(element_bytes)?;
        let element_bytes = usize::try_from(element_bytes).expect("a short fill");
        let elements = self.bytes[..element_bytes].chunks_exact(size_of::<T>());
        let elements = elements.map(bytemuck::checked::try_pod_read_unaligned);
        let elements: Result<_, _> = elements.collect();
        elements.map_err(|_| GpuError::InvalidElement {
            element: type_name::<T>(),
        })
    }

    /// The fill as words. It must be `element_bytes` wide, and its words must fit in a uniform.
    pub(crate) fn pattern(&self, element_bytes: u64) -> Result<FillPattern, GatherError> {
        if element_bytes != self.element_bytes {
            return Err(GatherError::FillBytes {
                expected: element_bytes,
                found: self.element_bytes,
            });
        }
        // The fewest elements that make whole words.
        let elements = match element_bytes % 4 {
            0 => 1,
            2 => 2,
            _ => 4,
        };
        let element = usize::try_from(element_bytes).ok();
        let element = element.filter(|&len| len <= MAX_BYTES / elements);
        let element = element.ok_or(GatherError::FillTooLong { element_bytes })?;
        let words = u32::try_from(element * elements / 4).expect("a few words");
        let mut bytes = self.bytes[..element].iter().copied().cycle();
        let pattern = std::array::from_fn(|_| {
            u32::from_le_bytes(std::array::from_fn(|_| bytes.next().unwrap_or(0)))
        });
        Ok(FillPattern { words, pattern })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_whole_words_of_whole_elements() {
        let words = |element: &[u8]| {
            let fill = Fill::new(element).pattern(element.len() as u64)?;
            Ok(fill.pattern[..fill.words as usize].to_vec())
        };
        assert_eq!(words(&[7]), Ok(vec![0x0707_0707]));
        assert_eq!(words(&[1, 2]), Ok(vec![0x0201_0201]));
        assert_eq!(
            words(&[1, 2, 3]),
            Ok(vec![0x0103_0201, 0x0201_0302, 0x0302_0103]
                .into_iter()
                .map(|w: u32| w)
                .collect())
        );
        assert_eq!(words(&[1, 2, 3, 4]), Ok(vec![0x0403_0201]));
        assert_eq!(words(&[0; 64]).map(|words| words.len()), Ok(16));
        assert_eq!(words(&[0; 16]).map(|words| words.len()), Ok(4));
        for element_bytes in [17, 34, 65, 68] {
            let too_long = Err(GatherError::FillTooLong { element_bytes });
            let element = vec![0; usize::try_from(element_bytes).expect("a few bytes")];
            assert_eq!(words(&element), too_long);
        }
        let other = Fill::new(&[0; 8]).pattern(4);
        assert_eq!(
            other,
            Err(GatherError::FillBytes {
                expected: 4,
                found: 8
            })
        );
    }
}
