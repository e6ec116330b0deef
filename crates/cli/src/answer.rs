//! Queries are answered: as JSON lines for programs, as text for people.

use std::io::Write;
use std::time::{Duration, Instant};

use serde::Serialize;
use spirit::cache::Outcome;
use spirit::facets::Facet;
use spirit::search::{Highlighter, Total};
use spirit::{HitError, Hits, Index, Lenient, Query, Reader, Search, SearchError};

use crate::args::{AnsweringArgs, QueryArgs};
use crate::choice::Counting;
use crate::escape::{escaped, escaped_but};
use crate::explained::{Explained, Planned};
use crate::facets::Answered;
use crate::failure::Failure;
use crate::hit::{Hit, Wanted};
use crate::layout::Layout;
use crate::output::{elapsed, grouped, json_line, rounded};
use crate::queries::{Asked, Queries, Refused, Unanswered};

/// How often a query is asked whose answer goes away.
const TRIES: usize = 8;

/// One query's answer, in the shape that `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    count: u64,
    /// Whether `count` is of all matches.
    exact: bool,
    /// Whether hits are missing, since the result cache answered from another query's entry.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    approximate: bool,
    took_us: f64,
    hits: Vec<Hit>,
    /// Where the next page begins, if there may be one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    /// All acknowledged operations below this sequence number were searched; only for an index in a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<u64>,
    /// Only if it is to be explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Planned>,
    /// What became of the query in the result cache. Only if there is one, and with `plan`.
    #[serde(skip_serializing_if = "Option::is_none")]
    cache: Option<String>,
    /// Only if any were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    facets: Vec<Answered>,
    /// What was passed over in the query, if it was read leniently.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<String>>,
    #[serde(skip)]
    took: Duration,
}

/// A reader of `index` that reads queries and limits them as was asked for.
pub(crate) fn reader(index: &Index, args: &QueryArgs) -> Result<Reader, Failure> {
    let mut reader = index.reader().map_err(Failure::work)?;
    if let Some(operator) = args.default_operator {
        reader.default_operator(operator.into());
    }
    reader.limits(args.limits());
    Ok(reader)
}

/// Answers all of `queries` on `out`.
pub(crate) fn answer_all<W: Write>(
    index: &Index,
    queries: &Queries,
    args: &AnsweringArgs,
    out: &mut W,
) -> Result<(), Failure> {
    args.check_texts(index)?;
    args.check_facets(index)?;
    args.check_fields(index)?;
    let layout = Layout::new(index, &args.fields);
    let mut reader = reader(index, &args.query)?;
    let answer = |asked: Asked<'_>, out: &mut W| {
        let answer = answer(index, &mut reader, asked, args)?;
        if args.json {
            return Ok(json_line(out, &answer)?);
        }
        if queries.are_many() {
            writeln!(out, "query: {}", escaped(asked.text))?;
        }
        show(&answer, &layout, out)?;
        asked.say(answer.total());
        if let Some(cursor) = &answer.cursor {
            asked.say(format_args!("next page: --after {cursor}"));
        }
        Ok(())
    };
    let refused = |refused: &Refused<'_>, out: &mut W| match args.json {
        true => json_line(out, refused),
        false => {
            let query = refused.query.as_deref().unwrap_or_default();
            let (query, error) = (escaped(query), escaped(refused.error));
            Ok(writeln!(out, "query: {query}\nno answer: {error}")?)
        }
    };
    queries.for_each(out, answer, refused)
}

/// Answers a query.
fn answer<'a>(
    index: &Index,
    reader: &mut Reader,
    asked: Asked<'a>,
    args: &AnsweringArgs,
) -> Result<Answer<'a>, Unanswered> {
    lasting(|| answer_once(index, reader, asked, args))
}

/// Calls `ask`; again if what was found went away before it was read.
pub(crate) fn lasting<T>(mut ask: impl FnMut() -> Result<T, Unanswered>) -> Result<T, Unanswered> {
    for _ in 1..TRIES {
        match ask() {
            Err(Unanswered::Hit(HitError::Lease { .. })) => {}
            answered => return answered,
        }
    }
    ask()
}

