//! Collectors of matches: the newest, or their number.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::ground::SegmentId;
use spirit_index::ground::local;

/// A match: a document's address. Its key and sequence number lie in its row, which a query does
/// not touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The executor that has it.
    pub executor: u32,
    /// Its segment there.
    pub segment: SegmentId,
    /// Its row in the segment.
    pub local: u32,
}

/// A bound on the number of matches that an evaluation finds.
pub(crate) trait Limit {
    /// True to keep the matches of optional clauses, for their scores.
    const SCORES: bool = false;
    /// Returns how many more matches count before the collector is done.
    fn wanted(&self) -> usize;
}

/// A receiver of matches, newest first.
pub(crate) trait Collector: Limit {
    /// True if matches need no addresses. Then `skip` may be called instead of `take`.
    const COUNTS: bool;
    /// True if the next match needs no address. While it is false, `skip` is not called.
    #[inline(always)]
    fn counts(&self) -> bool {
        Self::COUNTS
    }
    /// Takes a match.
    fn take(&mut self, segment: SegmentId, local: u32);
    /// Takes `count` matches without their addresses.
    fn skip(&mut self, count: u64);
    /// Takes the documents of a list, as many as are wanted.
    #[inline]
    fn take_list(&mut self, segment: SegmentId, list: &[AtomicU32]) {
        for word in &list[..self.wanted().min(list.len())] {
            self.take(segment, local(word.load(Relaxed)));
        }
    }
}

/// The newest `k` matches.
pub(crate) struct Newest<'a> {
    pub(crate) hits: &'a mut Vec<Address>,
    /// One past the last place in `hits` that may be filled.
    pub(crate) end: usize,
    pub(crate) executor: u32,
}

impl Limit for Newest<'_> {
    #[inline(always)]
    fn wanted(&self) -> usize {
        self.end - self.hits.len()
    }
}

impl Collector for Newest<'_> {
    const COUNTS: bool = false;

    #[inline]
    fn take(&mut self, segment: SegmentId, local: u32) {
        self.hits.push(Address { executor: self.executor, segment, local });
    }

    fn skip(&mut self, _: u64) {}

    #[inline]
    fn take_list(&mut self, segment: SegmentId, list: &[AtomicU32]) {
        let (executor, wanted) = (self.executor, self.wanted().min(list.len()));
        // `extend` reserves room once.
        let hit =
            |word: &AtomicU32| Address { executor, segment, local: local(word.load(Relaxed)) };
        self.hits.extend(list[..wanted].iter().map(hit));
    }
}

/// The number of matches.
#[derive(Default)]
pub(crate) struct Count(pub(crate) u64);

impl Limit for Count {
    fn wanted(&self) -> usize {
        usize::MAX
    }
}

impl Collector for Count {
    const COUNTS: bool = true;

    fn take(&mut self, _: SegmentId, _: u32) {
        self.0 += 1;
    }

    fn skip(&mut self, count: u64) {
        self.0 += count;
    }
}
