//! Nodes: a term's postings in a raw engraved segment, each leading to the term's next older one (paper §4.9).
//!
//! A segment's nodes lie in the order of their terms' hashes (low halves, then ordinals), as the merged dictionary's buckets do: merging
//! goes through both from front to end.
//!
//! | word of a node | low half | high half |
//! |---|---|---|
//! | 0 | link to the term's node in the next older segment that has it | |
//! | 1 | segment id | postings |
//! | 2 | the posting if it is one, else where they begin in the segment's posting words | the term's ordinal |
//! | 3 | checksum of words 1, 2 and the key | line of the term's record, once it is merged |
//!
//! A **link** says which segment it leads into, so that the window is asked before it is followed, and retention is one
//! store. What it leads to carries a checksum over the term's key too: a link that is not what was stored there is found out
//! where it ends.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Acquire;

use spirit_mem::{Region, Span, prefetch};

use crate::ground::corrupt::checksum;
use crate::ground::ids::{POSITIONS_MAX, Position, SegmentId};
use crate::ground::section::{Kind, Sections};
use crate::ground::term::TermKey;
use crate::terms::entries::Entry;

/// Bytes of a node; nodes begin at multiples of it.
pub const NODE_BYTES: u64 = 32;
const NODE_WORDS: usize = NODE_BYTES as usize / 8;

const UNIT_BITS: u32 = 33;
// A link is a position and a unit.
const _: () = assert!(1 << (64 - UNIT_BITS) == POSITIONS_MAX);

/// Where a node lies, and in which segment: position (31 bits), place in units of 32 bytes (33 bits). 0 leads nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link(pub u64);

impl Link {
    /// To the node at `at` of the segment at `position`.
    pub fn new(position: Position, at: u64) -> Link {
        Link(((position as u64) << UNIT_BITS) | (at / NODE_BYTES))
    }

    /// Whether it leads nowhere.
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The segment.
    pub fn position(self) -> Position {
        (self.0 >> UNIT_BITS) as Position
    }

    /// The node's offset.
    pub fn place(self) -> u64 {
        (self.0 & ((1 << UNIT_BITS) - 1)) * NODE_BYTES
    }
}

/// A term's postings in a raw engraved segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The next older one.
    pub link: Link,
    /// The segment.
    pub segment: SegmentId,
    /// The term's number in the segment.
    pub ordinal: u32,
    /// How many postings, at least one.
    pub postings: u32,
    /// The posting, or where they begin.
    pub payload: u32,
    /// The line of the term's record, if it is merged.
    pub record: u32,
    check: u32,
}

impl Node {
    /// The node of a term with this entry in a segment that is not merged.
    pub fn new(entry: Entry, ordinal: u32, key: TermKey) -> Node {
        let Entry { segment, postings, payload, .. } = entry;
        let link = Link::default();
        let mut node = Node { link, segment, ordinal, postings, payload, record: 0, check: 0 };
        node.check = node.check_for(key);
        node
    }

    /// The same as an entry. Of totals nothing is known.
    pub(crate) fn entry(&self) -> Entry {
        let Node { segment, postings, payload, .. } = *self;
        Entry { segment, postings, payload, total: 0, alone: 0 }
    }

    /// Reads the node at `at`; `None` if that is not in the region.
    pub fn read(region: &Region, at: u64) -> Option<Node> {
        let words = region.get(Span::<AtomicU64>::new(at, NODE_WORDS as u64))?;
        words.first_chunk().map(Node::of)
    }

    /// The node in these words.
    #[inline]
    pub(crate) fn of(words: &[AtomicU64; NODE_WORDS]) -> Node {
        let [link, first, second, third] = words.each_ref().map(|word| word.load(Acquire));
        Node {
            link: Link(link),
            segment: SegmentId(first as u32),
            postings: (first >> 32) as u32,
            payload: second as u32,
            ordinal: (second >> 32) as u32,
            record: (third >> 32) as u32,
            check: third as u32,
        }
    }

    /// The same, merged.
    pub(crate) fn linked(self, link: Link, record: u32) -> Node {
        Node { link, record, ..self }
    }

    /// Its words.
    pub fn words(&self) -> [u64; NODE_WORDS] {
        [
            self.link.0,
            self.segment.0 as u64 | (self.postings as u64) << 32,
            self.payload as u64 | (self.ordinal as u64) << 32,
            self.last_word(),
        ]
    }

    /// Its last word.
    pub fn last_word(&self) -> u64 {
        self.check as u64 | (self.record as u64) << 32
    }

    /// Whether it is what was stored for this term.
    pub fn is_of(&self, key: TermKey) -> bool {
        self.check == self.check_for(key)
    }

    fn check_for(&self, key: TermKey) -> u32 {
        let words = self.words();
        checksum(0, &[words[1], words[2], key.low, key.high])
    }
}

/// The nodes of an engraved segment, as they lie.
#[derive(Clone, Copy)]
pub struct Nodes<'a> {
    words: &'a [[AtomicU64; NODE_WORDS]],
    start: u64,
}

impl<'a> Nodes<'a> {
    /// Those of the segment with these sections.
    pub fn of(region: &'a Region, sections: &Sections) -> Nodes<'a> {
        let section = sections.get(Kind::Nodes);
        let words: &[AtomicU64] = region.view(Span::new(section.start, section.bytes / 8));
        Nodes { words: words.as_chunks().0, start: section.start }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The one at `index`, which is below their number.
    #[inline]
    pub fn get(&self, index: usize) -> Node {
        Node::of(&self.words[index])
    }

    /// Asks for it.
    #[inline]
    pub(crate) fn prefetch(&self, index: usize) {
        prefetch(&self.words[index]);
    }

    /// Its offset in the region, in bytes.
    pub fn place(&self, index: usize) -> u64 {
        self.start + index as u64 * NODE_BYTES
    }

    /// Which one lies at offset `place`, if one does.
    pub(crate) fn index_of(&self, place: u64) -> Option<usize> {
        let from_start = place.checked_sub(self.start)?;
        let index = (from_start / NODE_BYTES) as usize;
        (from_start.is_multiple_of(NODE_BYTES) && index < self.len()).then_some(index)
    }

    /// All of them.
    pub fn iter(self) -> impl Iterator<Item = Node> + use<'a> {
        self.words.iter().map(Node::of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_say_what_they_were_told() {
        let link = Link::new(0x7FFF_FFFF, 0x3F_FFFF_FFE0);
        assert_eq!((link.position(), link.place()), (0x7FFF_FFFF, 0x3F_FFFF_FFE0));
        assert!(Link(0).is_none());
    }

    #[test]
    fn a_node_is_of_its_term_alone() {
        let key = |low| TermKey { low, high: 3 << 56 };
        let entry = Entry { segment: SegmentId(12), postings: 5, payload: 900, ..Entry::NONE };
        let node = Node::new(entry, 7, key(1));
        assert!(node.is_of(key(1)) && !node.is_of(key(2)));
        assert!(!Node { postings: 6, ..node }.is_of(key(1)));
        assert!(!Node { ordinal: 6, ..node }.is_of(key(1)));
        assert!(Node { link: Link(9), record: 4, ..node }.is_of(key(1)), "these change");
    }
}
