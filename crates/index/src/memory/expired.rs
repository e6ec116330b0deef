//! The number of documents that were dropped with their segments.

use crate::ground::ids::Position;

/// Number of bits of a position that are kept.
const POSITION_BITS: u32 = 16;

/// The number of documents that lived when their segment was dropped, over the index's life. It
/// also has the low bits of the position of the first segment not counted. Both are in one word.
/// The window is another word, stored later. So for a moment the oldest segment of the window is
/// counted here already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expired(pub(crate) u64);

impl Expired {
    /// Makes the count of documents in segments before `next`.
    pub(crate) fn new(documents: u64, next: Position) -> Expired {
        Expired(documents << POSITION_BITS | u64::from(next) & ((1 << POSITION_BITS) - 1))
    }

    /// Returns the number of documents.
    pub fn documents(self) -> u64 {
        self.0 >> POSITION_BITS
    }

    /// True if it counts the documents of the segment at `oldest`, the oldest of a window.
    pub fn has(self, oldest: Position) -> bool {
        self == Expired::new(self.documents(), oldest + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_knows_the_segment_that_is_being_dropped() {
        for next in [1, 7, 0xffff, 0x1_0000, 0x1_0001] {
            let expired = Expired::new(12, next);
            assert_eq!(expired.documents(), 12);
            assert!(expired.has(next - 1) && !expired.has(next) && !expired.has(next + 1));
        }
        assert!(!Expired(0).has(0));
    }
}
