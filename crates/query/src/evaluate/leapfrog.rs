//! The newest few documents that have a term of each of two groups, or of one, and none of others: lists move each other on.
//!
//! Each group says where it has a document next, from where the other has one, until both have the same; only then is it asked whether
//! that lacks what it must. Where few documents have both, that is slower than [windows](super::window), which take the rest of a
//! segment after this many steps.

use spirit_index::ground::posting::rank_of;

use super::{Evaluation, Place};
use crate::collect::Collector;
use crate::leaf::END;
use crate::plan::Groups;

/// Groups that are gone through so: of more, few documents have one each, however many have each one.
const GROUPS_MAX: usize = 2;
/// Steps in a segment before windows take over: they cost what a few of the latter do.
const STEPS_MAX: usize = 512;

/// Whether lists move each other on for this many groups of terms.
pub(super) fn leapfrogs(groups: &Groups) -> bool {
    groups.as_slice().len() <= GROUPS_MAX
}

impl<C: Collector> Evaluation<'_, C> {
    /// Offers the documents of a segment that have one term of each group and none that is in no group, whose leaves are open there, until
    /// it is done. Returns the rank from which on others have to look, if any.
    pub(super) fn leapfrog(
        &mut self,
        place: &Place<'_>,
        terms: &[u32],
        groups: &Groups,
    ) -> Option<u32> {
        let mut rank = place.first;
        for _ in 0..STEPS_MAX {
            if !self.meter.step() {
                return None;
            }
            let next = self.next_of_groups(place, terms, groups, rank);
            if next >= END {
                return None;
            }
            if next > rank {
                rank = next;
                continue;
            }
            if self.earliest_of(place, terms, !groups.all(), rank) != rank {
                self.offer(place, rank_of(rank));
                if self.done() {
                    return None;
                }
            }
            rank += 1;
        }
        Some(rank)
    }

    /// Where the first group is that has no document at `rank`: there is none before that. `rank` itself if each has it.
    fn next_of_groups(
        &mut self,
        place: &Place<'_>,
        terms: &[u32],
        groups: &Groups,
        rank: u32,
    ) -> u32 {
        let mut next =
            groups.as_slice().iter().map(|group| self.earliest_of(place, terms, *group, rank));
        next.find(|next| *next != rank).unwrap_or(rank)
    }

    /// The first rank at or behind `target` at which one of some terms has a document, by their bits.
    fn earliest_of(&mut self, place: &Place<'_>, terms: &[u32], bits: u32, target: u32) -> u32 {
        let mut earliest = END;
        for (number, term) in terms.iter().enumerate() {
            if bits >> number & 1 == 1 && earliest > target {
                earliest = earliest.min(self.seek(place, *term as usize, target));
            }
        }
        earliest
    }
}
