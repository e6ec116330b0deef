//! `spirit ingest`: documents go in; how many, and how fast, comes out.

use std::io::Write;
use std::time::Duration;

use serde::Serialize;
use spirit::{Index, OnFull};

use crate::answer::answer_all;
use crate::args::IngestArgs;
use crate::directory;
use crate::failure::Failure;
use crate::full;
use crate::interrupt::Interrupt;
use crate::load::Loader;
use crate::note::note;
use crate::output::{Out, grouped, json_line, out, rate, rounded};
use crate::progress::Progress;
use crate::queries::Queries;
use crate::totals::Totals;

#[derive(Serialize)]
struct Summary {
    documents: u64,
    refused: u64,
    seconds: f64,
    documents_per_second: f64,
    bytes: u64,
    /// Documents that went since the index was opened, to make room or since they were there for long enough.
    dropped: u64,
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
    let dropped_before = index.start_report().expired;
    let mut progress = Progress::new(args.progress);
    let mut loader =
        Loader::new(index, (&args.reading).into(), &mut progress).until(interrupt.clone());
    if args.ack {
        loader = loader.acknowledge(out);
    }
    let load = || match args.resume {
        true => loader.resume(&args.files),
        false => loader.load(&args.files),
    };
    let loaded = full::reported(index, interrupt, load);
    let totals = loader.totals();
    progress.finish(&totals);
    // Nobody reads any more: nothing is left to say.
    if matches!(loaded, Err(Failure::OutputClosed)) {
        return loaded;
    }
    let seconds = progress.elapsed();
    if index.settings().on_full == OnFull::DropOldest {
        // The summary also counts what goes when the index closes. Closing reports a failure later.
        let _ = index.prepare_close();
    }
    // The failure of the index is reported elsewhere; this count is only additional.
    let dropped = dropped(index).map_or(0, |dropped| dropped.saturating_sub(dropped_before));
    json_line(out, &summary(totals, seconds, dropped))?;
    if dropped > 0 {
        let count = grouped(dropped);
        note(format_args!("{count} documents were dropped, as --on-full drop or --retain asks"));
    }
    out.flush()?;
    loaded?;
    let Some(queries) = args.queries.clone().map(Queries::File) else { return Ok(()) };
    let answered = answer_all(index, &queries, &args.answering, out);
    out.flush()?;
    answered
}

/// Documents that were ever dropped.
fn dropped(index: &Index) -> Result<u64, Failure> {
    Ok(index.stats().map_err(Failure::work)?.expired)
}

fn summary(totals: Totals, time: Duration, dropped: u64) -> Summary {
    Summary {
        documents: totals.documents,
        refused: totals.refused,
        seconds: rounded(time.as_secs_f64(), 6),
        documents_per_second: rounded(rate(totals.documents, time), 1),
        bytes: totals.bytes,
        dropped,
    }
}
