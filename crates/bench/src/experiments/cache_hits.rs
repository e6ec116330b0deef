//! `cache-hits`: hit rates of the result cache's policies on the thesis' logs.
//!
//! Measured: the thesis' logs of 100,000 queries (§4.2.1), each dealt to one of ten caches at random, as threads would that
//! take the next query when they are free. 20 passes warm, then 20 that count (tables 5.1 and 5.2). Further logs in which the
//! n-th query comes in proportion to 1 / n^s. Percent of the look-ups that found an entry, of each pass.
//!
//! The caches are real, of the thesis' bytes for each number of entries, with values as long as its results. No index is asked.
//!
//! Caveats: the thesis' log is not published, only how it was drawn. So the numbers differ by the noise of a draw. Only one
//! thread asks, so a policy sees all look-ups in order.

use serde_json::json;
use spirit::cache::Policy;
use spirit_cache::{Cache, CacheConfig, Key};
use spirit_door::sim::Random;

use crate::Fallible;
use crate::bench::Bench;
use crate::cache_logs::{Asked, Log};
use crate::report::{Bound, Table, bar, number};
use crate::timing::median;

/// Caches, of the thesis' fifty threads five for each.
const CACHES: usize = 10;
/// Passes that warm, and passes that count.
const PASSES: usize = 20;
/// Words of the thesis' results: 20 postings in two arrays, and what comes before them.
const VALUE_WORDS: usize = 65;
/// Entries of a cache and bytes of all caches (5, 10 and 20 % of the thesis' index), and the thesis' mean hit rates of LRU and
/// DLIRS (table 5.1).
const SIZES: [(u32, u64, f64, f64); 3] = [
    (1000, 210_346_770, 17.44, 16.90),
    (2000, 420_693_540, 34.28, 36.80),
    (4000, 841_387_080, 68.20, 71.54),
];
/// Different ANDs that the log may have.
const PAIRS: f64 = 5886.0;
const POLICIES: [(&str, Policy); 5] = [
    ("LRU", Policy::Lru),
    ("DLIRS", Policy::Dlirs),
    ("random", Policy::Random),
    ("S3-FIFO", Policy::S3Fifo),
    ("W-TinyLFU", Policy::TinyLfu),
];
/// Different queries of a Zipf log, and its exponents.
const ZIPF: (usize, [f64; 3]) = (20_000, [0.7, 0.9, 1.1]);

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    bench.begin("cache-hits", &corpus, &[("caches", json!(CACHES)), ("passes", json!(PASSES))]);
    thesis(bench)?;
    let logs = [Log::or(bench.seed), Log::single(bench.seed)];
    let zipf = ZIPF.1.map(|exponent| Log::zipf(bench.seed, ZIPF.0, exponent));
    for log in logs.iter().chain(&zipf) {
        others(bench, log)?;
    }
    Ok(())
}

