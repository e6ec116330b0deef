//! `spirit count`: how many documents match, exactly or up to a number.

use std::io::Write;

use serde::Serialize;
use spirit::{Index, Total};

use crate::answer::reader;
use crate::args::CountArgs;
use crate::choice::OperatorName;
use crate::directory;
use crate::failure::Failure;
use crate::output::{json_line, out};
use crate::queries::{Queries, refused};

#[derive(Serialize)]
struct Count<'a> {
    query: &'a str,
    count: u64,
    /// Only if it need not be.
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<bool>,
}

pub(crate) fn run(args: CountArgs) -> Result<(), Failure> {
    let (source, queries) = args.source.settled()?;
    let index = source.open(&args.reading, &args.index)?;
    let mut out = out();
    let (operator, up_to) = (args.default_operator, args.up_to);
    let counted = count_all(&index, &queries, operator, up_to, args.json, &mut out);
    out.flush()?;
    directory::close(index, counted)
}

fn count_all(
    index: &Index,
    queries: &Queries,
    operator: Option<OperatorName>,
    up_to: Option<u64>,
    json: bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let mut reader = reader(index, operator)?;
    queries.for_each(|query, place| {
        let counted = match up_to {
            None => reader.count_text(query).map(Total::Exact),
            Some(number) => reader.count_text_up_to(query, number),
        };
        let total = counted.map_err(|error| refused(place, &error))?;
        let (count, exact) = (total.count(), up_to.map(|_| total.is_exact()));
        match (json, total) {
            (true, _) => json_line(out, &Count { query, count, exact }),
            (false, Total::Exact(_)) => Ok(writeln!(out, "{count}")?),
            (false, Total::AtLeast(_)) => Ok(writeln!(out, "at least {count}")?),
        }
    })
}
