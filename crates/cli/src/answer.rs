//! Queries are answered: as JSON lines for programs, as text for people.

use std::io::Write;

use spirit::{Index, Reader};
use spirit_forms::answer::Answer;
use spirit_forms::escape::{escaped, escaped_but};
use spirit_forms::explained::Planned;

use crate::args::{AnsweringArgs, QueryArgs};
use crate::asked::{Asked, Refused};
use crate::facets;
use crate::failure::Failure;
use crate::layout::Layout;
use crate::output::{elapsed, grouped, json_line};
use crate::queries::Queries;

/// A reader of `index` for each thread that answers queries.
pub(crate) fn readers(index: &Index, args: &QueryArgs) -> Result<Vec<Reader>, Failure> {
    (0..args.query_threads).map(|_| reader(index, args)).collect()
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
    let question = args.question();
    let answer = |reader: &mut Reader, asked: Asked<'_>, mut out: &mut dyn Write| {
        let answer = Answer::of(index, reader, asked.text, &question)?;
        asked.warn(answer.warnings.iter().flatten());
        if args.json {
            return Ok(json_line(&mut out, &answer)?);
        }
        if queries.are_many() {
            writeln!(out, "query: {}", escaped(asked.text))?;
        }
        show(&answer, &layout, &mut out)?;
        asked.say(total(&answer));
        if let Some(cursor) = &answer.cursor {
            asked.say(format_args!("next page: --after {cursor}"));
        }
        Ok(())
    };
    let refused = |refused: &Refused<'_>, out: &mut W| match args.json {
        true => json_line(out, refused),
        false => {
            let query = refused.query.unwrap_or_default();
            let (query, error) = (escaped(query), escaped(refused.error));
            Ok(writeln!(out, "query: {query}\nno answer: {error}")?)
        }
    };
    queries.for_each(readers(index, &args.query)?, out, answer, refused)
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
    answer.facets.iter().try_for_each(|facet| facets::show(facet, out))?;
    // On a terminal the total comes behind the hits.
    out.flush()
}

/// Says how many documents match.
fn total(answer: &Answer<'_>) -> String {
    let least = if answer.exact { "" } else { "at least " };
    let noun = if answer.count == 1 { "match" } else { "matches" };
    let lack = if answer.approximate { " (approximate: hits are missing)" } else { "" };
    format!("{least}{} {noun} in {}{lack}", grouped(answer.count), elapsed(answer.took))
}
