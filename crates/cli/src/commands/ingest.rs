//! `spirit ingest`: documents go in; how many, and how fast, comes out.

use std::io::Write;
use std::time::Duration;

use serde::Serialize;
use spirit::Index;

use crate::answer::answer_all;
use crate::args::IngestArgs;
use crate::directory;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::load::{Loader, Totals};
use crate::output::{Out, json_line, out, rate, rounded};
use crate::progress::Progress;
use crate::queries::Queries;

#[derive(Serialize)]
struct Summary {
    documents: u64,
    refused: u64,
    seconds: f64,
    documents_per_second: f64,
    bytes: u64,
}

pub(crate) fn run(args: IngestArgs) -> Result<(), Failure> {
    let args = args.settled()?;
    let interrupt = Interrupt::caught()?;
    let index = match &args.directory {
        Some(directory) => directory::open_or_make(directory, &args.index, &args.tier)?,
        None => args.index.open()?,
    };
    let mut out = out();
    let ingested = ingest(&index, &args, &interrupt, &mut out);
    directory::close(index, ingested)
}

fn ingest(
    index: &Index,
    args: &IngestArgs,
    interrupt: &Interrupt,
    out: &mut Out,
) -> Result<(), Failure> {
    if args.queries.is_some() {
        args.answering.check_texts(index)?;
    }
    let mut progress = Progress::new(args.progress);
    let mut loader =
        Loader::new(index, (&args.reading).into(), &mut progress).until(interrupt.clone());
    if args.ack {
        loader = loader.acknowledge(out);
    }
    let loaded = if args.resume { loader.resume(&args.files) } else { loader.load(&args.files) };
    let totals = loader.totals();
    progress.finish(&totals);
    // Nobody reads any more: nothing is left to say.
    if matches!(loaded, Err(Failure::OutputClosed)) {
        return loaded;
    }
    json_line(out, &summary(totals, progress.elapsed()))?;
    out.flush()?;
    loaded?;
    let Some(queries) = args.queries.clone().map(Queries::File) else { return Ok(()) };
    let answered = answer_all(index, &queries, &args.answering, out);
    out.flush()?;
    answered
}

fn summary(totals: Totals, time: Duration) -> Summary {
    Summary {
        documents: totals.documents,
        refused: totals.refused,
        seconds: rounded(time.as_secs_f64(), 6),
        documents_per_second: rounded(rate(totals.documents, time), 1),
        bytes: totals.bytes,
    }
}