/// Tables 5.1 and 5.2.
fn thesis(bench: &mut Bench) -> Fallible<()> {
    let log = Log::and(bench.seed);
    let head =
        ["policy", "entries", "hits, %", "least", "most", "thesis", "of the way to the best"];
    let title = format!("{}: {} of {PAIRS} queries; table 5.1", log.name, log.frequencies().len());
    let mut table = Table::new(title, &head);
    let mut differences =
        Table::new("LRU against DLIRS, %; table 5.2", &["entries", "ours", "thesis"]);
    let mut bars: Vec<(String, Bound, f64)> = Vec::new();
    for (entries, bytes, of_lru, of_dlirs) in SIZES {
        let best = log.best_fixed(entries as usize);
        let mut means = Vec::new();
        for (name, policy) in POLICIES {
            let runs = passes(&log, policy, entries, bytes / CACHES as u64, bench.seed)?;
            let key = [("entries", json!(entries)), ("log", json!(log.name))];
            bench.report.row(name, &key, "hit_rate", "%", &runs)?;
            let mean = runs.iter().sum::<f64>() / runs.len() as f64;
            let [least, most] =
                [f64::min, f64::max].map(|of| runs.iter().copied().reduce(of).unwrap_or(0.0));
            let said = match policy {
                Policy::Lru => number(of_lru),
                Policy::Dlirs => number(of_dlirs),
                _ => String::new(),
            };
            let lru = means.first().copied().unwrap_or(mean);
            let way = (mean - lru) / (best - lru) * 100.0;
            let cells = [
                name.to_owned(),
                entries.to_string(),
                number(mean),
                number(least),
                number(most),
                said,
                number(way),
            ];
            table.line(cells);
            means.push(mean);
        }
        table.line([
            "best fixed".to_owned(),
            entries.to_string(),
            number(best),
            String::new(),
            String::new(),
            String::new(),
            "100".to_owned(),
        ]);
        let (lru, dlirs) = (means[0], means[1]);
        let percent = |a: f64, b: f64| number((a - b) / b * 100.0);
        differences.line([entries.to_string(), percent(lru, dlirs), percent(of_lru, of_dlirs)]);
        let share = f64::from(entries) / PAIRS * 100.0;
        bars.push((
            format!("LRU at {entries} entries, points from {share:.2} %"),
            Bound::AtMost(0.5),
            (lru - share).abs(),
        ));
        let least = if entries == 4000 { 2.0 } else { -0.3 };
        bars.push((
            format!("DLIRS at {entries} entries, points above LRU"),
            Bound::AtLeast(least),
            dlirs - lru,
        ));
        bars.push((
            format!("W-TinyLFU at {entries} entries, % of the way"),
            Bound::AtLeast(70.0),
            (means[4] - lru) / (best - lru) * 100.0,
        ));
    }
    table.print();
    differences.print();
    bars.into_iter().for_each(|(what, bound, value)| bar(&what, bound, "", "", &Ok(value)));
    Ok(())
}

/// The same of another log, without the thesis' numbers.
fn others(bench: &mut Bench, log: &Log) -> Fallible<()> {
    let distinct = log.frequencies().len();
    let head: Vec<&str> = ["entries"]
        .into_iter()
        .chain(POLICIES.map(|(name, _)| name))
        .chain(["best fixed"])
        .collect();
    let title = format!("{}: {distinct} different queries, hits in %", log.name);
    let mut table = Table::new(title, &head);
    for (entries, bytes, ..) in
        SIZES.into_iter().filter(|(entries, ..)| (*entries as usize) < distinct)
    {
        let mut cells = vec![entries.to_string()];
        for (name, policy) in POLICIES {
            let runs = passes(log, policy, entries, bytes / CACHES as u64, bench.seed)?;
            let key = [("entries", json!(entries)), ("log", json!(log.name))];
            bench.report.row(name, &key, "hit_rate", "%", &runs)?;
            cells.push(number(median(&runs)));
        }
        cells.push(number(log.best_fixed(entries as usize)));
        table.line(cells);
    }
    table.print();
    Ok(())
}

/// Replays a log. Returns the hit rate of each pass that counts, in percent.
fn passes(log: &Log, policy: Policy, entries: u32, bytes: u64, seed: u64) -> Fallible<Vec<f64>> {
    let config = CacheConfig { entries: Some(entries), policy, ..CacheConfig::new(bytes) };
    let caches: Vec<Cache> =
        (0..CACHES).map(|_| Cache::new(&config, None)).collect::<Result<_, _>>()?;
    let mut random = Random::named(seed, "dealing");
    let mut rates = Vec::new();
    for pass in 0..2 * PASSES {
        let hits =
            log.queries.iter().filter(|query| asks(&caches[random.index(CACHES)], **query)).count();
        if pass >= PASSES {
            rates.push(hits as f64 * 100.0 / log.queries.len() as f64);
        }
    }
    Ok(rates)
}

/// Asks a cache, and fills it after a miss. True for a hit.
fn asks(cache: &Cache, query: Asked) -> bool {
    let words = query.key();
    let key = Key::new(&words);
    let found = cache.look_up(key, |value| value.get(0)).is_some();
    if !found {
        cache.fill(key, &[0; VALUE_WORDS]);
    }
    found
}
