//! Queries are answered: as JSON lines for programs, as text for people.

use std::io::Write;
use std::time::{Duration, Instant};

use serde::Serialize;
use spirit::facets::Facet;
use spirit::search::{Highlighter, Snippet, Total};
use spirit::{HitError, Hits, Index, Lenient, Query, Reader, Search, SearchError};

use crate::args::{AnsweringArgs, QueryArgs};
use crate::choice::Counting;
use crate::explained::{Explained, Planned};
use crate::facets::Answered;
use crate::failure::Failure;
use crate::order::{sort_shown, sort_value};
use crate::output::{elapsed, grouped, json_line, rounded};
use crate::queries::{Asked, Queries, Refused, Unanswered};
use crate::snippets::{self, Marks};

/// Characters of a text that are shown to people.
const LINE_CHARACTERS: usize = 100;

/// Digits of a score that people see, behind the point: as many as its 24 bits are good for.
const SCORE_DIGITS: i32 = 5;

/// One query's answer, in the shape that `--json` prints.
/// How often a query is asked whose answer goes away.
const TRIES: usize = 8;

#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    count: u64,
    /// Whether `count` is of all matches.
    exact: bool,
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
    /// Only if any were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    facets: Vec<Answered>,
    /// What was passed over in the query, if it was read leniently.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<String>>,
    #[serde(skip)]
    took: Duration,
}

#[derive(Serialize)]
struct Hit {
    key: String,
    /// Only with an order that scores.
    score: Option<f32>,
    /// Only with the order of a field: what the document was sorted by.
    #[serde(skip_serializing_if = "Option::is_none")]
    sort: Option<serde_json::Value>,
    /// Only of an index that stores it.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Only if it is to be highlighted.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "snippets::as_html")]
    snippets: Option<Vec<Snippet>>,
    /// Only with an order that scores, if it is to be explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Explained>,
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
    let mut reader = reader(index, &args.query)?;
    let answer = |asked: Asked<'_>, out: &mut W| {
        let answer = answer(index, &mut reader, asked, args)?;
        if args.json {
            return Ok(json_line(out, &answer)?);
        }
        if queries.are_many() {
            writeln!(out, "query: {}", asked.text)?;
        }
        Ok(show(&answer, out)?)
    };
    let refused = |refused: &Refused<'_>, out: &mut W| match args.json {
        true => json_line(out, refused),
        false => {
            let query = refused.query.as_deref().unwrap_or_default();
            Ok(writeln!(out, "query: {query}\nno answer: {}", refused.error)?)
        }
    };
    queries.for_each(out, answer, refused)
}

/// Answers a query; once more if what was found went away before it was read.
fn answer<'a>(
    index: &Index,
    reader: &mut Reader,
    asked: Asked<'a>,
    args: &AnsweringArgs,
) -> Result<Answer<'a>, Unanswered> {
    for _ in 1..TRIES {
        match answer_once(index, reader, asked, args) {
            Err(Unanswered::Hit(HitError::Lease(_))) => {}
            answered => return answered,
        }
    }
    answer_once(index, reader, asked, args)
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
    let total = match first_page && !full {
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
        sequence: index.is_read_only().then(|| hits.as_of()),
        took_us: rounded(took.as_secs_f64() * 1e6, 3),
        cursor: cursor.map(|cursor| cursor.to_string()),
        hits: found(index, &hits, shown, highlighter.as_mut())?,
        plan: None,
        facets: Vec::new(),
        warnings: None,
        took,
    };
    let warnings = hits.warnings().to_vec();
    drop(hits);
    if let Some(query) = &query {
        add_more(index, reader, query, &search, args, &mut answer)?;
    }
    answer.warnings = args.query.lenient.then(|| asked.warn(&warnings));
    Ok(answer)
}

