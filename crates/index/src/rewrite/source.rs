//! A segment of the run that is rewritten.

use crate::snapshot::Segment;

/// In the map from old to new local ids: the row is not copied.
pub(super) const DEAD: u32 = u32::MAX;

/// One segment of the run, and where its living rows go.
pub(super) struct Source<'a> {
    pub(super) segment: Segment<'a>,
    /// New local id of each row.
    pub(super) map: Vec<u32>,
    /// New ordinal of each of the segment's ordinals.
    pub(super) ordinals: Vec<u32>,
}
