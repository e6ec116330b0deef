//! Queries: the JSON of OpenSearch's query language becomes a [`Clause`].
//!
//! A query that has a meaning here has the one that it has there, as far as documents are found.
//! Everything else is a [`Refusal`] that names it: nothing is ignored.

mod compound;
mod fuzziness;
mod lucene;
mod members;
mod minimum;
mod nested;
mod number;
mod pattern;
mod phrase;
mod range;
mod several;
mod simple;
mod string;
mod target;
mod term;
mod value;
mod words;

use std::cell::Cell;

use spirit::schema::Schema;
use spirit::{Clause, FieldKind};

use crate::error::Refusal;
use crate::json::Json;

/// Levels of queries within queries, at most.
pub const DEPTH_MAX: usize = 32;
/// Clauses of one query, at most. Each word counts, and each value.
pub const CLAUSES_MAX: usize = 1024;
/// Characters of a text in Lucene's syntax, at most, as in OpenSearch.
pub const TEXT_LENGTH_MAX: usize = 32_000;
/// The field of a document's id.
const ID: &str = "_id";

/// What a query is read for: the fields of an index, and the time.
#[derive(Clone, Copy, Debug)]
pub struct Context<'s> {
    /// The fields of the index.
    pub schema: &'s Schema,
    /// The moment that `now` means, in milliseconds since 1970.
    pub now: i64,
}

/// Returns a regular expression in Lucene's syntax as one of this engine.
pub(crate) fn expression(text: &str) -> Result<String, Refusal> {
    lucene::translated(text, lucene::ALL_OPERATORS)
}

/// Returns the clause of a query, such as `{"match": {"title": "grey heron"}}`.
///
/// A query of a field that the index does not have finds nothing, as in OpenSearch.
///
/// # Errors
/// If it is no query, if it cannot be answered here, or if it is too large.
pub fn clause(query: &Json, context: &Context<'_>) -> Result<Clause, Refusal> {
    let asked = Asked { context: *context, left: Cell::new(CLAUSES_MAX) };
    finish(asked.query(query, DEPTH_MAX)?)
}

/// Returns the clause of a text in the syntax of `query_string`, as the URL parameter `q` has it.
/// `options` are members of `query_string`, such as `default_operator`.
///
/// # Errors
/// Like [`clause`].
pub fn of_text(
    text: &str,
    options: Vec<(String, Json)>,
    context: &Context<'_>,
) -> Result<Clause, Refusal> {
    let mut members = vec![("query".to_owned(), Json::String(text.to_owned()))];
    members.extend(options);
    let query = Json::Object(vec![("query_string".to_owned(), Json::Object(members))]);
    clause(&query, context)
}

/// Checks the name of an operator, as the URL parameter `default_operator` has it.
pub(crate) fn check_operator(name: &str) -> Result<(), Refusal> {
    words::Operator::read(&Json::String(name.to_owned())).map(drop)
}

/// Returns the type that mappings have for a field of this kind.
pub(crate) fn mapped(kind: FieldKind) -> &'static str {
    value::mapped(kind)
}

/// Refuses an order or an aggregation of a text's values, which has only words.
pub(crate) fn without_values(field: &str) -> Refusal {
    Refusal::illegal_argument(format!(
        "Text fields are not optimised for operations that require per-document field data like \
         aggregations and sorting, so these operations are disabled by default. Please use a \
         keyword field instead. Alternatively, set fielddata=true on [{field}] in order to load \
         field data by uninverting the inverted index. Note that this can use significant memory."
    ))
}

/// Refuses a clause that is nested more deeply than the engine answers.
fn finish(clause: Clause) -> Result<Clause, Refusal> {
    if depth(&clause) > DEPTH_MAX { Err(too_deep()) } else { Ok(clause) }
}

