//! The state of facets during a pass over the matches, snapshot after snapshot.

use spirit_index::column::Column;
use spirit_index::form::OlderEntries;
use spirit_index::ground::ValueKind;
use spirit_index::ground::rank_of;
use spirit_index::ground::{FieldId, TERM_BYTES_MAX};
use spirit_index::snapshot::{Segment, Snapshot};
use spirit_kernel::Level;
use spirit_schema::Schema;

use super::gather::Gathered;
use super::keywords::Keywords;
use super::{Aggregate, BUCKETS_MAX, FACETS_MAX, Facet, FacetError};
use crate::collect::Limit;
use crate::evaluate::window::{Bits, WORDS, Window, ones};
use crate::evaluate::{Evaluation, Scratch, Settings};
use crate::limits::{FACET_BYTES_MAX, Stop};
use crate::query::Query;

/// Facets of all documents that a query matches.
pub struct Aggregation {
    parts: Vec<Part>,
    /// The bytes that they may take.
    bytes_max: usize,
    /// The reason why they take no more documents, if they do not.
    stop: Option<Stop>,
}

/// One facet.
struct Part {
    field: FieldId,
    kind: ValueKind,
    gathered: Gathered,
    keywords: Keywords,
    /// The values of the current document.
    values: Vec<u64>,
}

/// The collector of matches for facets.
pub(crate) struct Aggregating<'f>(&'f mut Aggregation);

impl Limit for Aggregating<'_> {
    fn wanted(&self) -> usize {
        if self.0.stop.is_some() { 0 } else { usize::MAX }
    }
}

impl Aggregation {
    /// Returns an empty aggregation of these facets, at most [`FACETS_MAX`], over documents with
    /// the fields of `schema`.
    pub fn new(facets: &[Facet], schema: &Schema) -> Result<Aggregation, FacetError> {
        if facets.len() > FACETS_MAX {
            return Err(FacetError::TooMany { facets: facets.len(), max: FACETS_MAX });
        }
        let part = |facet: &Facet| {
            let (field, kind) = facet.check(schema)?;
            let gathered = Gathered::new(facet);
            Ok(Part {
                field: field.id,
                kind,
                gathered,
                keywords: Keywords::default(),
                values: Vec::new(),
            })
        };
        let parts = facets.iter().map(part).collect::<Result<_, _>>()?;
        Ok(Aggregation { parts, bytes_max: FACET_BYTES_MAX, stop: None })
    }

    /// Adds the matches of `query` in a snapshot. Adds nothing once a limit was reached.
    pub fn add(
        &mut self,
        snapshot: &Snapshot<'_>,
        query: &Query,
        settings: Settings<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), Stop> {
        self.bytes_max = settings.limits.facet_bytes;
        let older = || OlderEntries::new(snapshot.memory());
        let aggregate = |evaluation: &mut Evaluation<'_, _>| evaluation.aggregate(older);
        crate::evaluate(snapshot, query, settings, scratch, Aggregating(self), aggregate)?;
        self.stop.map_or(Ok(()), Err)
    }

    /// Returns the answer to each facet, in their order.
    pub fn finish(self) -> Vec<Aggregate> {
        self.parts.into_iter().map(|part| part.gathered.finish(part.kind)).collect()
    }

    /// Checks the limits.
    fn look(&mut self) {
        if self.parts.iter().any(|part| part.gathered.is_full()) {
            self.stop = Some(Stop::Buckets { max: BUCKETS_MAX });
        } else if self.bytes() > self.bytes_max {
            self.stop = Some(Stop::Memory { max: self.bytes_max });
        }
    }

    /// Returns the bytes that all facets take.
    fn bytes(&self) -> usize {
        self.parts.iter().map(Part::bytes).sum()
    }
}

