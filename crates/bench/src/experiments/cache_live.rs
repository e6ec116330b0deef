//! `cache-live`: the result cache over a live stream.
//!
//! Measured, by one thread on one core, in turns with and without the cache on one index:
//!
//! * hits: counts of two frequent terms, an OR, a prefix, and the newest 100 of an OR, asked again and again;
//! * a dashboard: months within the ten most frequent channels, asked again after 10,000 more documents;
//! * questions with a time that moves: they have no entry, but their other clauses have;
//! * what it costs where it does not help: the newest ten, counts that are asked once, and documents that come.
//!
//! Corpus: posts with their times and channels; of another corpus both are made up, a minute and a hundredth of the
//! documents each. Ours alone.
//!
//! Caveats: hits are timed with an empty fresh segment: a question's own evaluation of what came since is not the cache's.
//! The clock is within each time. Hits are asked one after the other: after a long evaluation, which leaves nothing in the
//! processor's caches, one takes a few microseconds.

mod moving;
mod price;

use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::time::Instant;

use serde_json::{Value, json};
use spirit::cache::{Cache, Outcome};
use spirit::facets::{Aggregate, DateInterval, Facet};
use spirit::schema::TimeUnit;
use spirit::search::Limits;
use spirit::{Builder, Document, FieldKind, Index, Query, Reader, Search};
use spirit_door::sim::Random;

use crate::Fallible;
use crate::bench::Bench;
use crate::charts::{Figure, Series};
use crate::cores::On;
use crate::corpus::Corpus;
use crate::engine;
use crate::report::{Bound, Table, bar, number};
use crate::timing::{Latencies, median};
use crate::workloads;

/// Bytes of the cache.
const CACHE_BYTES: u64 = 64 << 20;
/// Documents that come between two questions.
const MORE: usize = 10_000;
/// Questions of each kind, from the cache and without it.
const ASKED: usize = 20_000;
const PLAIN: usize = 400;
const ROUNDS_MIN: usize = 9;
const FILE: &str = "posts.jsonl.zst";

/// A document's time in seconds since 1970, and its channel.
type Fields = (i64, String);

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    bench.begin("cache-live", &corpus, &[("cache_bytes", json!(CACHE_BYTES))]);
    let fields = fields(bench, &corpus)?;
    let _pinned = bench.cores.pin(On::Second);
    let index = options(&corpus).cache(Cache::new(CACHE_BYTES)).open()?;
    let first = corpus.len().saturating_sub(MORE * ROUNDS_MIN).max(corpus.len() / 2);
    add(&index, &corpus, &fields, 0..first)?;
    index.settle();
    index.flush()?;
    println!("{}", engine::describe(&index)?);
    let mut readers = Readers::of(&index)?;
    hits(bench, &corpus, &mut readers)?;
    moving::moving(bench, &corpus, &fields, &mut readers)?;
    price::questions(bench, &corpus, &fields, &mut readers.cached)?;
    dashboard(
        bench,
        &index,
        &mut readers,
        |from| {
            let to = (from + MORE).min(corpus.len());
            add(&index, &corpus, &fields, from.min(to)..to)
        },
        first,
    )?;
    let stats = index.stats()?;
    println!("{:?}, joined: {}", stats.cache.unwrap_or_default(), stats.joined_answers);
    drop((readers, index));
    price::ingest(bench, &corpus, &fields)
}

fn options(corpus: &Corpus) -> Builder {
    let options = engine::options(corpus).field("ts", FieldKind::Time(TimeUnit::Seconds));
    options.field("channel", FieldKind::Keyword)
}

/// A reader with the cache, and one without.
struct Readers {
    cached: Reader,
    plain: Reader,
}

impl Readers {
    fn of(index: &Index) -> Fallible<Readers> {
        let mut plain = index.reader()?;
        plain.limits(Limits { cache: false, ..Limits::default() });
        Ok(Readers { cached: index.reader()?, plain })
    }
}

