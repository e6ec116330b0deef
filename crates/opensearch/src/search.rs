//! Searches: the body of `_search` and the parameters of its URL.
//!
//! A [`SearchBody`] is the same for all indices that one search is about. Its
//! [`clause`](SearchBody::clause) and its [`order`](SearchBody::order) are made for each of them.

mod after;
mod highlight;
mod limit;
mod parameter;
mod part;
mod places;
mod point_in_time;
mod slice;
mod sort;
mod source;
mod values;

use std::time::Duration;

use spirit::query::Bool;
use spirit::schema::Schema;
use spirit::{Clause, Search};

use crate::error::Refusal;
use crate::json::Json;
use crate::query::{self, Context};

pub use highlight::{Highlighting, MarkedField};
pub use limit::time;
pub use part::Part;
pub use places::Place;
pub use point_in_time::PointInTime;
pub use slice::Slice;
pub use sort::{Direction, Sort, SortBy};
pub use source::SourceFilter;
pub use values::FieldValues;

/// Hits of one answer and those before it, at most.
pub const WINDOW_MAX: usize = Search::HITS_MAX;
/// Hits that are counted unless a search says otherwise.
const TOTAL_DEFAULT: u64 = 10_000;

/// How far documents that match are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackTotalHits {
    /// All of them.
    Exactly,
    /// Not at all.
    Off,
    /// Up to this number.
    UpTo(u64),
}

/// A search, whichever index it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchBody {
    /// The query; every document without one.
    pub query: Option<Json>,
    /// A query that hits match too, but not what aggregations count.
    pub post_filter: Option<Json>,
    /// The number of hits that are left out at the beginning.
    pub from: usize,
    /// The number of hits.
    pub size: usize,
    /// The keys of the order; the score without keys.
    pub sort: Vec<Sort>,
    /// The sort values of the hit that the page begins after.
    pub search_after: Option<Vec<Json>>,
    /// How far matches are counted.
    pub track_total_hits: TrackTotalHits,
    /// The parts of documents that hits have.
    pub source: SourceFilter,
    /// Fields whose values hits have, as `fields`.
    pub fields: Vec<Part>,
    /// Fields whose values hits have, as `docvalue_fields`.
    pub docvalue_fields: Vec<Part>,
    /// True if hits have neither id nor source: `stored_fields` is `_none_`.
    pub is_bare: bool,
    /// The fields to highlight.
    pub highlight: Option<Highlighting>,
    /// The aggregations, as they are written.
    pub aggregations: Option<Json>,
    /// The time that the search may take.
    pub timeout: Option<Duration>,
    /// The number of documents after which a count may end; none if all count.
    pub terminate_after: Option<u64>,
    /// The least score of a hit.
    pub min_score: Option<f32>,
    /// True if hits have their version.
    pub version: bool,
    /// True if hits have their sequence number.
    pub seq_no_primary_term: bool,
    /// True if scores are computed though the order needs none.
    pub track_scores: bool,
    /// True if the total is a number, as before version 7.
    pub total_as_int: bool,
    /// True if names of aggregations have their types in front.
    pub typed_keys: bool,
    /// The time that a scroll is kept.
    pub scroll: Option<Duration>,
    /// The part of the matches that is asked for.
    pub slice: Option<Slice>,
    /// The point in time that is asked instead of indexes.
    pub pit: Option<PointInTime>,
    /// The text of the URL parameter `q`, and the options of its syntax.
    text: Option<String>,
    text_options: Vec<(String, Json)>,
}

impl Default for SearchBody {
    fn default() -> SearchBody {
        SearchBody {
            query: None,
            post_filter: None,
            from: 0,
            size: 10,
            sort: Vec::new(),
            search_after: None,
            track_total_hits: TrackTotalHits::UpTo(TOTAL_DEFAULT),
            source: SourceFilter::default(),
            fields: Vec::new(),
            docvalue_fields: Vec::new(),
            is_bare: false,
            highlight: None,
            aggregations: None,
            timeout: None,
            terminate_after: None,
            min_score: None,
            version: false,
            seq_no_primary_term: false,
            track_scores: false,
            total_as_int: false,
            typed_keys: false,
            scroll: None,
            slice: None,
            pit: None,
            text: None,
            text_options: Vec::new(),
        }
    }
}

