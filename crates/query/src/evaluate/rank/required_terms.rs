//! The best documents with required terms, or one term of each required group, and optional ones.
//! Lists are processed [term at a time](super::term_at_a_time), until all lists of one group are
//! done. With a required term, only segments that have all of those are visited.

use crate::evaluate::{Evaluation, Place};
use crate::plan::{Groups, RANKED_INLINE, TERMS_INLINE, TermBits};

use super::Ranked;
use super::lists::List;
use crate::leaf::END;
use crate::tuning::{DENSE_ROWS, RARE_GROUP};

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
        if required.is_empty() {
            self.each_with_any(|this, place| this.rank_groups_at(place, terms, groups));
            return;
        }
        self.each_meeting(required, |this, place| {
            let others = terms.iter().filter(|term| !required.contains(term));
            let lists = this.lists();
            for term in others {
                this.scratch.leaves[*term as usize].open_at(lists, &place.segment);
            }
            this.rank_required_at(place, terms, groups);
        });
    }

    /// Like [`rank_required`](Self::rank_required), in a segment whose lists are open. If they are
    /// dense and no group is rare, windows find the matches.
    fn rank_groups_at(&mut self, place: &Place<'_>, terms: &[u32], groups: &Groups) {
        let postings = |group: TermBits| -> usize {
            let of_group = terms.iter().enumerate().filter(|(number, _)| group >> number & 1 == 1);
            of_group.map(|(_, term)| self.scratch.leaves[*term as usize].postings as usize).sum()
        };
        let rarest = groups.as_slice().iter().map(|group| postings(*group)).min().unwrap_or(0);
        let (all, rows) = (postings(TermBits::MAX), (END - place.base) as usize);
        if all <= rows / DENSE_ROWS as usize || rarest * RARE_GROUP <= all {
            self.rank_required_at(place, terms, groups);
        } else {
            self.rank_tree_at(place);
        }
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
