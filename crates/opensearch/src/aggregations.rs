//! Aggregations: what they ask becomes facets of the engine, and its aggregates become their answers.

mod answer;
mod bucket_query;
mod buckets;
mod chosen;
mod count;
mod deviation;
mod facet;
mod interval;
mod merge;
mod metrics;
mod options;
mod pipeline;
mod read;
mod top_hits;
mod written;

use serde_json::Number;
use spirit::FieldKind;
use spirit::facets::{Aggregate, Facet, StandIn};

use crate::error::Refusal;
use crate::json::Json;
use crate::query::Context;
use chosen::Chosen;
use interval::Interval;
use pipeline::Pipeline;
pub use top_hits::HitsOfBucket;
use top_hits::{Places, TopHits};

/// Buckets of one answer, at most.
pub const BUCKETS_MAX: usize = 65_536;

/// The aggregations of a search.
///
/// ```
/// use spirit::{Document, Index};
/// use spirit_opensearch::aggregations::Aggregations;
/// use spirit_opensearch::json::Json;
/// use spirit_opensearch::query::Context;
///
/// let index = Index::in_memory()?;
/// for (level, took) in [("warn", 3), ("info", 4), ("warn", 5)] {
///     index.add(Document::new().field("level", level).field("took", took))?;
/// }
/// let asked = br#"{"levels": {"terms": {"field": "level", "size": 1},
///     "aggs": {"longest": {"max": {"field": "took"}}}}}"#;
/// let schema = index.schema();
/// let aggregations = Aggregations::read(&Json::parse(asked)?, &Context { schema: &schema, now: 0 })?;
/// let aggregates = index.searcher().aggregate("*", &aggregations.facets())?;
/// assert_eq!(
///     aggregations.answer(&aggregates, false)?.to_string(),
///     concat!(
///         r#"{"levels":{"doc_count_error_upper_bound":0,"sum_other_doc_count":1,"#,
///         r#""buckets":[{"key":"warn","doc_count":2,"longest":{"value":5.0}}]}}"#
///     ),
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Aggregations(Vec<Named>);

/// An aggregation, its name, and those within it.
#[derive(Clone, Debug)]
struct Named {
    name: String,
    asked: Asked,
    within: Aggregations,
    meta: Option<Json>,
}

/// A field, and its kind if the index has it.
#[derive(Clone, Debug)]
struct OfField {
    field: String,
    kind: Option<FieldKind>,
    /// What documents without a value have instead, in a metric. Then there is always a kind.
    missing: Option<StandIn>,
}

/// What an aggregation asks.
#[derive(Clone, Debug)]
enum Asked {
    Terms {
        of: OfField,
        size: usize,
        order: Vec<(OrderBy, bool)>,
        least: u64,
        missing: Option<String>,
        chosen: Chosen,
    },
    Dates {
        of: OfField,
        interval: Interval,
        zone: Option<String>,
        offset: i64,
        look: Look,
    },
    Histogram {
        of: OfField,
        interval: f64,
        offset: f64,
        look: Look,
    },
    Ranges {
        of: OfField,
        ranges: Vec<Range>,
        keyed: bool,
        format: Option<String>,
        zone: Option<String>,
    },
    /// Queries; without names the buckets are an array. The last member is the name of a bucket of
    /// the documents that match none.
    Filters {
        queries: Vec<String>,
        names: Option<Vec<String>>,
        others: Option<String>,
        /// The queries as they were asked for.
        bodies: Vec<Json>,
    },
    /// One query: `filter`, or `missing`.
    Filter {
        query: String,
        kind: &'static str,
        /// The query as it was asked for.
        body: Json,
    },
    Metric {
        of: OfField,
        metric: Metric,
        format: Option<String>,
    },
    Percentiles {
        of: OfField,
        at: Vec<f64>,
        keyed: bool,
    },
    /// Hits, for which the engine has no facet.
    TopHits(TopHits),
    /// An aggregation of other answers, for which the engine has no facet.
    Pipeline(Pipeline),
}

/// What terms are ordered by; true beside it if descending.
#[derive(Clone, Debug, PartialEq)]
enum OrderBy {
    Count,
    Key,
    /// A number of an aggregation within.
    Metric(MetricOrder),
}

