//! The best matches so far, and what the next one has to beat.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::collect::Address;

/// A match whose place among others is known: what is greater comes first.
pub trait Placed: Copy {
    /// What matches are ordered by.
    type Place: Ord + Copy;
    /// That of this one.
    fn place(&self) -> Self::Place;
}

/// A match with its score.
#[derive(Clone, Copy, Debug)]
pub struct Scored {
    /// The score.
    pub score: f32,
    /// The document's sequence number: of two with the same score the newer is better.
    pub sequence: u64,
    /// The document.
    pub hit: Address,
}

impl Scored {
    /// The place of a match with this score and sequence number. Scores are numbers from 0 on, whose bits ascend as they do.
    pub fn place_of(score: f32, sequence: u64) -> u128 {
        u128::from(score.to_bits()) << 64 | u128::from(sequence)
    }
}

impl Placed for Scored {
    /// One number, so that it is compared without a branch.
    type Place = u128;

    fn place(&self) -> u128 {
        Scored::place_of(self.score, self.sequence)
    }
}

/// In the order of places.
#[derive(Clone, Copy, Debug)]
struct ByPlace<T>(T);

impl<T: Placed> Ord for ByPlace<T> {
    fn cmp(&self, other: &ByPlace<T>) -> std::cmp::Ordering {
        self.0.place().cmp(&other.0.place())
    }
}

impl<T: Placed> PartialOrd for ByPlace<T> {
    fn partial_cmp(&self, other: &ByPlace<T>) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Placed> PartialEq for ByPlace<T> {
    fn eq(&self, other: &ByPlace<T>) -> bool {
        self.0.place() == other.0.place()
    }
}

impl<T: Placed> Eq for ByPlace<T> {}

/// The best `k` matches.
#[derive(Debug)]
pub struct Top<T: Placed = Scored> {
    /// The worst is on top.
    heap: BinaryHeap<Reverse<ByPlace<T>>>,
    k: usize,
    /// Whether matches may come that are newer than some that are kept.
    has_newer: bool,
    /// Only what comes behind this place: where the page before ended.
    after: Option<T::Place>,
    /// As many matches as are wanted are known to score at least this, whether they were found yet or not; below 0: none are.
    floor: f32,
}

impl<T: Placed> Top<T> {
    /// With room for `k_max` matches.
    pub fn with_capacity(k_max: usize) -> Top<T> {
        Top {
            heap: BinaryHeap::with_capacity(k_max),
            k: 0,
            has_newer: false,
            after: None,
            floor: -1.0,
        }
    }

    /// Begins anew: the best `k`, of those behind the one with this place.
    pub fn begin(&mut self, k: usize, after: Option<T::Place>) {
        self.heap.clear();
        self.k = k.min(self.heap.capacity());
        self.has_newer = true;
        self.after = after;
        self.floor = -1.0;
    }

    /// Whether any match counts.
    pub(crate) fn takes_any(&self) -> bool {
        self.k > 0
    }

    /// Matches of another executor than before follow: of two that are equally good the newer counts, and these may be newer than
    /// what is kept. An executor's own come newest first.
    pub(crate) fn enter_executor(&mut self, number: u32) {
        self.has_newer = number > 0;
    }

    /// Whether matches may come that are newer than some that are kept, from now on; returns whether that was so before.
    pub(crate) fn set_has_newer(&mut self, has_newer: bool) -> bool {
        std::mem::replace(&mut self.has_newer, has_newer)
    }

    /// How many matches are wanted, if any of the best will do: not those behind a page.
    pub(crate) fn first_page(&self) -> Option<usize> {
        self.after.is_none().then_some(self.k)
    }

    /// The worst, if there are as many as there may be; and whether one counts that is as good but for its age.
    pub(crate) fn worst(&self) -> Option<(T, bool)> {
        let is_full = self.heap.len() >= self.k;
        let worst = self.heap.peek().filter(|_| is_full)?;
        Some((worst.0.0, self.has_newer))
    }

    /// A match, if it is among the best.
    pub(crate) fn offer(&mut self, found: T) {
        if self.after.is_some_and(|after| found.place() >= after) {
            return;
        }
        if self.heap.len() < self.k {
            self.heap.push(Reverse(ByPlace(found)));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && found.place() > worst.0.0.place()
        {
            *worst = Reverse(ByPlace(found));
        }
    }

    /// Puts them into `out`, the best first.
    pub fn drain_into(&mut self, out: &mut Vec<T>) {
        out.clear();
        out.extend(self.heap.drain().map(|found| found.0.0));
        out.sort_unstable_by_key(|found| Reverse(found.place()));
    }
}

impl Top {
    /// No match counts whose score is not above it.
    #[inline]
    pub(crate) fn threshold(&self) -> f32 {
        match self.worst() {
            Some((worst, true)) => worst.score.next_down().max(self.floor),
            Some((worst, false)) => worst.score.max(self.floor),
            None => self.floor,
        }
    }

    /// Takes note that as many matches as are wanted score above `score`.
    pub(crate) fn raise(&mut self, score: f32) {
        self.floor = self.floor.max(score);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spirit_index::ground::ids::SegmentId;

    fn scored(score: u8, sequence: u64) -> Scored {
        let hit = Address { executor: 0, segment: SegmentId(0), local: sequence as u32 };
        Scored { score: f32::from(score), sequence, hit }
    }

    proptest! {
        /// Page by page it gives all of them in their order, whatever order they come in.
        #[test]
        fn pages_are_the_whole(scores in proptest::collection::vec(0u8..6, 0..40), k in 1usize..9) {
            let all: Vec<Scored> =
                scores.iter().zip(0..).map(|(score, sequence)| scored(*score, sequence)).collect();
            let places = |all: &[Scored]| all.iter().map(Scored::place).collect::<Vec<_>>();
            let mut expected = all.clone();
            expected.sort_by_key(|found| Reverse(found.place()));
            let (mut top, mut page, mut paged) = (Top::with_capacity(9), Vec::new(), Vec::new());
            loop {
                let last: Option<&Scored> = paged.last();
                top.begin(k, last.map(Scored::place));
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
            prop_assert_eq!(places(&paged), places(&expected));
        }
    }
}
