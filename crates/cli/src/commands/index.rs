//! `spirit index`: a collection goes in, and is read again where a run before this one ended.

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use spirit::lab::Times;
use spirit::{Bulk, Index};
use spirit_forms::values::rounded;

use crate::args::CollectionArgs;
use crate::directory;
use crate::failure::Failure;
use crate::full;
use crate::input::{Passed, files_below};
use crate::interrupt::Interrupt;
use crate::load::{Collection, Loader};
use crate::note::note;
use crate::output::{json_line, out, rate};
use crate::progress::Progress;
use crate::refusals;
use crate::rejects::{Rejects, reasons_of};
use crate::room;

#[derive(Default, Serialize)]
struct Summary<'a> {
    /// Documents of the collection, with those that an earlier run had indexed.
    documents: u64,
    /// Documents that this run read.
    read: u64,
    refused: u64,
    /// Records of archives that hold no text.
    #[serde(skip_serializing_if = "is_zero")]
    without_text: u64,
    seconds: f64,
    documents_per_second: f64,
    /// Of the texts that this run read.
    bytes: u64,
    files: usize,
    #[serde(skip_serializing_if = "Option::is_none", flatten)]
    passed: Option<Passed>,
    /// Seconds of each executor.
    executors: Vec<Parts>,
    #[serde(flatten)]
    refusals: refusals::Summary<'a>,
}

/// What an executor did, in seconds. It has two threads: one adds, and the other flushes and merges.
#[derive(Serialize)]
struct Parts {
    document_ids: f64,
    hash: f64,
    sort: f64,
    flush: f64,
    merge: f64,
    /// What is left of the time of its two threads.
    idle: f64,
}

impl Parts {
    fn of(times: &Times, whole: f64) -> Parts {
        let Times { document_ids, hash, sort, flush, merge, .. } = *times;
        let busy = document_ids + hash + sort + flush + merge;
        let [document_ids, hash, sort, flush, merge, idle] =
            [document_ids, hash, sort, flush, merge, (2.0 * whole - busy).max(0.0)]
                .map(|seconds| rounded(seconds, 3));
        Parts { document_ids, hash, sort, flush, merge, idle }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

pub(crate) fn run(args: CollectionArgs) -> Result<(), Failure> {
    let mut args = args.settled()?;
    if args.give_up {
        return give_up(&args);
    }
    let interrupt = Interrupt::caught()?;
    let reasons = args.rejects.as_deref().map(reasons_of);
    let written = [Some(args.directory.as_path()), args.rejects.as_deref(), reasons.as_deref()];
    let written: Vec<&Path> = written.into_iter().flatten().collect();
    let (files, passed) = files_below(&args.files, &written).map_err(Failure::work)?;
    let is_new = !directory::is_present(&args.directory)?;
    if is_new {
        args.index.executors.get_or_insert_with(cores);
        let nvm = args.tier.nvm;
        args.index.dram.get_or_insert_with(|| room::of_collections(nvm));
    }
    let collection = Collection::of(files, &args.reading)?;
    let media = args.place.media(&args.directory);
    let index = directory::open_or_make_at(&args.directory, &args.index, &args.tier, media)?;
    let indexed = match collection.documents_in(&index) {
        Some(documents) if !args.again => {
            let name = args.directory.display();
            note(format_args!("{name}: has this collection already; --again indexes it once more"));
            let files = collection.files().len();
            json_line(&mut out(), &Summary { documents, files, passed, ..Summary::default() })
        }
        _ => index_all(&index, &args, collection, passed, &interrupt),
    };
    directory::close(index, indexed)
}

/// One executor for each core.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn give_up(args: &CollectionArgs) -> Result<(), Failure> {
    let index = directory::open(&args.directory, &args.index)?;
    let name = args.directory.display();
    let given_up = if index.has_unfinished_bulk() {
        index.give_up_bulk().map_err(Failure::work)
    } else {
        note(format_args!("{name}: no collection is unfinished"));
        Ok(())
    };
    directory::close(index, given_up)
}

fn index_all(
    index: &Index,
    args: &CollectionArgs,
    collection: Collection,
    passed: Option<Passed>,
    interrupt: &Interrupt,
) -> Result<(), Failure> {
    if index.settings().opaque_text {
        return Err(Failure::usage(
            "the index was made by the server, and searches fields alone; send documents to `spirit serve`",
        ));
    }
    let goes_on = index.has_unfinished_bulk();
    let open = |path: &Path| Rejects::open(path, collection.files(), goes_on);
    let rejects = args.rejects.as_deref().map(open).transpose()?;
    let mut progress = Progress::new(args.progress).of(collection.reading());
    let mut bulk = index.bulk().map_err(Failure::work)?;
    let mut loader = Loader::new(index, (&args.reading).into(), &mut progress)
        .until(interrupt.clone())
        .keep(rejects);
    let (files, sink, load) = (&collection, &mut bulk, &mut loader);
    let loaded = full::reported(index, interrupt, move || load.load_collection(files, sink));
    let (totals, refusals) = (loader.totals(), loader.refusals().clone());
    progress.finish(&totals);
    let documents = bulk.documents();
    end(index, args, bulk, loaded)?;
    let seconds = progress.elapsed();
    let times = index.times();
    let summary = Summary {
        documents,
        read: totals.documents,
        refused: totals.refused,
        without_text: totals.without_text,
        seconds: rounded(seconds.as_secs_f64(), 6),
        documents_per_second: rounded(rate(totals.documents, seconds), 1),
        bytes: totals.bytes,
        files: collection.files().len(),
        passed,
        executors: times.iter().map(|one| Parts::of(one, seconds.as_secs_f64())).collect(),
        refusals: refusals.summary(),
    };
    let mut out = out();
    json_line(&mut out, &summary)?;
    out.flush()?;
    if totals.refused > 0 { Err(Failure::Refused) } else { Ok(()) }
}

/// Ends the load. One that was interrupted is left to be gone on with.
fn end(
    index: &Index,
    args: &CollectionArgs,
    bulk: Bulk<'_>,
    loaded: Result<(), Failure>,
) -> Result<(), Failure> {
    match loaded {
        Ok(()) => bulk.finish().map_err(|error| Failure::work(full::said(index, &error))),
        Err(Failure::Interrupted(signal)) => {
            // Closing the index reports a failure.
            let _ = bulk.suspend();
            let name = args.directory.display();
            note(format_args!("{name}: unfinished; the same command goes on where this one ended"));
            Err(Failure::Interrupted(signal))
        }
        Err(failure) => Err(failure),
    }
}
