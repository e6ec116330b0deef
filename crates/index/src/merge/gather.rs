//! The terms of several engraved segments in the order of their hashes, equal terms side by side. A
//! [merge](crate::merge) goes through them.
//!
//! They are gathered in batches. A batch takes from each segment the terms up to a hash that all
//! segments reach, and sorts them together.

use crate::form::engraved_terms::EngravedTerms;
use crate::ground::geometry::SEGMENT_BYTES_MAX;

/// Largest number of segments of a run. More gain little: two thirds of the writes of a run of
/// sixteen are outside the dictionary.
pub const RUN_MAX: usize = 16;

/// Approximate number of terms that are gathered together.
const TERMS: usize = 8192;

/// A term of one of the segments: its hash (32 bits), its segment (4) and its index there (28).
/// Terms are sorted by this word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Gathered(u64);

const SEGMENT_BITS: u32 = 4;
const INDEX_BITS: u32 = 28;
const _: () = assert!(RUN_MAX <= 1 << SEGMENT_BITS && SEGMENT_BITS + INDEX_BITS == 32);
/// Largest number of terms of a segment. Each took a record of 64 bytes when the segment was
/// filled. A damaged file may claim more.
const TERMS_MAX: usize = 1 << INDEX_BITS;
const _: () = assert!(SEGMENT_BYTES_MAX / 64 <= TERMS_MAX as u64);

impl Gathered {
    fn new(hash: u64, segment: usize, index: usize) -> Gathered {
        Gathered(hash << 32 | (segment as u64) << INDEX_BITS | index as u64)
    }

    /// Returns the word without its hash.
    pub(crate) fn place(self) -> u32 {
        self.0 as u32
    }

    /// Returns the term at this place, without its hash.
    pub(crate) fn at(place: u32) -> Gathered {
        Gathered(place as u64)
    }

    /// Returns the low half of the term's hash.
    pub(crate) fn hash(self) -> u64 {
        self.0 >> 32
    }

    /// Returns the index of its segment.
    pub(crate) fn segment(self) -> usize {
        (self.0 >> INDEX_BITS) as usize % (1 << SEGMENT_BITS)
    }

    /// Returns the term's index in its segment.
    pub(crate) fn index(self) -> usize {
        self.0 as usize % TERMS_MAX
    }
}

/// The progress of gathering.
#[derive(Debug, Default)]
pub(crate) struct Gather {
    /// By segment: its first term that is not gathered.
    next: Vec<usize>,
    gathered: Vec<Gathered>,
    /// Number of gathered terms that are passed.
    done: usize,
    long: [Vec<u8>; 2],
}

impl Gather {
    /// Begins anew with the lowest hashes of this many segments.
    pub(crate) fn begin(&mut self, segments: usize) {
        self.next.clear();
        self.next.resize(segments, 0);
        self.gathered.clear();
        self.done = 0;
    }

    /// Gathers the next terms if all earlier ones are passed. Returns true if there are any. Each
    /// call gets these segments in this order.
    pub(crate) fn more(&mut self, segments: &[EngravedTerms<'_>]) -> bool {
        if self.done < self.gathered.len() {
            return true;
        }
        self.gathered.clear();
        self.done = 0;
        let each = TERMS / segments.len().max(1);
        let reached = |(terms, next): (&EngravedTerms<'_>, &usize)| {
            let last = next + each;
            (last < terms.len()).then(|| terms.hash(last))
        };
        let end = segments.iter().zip(&self.next).filter_map(reached).min();
        // Invariant: a batch has all terms with hashes up to `end`, so that equal terms are in one
        // batch. It takes at least one term unless all are gathered.
        for (segment, (terms, next)) in segments.iter().zip(&mut self.next).enumerate() {
            while *next < terms.len().min(TERMS_MAX) {
                let hash = terms.hash(*next);
                if end.is_some_and(|end| hash > end) {
                    break;
                }
                self.gathered.push(Gathered::new(hash, segment, *next));
                *next += 1;
            }
        }
        // The batch has one ascending run per segment. The stable sort finds and merges these.
        self.gathered.sort();
        !self.gathered.is_empty()
    }

    /// Returns the next term in each segment that contains it, oldest segment first. Empty if all
    /// gathered terms are passed.
    pub(crate) fn equal(&mut self, segments: &[EngravedTerms<'_>]) -> &[Gathered] {
        let Some(first) = self.ahead(0) else { return &[] };
        let (mut end, mut at) = (self.done + 1, self.done + 1);
        // Few different terms have equal hashes.
        while let Some(other) = self.gathered.get(at).copied()
            && other.hash() == first.hash()
        {
            if self.is_equal(segments, first, other) {
                self.gathered[end..=at].rotate_right(1);
                end += 1;
            }
            at += 1;
        }
        &self.gathered[self.done..end]
    }

    /// Passes the next `terms` terms.
    pub(crate) fn pass(&mut self, terms: usize) {
        self.done += terms;
    }

    /// Returns the gathered terms that are not passed.
    pub(crate) fn left(&self) -> &[Gathered] {
        &self.gathered[self.done..]
    }

    /// Returns a later term, if it is gathered.
    pub(crate) fn ahead(&self, distance: usize) -> Option<Gathered> {
        self.gathered.get(self.done + distance).copied()
    }

    fn is_equal(&mut self, segments: &[EngravedTerms<'_>], one: Gathered, other: Gathered) -> bool {
        let keys = [one, other].map(|term| segments[term.segment()].key(term.index()));
        if keys[0].key != keys[1].key || !keys[0].key.is_long() {
            return keys[0].key == keys[1].key;
        }
        for ((term, key), long) in [one, other].iter().zip(keys).zip(&mut self.long) {
            segments[term.segment()].long_bytes(key, long);
        }
        self.long[0] == self.long[1]
    }
}
