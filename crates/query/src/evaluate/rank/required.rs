//! The best documents with several terms of which some must be there and others need not: their lists are gone through [in
//! turn](super::lists_in_turn), until all that must be there have been.

use crate::evaluate::{Evaluation, Place};
use crate::plan::{RANKED_INLINE, TERMS_INLINE};

use super::Ranked;
use super::lists::List;

impl Evaluation<'_, Ranked<'_>> {
    /// Offers what may be among the best of the documents with some terms in the registered segments at hand: those terms whose bits are set in
    /// `must` have to be there.
    pub(super) fn rank_required(&mut self, terms: &[u32], must: u32) {
        let (mut required, mut count) = ([0; TERMS_INLINE], 0);
        for (number, term) in terms.iter().enumerate() {
            if must >> number & 1 == 1 && !required[..count].contains(term) {
                required[count] = *term;
                count += 1;
            }
        }
        let required = &required[..count];
        self.each_meeting(required, |this, place| {
            let optional = terms.iter().filter(|term| !required.contains(term));
            let lists = this.lists();
            for term in optional {
                this.scratch.leaves[*term as usize].open_at(lists, &place.segment);
            }
            this.rank_required_at(place, terms, must);
        });
    }

    /// The same in a segment where the terms' lists are open.
    fn rank_required_at(&mut self, place: &Place<'_>, terms: &[u32], must: u32) {
        // Lent, since what lists are read in is not to be seen to change.
        let words = std::mem::take(&mut self.scratch.words);
        let mut lists = [List::NONE; RANKED_INLINE];
        let (mut count, mut required) = (0, 0_u32);
        for (number, term) in terms.iter().enumerate() {
            if self.scratch.leaves[*term as usize].postings > 0 {
                lists[count] = self.list(place, *term as usize, &words);
                required |= (must >> number & 1) << count;
                count += 1;
            }
        }
        self.rank_one_by_one(place, &mut lists[..count], required);
        self.scratch.words = words;
    }
}
