//! The best documents with required terms, or one term of each required group, and optional ones.
//! Lists are processed [term at a time](super::term_at_a_time), until all lists of one group are
//! done.

use crate::evaluate::{Evaluation, Place};
use crate::plan::{Groups, RANKED_INLINE, TERMS_INLINE};

use super::Ranked;
use super::lists::List;

impl Evaluation<'_, Ranked<'_>> {
    /// Offers the documents with a term of each group that may be among the best, in the registered
    /// segments of this part. A required term is a group of one.
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

    /// Like [`rank_required`](Self::rank_required), in a segment whose lists are open.
    fn rank_required_at(&mut self, place: &Place<'_>, terms: &[u32], groups: &Groups) {
        // Moved out while lists borrow from it.
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
            self.rank_term_at_a_time(place, &mut lists[..count], there);
        }
        self.scratch.words = words;
    }
}
