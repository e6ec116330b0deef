//! The newest few documents that contain a term of each of one or two groups, and no excluded term.
//! The lists move each other on.
//!
//! Each group moves to its first document from the other's position on, until both are at one
//! document. Only then excluded terms are checked. Where few documents are in both groups, that is
//! slower than [windows](super::window). These take over the rest of a segment after [`LEAPFROG_STEPS_MAX`]
//! steps.

use spirit_index::ground::rank_of;

use super::{Evaluation, Place};
use crate::collect::Collector;
use crate::leaf::END;
use crate::plan::{Groups, TermBits};
use crate::tuning::{LEAPFROG_GROUPS_MAX, LEAPFROG_STEPS_MAX};

/// True if this many groups of terms leapfrog.
pub(super) fn leapfrogs(groups: &Groups) -> bool {
    groups.as_slice().len() <= LEAPFROG_GROUPS_MAX
}

impl<C: Collector> Evaluation<'_, C> {
    /// Offers the documents of a segment that contain a term of each group and no term outside the
    /// groups, until the collector is done. The leaves are open. Returns the rank from which on
    /// windows must go on, if any.
    pub(super) fn leapfrog(
        &mut self,
        place: &Place<'_>,
        terms: &[u32],
        groups: &Groups,
    ) -> Option<u32> {
        let mut rank = place.first;
        // Invariant: all matches before `rank` were offered. Terminates after `LEAPFROG_STEPS_MAX` steps.
        for _ in 0..LEAPFROG_STEPS_MAX {
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

    /// Returns the position of the first group that has no document at `rank`; `rank` if all have
    /// one. No document before that position matches.
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

    /// Returns the first rank from `target` on at which one of some terms has a document. `bits`
    /// selects the terms.
    fn earliest_of(
        &mut self,
        place: &Place<'_>,
        terms: &[u32],
        bits: TermBits,
        target: u32,
    ) -> u32 {
        let mut earliest = END;
        for (number, term) in terms.iter().enumerate() {
            if bits >> number & 1 == 1 && earliest > target {
                earliest = earliest.min(self.seek(place, *term as usize, target));
            }
        }
        earliest
    }
}
