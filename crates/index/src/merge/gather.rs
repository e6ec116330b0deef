//! The terms of several engraved segments in the order of their hashes, equal terms side by side: what a
//! [merge](crate::merge) goes through.
//!
//! They are gathered some at a time: of each segment the terms up to a hash that all of them reach, sorted together.

use crate::form::engraved_terms::EngravedTerms;
use crate::ground::geometry::SEGMENT_BYTES_MAX;

/// Segments of a run at most. More gain little: of what a run of sixteen writes two thirds are not the dictionary's.
pub const RUN_MAX: usize = 16;

/// Terms that are gathered together, about.
const TERMS: usize = 8192;

/// A term of one of the segments: its hash (32 bits), which segment (4), which of its terms (28). They are sorted by that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Gathered(u64);

const SEGMENT_BITS: u32 = 4;
const INDEX_BITS: u32 = 28;
const _: () = assert!(RUN_MAX <= 1 << SEGMENT_BITS && SEGMENT_BITS + INDEX_BITS == 32);
/// Terms of a segment at most: each had a record of 64 bytes when the segment was filled. A file may say whatever it likes.
const TERMS_MAX: usize = 1 << INDEX_BITS;
const _: () = assert!(SEGMENT_BYTES_MAX / 64 <= TERMS_MAX as u64);

impl Gathered {
    fn new(hash: u64, segment: usize, index: usize) -> Gathered {
        Gathered(hash << 32 | (segment as u64) << INDEX_BITS | index as u64)
    }

    /// The same without its hash.
    pub(crate) fn place(self) -> u32 {
        self.0 as u32
    }

    /// The one at this place.
    pub(crate) fn at(place: u32) -> Gathered {
        Gathered(place as u64)
    }

    /// The low half of the term's hash.
    pub(crate) fn hash(self) -> u64 {
        self.0 >> 32
    }

    /// Which of the segments.
    pub(crate) fn segment(self) -> usize {
        (self.0 >> INDEX_BITS) as usize % (1 << SEGMENT_BITS)
    }

    /// Which of its terms.
    pub(crate) fn index(self) -> usize {
        self.0 as usize % TERMS_MAX
    }
}

/// How far the terms of some segments are gathered.
#[derive(Debug, Default)]
pub(crate) struct Gather {
    /// Of each segment: its first term that is not gathered.
    next: Vec<usize>,
    gathered: Vec<Gathered>,
    /// How many of those are dealt with.
    done: usize,
    long: [Vec<u8>; 2],
}

impl Gather {
    /// Begins anew, with the lowest hashes of this many segments.
    pub(crate) fn begin(&mut self, segments: usize) {
        self.next.clear();
        self.next.resize(segments, 0);
        self.gathered.clear();
        self.done = 0;
    }

    /// Gathers the next terms, if all that were are dealt with; says whether there are any. `segments` are what they always were.
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
        // Ascending runs, one a segment: the stable sort finds and merges them.
        self.gathered.sort();
        !self.gathered.is_empty()
    }

    /// The next term, in each of the segments that have it, oldest first; empty when all that were gathered are dealt with.
    pub(crate) fn equal(&mut self, segments: &[EngravedTerms<'_>]) -> &[Gathered] {
        let Some(first) = self.ahead(0) else { return &[] };
        let (mut end, mut at) = (self.done + 1, self.done + 1);
        // Of equal hashes there are few, but for equal terms.
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

    /// The next this many terms are dealt with.
    pub(crate) fn pass(&mut self, terms: usize) {
        self.done += terms;
    }

    /// The terms that are gathered and not dealt with.
    pub(crate) fn left(&self) -> &[Gathered] {
        &self.gathered[self.done..]
    }

    /// A term that comes later, if it is gathered.
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