/// Reads times and channels, or makes them up.
fn fields(bench: &Bench, corpus: &Corpus) -> Fallible<Vec<Fields>> {
    let made_up =
        |number: usize| (1_500_000_000 + number as i64 * 60, format!("c{}", number % 100));
    let file = bench.data_with(FILE).filter(|_| corpus.name == "posts");
    let Some(folder) = file else { return Ok((0..corpus.len()).map(made_up).collect()) };
    let file = zstd::stream::read::Decoder::new(File::open(folder.join(FILE))?)?;
    let read = |line: std::io::Result<String>| -> Fallible<Fields> {
        let post: Value = serde_json::from_str(&line?)?;
        let channel = post["channel"].as_str().unwrap_or_default().to_owned();
        Ok((post["ts"].as_i64().unwrap_or(0), channel))
    };
    BufReader::new(file).lines().take(corpus.len()).map(read).collect()
}

fn add(
    index: &Index,
    corpus: &Corpus,
    fields: &[Fields],
    numbers: std::ops::Range<usize>,
) -> Fallible<()> {
    let document = |number: usize| {
        let (ts, channel) = &fields[number];
        Document::new().text(corpus.get(number)).field("ts", *ts).field("channel", channel.as_str())
    };
    index.add_all(numbers.map(document))?;
    Ok(())
}

/// A kind of question.
struct Kind {
    name: &'static str,
    queries: Vec<String>,
    ask: fn(&mut Reader, &Query) -> usize,
}

/// Returns the frequent words, in their order.
fn high(corpus: &Corpus) -> Vec<String> {
    let range = workloads::class("H", corpus.len());
    let frequencies = workloads::document_frequencies(corpus);
    let is_high = |df: &u32| range.contains(&u64::from(*df));
    let high = frequencies.iter().filter(|(_, df)| is_high(df)).map(|(term, _)| term.to_string());
    let mut high: Vec<String> = high.collect();
    high.sort_unstable();
    high
}

fn kinds(corpus: &Corpus, seed: u64) -> Vec<Kind> {
    let high = high(corpus);
    let mut random = Random::named(seed, "cache-live");
    let mut word = || high[random.index(high.len())].clone();
    let mut some = |make: &dyn Fn(String, String) -> String| -> Vec<String> {
        (0..20).map(|_| make(word(), word())).collect()
    };
    let count: fn(&mut Reader, &Query) -> usize = engine::count;
    let newest: fn(&mut Reader, &Query) -> usize =
        |reader, query| engine::hits(reader, query, Search::newest(100));
    vec![
        Kind { name: "count, AND", queries: some(&|a, b| format!("+{a} +{b}")), ask: count },
        Kind { name: "count, OR", queries: some(&|a, b| format!("{a} {b}")), ask: count },
        Kind { name: "count, phrase", queries: some(&|a, b| format!("\"{a} {b}\"")), ask: count },
        Kind { name: "count, prefix", queries: some(&|a, _| format!("{}*", &a[..1])), ask: count },
        Kind {
            name: "newest 100 of a prefix and a word",
            queries: some(&|a, b| format!("+{}* +{b}", &a[..1])),
            ask: newest,
        },
    ]
}

