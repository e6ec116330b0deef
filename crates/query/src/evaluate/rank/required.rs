//! The best documents with several terms, of which some must be there, or one of a group, and others need not: their lists are gone
//! through [in turn](super::lists_in_turn), until all of a group have been.

use crate::evaluate::{Evaluation, Place};
use crate::plan::{Groups, RANKED_INLINE, TERMS_INLINE};

use super::Ranked;
use super::lists::List;

impl Evaluation<'_, Ranked<'_>> {
    /// Offers what may be among the best of the documents with some terms, one of each group, in the registered segments at hand. A term
    /// is a group by itself.
    pub(super) fn rank_required(&mut self, terms: &[u32], groups: &Groups) {
        let (mut required, mut count) = ([0; TERMS_INLINE], 0);
        for group in groups.as_slice().iter().filter(|group| group.count_ones() == 1) {
            let term = terms[group.trailing_zeros() as usize];
            if !required[..count].contains(&term) {
                required[count] = term;
                count += 1;
            }
        }
        let required = &required[..count];
        self.each_meeting(required, |this, place| {
            let others = terms.iter().filter(|term| !required.contains(term));
            let lists = this.lists();
            for term in others {
                this.scratch.leaves[*term as usize].open_at(lists, &place.segment);
            }
            this.rank_required_at(place, terms, groups);
        });
    }

    /// The same in a segment where the terms' lists are open.
    fn rank_required_at(&mut self, place: &Place<'_>, terms: &[u32], groups: &Groups) {
        // Lent, since what lists are read in is not to be seen to change.
        let words = std::mem::take(&mut self.scratch.words);
        let mut lists = [List::NONE; RANKED_INLINE];
        let (mut count, mut there) = (0, [0; TERMS_INLINE]);
        for (number, term) in terms.iter().enumerate() {
            if self.scratch.leaves[*term as usize].postings > 0 {
                lists[count] = self.list(place, *term as usize, &words);
                for (there, group) in there.iter_mut().zip(groups.as_slice()) {
                    *there |= (group >> number & 1) << count;
                }
                count += 1;
            }
        }
        let there = &there[..groups.as_slice().len()];
        if there.iter().all(|group| *group != 0) {
            self.rank_one_by_one(place, &mut lists[..count], there);
        }
        self.scratch.words = words;
    }
}
