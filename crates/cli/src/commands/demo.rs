//! `spirit demo`: documents stream in, another thread asks, and everybody can watch.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use spirit::{Analyzer, Index};

use crate::args::{DemoArgs, IndexArgs};
use crate::choice::OnFullName;
use crate::demo::asker::Asker;
use crate::demo::corpus::Corpus;
use crate::demo::live::Live;
use crate::demo::stream::{self, End, Streamed};
use crate::demo::summary::{Source, Summary};
use crate::demo::{prompt, walk};
use crate::failure::Failure;
use crate::note::{note, report};
use crate::output::{elapsed, grouped, json_line, out};
use crate::stats::Stats;
use crate::terminal::cut;

/// Different documents, unless the number is given: some ten seconds of the stream.
const DOCUMENTS: u64 = 6_000_000;
const PERIOD: Duration = Duration::from_secs(1);
/// Columns that a line of progress takes at most.
const COLUMNS: usize = 80;

pub(crate) fn run(args: &DemoArgs) -> Result<(), Failure> {
    let documents = args.docs.map_or(usize::MAX, |docs| docs as usize);
    let end = End { documents, time: time_max(args)? };
    // The stream is to go on: how many documents made room is among the figures.
    let on_full = args.index.on_full.unwrap_or(OnFullName::Drop);
    let index = IndexArgs { on_full: Some(on_full), ..args.index.clone() }.open()?;
    let (corpus, mut source) = corpus(args)?;
    let live = Live::new();
    let streamed = watch(&index, &corpus, end, args.seed, &live)?;
    source.rounds = streamed.documents.checked_div(corpus.len()).unwrap_or(0) as u64;
    source.bytes = corpus.bytes(streamed.documents);
    source.tokens = corpus.tokens(streamed.documents);
    let stats = Stats::of(&index)?;
    let summary = Summary::of(source, streamed, &live, stats);
    let mut out = out();
    if args.json {
        json_line(&mut out, &summary)?;
    } else {
        summary.write(&live, &mut out)?;
    }
    out.flush()?;
    if io::stdin().is_terminal() && !args.json {
        let mut reader = index.reader().map_err(Failure::work)?;
        prompt::run(&mut reader, &corpus, io::stdin().lock(), &mut out)?;
    }
    Ok(())
}

fn time_max(args: &DemoArgs) -> Result<Duration, Failure> {
    if args.index.analyzer == Some(Analyzer::Keyword) {
        return Err(Failure::usage(
            "--analyzer keyword: the demo searches for words; choose another analyzer",
        ));
    }
    let Some(seconds) = args.seconds else { return Ok(args.time.into()) };
    Duration::try_from_secs_f64(seconds)
        .map_err(|error| Failure::usage(format_args!("--seconds {seconds}: {error}")))
}

/// The documents, and what is said of them.
fn corpus(args: &DemoArgs) -> Result<(Corpus, Source), Failure> {
    let source = |name, refused| Source { name, seed: args.seed, refused, ..Source::default() };
    let documents = args.docs.unwrap_or(DOCUMENTS);
    let Some(path) = &args.input else {
        note(format_args!("generating {} posts", grouped(documents)));
        let name = format!("generated posts (seed {}): real shapes, invented words", args.seed);
        return Ok((Corpus::generate(args.seed, documents), source(name, 0)));
    };
    note(format_args!("reading {}", path.display()));
    let found = walk::read(path, args.format.unwrap_or_default().0, documents)?;
    let name =
        format!("{}: {} documents of {} files", path.display(), found.corpus.len(), found.files);
    Ok((found.corpus, source(name, found.refused)))
}

/// Streams and asks, and says once a second how far it is.
fn watch(
    index: &Index,
    corpus: &Corpus,
    end: End,
    seed: u64,
    live: &Live,
) -> Result<Streamed, Failure> {
    let asker = Asker::new(index, corpus, live, seed)?;
    thread::scope(|scope| {
        let (finished, wait) = channel();
        scope.spawn(|| asker.run());
        scope.spawn(move || finished.send(stream::run(index, corpus, end, live)));
        let mut before = 0;
        loop {
            match wait.recv_timeout(PERIOD) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Timeout) => before = progress(index, corpus, live, before)?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::work("the stream ended without a result"));
                }
            }
        }
    })
}

/// Shows two lines of progress. Returns the number of documents that they show.
fn progress(index: &Index, corpus: &Corpus, live: &Live, before: u64) -> Result<u64, Failure> {
    let added = live.added.load(Acquire);
    let queries = live.all_latencies();
    let time =
        |per_mille| elapsed(Duration::from_nanos(queries.percentile(per_mille).unwrap_or(0)));
    let newest = live.newest_hit.load(Relaxed).checked_sub(1).map(|number| number.to_string());
    let text =
        newest.map(|key| format!("{key} {}", prompt::shown(corpus, &key))).unwrap_or_default();
    let (rate, asked) = (grouped(added - before), grouped(queries.count()));
    let first = format!(
        "{} documents, {rate}/s; {asked} queries, p50 {}, p99 {}",
        grouped(added),
        time(500),
        time(990)
    );
    let heap = Stats::of(index)?.heap.dram.fill();
    let second = format!("  heap {heap}; newest hit: {text}");
    report(cut(&first, COLUMNS));
    report(cut(&second, COLUMNS));
    Ok(added)
}
