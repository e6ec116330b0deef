//! `spirit count`: how many documents match, exactly.

use std::io::Write;

use serde::Serialize;

use crate::answer::reader;
use crate::args::CountArgs;
use crate::commands::source::index_files;
use crate::failure::Failure;
use crate::output::{json_line, out};
use crate::queries::malformed;

#[derive(Serialize)]
struct Count<'a> {
    query: &'a str,
    count: u64,
}

pub(crate) fn run(args: CountArgs) -> Result<(), Failure> {
    let source = args.source.settled()?;
    let index = index_files(&source.files, &args.reading, &args.index)?;
    let mut reader = reader(&index, args.default_operator)?;
    let mut out = out();
    let counted = source.queries.for_each(|query, place| {
        let count = reader.count_text(query).map_err(|error| malformed(place, &error))?;
        match args.json {
            true => json_line(&mut out, &Count { query, count }),
            false => Ok(writeln!(out, "{count}")?),
        }
    });
    out.flush()?;
    counted
}
