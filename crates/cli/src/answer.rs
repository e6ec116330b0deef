//! Queries are answered: as JSON lines for programs, as text for people.

use std::io::Write;
use std::time::{Duration, Instant};

use serde::Serialize;
use spirit::{Facet, Highlighter, Hits, Index, Reader, Search, SearchError, Snippet, Total};

use crate::args::AnsweringArgs;
use crate::choice::{Counting, OperatorName};
use crate::explained::{Explained, Planned};
use crate::facets::Answered;
use crate::failure::Failure;
use crate::order::{sort_shown, sort_value};
use crate::output::{elapsed, grouped, json_line, rounded};
use crate::queries::{Place, Queries, refused};
use crate::snippets::{self, Marks};

/// Characters of a text that are shown to people.
const LINE_CHARACTERS: usize = 100;

/// Digits of a score behind the point: as many as its 24 bits are good for.
const SCORE_DIGITS: i32 = 5;

/// One query's answer, in the shape that `--json` prints.
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
    /// Only if it is to be explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Planned>,
    /// Only if any were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    facets: Vec<Answered>,
    #[serde(skip)]
    took: Duration,
}

#[derive(Serialize)]
struct Hit {
    key: String,
    /// Only with an order that scores.
    score: Option<f64>,
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

/// A reader of `index` with the operator that was asked for.
pub(crate) fn reader(index: &Index, operator: Option<OperatorName>) -> Result<Reader<'_>, Failure> {
    let mut reader = index.reader().map_err(Failure::work)?;
    if let Some(operator) = operator {
        reader.default_operator(operator.into());
    }
    Ok(reader)
}

/// Answers all of `queries` on `out`.
pub(crate) fn answer_all(
    index: &Index,
    queries: &Queries,
    args: &AnsweringArgs,
    out: &mut impl Write,
) -> Result<(), Failure> {
    args.check_texts(index)?;
    let mut reader = reader(index, args.default_operator)?;
    queries.for_each(|query, place| {
        let answer = answer(index, &mut reader, query, place, args)?;
        if args.json {
            return json_line(out, &answer);
        }
        if queries.are_many() {
            writeln!(out, "query: {query}")?;
        }
        Ok(show(&answer, out)?)
    })
}

fn answer<'a>(
    index: &Index,
    reader: &mut Reader<'_>,
    query: &'a str,
    place: Place<'_>,
    args: &AnsweringArgs,
) -> Result<Answer<'a>, Failure> {
    let refused = |error: SearchError| refused(place, &error);
    // Asked for none, one is looked for all the same: the shortest page that the engine has.
    let mut search = Search::in_order(args.k.max(1), args.order());
    if let Some(cursor) = &args.after {
        search = search.after(cursor.clone());
    }
    if let Some(fade) = &args.recency {
        search = search.recency(fade.recency());
    }
    search = args.force(search);
    if let Counting::UpTo(number) = args.count {
        search = search.total(number);
    }
    let field = args.highlight_field.as_deref().unwrap_or("text");
    let highlighter = args.highlight().map(|how| reader.highlighter_text_in(field, query, how));
    let mut highlighter = highlighter.transpose().map_err(refused)?;
    let started = Instant::now();
    let hits = reader.search_text(query, search.clone()).map_err(refused)?;
    let took = started.elapsed();
    let shown = hits.len().min(args.k);
    let full = shown == args.k;
    let first_page = args.after.is_none();
    // A full page is the last one only if it holds all there are.
    let total = hits.total().unwrap_or(match first_page && !full {
        true => Total::Exact(shown as u64),
        false => Total::AtLeast(shown as u64),
    });
    let more = full && !(first_page && total == Total::Exact(shown as u64));
    let mut answer = Answer {
        query,
        count: total.count(),
        exact: total.is_exact(),
        took_us: rounded(took.as_secs_f64() * 1e6, 3),
        cursor: hits
            .cursor()
            .map_err(Failure::work)?
            .filter(|_| more && shown > 0)
            .map(|cursor| cursor.to_string()),
        hits: found(index, &hits, shown, highlighter.as_mut())?,
        plan: None,
        facets: Vec::new(),
        took,
    };
    drop(hits);
    if args.explain {
        explain(reader, &search, &mut answer).map_err(refused)?;
    }
    if !args.facets.is_empty() {
        let facets: Vec<Facet> = args.facets.iter().map(|asked| asked.facet.clone()).collect();
        let found = reader.aggregate_text(query, &facets).map_err(refused)?;
        let answered = args.facets.iter().zip(found);
        answer.facets = answered.map(|(asked, found)| Answered::new(asked, found)).collect();
    }
    Ok(answer)
}

/// Adds how the query was evaluated and, where there are scores, why they are what they are.
fn explain(
    reader: &mut Reader<'_>,
    search: &Search,
    answer: &mut Answer<'_>,
) -> Result<(), SearchError> {
    answer.plan = Some(Planned(reader.plan_text(answer.query, search)?));
    for hit in answer.hits.iter_mut().filter(|hit| hit.score.is_some()) {
        let explanation = reader.explain_text(answer.query, search, &hit.key)?;
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
) -> Result<Vec<Hit>, Failure> {
    let text = |hit| {
        let mut text = Vec::new();
        hits.write_text(hit, &mut text).map_err(Failure::work)?;
        Ok::<_, Failure>(String::from_utf8_lossy(&text).into_owned())
    };
    let keys = hits.keys().map_err(Failure::work)?;
    let scores: Vec<f32> = hits.scores().map_or_else(Vec::new, Iterator::collect);
    let sorts: Vec<_> =
        hits.sort_values().map_or_else(Vec::new, |values| values.map(sort_value).collect());
    let stored = index.options().get_store();
    let hit = |(hit, key)| {
        let text = stored.then(|| text(hit)).transpose()?;
        let score = scores.get(hit).map(|score| rounded(f64::from(*score), SCORE_DIGITS));
        let snippets = highlighter.as_mut().map(|highlighter| hits.highlight(hit, highlighter));
        let snippets = snippets.transpose().map_err(Failure::work)?;
        Ok(Hit { key, score, sort: sorts.get(hit).cloned(), text, snippets, explanation: None })
    };
    keys.into_iter().take(shown).enumerate().map(hit).collect()
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
            (Some(score), _) => writeln!(out, "{}  {score}", hit.key)?,
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
