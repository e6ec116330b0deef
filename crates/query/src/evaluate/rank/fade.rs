//! Scores that fade with a document's age.

use spirit_index::ground::ValueKind;
use spirit_index::snapshot::Segment;

use super::Ranked;
use crate::evaluate::{Evaluation, Place};
use crate::fade::Fading;
use crate::rank::MORE;

impl<'a> Evaluation<'a, Ranked<'_>> {
    /// Returns the visible part of a registered segment, unless all its scores have faded below the
    /// threshold.
    pub(super) fn promising(&self, segment: Segment<'a>) -> Option<Place<'a>> {
        let is_too_old = self.collector.fading.is_some_and(|fading| {
            self.is_beaten(self.collector.highest * Self::freshest(&segment, fading) * MORE)
        });
        if is_too_old { None } else { self.place(segment, false) }
    }

    /// Returns the factor of a score's fading in the newest document of a registered segment.
    fn freshest(segment: &Segment<'_>, fading: Fading) -> f32 {
        let column = segment.column(fading.field, ValueKind::Time);
        fading.factor(column.map(|column| column.max()))
    }

    /// Returns a document's score after fading, if scores fade.
    #[inline]
    pub(super) fn faded(&self, place: &Place<'_>, rank: u32, score: f32) -> f32 {
        match self.collector.fading {
            None => score,
            Some(fading) => {
                fading.faded(score, place.last_value(fading.field, ValueKind::Time, rank))
            }
        }
    }
}
