//! `spirit count`: how many documents match, exactly.

use std::io::Write;

use serde::Serialize;
use spirit::Index;

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
}

pub(crate) fn run(args: CountArgs) -> Result<(), Failure> {
    let (source, queries) = args.source.settled()?;
    let index = source.open(&args.reading, &args.index)?;
    let mut out = out();
    let counted = count_all(&index, &queries, args.default_operator, args.json, &mut out);
    out.flush()?;
    directory::close(index, counted)
}

fn count_all(
    index: &Index,
    queries: &Queries,
    operator: Option<OperatorName>,
    json: bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let mut reader = reader(index, operator)?;
    queries.for_each(|query, place| {
        let count = reader.count_text(query).map_err(|error| refused(place, &error))?;
        match json {
            true => json_line(out, &Count { query, count }),
            false => Ok(writeln!(out, "{count}")?),
        }
    })
}
