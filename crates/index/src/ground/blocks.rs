//! How the blocks of a growing list are sized.

/// Blocks in a part of the directory of a list's largest blocks.
pub(crate) const DIRECTORY_PART: u32 = 32;
/// Words of such a part.
pub(crate) const DIRECTORY_WORDS: u32 = 1 + 2 * DIRECTORY_PART;

/// How large the blocks of a chain are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// 8, 16, 32, … postings, up to `8 << doublings` (VSB).
    Variable {
        /// How often the size doubles.
        doublings: u32,
    },
    /// Always `8 * units` postings (FSB).
    Fixed {
        /// Capacity of each block, in units of 8 postings.
        units: u32,
    },
}

impl Blocks {
    /// Of a chain with `units` spilled units of 8 (at least 1): how many units its tail block holds, and how
    /// many it can hold.
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

    /// Of a chain with `units` spilled units (at least 1): which of the largest blocks its tail block is, if it is one.
    #[inline]
    pub(crate) fn largest(self, units: u32) -> Option<u32> {
        match self {
            Blocks::Variable { doublings } => Some(units.checked_sub(1 << doublings)? >> doublings),
            Blocks::Fixed { .. } => None,
        }
    }

    /// Words before the postings of the tail block of such a chain: the link, and of one of the largest where its directory is.
    #[inline]
    pub(crate) fn header(self, units: u32) -> usize {
        1 + usize::from(self.largest(units).is_some())
    }

    /// Words that a spill takes at most: the largest block, its header, and a part of the directory.
    pub fn spill_words_max(self) -> u64 {
        match self {
            Blocks::Fixed { units } => 1 + 8 * units as u64,
            Blocks::Variable { doublings } => 2 + (8u64 << doublings) + DIRECTORY_WORDS as u64,
        }
    }
}
