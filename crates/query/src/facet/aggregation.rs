//! The state of facets during a pass over the matches, snapshot after snapshot.

use spirit_index::column::Column;
use spirit_index::form::OlderEntries;
use spirit_index::ground::ValueKind;
use spirit_index::ground::rank_of;
use spirit_index::ground::{FieldId, TERM_BYTES_MAX};
use spirit_index::snapshot::{Segment, Snapshot};
use spirit_kernel::Level;
use spirit_schema::Schema;

use super::check::check_count;
use super::gather::Gathered;
use super::keywords::{Keywords, keyword_places};
use super::marks::Marks;
use super::nest::{Bounds, Found, Nest};
use super::state::Words;
use super::{Aggregate, BUCKETS_MAX, Facet, FacetError};
use crate::collect::Limit;
use crate::evaluate::window::{Bits, WORDS, Window, ones};
use crate::evaluate::{Evaluation, Scratch, Settings};
use crate::limits::{FACET_BYTES_MAX, Meter, Stop};
use crate::query::Query;

/// Facets of all documents that a query matches.
pub struct Aggregation {
    parts: Vec<Part>,
    /// The facets that others are within, or that have other choices.
    nests: Vec<Nest>,
    /// True for the places of `nests` among all facets.
    is_nest: Vec<bool>,
    /// The queries of filters.
    filters: Vec<Query>,
    /// Their matches in the current snapshot.
    marks: Vec<Marks>,
    /// The filter whose matches are being marked.
    marking: Option<usize>,
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
    /// Returns an empty aggregation of these facets, at most [`FACETS_MAX`](super::FACETS_MAX),
    /// over documents with the fields of `schema`. `filters` are the queries of
    /// [`Facet::for_each_filter`].
    pub fn new(
        facets: &[Facet],
        filters: Vec<Query>,
        schema: &Schema,
    ) -> Result<Aggregation, FacetError> {
        check_count(facets)?;
        let (mut parts, mut nests, mut is_nest) = (Vec::new(), Vec::new(), Vec::new());
        let mut count = 0;
        for facet in facets {
            let gathered = Gathered::new(facet);
            is_nest.push(gathered.is_none());
            match gathered {
                Some(gathered) => parts.push(Part::new(facet, gathered, schema)?),
                None => nests.push(Nest::new(facet, schema, &mut count)?),
            }
        }
        assert_eq!(filters.len(), count, "each filter has its query");
        let marks = filters.iter().map(|_| Marks::default()).collect();
        let bytes_max = FACET_BYTES_MAX;
        let (marking, stop) = (None, None);
        Ok(Aggregation { parts, nests, is_nest, filters, marks, marking, bytes_max, stop })
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
        let filters = std::mem::take(&mut self.filters);
        let mut done = Ok(());
        // The store is for the query alone.
        let of_filters = Settings { clauses: None, ..settings };
        for (number, filter) in filters.iter().enumerate() {
            self.marks[number].clear();
            self.marking = Some(number);
            done = done.and_then(|()| self.pass(snapshot, filter, of_filters, scratch));
        }
        self.marking = None;
        self.filters = filters;
        done.and_then(|()| self.pass(snapshot, query, settings, scratch))
    }

    /// Goes through the matches of a query in a snapshot.
    fn pass(
        &mut self,
        snapshot: &Snapshot<'_>,
        query: &Query,
        settings: Settings<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), Stop> {
        let older = || OlderEntries::new(snapshot.memory());
        let aggregate = |evaluation: &mut Evaluation<'_, _>| evaluation.aggregate(older);
        crate::evaluate(snapshot, query, settings, scratch, Aggregating(self), aggregate)?;
        self.stop.map_or(Ok(()), Err)
    }

    /// Returns the answer to each facet, in their order. Fails if empty buckets reach a limit.
    pub fn finish(self) -> Result<Vec<Aggregate>, Stop> {
        let Aggregation { parts, nests, is_nest, bytes_max, .. } = self;
        let mut plain = parts.into_iter().map(|part| part.gathered.finish(part.kind));
        let mut nested = nests.into_iter().map(|nest| nest.finish(bytes_max));
        let next = |is_nest| match is_nest {
            true => nested.next(),
            false => plain.next().map(Ok),
        };
        is_nest.into_iter().filter_map(next).collect()
    }

    /// Checks the limits.
    fn look(&mut self) {
        let is_full = self.parts.iter().any(|part| part.gathered.is_full());
        if is_full || self.nests.iter().any(Nest::is_full) {
            self.stop = Some(Stop::Buckets { max: BUCKETS_MAX });
        } else if self.bytes() > self.bytes_max {
            self.stop = Some(Stop::Memory { max: self.bytes_max });
        }
    }

    /// Writes what was gathered so far.
    pub fn write(&self, out: &mut Vec<u64>) {
        self.parts.iter().for_each(|part| part.gathered.write(out));
        self.nests.iter().for_each(|nest| nest.write(out));
    }