impl Aggregating<'_> {
    /// Adds the documents of a fresh segment's window whose bits are set. They match and are alive.
    pub(crate) fn add_fresh(&mut self, segment: &Segment<'_>, window: Window, bits: &[u64]) {
        for bit in ones(bits) {
            let values = segment.values(rank_of(window.rank(bit)));
            for part in &mut self.0.parts {
                let own = values.clone().filter(|v| (v.field, v.kind) == (part.field, part.kind));
                part.values.extend(own.map(|value| value.kind.sortable(value.bits)));
                part.values.sort_unstable();
                part.take_document();
            }
            self.0.look();
            if self.0.stop.is_some() {
                return;
            }
        }
    }

    /// Like [`add_fresh`](Self::add_fresh), for a registered segment.
    pub(crate) fn add_registered(
        &mut self,
        segment: &Segment<'_>,
        level: Level,
        window: Window,
        bits: &[u64],
    ) {
        for number in 0..self.0.parts.len() {
            let part = &mut self.0.parts[number];
            let Some(column) = segment.column(part.field, part.kind) else { continue };
            part.add_column(&column, level, window, bits);
            self.0.look();
            if self.0.stop.is_some() {
                return;
            }
        }
    }

    /// Begins a segment, in which keywords have other numbers.
    pub(crate) fn begin(&mut self, segment: &Segment<'_>, fresh: bool) {
        for part in self.0.parts.iter_mut().filter(|part| part.kind == ValueKind::Keyword) {
            let column = (!fresh).then(|| segment.column(part.field, part.kind)).flatten();
            let first = column.map_or(0, |column| column.min());
            // The range is bounded, so a damaged segment cannot make it take more memory.
            let terms = if fresh { u64::from(u32::MAX) } else { segment.descriptor().terms() };
            part.keywords.begin(first..first.saturating_add(terms));
        }
    }

    /// Ends a segment, and names the keywords counted.
    pub(crate) fn end(&mut self, segment: &Segment<'_>, fresh: bool) {
        for number in 0..self.0.parts.len() {
            if self.0.stop.is_some() {
                return;
            }
            let taken = self.0.bytes();
            let part = &mut self.0.parts[number];
            if part.kind == ValueKind::Keyword {
                let bytes_max = self.0.bytes_max.saturating_sub(taken - part.gathered.bytes());
                part.name_keywords(segment, fresh, bytes_max);
                self.0.look();
            }
        }
    }
}

impl Part {
    /// Returns the bytes that it takes.
    fn bytes(&self) -> usize {
        self.gathered.bytes() + self.keywords.bytes() + self.values.capacity() * size_of::<u64>()
    }

    /// Names the keywords counted in a segment. Stops when the names take more than `bytes_max`, or
    /// are too many.
    fn name_keywords(&mut self, segment: &Segment<'_>, fresh: bool, bytes_max: usize) {
        let Part { field, gathered, keywords, .. } = self;
        let mut name = |keyword: &[u8], documents| {
            gathered.add_keyword(keyword, documents);
            gathered.bytes() <= bytes_max && !gathered.is_full()
        };
        let mut term = [0; TERM_BYTES_MAX];
        if fresh {
            let extent = segment.extent();
            return keywords.drain(|ordinal, documents| {
                let (_, len) = extent.write_term(ordinal as u32, &mut term);
                name(&term[..len], documents)
            });
        }
        let mut terms = segment.terms_from(*field, b"");
        keywords.drain(|place, documents| {
            terms.go_to(place);
            terms.next_term(&mut term).is_none_or(|found| name(&term[..found.len], documents))
        });
    }

    fn add_column(&mut self, column: &Column<'_>, level: Level, window: Window, bits: &[u64]) {
        let mut with: Bits = [0; WORDS];
        let with = &mut with[..bits.len()];
        column.presence_bits(level, window.start, with);
        spirit_kernel::and_window(level, with, bits);
        for bit in ones(with) {
            self.values.extend(column.of(window.rank(bit)));
            self.take_document();
        }
    }

    /// Counts the current values as those of one document.
    fn take_document(&mut self) {
        if self.kind == ValueKind::Keyword {
            self.values.dedup();
            self.values.iter().for_each(|number| self.keywords.count(*number));
        } else {
            self.gathered.add(self.kind, &self.values);
        }
        self.values.clear();
    }
}
