//! The terms of a segment in their stored order. Their numbers lead to the DRAM dictionary, or to
//! nodes once the segment is engraved raw.

use std::cmp::Ordering;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use spirit_mem::{Region, Span};

use crate::form::merged::Merged;
use crate::form::named_nodes::NamedNodes;
use crate::form::shape::Lists;
use crate::ground::ids::SegmentId;
use crate::ground::term::{FieldId, TERM_BYTES_MAX, TermBuffer};
use crate::snapshot::Segment;
use crate::snapshot::ordered_term::OrderedTerm;
use crate::terms::dictionary::{Dictionary, TermId};
use crate::terms::term_order::{Beginning, Leads, TermOrder, prefix};

/// A cursor over the terms.
#[derive(Clone, Copy)]
pub(super) struct ListedTerms<'a> {
    order: TermOrder<'a>,
    source: Source<'a>,
    next: usize,
}

/// The target of terms' numbers.
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

impl<'a> ListedTerms<'a> {
    /// Makes a cursor over a segment whose order is at `at`. It begins at the term with these
    /// bytes, or where that would be.
    pub(super) fn from(
        segment: &Segment<'a>,
        at: u64,
        field: FieldId,
        bytes: &[u8],
    ) -> ListedTerms<'a> {
        let region = segment.memory.region();
        let order = TermOrder::at(region, at);
        let source = Source::of(segment, Leads::of(region, at), order.len() as u64);
        let mut terms = ListedTerms { order, source, next: 0 };
        terms.next = terms.find(field, bytes);
        terms
    }

    fn find(&self, field: FieldId, bytes: &[u8]) -> usize {
        let mut found = [0; TERM_BYTES_MAX];
        self.order.search(prefix(field, bytes), |number| {
            // A term that cannot be read is taken for equal: the cursor skips it anyway.
            let len = self.source.write(number, &mut found).map(|(_, len)| len);
            len.map_or(Ordering::Equal, |len| found[..len].cmp(bytes))
        })
    }

    #[inline]
    pub(super) fn begins(&self) -> Option<Beginning> {
        (self.next < self.order.len()).then(|| Beginning::of(self.order.prefix(self.next)))
    }

    /// Skips all terms whose prefix equals that of the next one, apart from the bits of `behind`.
    pub(super) fn pass(&mut self, behind: u64) {
        self.next = self.order.behind(self.next, self.order.prefix(self.next) | behind);
    }

    pub(super) fn place(&self) -> usize {
        self.next
    }

    pub(super) fn go_to(&mut self, place: usize) {
        self.next = place;
    }

    /// Returns the next term and writes its bytes to `out`.
    pub(super) fn next_term(&mut self, out: &mut TermBuffer) -> Option<OrderedTerm> {
        while self.next < self.order.len() {
            let number = self.order.number(self.next);
            self.next += 1;
            if let Some(found) = self.source.term(number, out) {
                return Some(found);
            }
        }
        None
    }
}

impl<'a> Source<'a> {
    fn of(segment: &Segment<'a>, leads: Leads, terms: u64) -> Source<'a> {
        let (memory, region) = (segment.memory, segment.memory.region());
        match leads {
            Leads::TermMap(start) => Source::Flushed {
                region,
                dictionary: Dictionary::new(region, memory.geometry()),
                map: region.view(Span::new(start, segment.descriptor.terms())),
                segment: segment.id(),
            },
            Leads::Nodes(starts) => {
                let is_merged = segment.id().position() < memory.merged();
                let nvm = memory.nvm().filter(|_| is_merged);
                let merged = nvm.map(|nvm| Merged::new(region, nvm.layout()));
                Source::Engraved {
                    nodes: NamedNodes::new(region, terms, starts, merged),
                    lists: Lists::of(segment.descriptor),
                }
            }
        }
    }

    /// Writes the bytes of a term. Returns its field and the number of bytes.
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
                // Check entries from the second tier here: queries rely on them without another
                // check.
                (Some(node.entry()).filter(|entry| lists.hold(*entry))?, node.ordinal)
            }
        };
        Some(OrderedTerm { field, len, entry, ordinal: Some(ordinal) })
    }
}