    /// Adds what an aggregation of the same facets wrote. Returns false if the words are not such;
    /// then this aggregation is of no use.
    pub fn join(&mut self, words: &[u64]) -> Result<bool, Stop> {
        let mut words = Words::new(words);
        let parts = self.parts.iter_mut().try_for_each(|part| part.gathered.join(&mut words));
        let nests = self.nests.iter_mut().try_for_each(|nest| nest.join(&mut words));
        self.look();
        let is_joined = parts.is_some() && nests.is_some() && words.is_at_end();
        self.stop.map_or(Ok(is_joined), Err)
    }

    /// Returns the bytes that one of the nests may take beside all else.
    fn left_for(&self, nest: usize) -> usize {
        let taken = self.bytes() - self.nests[nest].bytes();
        self.bytes_max.saturating_sub(taken)
    }

    /// Returns the bytes that all facets take.
    fn bytes(&self) -> usize {
        let nested: usize = self.nests.iter().map(Nest::bytes).sum();
        let marked: usize = self.marks.iter().map(Marks::bytes).sum();
        self.parts.iter().map(Part::bytes).sum::<usize>() + nested + marked
    }
}

impl Aggregating<'_> {
    /// Adds the documents of a fresh segment's window whose bits are set. They match and are alive.
    pub(crate) fn add_fresh(
        &mut self,
        segment: &Segment<'_>,
        window: Window,
        bits: &[u64],
        meter: &mut Meter<'_>,
    ) {
        if self.mark(segment, window, bits) {
            return;
        }
        for bit in ones(bits) {
            let values = segment.values(rank_of(window.rank(bit)));
            for part in &mut self.0.parts {
                let own = values.clone().filter_map(|v| v.read_as(part.field, part.kind));
                part.values.extend(own);
                part.values.sort_unstable();
                part.take_document();
            }
            self.0.look();
            if self.0.stop.is_some() || meter.has_stopped() {
                return;
            }
        }
        let found = Found { segment, window, bits };
        self.each_nest(meter, |nest, bounds| nest.add_fresh(found, bounds));
    }

    /// Like [`add_fresh`](Self::add_fresh), for a registered segment.
    pub(crate) fn add_registered(
        &mut self,
        segment: &Segment<'_>,
        level: Level,
        window: Window,
        bits: &[u64],
        meter: &mut Meter<'_>,
    ) {
        if self.mark(segment, window, bits) {
            return;
        }
        for number in 0..self.0.parts.len() {
            let part = &mut self.0.parts[number];
            let Some(column) = segment.column(part.field, part.kind) else { continue };
            part.add_column(&column, level, window, bits);
            self.0.look();
            if self.0.stop.is_some() {
                return;
            }
        }
        let found = Found { segment, window, bits };
        self.each_nest(meter, |nest, bounds| nest.add_registered(found, bounds));
    }

    /// Calls `add` with each nest and its bounds, until a limit is reached.
    fn each_nest(
        &mut self,
        meter: &mut Meter<'_>,
        mut add: impl FnMut(&mut Nest, &mut Bounds<'_, '_>),
    ) {
        for number in 0..self.0.nests.len() {
            let bytes_max = self.0.left_for(number);
            let Aggregation { nests, marks, .. } = &mut *self.0;
            add(&mut nests[number], &mut Bounds { marks, bytes_max, meter });
            self.0.look();
            if self.0.stop.is_some() || meter.has_stopped() {
                return;
            }
        }
    }

    /// Marks the documents, if a filter is being evaluated.
    fn mark(&mut self, segment: &Segment<'_>, window: Window, bits: &[u64]) -> bool {
        let Some(number) = self.0.marking else { return false };
        self.0.marks[number].add(segment.id(), window, bits);
        self.0.look();
        true
    }

    /// Begins a segment, in which keywords have other numbers.
    pub(crate) fn begin(&mut self, segment: &Segment<'_>, fresh: bool) {
        self.0.nests.iter_mut().for_each(|nest| nest.begin(segment, fresh));
        for part in self.0.parts.iter_mut().filter(|part| part.kind == ValueKind::Keyword) {
            part.keywords.begin(keyword_places(segment, part.field, fresh));
        }
    }

    /// Ends a segment: counts the last documents, and names the keywords counted.
    pub(crate) fn end(&mut self, segment: &Segment<'_>, fresh: bool, meter: &mut Meter<'_>) {
        self.each_nest(meter, Nest::take_documents);
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
    fn new(facet: &Facet, gathered: Gathered, schema: &Schema) -> Result<Part, FacetError> {
        let (field, kind) = facet.check(schema)?;
        let (keywords, values) = (Keywords::default(), Vec::new());
        Ok(Part { field, kind, gathered, keywords, values })
    }

    /// Returns the bytes that it takes.
    fn bytes(&self) -> usize {
        self.gathered.bytes() + self.keywords.bytes() + self.values.capacity() * size_of::<u64>()
    }

    /// Names the keywords counted in a segment. Stops when the names take more than `bytes_max`, or
    /// are too many.
    fn name_keywords(&mut self, segment: &Segment<'_>, fresh: bool, bytes_max: usize) {
        let Part { field, gathered, keywords, .. } = self;
        let mut name = |keyword: &[u8], documents| {
            gathered.add_keyword(keyword, u64::from(documents));
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
        column.each_row(window.start, with, |values| {
            self.values.extend_from_slice(values);
            self.take_document();
        });
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