/// A number of an aggregation within buckets that orders them.
#[derive(Clone, Debug, PartialEq)]
struct MetricOrder {
    name: String,
    /// The member of its answer.
    member: String,
    /// The number of buckets without values. Without one they are last.
    empty: Option<f64>,
}

/// How buckets of a histogram are shown.
#[derive(Clone, Debug)]
struct Look {
    /// The least number of documents of a bucket.
    least: u64,
    keyed: bool,
    format: Option<String>,
    /// Empty buckets are shown from here to there.
    bounds: Option<(f64, f64)>,
}

/// A range of numbers or moments.
#[derive(Clone, Debug)]
struct Range {
    from: Option<f64>,
    to: Option<f64>,
    key: Option<String>,
}

/// One number of a field's values, or several.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Metric {
    Avg,
    Min,
    Max,
    Sum,
    ValueCount,
    Stats,
    /// Stats with deviations, and bounds that are this number of them from the mean.
    ExtendedStats(f64),
    Cardinality,
}

impl Metric {
    fn name(self) -> &'static str {
        match self {
            Metric::Avg => "avg",
            Metric::Min => "min",
            Metric::Max => "max",
            Metric::Sum => "sum",
            Metric::ValueCount => "value_count",
            Metric::Stats => "stats",
            Metric::ExtendedStats(_) => "extended_stats",
            Metric::Cardinality => "cardinality",
        }
    }
}

impl Aggregations {
    /// Reads the member `aggs` of a search.
    ///
    /// # Errors
    /// If it is not valid, or if the engine cannot answer it.
    pub fn read(aggregations: &Json, context: &Context<'_>) -> Result<Aggregations, Refusal> {
        let all = read::all(aggregations, context)?;
        pipeline::check_top(&all)?;
        Ok(all)
    }

    /// Returns the facets whose aggregates [`answer`](Self::answer) needs, in their order.
    pub fn facets(&self) -> Vec<Facet> {
        self.0.iter().filter_map(facet::of).collect()
    }

    /// Like [`facets`](Self::facets), with all that [`merged`](Self::merged) needs to be exact.
    pub fn facets_to_merge(&self) -> Vec<Facet> {
        self.0.iter().filter_map(facet::to_merge).collect()
    }

    /// Merges the aggregates of several indexes, each with the aggregations as it read them. They
    /// answer [`facets_to_merge`](Self::facets_to_merge).
    ///
    /// # Errors
    /// If they cannot be merged exactly.
    pub fn merged(
        parts: &[(Aggregations, Vec<Aggregate>)],
    ) -> Result<(Aggregations, Vec<Aggregate>), Refusal> {
        let parts: Vec<_> =
            parts.iter().map(|(asked, aggregates)| (asked, &aggregates[..])).collect();
        merge::all(&parts)
    }

    /// True if hits of buckets are asked for. Then the answer is that of
    /// [`answer_with_hits`](Self::answer_with_hits).
    pub fn has_hits(&self) -> bool {
        top_hits::is_in(self)
    }

    /// Like [`answer`](Self::answer), with the hits that are still to be found. In the answer, the text of
    /// the mark and the place in the list stands for them.
    ///
    /// # Errors
    /// Like those of [`answer`](Self::answer), and if no query finds the documents of a bucket.
    pub fn answer_with_hits(
        &self,
        aggregates: &[Aggregate],
        typed: bool,
        mark: &str,
    ) -> Result<(Json, Vec<HitsOfBucket>), Refusal> {
        let Json::Object(mut answers) = self.answer(aggregates, typed)? else {
            return Err(mismatch());
        };
        let mut places = Places { mark, typed, found: Vec::new() };
        places.fill(self, &mut answers, &[], false)?;
        Ok((Json::Object(answers), places.found))
    }

    /// Returns the member `aggregations` of the answer. With `typed`, names have their types in front.
    ///
    /// # Errors
    /// If there are too many buckets, or if the aggregates are those of other facets.
    pub fn answer(&self, aggregates: &[Aggregate], typed: bool) -> Result<Json, Refusal> {
        answer::all(self, aggregates, typed)
    }
}

/// The error of aggregates that answer other facets.
fn mismatch() -> Refusal {
    Refusal::new("exception", 500, "the aggregates are not those of these aggregations")
}

/// Returns a number; null if it is not finite.
fn number(number: f64) -> Json {
    Number::from_f64(number).map_or(Json::Null, Json::Number)
}
