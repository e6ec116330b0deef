//! Facets: hands over every match, window by window, whatever the query's shape.

use spirit_index::form::FindOlder;
use spirit_index::ground::rank_of;

use super::window::{Ones, Window};
use super::{Evaluation, Place};
use crate::facet::Aggregating;
use crate::plan::Plan;

impl Evaluation<'_, Aggregating<'_>> {
    /// Hands over all matches. `older` finds entries that the DRAM dictionary does not cover.
    pub(crate) fn aggregate<O: FindOlder>(&mut self, older: impl FnOnce() -> Option<O>) {
        let Plan::Tree { bounded } = Plan::of(self.query, true) else { return };
        let terms = 0..self.query.terms.len() as u32;
        terms.clone().for_each(|term| self.look_up(term as usize));
        self.each_fresh(Self::aggregate_segment);
        self.each_registered(bounded, Self::aggregate_segment);
        self.step_back(older, terms, |part| part.each_registered(bounded, Self::aggregate_segment));
    }

    fn aggregate_segment(&mut self, place: &Place<'_>) {
        let fresh = place.context.extent.is_some();
        self.collector.begin(&place.segment, fresh);
        self.each_window(place, |this, window, bits| this.aggregate_window(place, window, bits));
        self.collector.end(&place.segment, fresh, &mut self.meter);
    }

    fn aggregate_window(&mut self, place: &Place<'_>, window: Window, bits: &mut [u64]) {
        if place.has_dead {
            clear_dead(place, window, bits);
        }
        match place.context.extent {
            Some(_) => self.collector.add_fresh(&place.segment, window, bits, &mut self.meter),
            None => {
                let level = self.settings.level;
                let meter = &mut self.meter;
                self.collector.add_registered(&place.segment, level, window, bits, meter);
            }
        }
    }
}

fn clear_dead(place: &Place<'_>, window: Window, bits: &mut [u64]) {
    for (number, word) in bits.iter_mut().enumerate() {
        for bit in Ones(*word) {
            let rank = window.rank(number * 64 + bit);
            let is_dead = place.segment.is_dead(rank_of(rank));
            *word &= !(u64::from(is_dead) << bit);
        }
    }
}
