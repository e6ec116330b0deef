//! What is left of a score by a document's age.

use spirit_index::values::ValueKind;

use super::Ranked;
use crate::evaluate::{Evaluation, Place};

impl Evaluation<'_, Ranked<'_>> {
    /// A document's score as it has faded, if scores do.
    #[inline]
    pub(super) fn faded(&self, place: &Place<'_>, rank: u32, score: f32) -> f32 {
        match self.collector.fading {
            None => score,
            Some(fading) => {
                score * fading.factor(place.last_value(fading.field, ValueKind::Time, rank))
            }
        }
    }
}
