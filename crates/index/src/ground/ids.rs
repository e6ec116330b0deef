//! The ids of segments, their states, and the partitions of their memory.

use std::fmt;

/// A segment's place in the index's order. Positions are assigned one by one and never reused.
pub type Position = u32;

/// Upper bound of positions, exclusive: ids have one bit more.
pub(crate) const POSITIONS_MAX: u64 = 1 << 31;

/// A position and a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId(pub u32);

impl SegmentId {
    /// Returns the first version at `position`.
    pub const fn first(position: Position) -> SegmentId {
        SegmentId(position << 1)
    }

    /// Returns the position.
    pub const fn position(self) -> Position {
        self.0 >> 1
    }

    /// Returns the other version at this position.
    pub const fn other(self) -> SegmentId {
        SegmentId(self.0 ^ 1)
    }
}

/// The five states of a segment (paper §4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum State {
    /// Being filled, or full and waiting for its flush: write-optimized, in DRAM.
    Ingested = 1,
    /// Read-optimized, in DRAM.
    Flushed = 2,
    /// A copy is in the second tier; readers use the one in DRAM.
    Engraved = 3,
    /// Readers use the copy in the second tier.
    Committed = 4,
    /// Readers use the copy, and its terms are in the merged dictionary.
    Merged = 5,
}

impl State {
    pub(crate) fn from_tag(tag: u64) -> Option<State> {
        [State::Ingested, State::Flushed, State::Engraved, State::Committed, State::Merged]
            .into_iter()
            .find(|s| *s as u64 == tag)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            State::Ingested => "ingested",
            State::Flushed => "flushed",
            State::Engraved => "engraved",
            State::Committed => "committed",
            State::Merged => "merged",
        })
    }
}

/// The partition that a ring serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partition {
    /// Fresh extents.
    Short,
    /// Rows, vectors and posting arrays.
    Long,
    /// Terms of engraved segments.
    NvmShort,
    /// The rest of engraved segments.
    NvmLong,
}
