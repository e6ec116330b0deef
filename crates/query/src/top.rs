//! The best matches so far, and the score that the next one has to beat.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::collect::Hit;

/// A match with its score.
#[derive(Clone, Copy, Debug)]
pub struct Scored {
    /// The score.
    pub score: f32,
    /// The document's sequence number: of two with the same score the newer is better.
    pub sequence: u64,
    /// The document.
    pub hit: Hit,
}

/// The order of a heap: the worst is on top.
impl Ord for Scored {
    fn cmp(&self, other: &Scored) -> Ordering {
        self.place().cmp(&other.place()).reverse()
    }
}

impl Scored {
    /// What matches are ordered by. Scores are numbers from 0 on, whose bits ascend as they do.
    pub(crate) fn place(&self) -> (u32, u64) {
        (self.score.to_bits(), self.sequence)
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Scored) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scored {
    fn eq(&self, other: &Scored) -> bool {
        self.place() == other.place()
    }
}

impl Eq for Scored {}

/// The best `k` matches.
#[derive(Debug)]
pub struct Top {
    heap: BinaryHeap<Scored>,
    k: usize,
    /// Whether matches may come that are newer than some that are kept.
    has_newer: bool,
    /// Only what comes behind this place: where the page before ended.
    after: Option<(u32, u64)>,
}

impl Top {
    /// With room for `k_max` matches.
    pub fn with_capacity(k_max: usize) -> Top {
        Top { heap: BinaryHeap::with_capacity(k_max), k: 0, has_newer: false, after: None }
    }

    /// Begins anew: the best `k`, of those behind the one with this score and sequence number.
    pub fn begin(&mut self, k: usize, after: Option<(f32, u64)>) {
        self.heap.clear();
        self.k = k.min(self.heap.capacity());
        self.has_newer = true;
        self.after = after.map(|(score, sequence)| (score.to_bits(), sequence));
    }

    /// Whether any match counts.
    pub(crate) fn takes_any(&self) -> bool {
        self.k > 0
    }

    /// Matches of another executor than before follow: of two with the same score the newer counts, and these may be newer than
    /// what is kept. An executor's own come newest first.
    pub(crate) fn enter_executor(&mut self, number: u32) {
        self.has_newer = number > 0;
    }

    /// No match counts whose score is not above it.
    #[inline]
    pub(crate) fn threshold(&self) -> f32 {
        match self.heap.peek() {
            Some(worst) if self.heap.len() >= self.k => {
                if self.has_newer {
                    worst.score.next_down()
                } else {
                    worst.score
                }
            }
            _ => -1.0,
        }
    }

    /// A match, if it is among the best.
    pub(crate) fn offer(&mut self, found: Scored) {
        if self.after.is_some_and(|after| found.place() >= after) {
            return;
        }
        if self.heap.len() < self.k {
            self.heap.push(found);
        } else if let Some(mut worst) = self.heap.peek_mut()
            && found.place() > worst.place()
        {
            *worst = found;
        }
    }

    /// Puts them into `out`, the best first.
    pub fn drain_into(&mut self, out: &mut Vec<Scored>) {
        out.clear();
        out.extend(self.heap.drain());
        out.sort_unstable_by_key(|found| std::cmp::Reverse(found.place()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spirit_index::descriptor::SegmentId;

    fn scored(score: u8, sequence: u64) -> Scored {
        let hit = Hit { executor: 0, segment: SegmentId(0), local: sequence as u32 };
        Scored { score: f32::from(score), sequence, hit }
    }

    proptest! {
        /// Page by page it gives all of them in their order, whatever order they come in.
        #[test]
        fn pages_are_the_whole(scores in proptest::collection::vec(0u8..6, 0..40), k in 1usize..9) {
            let all: Vec<Scored> =
                scores.iter().zip(0..).map(|(score, sequence)| scored(*score, sequence)).collect();
            let mut expected = all.clone();
            expected.sort_by_key(|found| std::cmp::Reverse(found.place()));
            let (mut top, mut page, mut paged) = (Top::with_capacity(9), Vec::new(), Vec::new());
            loop {
                let last: Option<&Scored> = paged.last();
                top.begin(k, last.map(|last| (last.score, last.sequence)));
                for found in &all {
                    if found.score > top.threshold() {
                        top.offer(*found);
                    }
                }
                top.drain_into(&mut page);
                paged.extend(page.iter().copied());
                if page.len() < k {
                    break;
                }
            }
            prop_assert_eq!(paged, expected);
        }
    }
}
