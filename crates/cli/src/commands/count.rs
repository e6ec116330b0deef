//! `spirit count`: how many documents match, exactly or up to a number.

use std::io::Write;

use serde::Serialize;
use spirit::search::Total;
use spirit::{Index, Lenient, Reader, SearchError};
use spirit_forms::answer::ignored;

use crate::answer::readers;
use crate::args::{CountArgs, QueryArgs};
use crate::asked::{Asked, Refused};
use crate::failure::Failure;
use crate::output::{json_line, out};
use crate::queries::Queries;

#[derive(Serialize)]
struct Count<'a> {
    query: &'a str,
    count: u64,
    /// All acknowledged operations below this sequence number were counted; only for an index in a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<u64>,
    /// Only if it need not be.
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<bool>,
    /// What was passed over in the query, if it was read leniently.
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<String>>,
}

pub(crate) fn run(args: CountArgs) -> Result<(), Failure> {
    let CountArgs { source, up_to, json, query, reading, index } = args;
    let (source, queries) = source.settled()?;
    let opened = source.open(&reading, &index)?;
    let mut out = out();
    let counted = count_all(&opened.index, &queries, &query, up_to, json, &mut out);
    out.flush()?;
    opened.close(counted)
}

fn count_all<W: Write>(
    index: &Index,
    queries: &Queries,
    args: &QueryArgs,
    up_to: Option<u64>,
    json: bool,
    out: &mut W,
) -> Result<(), Failure> {
    let answer = |reader: &mut Reader, asked: Asked<'_>, mut out: &mut dyn Write| {
        let query = asked.text;
        let (total, warnings) = count(reader, asked, up_to, args.lenient)?;
        let (count, exact) = (total.count(), up_to.map(|_| total.is_exact()));
        let sequence = index.is_read_only().then(|| reader.as_of());
        match (json, total) {
            (true, _) => json_line(&mut out, &Count { query, count, sequence, exact, warnings })?,
            (false, Total::Exact(_)) => writeln!(out, "{count}")?,
            (false, Total::AtLeast(_)) => writeln!(out, "at least {count}")?,
        }
        Ok(())
    };
    let refused = |refused: &Refused<'_>, out: &mut W| match json {
        true => json_line(out, refused),
        // A line for each query.
        false => Ok(writeln!(out, "-")?),
    };
    queries.for_each(readers(index, args)?, out, answer, refused)
}

/// How many documents match, and what was passed over to know it, if that was wanted.
fn count(
    reader: &mut Reader,
    asked: Asked<'_>,
    up_to: Option<u64>,
    lenient: bool,
) -> Result<(Total, Option<Vec<String>>), SearchError> {
    let text = asked.text;
    if !lenient {
        let total = match up_to {
            None => reader.count(text).map(Total::Exact),
            Some(number) => reader.count_up_to(text, number),
        };
        return Ok((total?, None));
    }
    let query = reader.parse(Lenient(text))?;
    let warnings = ignored(reader.warnings());
    asked.warn(&warnings);
    let total = match up_to {
        None => reader.count(&query).map(Total::Exact),
        Some(number) => reader.count_up_to(&query, number),
    };
    Ok((total?, Some(warnings)))
}
