//! The terms of a segment as its order lists them: by numbers that lead to the DRAM dictionary, or to nodes once it is engraved raw.

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
use crate::terms::term_order::{Leads, PREFIX_BYTES, TermOrder, of_prefix, prefix};

/// Goes through them.
#[derive(Clone, Copy)]
pub(super) struct ListedTerms<'a> {
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

impl<'a> ListedTerms<'a> {
    /// Those of a segment whose order is at `at`, from the one with these bytes on or where it would be.
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
            // One that cannot be read is taken for the same: it is passed over anyway.
            let len = self.source.write(number, &mut found).map(|(_, len)| len);
            len.map_or(Ordering::Equal, |len| found[..len].cmp(bytes))
        })
    }

    #[inline]
    pub(super) fn begins(&self) -> Option<(FieldId, [u8; PREFIX_BYTES])> {
        (self.next < self.order.len()).then(|| of_prefix(self.order.prefix(self.next)))
    }

    /// Passes over all terms whose prefix is that of the next one, or differs from it in the bits of `behind` alone.
    pub(super) fn pass(&mut self, behind: u64) {
        self.next = self.order.behind(self.next, self.order.prefix(self.next) | behind);
    }

    pub(super) fn place(&self) -> usize {
        self.next
    }

    pub(super) fn go_to(&mut self, place: usize) {
        self.next = place;
    }

    /// The next term.
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
        Some(OrderedTerm { field, len, entry, ordinal: Some(ordinal) })
    }
}
