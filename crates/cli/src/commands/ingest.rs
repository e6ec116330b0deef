//! `spirit ingest`: documents go in; how many, and how fast, comes out.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use spirit::{Index, OnFull};
use spirit_forms::values::rounded;

use crate::answer::answer_all;
use crate::args::IngestArgs;
use crate::directory;
use crate::failure::Failure;
use crate::full;
use crate::input::{Passed, files_below};
use crate::interrupt::Interrupt;
use crate::load::Loader;
use crate::note::note;
use crate::output::{Out, grouped, json_line, out, rate};
use crate::progress::Progress;
use crate::queries::Queries;
use crate::refusals;
use crate::rejects::{Rejects, reasons_of};
use crate::stats::Busy;
use crate::totals::Totals;

#[derive(Serialize)]
struct Summary<'a> {
    documents: u64,
    refused: u64,
    /// Records of archives that hold no text.
    #[serde(skip_serializing_if = "is_zero")]
    without_text: u64,
    seconds: f64,
    documents_per_second: f64,
    bytes: u64,
    /// Documents that went since the index was opened, to make room or since they were there for long enough.
    dropped: u64,
    /// Seconds for which each stage of the pipeline worked.
    busy_seconds: Busy,
    #[serde(flatten)]
    refusals: refusals::Summary<'a>,
    /// Files that were read, if there was a folder among them, and what else is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none", flatten)]
    passed: Option<Passed>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

pub(crate) fn run(args: IngestArgs) -> Result<(), Failure> {
    let args = args.settled()?;
    let interrupt = Interrupt::caught()?;
    let sources = Sources::of(&args)?;
    let index = match &args.directory {
        Some(directory) => directory::open_or_make(directory, &args.index, &args.tier)?,
        None => args.tier.added_to(args.index.options()).open()?,
    };
    let mut out = out();
    let ingested = ingest(&index, &args, sources, &interrupt, &mut out);
    directory::close(index, ingested)
}

fn ingest(
    index: &Index,
    args: &IngestArgs,
    sources: Sources,
    interrupt: &Interrupt,
    out: &mut Out,
) -> Result<(), Failure> {
    if args.queries.is_some() {
        args.answering.check_texts(index)?;
    }
    if index.settings().opaque_text {
        // Texts of lines would be stored, and never found.
        return Err(Failure::usage(
            "the index was made by the server, and searches fields alone; send documents to `spirit serve`",
        ));
    }
    let dropped_before = index.start_report().expired;
    let mut progress = Progress::new(args.progress);
    let Sources { files, passed, rejects } = sources;
    let mut loader = Loader::new(index, (&args.reading).into(), &mut progress)
        .until(interrupt.clone())
        .ahead(args.ahead || index.settings().executors > 1)
        .keep(rejects);
    if args.ack {
        loader = loader.acknowledge(out);
    }
    let load = || match (args.follow, args.resume) {
        (true, resumes) => loader.follow(&files, resumes),
        (false, true) => loader.resume(&files),
        (false, false) => loader.load(&files),
    };
    let loaded = full::reported(index, interrupt, load);
    let (totals, refusals) = (loader.totals(), loader.refusals().clone());
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
    // The failure of the index is reported elsewhere; these figures are only additional.
    let stats = index.stats().unwrap_or_default();
    let dropped = stats.expired.saturating_sub(dropped_before);
    let summary = Summary {
        busy_seconds: Busy::of(&stats),
        refusals: refusals.summary(),
        files: passed.map(|_| files.len()),
        passed,
        ..summary(totals, seconds, dropped)
    };
    json_line(out, &summary)?;
    if dropped > 0 {
        let count = grouped(dropped);
        note(format_args!("{count} documents were dropped, as --on-full drop or --retain asks"));
    }
    out.flush()?;
    loaded?;
    if let Some(queries) = args.queries.clone().map(Queries::File) {
        let answered = answer_all(index, &queries, &args.answering, out);
        out.flush()?;
        answered?;
    }
    if totals.refused > 0 { Err(Failure::Refused) } else { Ok(()) }
}

/// What is read, and where what is refused goes.
struct Sources {
    files: Vec<PathBuf>,
    /// What is not read below folders, if there are any.
    passed: Option<Passed>,
    rejects: Option<Rejects>,
}

impl Sources {
    fn of(args: &IngestArgs) -> Result<Sources, Failure> {
        let reasons = args.rejects.as_deref().map(reasons_of);
        let written = [args.directory.as_deref(), args.rejects.as_deref(), reasons.as_deref()];
        let written: Vec<&Path> = written.into_iter().flatten().collect();
        let (files, passed) = files_below(&args.files, &written).map_err(Failure::work)?;
        let open = |path: &Path| Rejects::open(path, &files, args.resume);
        let rejects = args.rejects.as_deref().map(open).transpose()?;
        Ok(Sources { files, passed, rejects })
    }
}

fn summary(totals: Totals, time: Duration, dropped: u64) -> Summary<'static> {
    Summary {
        documents: totals.documents,
        refused: totals.refused,
        without_text: totals.without_text,
        seconds: rounded(time.as_secs_f64(), 6),
        documents_per_second: rounded(rate(totals.documents, time), 1),
        bytes: totals.bytes,
        dropped,
        busy_seconds: Busy::default(),
        refusals: refusals::Summary::default(),
        files: None,
        passed: None,
    }
}