/// Returns the levels of a clause. It ends: each query was read at a depth of its own.
fn depth(clause: &Clause) -> usize {
    let deepest = |clauses: &[Clause]| clauses.iter().map(depth).max().unwrap_or(0);
    1 + match clause {
        Clause::Boost(inner, _) | Clause::Constant(inner, _) => depth(inner),
        Clause::Best { clauses, .. } => deepest(clauses),
        Clause::Bool(group) => {
            deepest(&group.must).max(deepest(&group.should)).max(deepest(&group.not))
        }
        _ => 0,
    }
}

fn too_deep() -> Refusal {
    Refusal::illegal_argument(format!(
        "The nested depth of the query exceeds the maximum nested depth for queries, which is \
         [{DEPTH_MAX}]"
    ))
}

/// A query that is being read.
struct Asked<'s> {
    context: Context<'s>,
    /// The number of clauses that it may still have.
    left: Cell<usize>,
}

/// Queries that OpenSearch has and this engine cannot answer.
const UNSUPPORTED: [&str; 24] = [
    "combined_fields",
    "common",
    "distance_feature",
    "field_masking_span",
    "geo_bounding_box",
    "geo_distance",
    "geo_polygon",
    "geo_shape",
    "has_child",
    "has_parent",
    "intervals",
    "knn",
    "more_like_this",
    "neural",
    "parent_id",
    "percolate",
    "rank_feature",
    "script",
    "script_score",
    "span_multi",
    "span_near",
    "span_term",
    "terms_set",
    "wrapper",
];

impl Asked<'_> {
    /// Reads one query of at most `depth` levels.
    fn query(&self, query: &Json, depth: usize) -> Result<Clause, Refusal> {
        let depth = depth.checked_sub(1).ok_or_else(too_deep)?;
        let (name, body) = members::only(query)?;
        self.spend(1)?;
        match name {
            "match_all" | "match_none" => members::of_all(name, body),
            "match" => self.words(body),
            "match_phrase" => self.phrase(body),
            "match_phrase_prefix" => self.phrase_prefix(body),
            "match_bool_prefix" => self.bool_prefix(body),
            "multi_match" => self.several(body),
            "term" => self.term(body),
            "terms" => self.terms(body),
            "ids" => self.ids(body),
            "exists" => self.exists(body),
            "range" => self.range(body),
            "prefix" => self.prefix(body),
            "wildcard" => self.wildcard(body),
            "regexp" => self.regexp(body),
            "fuzzy" => self.fuzzy(body),
            "bool" => self.group(body, depth),
            "constant_score" => self.constant(body, depth),
            "boosting" => self.boosting(body, depth),
            "dis_max" => self.best(body, depth),
            "function_score" => self.function_score(body, depth),
            "nested" => self.nested(body, depth),
            "query_string" => self.string(body),
            "simple_query_string" => self.simple(body),
            name if UNSUPPORTED.contains(&name) => {
                Err(Refusal::unsupported(format_args!("the query [{name}]")))
            }
            name => Err(Refusal::parsing(format!("unknown query [{name}]"))),
        }
    }

    /// Counts clauses.
    fn spend(&self, clauses: usize) -> Result<(), Refusal> {
        let left = self.left.get().checked_sub(clauses);
        self.left.set(left.ok_or_else(|| Refusal::too_many_clauses(CLAUSES_MAX))?);
        Ok(())
    }

    /// Returns the kind of a field; none if the index does not have it.
    fn kind(&self, field: &str) -> Option<FieldKind> {
        self.context.schema.asked(field).map(|(_, kind)| kind)
    }

    /// Returns the names of the fields that a pattern with `*` matches. A name without `*` is
    /// itself, if there is such a field.
    fn fields(&self, pattern: &str) -> Vec<String> {
        if !pattern.contains('*') {
            return self.kind(pattern).map(|_| pattern.to_owned()).into_iter().collect();
        }
        let names = self.context.schema.fields().iter().map(|field| &field.name);
        names.filter(|name| crate::read::matches(pattern, name)).cloned().collect()
    }
}
