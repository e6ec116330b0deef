//! A segment of the run that is rewritten.

use crate::snapshot::Segment;

/// Marks a row that is not copied, in the map from old to new local ids.
pub(super) const DEAD: u32 = u32::MAX;

/// One segment of the run, with the new places of its living rows.
pub(super) struct Source<'a> {
    pub(super) segment: Segment<'a>,
    /// New local id of each row.
    pub(super) map: Vec<u32>,
    /// New ordinal of each of the segment's ordinals.
    pub(super) ordinals: Vec<u32>,
}
