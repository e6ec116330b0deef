//! The best matches so far, and the threshold for the next one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::collect::Address;

/// A match with a place in an order. Greater places come first.
pub trait Placed: Copy {
    /// The type of places.
    type Place: Ord + Copy;
    /// Returns the place of this match.
    fn place(&self) -> Self::Place;
}

/// A match with its score.
#[derive(Clone, Copy, Debug)]
pub struct Scored {
    /// The score.
    pub score: f32,
    /// The document's sequence number. The newer of two documents with one score is better.
    pub sequence: u64,
    /// The document.
    pub hit: Address,
}

impl Scored {
    /// Returns the place of a match with this score and sequence number. Scores are at least 0, so
    /// their bits are in their order.
    pub fn place_of(score: f32, sequence: u64) -> u128 {
        u128::from(score.to_bits()) << 64 | u128::from(sequence)
    }
}

impl Placed for Scored {
    /// One number, which is compared without a branch.
    type Place = u128;

    fn place(&self) -> u128 {
        Scored::place_of(self.score, self.sequence)
    }
}

/// A match in the order of places.
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
    /// The matches kept, the worst on top.
    heap: BinaryHeap<Reverse<ByPlace<T>>>,
    k: usize,
    /// True if matches may come that are newer than some that are kept.
    has_newer: bool,
    /// The end of the page before. Only matches behind this place count.
    after: Option<T::Place>,
    /// A lower bound: as many matches as are wanted score above it, found or not yet. Negative if
    /// unknown.
    floor: f32,
}

impl<T: Placed> Top<T> {
    /// Reserves room for `k_max` matches.
    pub fn with_capacity(k_max: usize) -> Top<T> {
        Top {
            heap: BinaryHeap::with_capacity(k_max),
            k: 0,
            has_newer: false,
            after: None,
            floor: -1.0,
        }
    }

    /// Begins anew, for the best `k` matches behind the place `after`.
    pub fn begin(&mut self, k: usize, after: Option<T::Place>) {
        self.heap.clear();
        self.k = k.min(self.heap.capacity());
        self.has_newer = true;
        self.after = after;
        self.floor = -1.0;
    }

    /// True if any match counts.
    pub(crate) fn takes_any(&self) -> bool {
        self.k > 0
    }

    /// Begins the matches of another executor. They may be newer than those kept, and of two
    /// equally good matches the newer counts. An executor's own matches come newest first.
    pub(crate) fn enter_executor(&mut self, number: u32) {
        self.has_newer = number > 0;
    }

    /// Sets if matches may come that are newer than some that are kept. Returns the former setting.
    pub(crate) fn set_has_newer(&mut self, has_newer: bool) -> bool {
        std::mem::replace(&mut self.has_newer, has_newer)
    }

    /// Returns how many matches are wanted on the first page; `None` on a later page.
    pub(crate) fn first_page(&self) -> Option<usize> {
        self.after.is_none().then_some(self.k)
    }

    /// Returns the worst match, once there are `k`. The flag is true if an equally good, newer
    /// match counts.
    pub(crate) fn worst(&self) -> Option<(T, bool)> {
        let is_full = self.heap.len() >= self.k;
        let worst = self.heap.peek().filter(|_| is_full)?;
        Some((worst.0.0, self.has_newer))
    }

    /// Offers a match, which is kept if it is among the best.
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

    /// Yields the matches, in no order.
    pub(crate) fn unsorted(&self) -> impl ExactSizeIterator<Item = T> + '_ {
        self.heap.iter().map(|found| found.0.0)
    }

    /// Moves the matches to `out`, replacing its content, the best first.
    pub fn drain_into(&mut self, out: &mut Vec<T>) {
        out.clear();
        out.extend(self.heap.drain().map(|found| found.0.0));
        out.sort_unstable_by_key(|found| Reverse(found.place()));
    }
}

impl Top {
    /// Returns the threshold: only matches with a higher score count.
    #[inline]
    pub(crate) fn threshold(&self) -> f32 {
        match self.worst() {
            Some((worst, true)) => worst.score.next_down().max(self.floor),
            Some((worst, false)) => worst.score.max(self.floor),
            None => self.floor,
        }
    }

    /// Notes that as many matches as are wanted score above `score`.
    pub(crate) fn raise(&mut self, score: f32) {
        self.floor = self.floor.max(score);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spirit_index::ground::SegmentId;

    fn scored(score: u8, sequence: u64) -> Scored {
        let hit = Address { executor: 0, segment: SegmentId(0), local: sequence as u32 };
        Scored { score: f32::from(score), sequence, hit }
    }

    proptest! {
        /// Page by page, it gives all matches in their order, in whatever order they come.
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
