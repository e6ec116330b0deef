//! Reports of damage in the second tier.

use std::fmt;

/// Damage in the second tier: data that differs from what was stored there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corrupt {
    /// The damaged thing.
    pub what: &'static str,
    /// Its offset from the start of the executor's part (of the file, for the root).
    pub at: u64,
    /// The kind of damage.
    pub why: &'static str,
}

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:#x}: {}", self.what, self.at, self.why)
    }
}

impl std::error::Error for Corrupt {}

/// Returns the CRC32C of words, in the byte order of the format (little endian).
#[inline]
pub(crate) fn checksum(seed: u32, words: &[u64]) -> u32 {
    spirit_kernel::crc32c_words(seed, words)
}
