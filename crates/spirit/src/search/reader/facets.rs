//! Facets: what the values of fields are, over all documents that match.
//!
//! Matches are gone through in memory that the reader has; what facets tell apart is allocated.

use spirit_query::{Aggregate, Aggregation, Facet, Query, Settings, snapshot_for};

use super::{Reader, check};
use crate::search::error::SearchError;
use crate::search::memory::Memory;
use crate::search::seat::Seat;

impl Reader<'_> {
    /// Parses `text` and [aggregates](Self::aggregate) what matches.
    pub fn aggregate_text(
        &mut self,
        text: &str,
        facets: &[Facet],
    ) -> Result<Vec<Aggregate>, SearchError> {
        let query = self.parse(text)?.clone();
        self.aggregate(&query, facets)
    }

    /// What the values of fields are over all documents that match, an answer for each facet, of which there are
    /// [`FACETS_MAX`](crate::FACETS_MAX) at most. Matches are gone through once. What all facets tell apart takes
    /// [`Limits::facet_bytes`](crate::Limits::facet_bytes) at most.
    ///
    /// ```
    /// use spirit::{Aggregate, Document, Facet, FieldKind, Options};
    ///
    /// let options = Options::default().dram_bytes(64 << 20).field("by", FieldKind::Keyword);
    /// let index = options.open()?;
    /// for (text, by) in [("grey seas", "Ann"), ("the grey heron", "Bo"), ("a heron", "Ann")] {
    ///     index.add_document(&Document::new().text(text).field("by", by))?;
    /// }
    /// let facets = [Facet::Terms { field: "by".into(), top: 10 }];
    /// let found = index.reader()?.aggregate_text("grey heron", &facets)?;
    /// let Aggregate::Terms(terms) = &found[0] else { unreachable!() };
    /// assert_eq!(terms.top, [("Ann".to_owned(), 2), ("Bo".to_owned(), 1)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn aggregate(
        &mut self,
        query: &Query,
        facets: &[Facet],
    ) -> Result<Vec<Aggregate>, SearchError> {
        let Reader { index, seat, memory, .. } = self;
        check(index, query)?;
        let Memory { limits, scratch, .. } = memory;
        let (level, limits) = (index.options.vectors, limits.begin());
        let settings = Settings { level, limits, ..Settings::default() };
        seat.ask(index, Seat::leave, |view| {
            let mut aggregation = Aggregation::new(facets, &view.fields.current())?;
            let over_ms = view.over_ms();
            for part in &view.parts {
                let snapshot = snapshot_for(&part.memory, query, over_ms);
                aggregation.add(snapshot, query, settings, scratch)?;
            }
            Ok(aggregation.finish())
        })
    }
}