/// Questions that are answered from the cache.
fn hits(bench: &mut Bench, corpus: &Corpus, readers: &mut Readers) -> Fallible<()> {
    let head = ["question", "without", "hit, P50", "hit, P99", "times"];
    let mut table = Table::new(format!("{}: µs a question", corpus.name), &head);
    let mut worst = (0.0f64, 0.0f64);
    let (mut names, mut times) = (Vec::new(), Vec::new());
    for kind in kinds(corpus, bench.seed) {
        let queries: Vec<Query> = kind
            .queries
            .iter()
            .map(|text| readers.plain.parse(text.as_str()))
            .collect::<Result<_, _>>()?;
        let mut kept = Vec::new();
        for query in queries {
            (0..4).for_each(|_| _ = black_box((kind.ask)(&mut readers.cached, &query)));
            if readers.cached.cache_outcome() == Outcome::Hit {
                kept.push(query);
            }
        }
        if kept.is_empty() {
            table.not_measured(kind.name, "all of these are cheaper than an entry");
            continue;
        }
        let (mut plain, mut hit) =
            (Latencies::with_capacity(ASKED), Latencies::with_capacity(ASKED));
        let asked =
            [(&mut readers.plain, &mut plain, PLAIN), (&mut readers.cached, &mut hit, ASKED)];
        for (reader, latencies, times) in asked {
            for query in kept.iter().cycle().take(times) {
                let start = Instant::now();
                black_box((kind.ask)(reader, query));
                latencies.push(start.elapsed());
            }
        }
        let (plain, hit) = (plain.summary(), hit.summary());
        let key = [("question", json!(kind.name))];
        bench.report.row("plain", &key, "p50_us", "us", &[plain.p50()])?;
        bench.report.row("cached", &key, "p50_us", "us", &[hit.p50()])?;
        bench.report.row("cached", &key, "p99_us", "us", &[hit.p99()])?;
        let cells = [plain.p50(), hit.p50(), hit.p99(), plain.p50() / hit.p50()].map(number);
        table.line([kind.name.to_owned()].into_iter().chain(cells));
        names.push(kind.name.to_owned());
        times.push([plain.p50(), hit.p50(), hit.p99()].map(f64::log10));
        if kind.name.starts_with("count") {
            worst = (worst.0.max(hit.p50()), worst.1.max(hit.p99()));
        }
    }
    table.print();
    draw(bench, &names, &times)?;
    bar("a hit, P50", Bound::AtMost(1.0), " µs", "", &Ok(worst.0));
    bar("a hit, P99", Bound::AtMost(3.0), " µs", "", &Ok(worst.1));
    Ok(())
}

/// Times of a question, as powers of ten from a tenth of a microsecond on.
fn draw(bench: &Bench, names: &[String], times: &[[f64; 3]]) -> Fallible<()> {
    let column = |name, at: usize| Series::bars(name, times.iter().map(|times| times[at] + 1.0));
    let series = [column("without, P50", 0), column("hit, P50", 1), column("hit, P99", 2)];
    let figure = Figure {
        name: "hits",
        title: "A question without the cache, and from it",
        x: "",
        y: "log10 of the time in 100 ns",
    };
    bench.charts.bars(figure, names, &series)
}

/// Months within channels, asked again after more documents have come.
fn dashboard(
    bench: &mut Bench,
    index: &Index,
    readers: &mut Readers,
    more: impl Fn(usize) -> Fallible<()>,
    mut documents: usize,
) -> Fallible<()> {
    let months = Facet::Dates { field: "ts".into(), interval: DateInterval::Month };
    let facets = [Facet::Terms { field: "channel".into(), top: 10 }.then(months)];
    let ask = |reader: &mut Reader| -> Fallible<(f64, Vec<Aggregate>)> {
        let start = Instant::now();
        let found = reader.aggregate("*", &facets)?;
        Ok((start.elapsed().as_secs_f64() * 1e6, found))
    };
    for _ in 0..4 {
        ask(&mut readers.cached)?;
    }
    let (mut plain, mut cached, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS_MIN {
        more(documents)?;
        documents += MORE;
        let ((without, expected), (with, found)) =
            (ask(&mut readers.plain)?, ask(&mut readers.cached)?);
        if found != expected {
            return Err("the joined answer is another one".into());
        }
        plain.push(without);
        cached.push(with);
        ratios.push(without / with);
    }
    bench.report.row("plain", &[], "dashboard_us", "us", &plain)?;
    bench.report.row("cached", &[], "dashboard_us", "us", &cached)?;
    let mut table = Table::new(
        format!("months within channels, {} documents, µs", index.stats()?.documents),
        &["", "without", "with", "times"],
    );
    table.line(
        ["after 10,000 more".to_owned()]
            .into_iter()
            .chain([median(&plain), median(&cached), median(&ratios)].map(number)),
    );
    table.print();
    bar(
        "a dashboard after 10,000 more",
        Bound::AtLeast(10.0),
        "× faster",
        "",
        &Ok(median(&ratios)),
    );
    Ok(())
}
