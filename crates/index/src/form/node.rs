//! Nodes: each holds a term's postings in one raw engraved segment and leads to the term's next
//! older node (paper §4.7).
//!
//! A segment's nodes are in the order of their terms' hashes (low halves, then ordinals). The
//! merged dictionary's buckets have this order too, so merging reads both from front to end.
//!
//! | word of a node | low half | high half |
//! |---|---|---|
//! | 0 | link to the term's node in the next older segment that has it | |
//! | 1 | segment id | postings |
//! | 2 | the posting if there is one, else the place of the list's first word | the ordinal |
//! | 3 | checksum of words 1, 2 and the key | line of the term's record, once it is merged |
//!
//! A **link** names the segment that it leads into. So a reader checks the window before it follows
//! the link, and retention is one store. A node has a checksum that covers the term's key too. So a
//! wrong link is detected at its target.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Acquire;

use spirit_mem::{Region, Span, prefetch};

use crate::ground::corrupt::checksum;
use crate::ground::ids::{POSITIONS_MAX, Position, SegmentId};
use crate::ground::section::{Kind, Sections};
use crate::ground::term::TermKey;
use crate::terms::entries::Entry;

/// Bytes of a node; nodes begin at multiples of it.
pub(crate) const NODE_BYTES: u64 = 32;
const NODE_WORDS: usize = NODE_BYTES as usize / 8;

const UNIT_BITS: u32 = 33;
// A link is a position and a unit.
const _: () = assert!(1 << (64 - UNIT_BITS) == POSITIONS_MAX);

/// The place of a node and its segment: position (31 bits), offset in units of 32 bytes (33 bits).
/// 0 leads nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Link(pub u64);

impl Link {
    /// Makes a link to the node at `at` of the segment at `position`.
    pub fn new(position: Position, at: u64) -> Link {
        Link(((position as u64) << UNIT_BITS) | (at / NODE_BYTES))
    }

    /// True if it leads nowhere.
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Returns the segment's position.
    pub fn position(self) -> Position {
        (self.0 >> UNIT_BITS) as Position
    }

    /// Returns the node's offset.
    pub fn place(self) -> u64 {
        (self.0 & ((1 << UNIT_BITS) - 1)) * NODE_BYTES
    }
}

/// A term's postings in a raw engraved segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// The link to the next older node.
    pub link: Link,
    /// The segment.
    pub segment: SegmentId,
    /// The term's number in the segment.
    pub ordinal: u32,
    /// Number of postings, at least one.
    pub postings: u32,
    /// The posting if there is one, else the place of the postings.
    pub payload: u32,
    /// The line of the term's record, if it is merged.
    pub record: u32,
    check: u32,
}

impl Node {
    /// Makes the node of a term with this entry, in a segment that is not merged.
    pub(crate) fn new(entry: Entry, ordinal: u32, key: TermKey) -> Node {
        let Entry { segment, postings, payload, .. } = entry;
        let link = Link::default();
        let mut node = Node { link, segment, ordinal, postings, payload, record: 0, check: 0 };
        node.check = node.check_for(key);
        node
    }

    /// Returns the node as an entry. Its total is unknown.
    pub(crate) fn entry(&self) -> Entry {
        let Node { segment, postings, payload, .. } = *self;
        Entry { segment, postings, payload, total: 0, alone: 0 }
    }

    /// Reads the node at `at`, or returns `None` if that is outside the region.
    pub(crate) fn read(region: &Region, at: u64) -> Option<Node> {
        let words = region.get(Span::<AtomicU64>::new(at, NODE_WORDS as u64))?;
        words.first_chunk().map(Node::of)
    }

    /// Parses the node in these words.
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

    /// Returns the node after its merge, with its link and its term's record.
    pub(crate) fn linked(self, link: Link, record: u32) -> Node {
        Node { link, record, ..self }
    }

    /// Returns the node's words.
    pub(crate) fn words(&self) -> [u64; NODE_WORDS] {
        [
            self.link.0,
            self.segment.0 as u64 | (self.postings as u64) << 32,
            self.payload as u64 | (self.ordinal as u64) << 32,
            self.last_word(),
        ]
    }

    /// Returns the node's last word.
    pub(crate) fn last_word(&self) -> u64 {
        self.check as u64 | (self.record as u64) << 32
    }

    /// True if it is the node that was stored for this term.
    pub(crate) fn is_of(&self, key: TermKey) -> bool {
        self.check == self.check_for(key)
    }

    fn check_for(&self, key: TermKey) -> u32 {
        let words = self.words();
        checksum(0, &[words[1], words[2], key.low, key.high])
    }
}

/// The nodes of an engraved segment, in their stored order.
#[derive(Clone, Copy)]
pub(crate) struct Nodes<'a> {
    words: &'a [[AtomicU64; NODE_WORDS]],
    start: u64,
}

impl<'a> Nodes<'a> {
    /// Returns the nodes of the segment with these sections.
    pub(crate) fn of(region: &'a Region, sections: &Sections) -> Nodes<'a> {
        let section = sections.get(Kind::Nodes);
        let words: &[AtomicU64] = region.view(Span::new(section.start, section.bytes / 8));
        Nodes { words: words.as_chunks().0, start: section.start }
    }

    /// Returns the number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns the node at `index`, which is below their number.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Node {
        Node::of(&self.words[index])
    }

    /// Prefetches the node at `index`.
    #[inline]
    pub(crate) fn prefetch(&self, index: usize) {
        prefetch(&self.words[index]);
    }

    /// Returns the offset of the node at `index` in the region, in bytes.
    pub(crate) fn place(&self, index: usize) -> u64 {
        self.start + index as u64 * NODE_BYTES
    }

    /// Returns the index of the node at offset `place`, if there is one.
    pub(crate) fn index_of(&self, place: u64) -> Option<usize> {
        let from_start = place.checked_sub(self.start)?;
        let index = (from_start / NODE_BYTES) as usize;
        (from_start.is_multiple_of(NODE_BYTES) && index < self.len()).then_some(index)
    }

    /// Yields all nodes.
    pub(crate) fn iter(self) -> impl Iterator<Item = Node> + use<'a> {
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
