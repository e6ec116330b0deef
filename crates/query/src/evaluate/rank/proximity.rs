//! Scores in which places and closeness of terms count.
//!
//! All evaluators compare BM25's scores and bounds with a [threshold](Ranked::threshold) that allows
//! for what places and closeness may add. So positions are read only of documents that may be among
//! the best. Before that, a document's length bounds the weights of the terms that it may contain: a
//! document with one of two words scores too little for both.

use spirit_index::ground::rank_of;

use super::Ranked;
use crate::evaluate::{Evaluation, Place};

impl Evaluation<'_, Ranked<'_>> {
    /// Returns a document's score with what places and closeness add to BM25's, if they count;
    /// `None` if that cannot be among the best.
    #[inline]
    pub(super) fn with_places(&mut self, place: &Place<'_>, rank: u32, score: f32) -> Option<f32> {
        let Some(proximity) = self.collector.proximity else { return Some(score) };
        if self.is_beaten(score) || !self.meter.step() {
            return None;
        }
        let weights = self.collector.weights;
        if let Some(field) = proximity.field()
            && self.collector.skips
        {
            let length = place.segment.length_of(field, rank_of(rank));
            if proximity.bound(weights, score, length) <= self.collector.top.threshold() {
                return None;
            }
        }
        let worth = self.read_places(place, rank, weights, proximity).worth();
        // The difference of two infinite sums is no number.
        Some(score.max(score + worth))
    }
}
