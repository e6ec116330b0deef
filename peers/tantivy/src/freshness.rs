//! Task `freshness`: one thread adds documents, commits and reloads after each; another asks all
//! the time. How long after the start of its addition does a document turn up in an answer?

use crate::collectors::Newest;
use crate::engine::{Engine, SINGLE_BYTES};
use spirit_peer_protocol::{
    Corpus, Fallible, Latencies, Options, Pace, Query, Reporter, Rounds, fresh_directory, marker,
    read_queries,
};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tantivy::IndexReader;

/// A document that is being added and that the asking thread is to find.
struct Marked {
    turn: usize,
    start: Instant,
}

/// What the two threads share.
struct Shared<'a> {
    engine: &'a Engine,
    corpus: &'a Corpus,
    reader: IndexReader,
    /// Filled by the writer if it is empty, emptied by the asking thread.
    marked: Mutex<Option<Marked>>,
    stop: AtomicBool,
}

/// What the asking thread saw.
struct Asked {
    fresh: Latencies,
    searches: Latencies,
}

pub(crate) fn freshness(options: &Options, corpus: &Corpus, reporter: Reporter) -> Fallible<()> {
    let queries = read_queries(options.queries_file()?)?;
    let path = fresh_directory(&options.work, "tantivy-freshness")?;
    let engine = Engine::create(&path, corpus.columns())?;
    engine.build_base(corpus, base(corpus))?;
    let queries: Vec<_> =
        queries.iter().map(|named| engine.query(&named.query, false)).collect::<Result<_, _>>()?;
    let shared = Shared {
        engine: &engine,
        corpus,
        reader: engine.reader()?,
        marked: Mutex::new(None),
        stop: AtomicBool::new(false),
    };
    let (adds, asked) = both_threads(options, &shared, &queries)?;
    report(options, &reporter, adds, &asked)?;
    std::fs::remove_dir_all(&path)?;
    Ok(())
}

/// Four fifths of the documents are there before the run.
fn base(corpus: &Corpus) -> usize {
    corpus.len() / 5 * 4
}

fn both_threads(
    options: &Options,
    shared: &Shared<'_>,
    queries: &[Box<dyn tantivy::query::Query>],
) -> Fallible<(usize, Asked)> {
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let adds = write(options, shared);
            shared.stop.store(true, Relaxed);
            adds
        });
        let asked = ask(shared, queries);
        shared.stop.store(true, Relaxed);
        let adds = writer.join().map_err(|_| "the writing thread panicked")??;
        Ok((adds, asked?))
    })
}

/// Adds at the rate asked for, or as fast as commits allow; returns how many.
fn write(options: &Options, shared: &Shared<'_>) -> Fallible<usize> {
    let mut writer = shared.engine.writer(SINGLE_BYTES)?;
    let mut pace = Pace::new(options.rate);
    let end = Instant::now() + Duration::from_secs_f64(options.seconds);
    let mut turn = 0;
    while !shared.stop.load(Relaxed) && Instant::now() < end {
        pace.wait();
        let text = shared.corpus.again(shared.corpus.len() - base(shared.corpus), turn);
        let key = (shared.corpus.len() + turn) as u64;
        mark(shared, turn);
        shared.engine.add(&writer, key, &text)?;
        writer.commit()?;
        shared.reader.reload()?;
        turn += 1;
    }
    writer.wait_merging_threads()?;
    Ok(turn)
}

/// Starts the clock of this document unless another one is still looked for.
fn mark(shared: &Shared<'_>, turn: usize) {
    let mut marked = shared.marked.lock().expect("no thread panics while it marks");
    if marked.is_none() {
        *marked = Some(Marked { turn, start: Instant::now() });
    }
}

/// Looks for the marked document, and after each one found asks an ordinary query.
fn ask(shared: &Shared<'_>, queries: &[Box<dyn tantivy::query::Query>]) -> Fallible<Asked> {
    let mut asked = Asked { fresh: Latencies::default(), searches: Latencies::default() };
    let mut ordinary = queries.iter().cycle();
    while !shared.stop.load(Relaxed) {
        if look_for_marked(shared, &mut asked)? {
            continue;
        }
        let query = ordinary.next().ok_or("no queries")?;
        let start = Instant::now();
        shared.reader.searcher().search(query, &Newest)?;
        asked.searches.push(start.elapsed());
    }
    Ok(asked)
}

/// Asks for the marked document; true if there is one and it is not found yet.
fn look_for_marked(shared: &Shared<'_>, asked: &mut Asked) -> Fallible<bool> {
    let sought = {
        let marked = shared.marked.lock().expect("no thread panics while it marks");
        marked.as_ref().map(|marked| (marked.turn, marked.start))
    };
    let Some((turn, start)) = sought else { return Ok(false) };
    let query = shared.engine.query(&Query::term(&marker(turn)), false)?;
    let answer = shared.reader.searcher().search(&query, &Newest)?;
    if answer.iter().all(|ring| ring.docs().is_empty()) {
        return Ok(true);
    }
    asked.fresh.push(start.elapsed());
    *shared.marked.lock().expect("no thread panics while it marks") = None;
    Ok(false)
}

fn report(options: &Options, reporter: &Reporter, adds: usize, asked: &Asked) -> Fallible<()> {
    if asked.fresh.is_empty() || asked.searches.is_empty() {
        return Err("nothing was found in the time given; raise --seconds".into());
    }
    for (name, latencies) in [("fresh", &asked.fresh), ("search", &asked.searches)] {
        let mut rounds = Rounds::new();
        rounds.push(latencies);
        reporter.latencies(name, "", &rounds, latencies.len())?;
    }
    reporter.measured("writer", "docs_per_s", "1/s", &[adds as f64 / options.seconds])?;
    let searches = asked.searches.len() as f64 / options.seconds;
    reporter.measured("search", "qps", "1/s", &[searches])
}