impl SearchBody {
    /// Reads a body. An empty one asks for every document.
    ///
    /// # Errors
    /// If it is not valid, or has a member that `_search` does not have.
    ///
    /// ```
    /// use spirit_opensearch::search::SearchBody;
    ///
    /// let body = SearchBody::parse(br#"{"size": 3, "sort": [{"at": "desc"}]}"#)?;
    /// assert_eq!((body.size, body.sort.len()), (3, 1));
    /// let wrong = SearchBody::parse(br#"{"sise": 3}"#).unwrap_err();
    /// assert_eq!(wrong.reason, "Unknown key for a VALUE_NUMBER in [sise].");
    /// # Ok::<(), spirit_opensearch::error::Refusal>(())
    /// ```
    pub fn parse(text: &[u8]) -> Result<SearchBody, Refusal> {
        let mut body = SearchBody::default();
        if !text.trim_ascii().is_empty() {
            body.read(&Json::parse(text)?)?;
        }
        Ok(body)
    }

    /// Reads a body into this search, which has what the URL says already.
    ///
    /// # Errors
    /// Like [`parse`](Self::parse).
    pub fn read(&mut self, body: &Json) -> Result<(), Refusal> {
        let Json::Object(members) = body else {
            let token = body.token();
            return Err(Refusal::parsing(format!("Expected [START_OBJECT] but found [{token}]")));
        };
        members.iter().try_for_each(|(name, value)| self.member(name, value))?;
        point_in_time::name_places(self);
        Ok(())
    }

    /// Reads a parameter of the URL. False if `_search` does not have it.
    ///
    /// # Errors
    /// If the value is not valid.
    pub fn parameter(&mut self, name: &str, value: &str) -> Result<bool, Refusal> {
        parameter::read(self, name, value)
    }

    /// Checks what cannot be asked for together.
    ///
    /// # Errors
    /// If the window is too large, or if `search_after` does not fit the rest.
    pub fn check(&self) -> Result<(), Refusal> {
        let window = self.from.saturating_add(self.size);
        if window > WINDOW_MAX {
            return Err(Refusal::illegal_argument(format!(
                "Result window is too large, from + size must be less than or equal to: \
                 [{WINDOW_MAX}] but was [{window}]. See the scroll api for a more efficient way to \
                 request large data sets. This limit can be set by changing the \
                 [index.max_result_window] index level setting."
            )));
        }
        if let (true, TrackTotalHits::UpTo(limit)) = (self.total_as_int, self.track_total_hits)
            && limit != TOTAL_DEFAULT
        {
            return Err(Refusal::illegal_argument(format!(
                "[rest_total_hits_as_int] cannot be used if the tracking of total hits is not \
                 accurate, got {limit}"
            )));
        }
        after::check(self)
    }

    /// Returns the clause of the query alone, for aggregations.
    ///
    /// # Errors
    /// If the query is refused.
    pub fn clause(&self, context: &Context<'_>) -> Result<Clause, Refusal> {
        let query = self.query.as_ref().map(|query| query::clause(query, context)).transpose()?;
        let text = self.text.as_deref();
        let options = || self.text_options.clone();
        let text = text.map(|text| query::of_text(text, options(), context)).transpose()?;
        Ok(text.or(query).unwrap_or(Clause::Everything.constant(1.0)))
    }

