//! The segments in which all terms of an AND have entries, from the newest back. A list whose next
//! entry is newer than the others' goes back to their segment.

use spirit_index::ground::SegmentId;

use crate::tuning::LINES_AHEAD;
use spirit_index::snapshot::Segment;
use spirit_index::terms::Entry;
use spirit_mem::{Region, prefetch};

use super::Evaluation;

const LINE_WORDS: usize = 16;

impl<C> Evaluation<'_, C> {
    /// Goes back to the newest unvisited segment in which all terms have entries, and prefetches
    /// its lists. Returns false if none is left.
    pub(super) fn align(&mut self, terms: &[u32]) -> bool {
        let found = match terms {
            [a, b] if !self.snapshot.has_versions() => self.align_two(*a as usize, *b as usize),
            _ => self.align_any(terms),
        };
        let Some(id) = found else { return false };
        let lists = self.lists();
        let segment = self.snapshot.of(id);
        let meeting = self.scratch.ahead.push();
        for (term, place) in terms.iter().zip(&mut meeting.entries) {
            let leaf = &mut self.scratch.leaves[*term as usize];
            leaf.left -= 1;
            let entry = leaf.entries(lists).get(leaf.left);
            *place = (entry, leaf.left as u32);
            prefetch_list(lists.region, &segment, entry);
        }
        true
    }

    /// Goes back to the newest segment in which both terms have entries, and returns it. It is the
    /// last of those left.
    fn align_two(&mut self, a: usize, b: usize) -> Option<SegmentId> {
        let lists = self.lists();
        let leaves = &mut self.scratch.leaves;
        let (x, y) = (leaves[a].entries(lists), leaves[b].entries(lists));
        [leaves[a].left, leaves[b].left] = x.meet(y, [leaves[a].left, leaves[b].left]);
        let segment = x.segment(leaves[a].left.checked_sub(1)?);
        (segment.position() >= self.part.oldest).then_some(segment)
    }

    /// Like [`align_two`](Self::align_two), for any number of terms, and for segments with several
    /// versions.
    fn align_any(&mut self, terms: &[u32]) -> Option<SegmentId> {
        let (lists, oldest) = (self.lists(), self.part.oldest);
        let mut target = None;
        let mut agreed = 0;
        let mut i = 0;
        // Invariant: the last `agreed` terms have their newest entry left in the segment `target`.
        // Terminates: each step agrees, or moves the target back, and runs out of entries at last.
        while agreed < terms.len() {
            let leaf = &mut self.scratch.leaves[terms[i] as usize];
            let segment = loop {
                let index = leaf.left.checked_sub(1)?;
                let segment = leaf.entries(lists).segment(index);
                if segment.position() < oldest {
                    return None;
                }
                if target.is_none_or(|t| segment <= t) && !self.snapshot.skips(segment) {
                    break segment;
                }
                leaf.left = index;
            };
            agreed = if target == Some(segment) { agreed + 1 } else { 1 };
            target = Some(segment);
            i = (i + 1) % terms.len();
        }
        target
    }
}

/// Prefetches the first cache lines of an entry's list.
#[inline]
pub(super) fn prefetch_list(region: &Region, segment: &Segment<'_>, entry: Entry) {
    if entry.postings > 1 {
        let words = match segment.packed(entry) {
            Some(packed) => packed.words(region),
            // Only for prefetching: nothing is read through it.
            None => region.peek(segment.flushed().list(entry)).unwrap_or(&[]),
        };
        for word in words.iter().step_by(LINE_WORDS).take(LINES_AHEAD) {
            prefetch(word);
        }
    }
}