fn answer_once<'a>(
    index: &Index,
    reader: &mut Reader,
    asked: Asked<'a>,
    args: &AnsweringArgs,
) -> Result<Answer<'a>, Unanswered> {
    let search = search(args);
    // What is asked besides the hits, of the same query.
    let has_more = args.explain || !args.facets.is_empty() || args.highlight().is_some();
    let query = has_more.then(|| parsed(reader, asked.text, args)).transpose()?;
    let field = args.highlight_field.as_deref().unwrap_or("text");
    let highlighter = args
        .highlight()
        .zip(query.as_ref())
        .map(|(how, query)| reader.highlighter_in(field, query, how));
    let mut highlighter = highlighter.transpose()?;
    let started = Instant::now();
    let hits = match args.query.lenient {
        true => reader.search(Lenient(asked.text), search.clone())?,
        false => reader.search(asked.text, search.clone())?,
    };
    let took = started.elapsed();
    let shown = hits.len().min(args.k);
    let full = shown == args.k;
    let first_page = args.after.is_none();
    let approximate = hits.is_approximate();
    let total = match first_page && !full && !approximate {
        // These are all there are, however far they were to be counted.
        true => Total::Exact(shown as u64),
        false => hits.total().unwrap_or(Total::AtLeast(shown as u64)),
    };
    let more = full && !(first_page && total == Total::Exact(shown as u64));
    let cursor = hits.cursor()?.filter(|_| more && shown > 0);
    let mut answer = Answer {
        query: asked.text,
        count: total.count(),
        exact: total.is_exact(),
        approximate,
        sequence: index.is_read_only().then(|| hits.as_of()),
        took_us: rounded(took.as_secs_f64() * 1e6, 3),
        cursor: cursor.map(|cursor| cursor.to_string()),
        hits: found(index, &hits, shown, args, highlighter.as_mut())?,
        plan: None,
        cache: None,
        facets: Vec::new(),
        warnings: None,
        took,
    };
    let warnings = hits.warnings().to_vec();
    drop(hits);
    let outcome = reader.cache_outcome();
    answer.cache = (args.explain && outcome != Outcome::Off).then(|| outcome.to_string());
    if let Some(query) = &query {
        add_more(index, reader, query, &search, args, &mut answer)?;
    }
    answer.warnings = args.query.lenient.then(|| asked.warn(&warnings));
    Ok(answer)
}

/// Reads the first `shown` hits.
fn found(
    index: &Index,
    hits: &Hits<'_>,
    shown: usize,
    args: &AnsweringArgs,
    mut highlighter: Option<&mut Highlighter>,
) -> Result<Vec<Hit>, HitError> {
    let wanted = Wanted {
        document: index.settings().store,
        sort: hits.is_sorted_by_field(),
        // People see the time without asking for it.
        fields: if args.json { &args.fields } else { &[] },
    };
    let read = |hit: spirit::Hit<'_>| Hit::read(&hit, wanted, highlighter.as_deref_mut());
    hits.iter().take(shown).map(read).collect()
}

/// What is searched for, besides the query.
fn search(args: &AnsweringArgs) -> Search {
    // Asked for none, one is looked for all the same: the shortest page that the engine has.
    let mut search = args.first(args.k.max(1));
    if let Some(cursor) = &args.after {
        search = search.after(cursor.clone());
    }
    if let Some(fade) = &args.recency {
        search = fade.added_to(search);
    }
    if let Counting::UpTo(number) = args.counting() {
        search = search.total(number);
    }
    args.force(search)
}

fn parsed(reader: &mut Reader, text: &str, args: &AnsweringArgs) -> Result<Query, SearchError> {
    match args.query.lenient {
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
    args: &AnsweringArgs,
    answer: &mut Answer<'_>,
) -> Result<(), SearchError> {
    if args.explain {
        explain(reader, query, search, answer)?;
    }
    if !args.facets.is_empty() {
        let schema = index.schema();
        let facets: Vec<Facet> = args.facets.iter().map(|asked| asked.facet.clone()).collect();
        let found = reader.aggregate(query, &facets)?;
        let answered = args.facets.iter().zip(found);
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

/// Writes an answer for people.
fn show(answer: &Answer<'_>, layout: &Layout, out: &mut impl Write) -> std::io::Result<()> {
    if let Some(Planned(plan)) = &answer.plan {
        writeln!(out, "{}", escaped_but(&plan.to_string(), "\n"))?;
        if let Some(cache) = &answer.cache {
            writeln!(out, "result cache: {cache}")?;
        }
    }
    layout.write(&answer.hits, out)?;
    answer.facets.iter().try_for_each(|facet| facet.show(out))?;
    // On a terminal the total comes behind the hits.
    out.flush()
}

impl Answer<'_> {
    /// Says how many documents match.
    fn total(&self) -> String {
        let least = if self.exact { "" } else { "at least " };
        let noun = if self.count == 1 { "match" } else { "matches" };
        let lack = if self.approximate { " (approximate: hits are missing)" } else { "" };
        format!("{least}{} {noun} in {}{lack}", grouped(self.count), elapsed(self.took))
    }
}
