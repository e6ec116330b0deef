//! The answer to a question, as JSON has it.

use std::time::{Duration, Instant};

use serde::Serialize;
use spirit::cache::Outcome;
use spirit::facets::Facet;
use spirit::query::ParseError;
use spirit::search::{Highlighter, Total};
use spirit::{HitError, Hits, Index, Lenient, Query, Reader, Search, SearchError};

use crate::explained::{Explained, Planned};
use crate::facets::Answered;
use crate::hit::{Hit, Wanted};
use crate::no_answer::{NoAnswer, lasting};
use crate::question::Question;
use crate::values::rounded;

/// The field that is highlighted if none is named: the documents' texts.
const TEXT: &str = "text";

/// A question's answer.
#[derive(Serialize)]
pub struct Answer<'a> {
    /// The text of the query.
    pub query: &'a str,
    /// The number of matches.
    pub count: u64,
    /// True if `count` is of all matches.
    pub exact: bool,
    /// True if hits are missing, since the result cache answered from another query's entry.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub approximate: bool,
    /// The time of the search, in microseconds.
    pub took_us: f64,
    /// The documents, in the order that was asked for.
    pub hits: Vec<Hit>,
    /// The cursor that the next page begins at, if there may be one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The sequence number below which all acknowledged operations were searched. Only of an index
    /// that another process may write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u64>,
    /// How the query was evaluated. Only if it is to be explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Planned>,
    /// What became of the query in the result cache. Only if there is one, and with `plan`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<String>,
    /// The answers of facets. Only if any were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facets: Vec<Answered>,
    /// The parts of the query that were ignored. Only if it was read leniently.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<String>>,
    /// The time of the search.
    #[serde(skip)]
    pub took: Duration,
}

impl<'a> Answer<'a> {
    /// Asks `index` through one of its readers. It asks again if hits become invalid before they
    /// are read.
    pub fn of(
        index: &Index,
        reader: &mut Reader,
        text: &'a str,
        question: &Question,
    ) -> Result<Answer<'a>, NoAnswer> {
        lasting(|| answer_once(index, reader, text, question))
    }
}

/// Returns the warnings about invalid parts of a query that was read leniently.
pub fn ignored(errors: &[ParseError]) -> Vec<String> {
    errors.iter().map(|error| format!("{error}: ignored")).collect()
}

fn answer_once<'a>(
    index: &Index,
    reader: &mut Reader,
    text: &'a str,
    question: &Question,
) -> Result<Answer<'a>, NoAnswer> {
    let search = question.search();
    // What is asked besides the hits, of the same query.
    let query = question.asks_more().then(|| parsed(reader, text, question)).transpose()?;
    let field = question.highlight_field.as_deref().unwrap_or(TEXT);
    let highlighter = question
        .highlight
        .zip(query.as_ref())
        .map(|(how, query)| reader.highlighter_in(field, query, how));
    let mut highlighter = highlighter.transpose()?;
    let started = Instant::now();
    let hits = match question.lenient {
        true => reader.search(Lenient(text), search.clone())?,
        false => reader.search(text, search.clone())?,
    };
    let took = started.elapsed();
    let mut answer = page(index, &hits, text, question, took, highlighter.as_mut())?;
    drop(hits);
    let outcome = reader.cache_outcome();
    answer.cache = (question.explain && outcome != Outcome::Off).then(|| outcome.to_string());
    if let Some(query) = &query {
        add_more(index, reader, query, &search, question, &mut answer)?;
    }
    Ok(answer)
}

/// Reads the page that was asked for, and counts.
fn page<'a>(
    index: &Index,
    hits: &Hits<'_>,
    text: &'a str,
    question: &Question,
    took: Duration,
    highlighter: Option<&mut Highlighter>,
) -> Result<Answer<'a>, HitError> {
    let shown = hits.len().min(question.k);
    let full = shown == question.k;
    let first_page = question.after.is_none();
    let approximate = hits.is_approximate();
    let total = match first_page && !full && !approximate {
        // These are all there are, however far they were to be counted.
        true => Total::Exact(shown as u64),
        false => hits.total().unwrap_or(Total::AtLeast(shown as u64)),
    };
    let more = full && !(first_page && total == Total::Exact(shown as u64));
    let cursor = hits.cursor()?.filter(|_| more && shown > 0);
    Ok(Answer {
        query: text,
        count: total.count(),
        exact: total.is_exact(),
        approximate,
        sequence: index.is_read_only().then(|| hits.as_of()),
        took_us: rounded(took.as_secs_f64() * 1e6, 3),
        cursor: cursor.map(|cursor| cursor.to_string()),
        hits: found(index, hits, shown, question, highlighter)?,
        plan: None,
        cache: None,
        facets: Vec::new(),
        warnings: question.lenient.then(|| ignored(hits.warnings())),
        took,
    })
}

/// Reads the first `shown` hits.
fn found(
    index: &Index,
    hits: &Hits<'_>,
    shown: usize,
    question: &Question,
    mut highlighter: Option<&mut Highlighter>,
) -> Result<Vec<Hit>, HitError> {
    let settings = index.settings();
    let wanted =
        Wanted { settings: &settings, sort: hits.is_sorted_by_field(), fields: &question.fields };
    let read = |hit: spirit::Hit<'_>| Hit::read(&hit, wanted, highlighter.as_deref_mut());
    hits.iter().take(shown).map(read).collect()
}

fn parsed(reader: &mut Reader, text: &str, question: &Question) -> Result<Query, SearchError> {
    match question.lenient {
        true => reader.parse(Lenient(text)),
        false => reader.parse(text),
    }
}

/// Adds the explanations and the facets that were asked for.
fn add_more(
    index: &Index,
    reader: &mut Reader,
    query: &Query,
    search: &Search,
    question: &Question,
    answer: &mut Answer<'_>,
) -> Result<(), SearchError> {
    if question.explain {
        explain(reader, query, search, answer)?;
    }
    if !question.facets.is_empty() {
        let schema = index.schema();
        let facets: Vec<Facet> = question.facets.iter().map(|asked| asked.facet.clone()).collect();
        let found = reader.aggregate(query, &facets)?;
        let answered = question.facets.iter().zip(found);
        answer.facets =
            answered.map(|(asked, found)| Answered::new(asked, found, &schema)).collect();
    }
    Ok(())
}

/// Adds how the query was evaluated and, where there are scores, why they are what they are.
fn explain(
    reader: &mut Reader,
    query: &Query,
    search: &Search,
    answer: &mut Answer<'_>,
) -> Result<(), SearchError> {
    answer.plan = Some(Planned(reader.plan(query, search)?));
    for hit in answer.hits.iter_mut().filter(|hit| hit.score.is_some()) {
        let explanation = reader.explain(query, search, &hit.key)?;
        hit.explanation = explanation.map(Explained);
    }
    Ok(())
}
