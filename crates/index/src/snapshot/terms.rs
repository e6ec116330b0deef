//! The terms of a segment in order, from anywhere on; and their lists in it.

use std::cmp::Ordering;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use spirit_mem::{Region, Span};

use super::Segment;
use crate::descriptor::SegmentId;
use crate::dictionary::{Dictionary, TermId};
use crate::entries::Entry;
use crate::nvm::merged::Merged;
use crate::nvm::named_nodes::NamedNodes;
use crate::nvm::shape::Lists;
use crate::term::{FieldId, TERM_BYTES_MAX, TermBuffer};
use crate::term_order::{Leads, PREFIX_BYTES, TermOrder, of_prefix, prefix};

/// A term of a segment. Its bytes are where the [cursor](TermCursor::next_term) was told to write them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderedTerm {
    /// Its field.
    pub field: FieldId,
    /// Its bytes.
    pub len: usize,
    /// Its list in the segment. Of totals nothing is known.
    pub entry: Entry,
    /// Its ordinal there.
    pub ordinal: u32,
}

/// Goes through the terms of a segment in the order of fields and bytes. Good for as long as the reader stays pinned.
#[derive(Clone, Copy)]
pub struct TermCursor<'a> {
    order: TermOrder<'a>,
    source: Source<'a>,
    next: usize,
}

/// What terms' numbers lead to.
#[derive(Clone, Copy)]
enum Source<'a> {
    Flushed {
        region: &'a Region,
        dictionary: Dictionary<'a>,
        map: &'a [AtomicU32],
        segment: SegmentId,
    },
    Engraved {
        nodes: NamedNodes<'a>,
        lists: Lists,
    },
}

impl<'a> Segment<'a> {
    /// Its terms that have postings, from the one with these bytes on or where it would be. For segments within the window only;
    /// the terms of a fresh one are in [its extent](crate::extent::Extent::ordinals), in no order.
    ///
    /// A segment that is engraved, committed or merged meanwhile says the same from either copy, each of which stays until the
    /// reader has left: the DRAM dictionary's entries, and the segment's own table, too.
    pub fn terms_from(&self, field: FieldId, bytes: &[u8]) -> TermCursor<'a> {
        let region = self.memory.region();
        // The one word that leads to a copy is loaded once.
        let at = self.descriptor.term_order();
        let order = TermOrder::at(region, at);
        let source = self.term_source(Leads::of(region, at), order.len() as u64);
        let mut cursor = TermCursor { order, source, next: 0 };
        cursor.next = cursor.find(field, bytes);
        cursor
    }

    /// The ordinal of a term in the segment, if it is there. For segments within the window only.
    pub fn ordinal_of(&self, field: FieldId, bytes: &[u8]) -> Option<u32> {
        let mut found = [0; TERM_BYTES_MAX];
        let term = self.terms_from(field, bytes).next_term(&mut found)?;
        (term.field == field && found[..term.len] == *bytes).then_some(term.ordinal)
    }

    fn term_source(&self, leads: Leads, terms: u64) -> Source<'a> {
        let (memory, region) = (self.memory, self.memory.region());
        match leads {
            Leads::TermMap(start) => Source::Flushed {
                region,
                dictionary: Dictionary::new(region, memory.geometry()),
                map: region.view(Span::new(start, self.descriptor.terms())),
                segment: self.id(),
            },
            Leads::Nodes(starts) => {
                let is_merged = self.id().position() < memory.merged();
                let nvm = memory.nvm().filter(|_| is_merged);
                let merged = nvm.map(|nvm| Merged::new(region, nvm.layout()));
                Source::Engraved {
                    nodes: NamedNodes::new(region, terms, starts, merged),
                    lists: Lists::of(self.descriptor),
                }
            }
        }
    }
}

impl TermCursor<'_> {
    /// The field of the next term and its first bytes, filled up with zeros: known without looking at the term itself. None if there
    /// are no more.
    #[inline]
    pub fn begins(&self) -> Option<(FieldId, [u8; PREFIX_BYTES])> {
        (self.next < self.order.len()).then(|| of_prefix(self.order.prefix(self.next)))
    }

    /// Passes over all terms that begin with the same `count` bytes as the next one, of [those known](Self::begins).
    pub fn pass(&mut self, count: usize) {
        let behind = u64::MAX.checked_shr(8 * (1 + count as u32)).unwrap_or(0);
        self.next = self.order.behind(self.next, self.order.prefix(self.next) | behind);
    }

    /// The place of the next term in the order: what a [column](crate::column::Column) of keywords has of it.
    pub fn place(&self) -> u64 {
        self.next as u64
    }

    /// Goes to the term at a place.
    pub fn go_to(&mut self, place: u64) {
        self.next = usize::try_from(place).unwrap_or(usize::MAX);
    }

    /// The next term, whose bytes are written to the front of `out`; none if there are no more. What is not what was stored is
    /// passed over.
    pub fn next_term(&mut self, out: &mut TermBuffer) -> Option<OrderedTerm> {
        while self.next < self.order.len() {
            let number = self.order.number(self.next);
            self.next += 1;
            if let Some(found) = self.source.term(number, out) {
                return Some(found);
            }
        }
        None
    }

    fn find(&self, field: FieldId, bytes: &[u8]) -> usize {
        let mut found = [0; TERM_BYTES_MAX];
        self.order.search(prefix(field, bytes), |number| {
            // One that cannot be read is taken for the same: it is passed over anyway.
            let len = self.source.write(number, &mut found).map(|(_, len)| len);
            len.map_or(Ordering::Equal, |len| found[..len].cmp(bytes))
        })
    }
}

impl Source<'_> {
    /// Writes the bytes of a term, and says of which field they are, and how many.
    fn write(&self, number: u32, out: &mut TermBuffer) -> Option<(FieldId, usize)> {
        match self {
            Source::Flushed { dictionary, map, .. } => {
                let id = TermId(map.get(number as usize)?.load(Relaxed));
                Some(dictionary.write_term(id, out))
            }
            Source::Engraved { nodes, .. } => nodes.write_term(number, nodes.node(number)?, out),
        }
    }

    fn term(&self, number: u32, out: &mut TermBuffer) -> Option<OrderedTerm> {
        let (field, len) = self.write(number, out)?;
        let (entry, ordinal) = match self {
            Source::Flushed { region, dictionary, map, segment } => {
                let id = TermId(map.get(number as usize)?.load(Relaxed));
                (dictionary.entries(id).view(region).of(*segment)?, number)
            }
            Source::Engraved { nodes, lists } => {
                let node = nodes.node(number)?;
                // As wherever entries come from the second tier: queries go by it without looking again.
                (Some(node.entry()).filter(|entry| lists.hold(*entry))?, node.ordinal)
            }
        };
        Some(OrderedTerm { field, len, entry, ordinal })
    }
}