/// What is searched for, besides the query.
fn search(args: &AnsweringArgs) -> Search {
    // Asked for none, one is looked for all the same: the shortest page that the engine has.
    let mut search = Search::in_order(args.k.max(1), args.order());
    if let Some(cursor) = &args.after {
        search = search.after(cursor.clone());
    }
    if let Some(fade) = &args.recency {
        search = search.recency(fade.recency());
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

/// The first `shown` hits, with their texts if the index stores them, and snippets of these if they are to be highlighted.
fn found(
    index: &Index,
    hits: &Hits<'_>,
    shown: usize,
    mut highlighter: Option<&mut Highlighter>,
) -> Result<Vec<Hit>, Unanswered> {
    let (stored, is_sorted) = (index.settings().store, hits.is_sorted_by_field());
    let hit = |hit: spirit::Hit<'_>| {
        let text = || hit.text().map(str::to_owned);
        let snippets = highlighter.as_mut().map(|highlighter| hit.snippets(highlighter));
        Ok(Hit {
            key: hit.key()?,
            score: hit.score(),
            sort: is_sorted.then(|| sort_value(hit.sort_value())),
            text: stored.then(text).transpose()?,
            snippets: snippets.transpose()?,
            explanation: None,
        })
    };
    hits.iter().take(shown).map(hit).collect()
}

fn show(answer: &Answer<'_>, out: &mut impl Write) -> std::io::Result<()> {
    let marks = Marks::for_output();
    let least = if answer.exact { "" } else { "at least " };
    writeln!(out, "{least}{} matches in {}", grouped(answer.count), elapsed(answer.took))?;
    if let Some(Planned(plan)) = &answer.plan {
        writeln!(out, "{plan}")?;
    }
    for hit in &answer.hits {
        match (hit.score, &hit.sort) {
            (Some(score), _) => writeln!(out, "{}  {}", hit.key, score_shown(score))?,
            (None, Some(value)) => writeln!(out, "{}  {}", hit.key, sort_shown(value))?,
            (None, None) => writeln!(out, "{}", hit.key)?,
        }
        match (&hit.snippets, &hit.text) {
            (Some(snippets), _) => {
                for snippet in snippets {
                    writeln!(out, "    {}", snippets::line(snippet, marks))?;
                }
            }
            (None, Some(text)) => writeln!(out, "    {}", shortened(text))?,
            (None, None) => {}
        }
        if let Some(Explained(explanation)) = &hit.explanation {
            for line in explanation.to_string().lines() {
                writeln!(out, "    {line}")?;
            }
        }
    }
    answer.facets.iter().try_for_each(|facet| facet.show(out))?;
    match &answer.cursor {
        Some(cursor) => writeln!(out, "next page: --after {cursor}"),
        None => Ok(()),
    }
}

/// A score for people: rounded, but to four digits at least, so that faded scores differ too.
fn score_shown(score: f32) -> String {
    let rounded = |digits| rounded(f64::from(score), digits).to_string();
    match score.abs() {
        0.0 => "0".to_owned(),
        0.1..1e9 => rounded(SCORE_DIGITS),
        1e-4..0.1 => rounded(SCORE_DIGITS + 3),
        _ => format!("{score:.3e}"),
    }
}

/// A text on one line, and no longer than that: blanks and control characters are one blank.
fn shortened(text: &str) -> String {
    let mut words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let mut line = String::new();
    for word in words.by_ref().filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if let Some((end, _)) = line.char_indices().nth(LINE_CHARACTERS) {
            line.truncate(end);
            line.push('…');
            break;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_shown_with_the_digits_that_tell_them_apart() {
        for (score, shown) in [
            (0.0, "0"),
            (1.0, "1"),
            (3.218_876, "3.21888"),
            (0.123_456_7, "0.12346"),
            (0.012_345_67, "0.01234567"),
            (0.000_123_456_7, "0.00012346"),
            (1.234_1e-30, "1.234e-30"),
            (1e30, "1.000e30"),
        ] {
            assert_eq!(score_shown(score), shown);
        }
    }

    #[test]
    fn a_text_is_shown_on_one_line() {
        assert_eq!(shortened(""), "");
        assert_eq!(shortened(" the \n\u{1b}[31msea\t "), "the [31msea");
        let whole = "é".repeat(LINE_CHARACTERS);
        assert_eq!(shortened(&whole), whole);
        assert_eq!(shortened(&format!("{whole} ")), whole);
        assert_eq!(shortened(&format!("{whole}é")), format!("{whole}…"));
        assert_eq!(shortened(&format!("a {whole}")).chars().count(), LINE_CHARACTERS + 1);
    }
}
