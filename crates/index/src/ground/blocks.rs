//! The sizes of a growing list's blocks.

/// Number of blocks in a part of the directory of a list's largest blocks.
pub(crate) const DIRECTORY_PART: u32 = 32;
/// Number of words of such a part.
pub(crate) const DIRECTORY_WORDS: u32 = 1 + 2 * DIRECTORY_PART;

/// The sizes of a chain's blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// 8, 16, 32, … postings, up to `8 << doublings` (VSB).
    Variable {
        /// Number of times that the size doubles.
        doublings: u32,
    },
    /// Always `8 * units` postings (FSB).
    Fixed {
        /// Capacity of each block, in units of 8 postings.
        units: u32,
    },
}

impl Blocks {
    /// Returns the number of units in the tail block, and its capacity, in a chain with `units`
    /// spilled units of 8 (at least 1).
    #[inline]
    pub fn tail(self, units: u32) -> (u32, u32) {
        match self {
            Blocks::Fixed { units: capacity } => ((units - 1) % capacity + 1, capacity),
            Blocks::Variable { doublings } => {
                let block = units.ilog2();
                if block <= doublings {
                    (units + 1 - (1 << block), 1 << block)
                } else {
                    let beyond = units - ((2 << doublings) - 1);
                    (((beyond - 1) & ((1 << doublings) - 1)) + 1, 1 << doublings)
                }
            }
        }
    }

    /// Returns the number of the tail block among the largest blocks, if it is one, in a chain with
    /// `units` spilled units (at least 1).
    #[inline]
    pub(crate) fn largest(self, units: u32) -> Option<u32> {
        match self {
            Blocks::Variable { doublings } => Some(units.checked_sub(1 << doublings)? >> doublings),
            Blocks::Fixed { .. } => None,
        }
    }

    /// Returns the number of words before the postings of the tail block: the link, and in a
    /// largest block the place of its directory.
    #[inline]
    pub(crate) fn header(self, units: u32) -> usize {
        1 + usize::from(self.largest(units).is_some())
    }

    /// Returns the words of the blocks that a list begins while it grows from `from` postings to
    /// `to`: exact for small blocks, the most for the largest.
    pub(crate) fn words_between(self, from: u32, to: u32) -> u64 {
        // The buffer is spilled when the posting behind each eighth comes.
        let units = from.max(1).div_ceil(8)..to.div_ceil(8);
        let begun = units.filter(|units| self.tail(*units).0 == 1);
        let words = begun.map(|units| match self.largest(units) {
            Some(_) => self.spill_words_max(),
            None => 1 + 8 * u64::from(self.tail(units).1),
        });
        words.sum()
    }

    /// Returns the largest number of words that a spill takes: the largest block, its header, and a
    /// part of the directory.
    pub fn spill_words_max(self) -> u64 {
        match self {
            Blocks::Fixed { units } => 1 + 8 * units as u64,
            Blocks::Variable { doublings } => 2 + (8u64 << doublings) + DIRECTORY_WORDS as u64,
        }
    }
}
