//! The terms of a segment in their stored order. Their numbers lead to the DRAM dictionary, or to
//! nodes once the segment is engraved raw.

use std::cmp::Ordering;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

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

    /// Returns the prefixes from the next term on that have the bits `begin` where `mask` has ones.
    pub(super) fn prefixes(&self, mask: u64, begin: u64) -> &'a [AtomicU64] {
        self.order.prefixes(self.next, mask, begin)
    }

    /// Prefetches what the number of the term at a place leads to.
    #[inline(always)]
    pub(super) fn prefetch_number(&self, place: usize) {
        self.source.prefetch_number(self.order.number(place));
    }

    /// Prefetches the record with a term's bytes, if that is what its number leads to at last.
    #[inline(always)]
    pub(super) fn prefetch_term(&self, place: usize) {
        self.source.prefetch_term(self.order.number(place));
    }

    pub(super) fn place(&self) -> usize {
        self.next
    }

    pub(super) fn go_to(&mut self, place: usize) {
        self.next = place;
    }

    /// Returns the next term if its bytes, which are written to `out`, are wanted.
    pub(super) fn next_if(
        &mut self,
        out: &mut TermBuffer,
        is_wanted: impl FnOnce(&[u8]) -> bool,
    ) -> Option<OrderedTerm> {
        let number = (self.next < self.order.len()).then(|| self.order.number(self.next))?;
        self.next += 1;
        let (field, len) = self.source.write(number, out)?;
        is_wanted(&out[..len]).then(|| self.source.term(number, (field, len)))?
    }

    /// Returns the next term and writes its bytes to `out`.
    pub(super) fn next_term(&mut self, out: &mut TermBuffer) -> Option<OrderedTerm> {
        while self.next < self.order.len() {
            let number = self.order.number(self.next);
            self.next += 1;
            let written = self.source.write(number, out);
            if let Some(found) = written.and_then(|term| self.source.term(number, term)) {
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

    #[inline(always)]
    fn prefetch_number(&self, number: u32) {
        match self {
            Source::Flushed { dictionary, map, .. } => {
                let id = map.get(number as usize).map(|id| TermId(id.load(Relaxed)));
                id.into_iter().for_each(|id| dictionary.prefetch_record(id));
            }
            Source::Engraved { nodes, .. } => nodes.prefetch(number),
        }
    }

    #[inline(always)]
    fn prefetch_term(&self, number: u32) {
        if let Source::Engraved { nodes, .. } = self {
            nodes.prefetch_term(number);
        }
    }

    /// Returns a term with its list. Its field and the number of its bytes are known.
    fn term(&self, number: u32, (field, len): (FieldId, usize)) -> Option<OrderedTerm> {
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