    /// Returns the clause of the documents that are counted as hits: [`clause`](Self::clause) and
    /// the post filter.
    ///
    /// # Errors
    /// If a query is refused.
    pub fn hits_clause(&self, context: &Context<'_>) -> Result<Clause, Refusal> {
        let clause = self.clause(context)?;
        match &self.post_filter {
            Some(filter) => Ok(narrowed(clause, query::clause(filter, context)?)),
            None => Ok(clause),
        }
    }

    /// Returns the clause of this page and those after it: [`hits_clause`](Self::hits_clause) behind
    /// the values of `search_after`. If `_doc` ends the order, hits with equal values are
    /// [`ties_clause`](Self::ties_clause).
    ///
    /// # Errors
    /// If a query or a value is refused.
    pub fn page_clause(&self, context: &Context<'_>) -> Result<Clause, Refusal> {
        let clause = self.hits_clause(context)?;
        match after::query(self, context.schema)? {
            Some(after) => Ok(narrowed(clause, query::clause(&after, context)?)),
            None => Ok(clause),
        }
    }

    /// Returns the clause of the hits whose values are those of `search_after`; none unless `_doc`
    /// ends the order. Those before [`after_document`](Self::after_document), newest first, are the
    /// beginning of this page.
    ///
    /// # Errors
    /// If a query or a value is refused.
    pub fn ties_clause(&self, context: &Context<'_>) -> Result<Option<Clause>, Refusal> {
        if self.after_document().is_none() {
            return Ok(None);
        }
        let clause = self.hits_clause(context)?;
        let ties = query::clause(&after::ties(self, context.schema)?, context)?;
        Ok(Some(narrowed(clause, ties)))
    }

    /// Returns the place that `search_after` has for `_doc`, which ends the order.
    pub fn after_document(&self) -> Option<Place> {
        let Json::Number(number) = self.search_after.as_ref()?.last()? else { return None };
        let last = self.sort.last().filter(|last| last.by == SortBy::Document);
        last.and_then(|_| number.as_u64()).map(Place::of)
    }

    /// Returns a search for this number of hits that counts all matches.
    pub(crate) fn of_size(size: usize) -> SearchBody {
        let track_total_hits = TrackTotalHits::Exactly;
        SearchBody { size, track_total_hits, ..SearchBody::default() }
    }

    /// Returns the search for hits of a part of what this one finds. Another body says how they are shown.
    pub(crate) fn narrowed_to(&self, shown: &SearchBody, filter: Json) -> SearchBody {
        SearchBody {
            query: self.query.clone(),
            post_filter: Some(filter),
            text: self.text.clone(),
            text_options: self.text_options.clone(),
            total_as_int: self.total_as_int,
            ..shown.clone()
        }
    }

    /// Returns the request for the hits of this page and those before it: the caller leaves out the
    /// first [`from`](Self::from), and hits below [`min_score`](Self::min_score). It counts as far as the search says, or all if the engine has no
    /// limit for that.
    ///
    /// # Errors
    /// If the engine does not have this order.
    pub fn order(&self, schema: &Schema) -> Result<Search, Refusal> {
        // Which hits have the least score is decided behind the engine.
        let window = match self.min_score {
            Some(_) => WINDOW_MAX,
            None => self.from.saturating_add(self.size),
        };
        let search = sort::order(&self.sort, window, schema)?;
        Ok(match self.track_total_hits {
            TrackTotalHits::Off => search,
            TrackTotalHits::Exactly => search.total(u64::MAX),
            TrackTotalHits::UpTo(_) if self.total_as_int => search.total(u64::MAX),
            TrackTotalHits::UpTo(limit) => search.total(limit),
        })
    }

    /// True if hits are ordered by their scores.
    pub fn is_by_score(&self) -> bool {
        self.sort.first().is_none_or(|first| first.by == SortBy::Score)
    }
}

/// Returns a clause for the documents of another one that match a filter too.
fn narrowed(clause: Clause, filter: Clause) -> Clause {
    Clause::Bool(Bool { must: vec![clause, filter.constant(0.0)], ..Bool::default() })
}
