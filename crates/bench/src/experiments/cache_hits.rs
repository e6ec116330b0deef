//! `cache-hits`: hit rates of the result cache's policies on the thesis' logs.
//!
//! Measured: the thesis' logs of 100,000 queries (§4.2.1), each dealt to one of ten caches at random, as threads would that
//! take the next query when they are free. 20 passes warm, then 20 that count (tables 5.1 and 5.2). Further logs in which the
//! n-th query comes in proportion to 1 / n^s, and one of a third ANDs, ORs and single terms each, over one cache: there an entry
//! may answer other queries too (figure 5.5, whose logs have one operator each, so that nothing else can match). Percent of the look-ups that found an entry, of each pass.
//!
//! The caches are real, of the thesis' bytes for each number of entries, with values as long as its results. No index is asked.
//!
//! Caveats: the thesis' log is not published, only how it was drawn. So the numbers differ by the noise of a draw. Only one
//! thread asks, so a policy sees all look-ups in order.

use serde_json::json;
use spirit::cache::Policy;
use spirit_cache::{Cache, CacheConfig, Found, Key};
use spirit_door::sim::Random;

use crate::Fallible;
use crate::bench::Bench;
use crate::cache_logs::{Asked, Log};
use crate::charts::{Figure, Series};
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
/// A way to match a query with entries: its name, how it asks, and the hit rates at each size with one LRU cache over the mixed
/// log, in percent. The thesis gives none; they were derived from its definitions.
type Matching = (&'static str, fn(&Cache, Asked) -> bool, [f64; 3]);
const MATCHINGS: [Matching; 2] = [
    ("isomorphic", asks, [10.99, 21.23, 39.81]),
    ("partial I", asks_partially, [13.12, 23.00, 41.13]),
];
/// Aliases of an OR's entry: one for each term.
const ALIASES: u32 = 2;
/// How near a hit rate must be to the derived one, in points.
const NEAR: f64 = 0.5;
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
    mixed(bench)?;
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
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for (entries, bytes, of_lru, of_dlirs) in SIZES {
        let best = log.best_fixed(entries as usize);
        let mut means = Vec::new();
        for (name, policy) in POLICIES {
            let config = config(policy, entries, bytes / CACHES as u64);
            let runs = passes(&log, &config, CACHES, bench.seed, asks)?;
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
        columns.push(means.iter().copied().chain([best, of_lru, of_dlirs]).collect());
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
    draw(bench, &columns)?;
    bars.into_iter().for_each(|(what, bound, value)| bar(&what, bound, "", "", &Ok(value)));
    Ok(())
}

/// Table 5.1 as bars: of each size, the policies' hits, those of the best fixed content, and the thesis'.
fn draw(bench: &Bench, columns: &[Vec<f64>]) -> Fallible<()> {
    let names = POLICIES.map(|(name, _)| name).into_iter().chain(["best fixed content"]);
    let mut series: Vec<Series> = names
        .enumerate()
        .map(|(at, name)| Series::bars(name, columns.iter().map(|column| column[at])))
        .collect();
    for (at, name) in ["thesis, LRU", "thesis, DLIRS"].into_iter().enumerate() {
        let values = columns.iter().map(|column| column[POLICIES.len() + 1 + at]);
        series.push(Series { is_paper: true, ..Series::bars(name, values) });
    }
    let groups = SIZES.map(|(entries, ..)| entries.to_string());
    let figure = Figure { name: "5.1", title: "Table 5.1", x: "entries of a cache", y: "hits, %" };
    bench.charts.bars(figure, &groups, &series)
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
    let mut table = Table::new(title.as_str(), &head);
    let mut series = POLICIES.map(|(name, _)| Series::new(name, Vec::new()));
    for (entries, bytes, ..) in
        SIZES.into_iter().filter(|(entries, ..)| (*entries as usize) < distinct)
    {
        let mut cells = vec![entries.to_string()];
        for (number_of, (name, policy)) in POLICIES.into_iter().enumerate() {
            let config = config(policy, entries, bytes / CACHES as u64);
            let runs = passes(log, &config, CACHES, bench.seed, asks)?;
            let key = [("entries", json!(entries)), ("log", json!(log.name))];
            bench.report.row(name, &key, "hit_rate", "%", &runs)?;
            cells.push(number(median(&runs)));
            series[number_of].points.push((f64::from(entries), median(&runs)));
        }
        cells.push(number(log.best_fixed(entries as usize)));
        table.line(cells);
    }
    table.print();
    let name = log.name.to_lowercase().replace(' ', "-");
    let figure = Figure { name: &name, title: &title, x: "entries of a cache", y: "hits, %" };
    bench.charts.lines(figure, &series)
}

/// A mixed log over one LRU cache, by each way to match (figure 5.5).
fn mixed(bench: &mut Bench) -> Fallible<()> {
    let log = Log::mixed(bench.seed);
    let mut head = vec!["entries".to_owned()];
    for (name, ..) in MATCHINGS {
        head.extend([format!("{name}, %"), "derived".to_owned()]);
    }
    let title = format!(
        "{}: {} different queries, one LRU cache; figure 5.5",
        log.name,
        log.frequencies().len()
    );
    let mut table = Table::new(title, &head.iter().map(String::as_str).collect::<Vec<_>>());
    let mut far = [0.0f64; MATCHINGS.len()];
    let mut series: Vec<Series> = Vec::new();
    for (name, _, derived) in MATCHINGS {
        series.push(Series::bars(name, []));
        series.push(Series { is_paper: true, ..Series::bars(format!("{name}, derived"), derived) });
    }
    for (at, (entries, bytes, ..)) in SIZES.into_iter().enumerate() {
        let mut cells = vec![entries.to_string()];
        for (number_of, (name, asks, derived)) in MATCHINGS.iter().enumerate() {
            let config = config(Policy::Lru, entries, bytes / CACHES as u64);
            let config = CacheConfig { aliases: ALIASES, ..config };
            let runs = passes(&log, &config, 1, bench.seed, *asks)?;
            let key =
                [("entries", json!(entries)), ("log", json!(log.name)), ("matching", json!(name))];
            bench.report.row("LRU", &key, "hit_rate", "%", &runs)?;
            cells.extend([median(&runs), derived[at]].map(number));
            far[number_of] = far[number_of].max((median(&runs) - derived[at]).abs());
            series[number_of * 2].points.push((at as f64, median(&runs)));
        }
        table.line(cells);
    }
    table.print();
    let groups = SIZES.map(|(entries, ..)| entries.to_string());
    let title = "Figure 5.5, on a mixed log";
    let figure = Figure { name: "5.5", title, x: "entries", y: "hits, %" };
    bench.charts.bars(figure, &groups, &series)?;
    for ((name, ..), far) in MATCHINGS.iter().zip(far) {
        let what = format!("mixed log, {name}, points from what was derived");
        bar(&what, Bound::AtMost(NEAR), "", "", &Ok(far));
    }
    Ok(())
}

fn config(policy: Policy, entries: u32, bytes: u64) -> CacheConfig {
    CacheConfig { entries: Some(entries), policy, ..CacheConfig::new(bytes) }
}

/// Replays a log. Returns the hit rate of each pass that counts, in percent.
fn passes(
    log: &Log,
    config: &CacheConfig,
    caches: usize,
    seed: u64,
    asks: fn(&Cache, Asked) -> bool,
) -> Fallible<Vec<f64>> {
    let caches: Vec<Cache> =
        (0..caches).map(|_| Cache::new(config, None)).collect::<Result<_, _>>()?;
    let mut random = Random::named(seed, "dealing");
    let mut rates = Vec::new();
    for pass in 0..2 * PASSES {
        let hits = log
            .queries
            .iter()
            .filter(|query| asks(&caches[random.index(caches.len())], **query))
            .count();
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

/// Like [`asks`]. A single term is also answered by the entry of an OR that has it (partial I).
fn asks_partially(cache: &Cache, query: Asked) -> bool {
    let words = query.key();
    let key = Key::new(&words);
    let alias = |term: u32| Key::new(&[u64::from(b'|'), term.into()]).hash;
    let sought = match query {
        Asked::Single(term) => Some((u64::from(term), alias(term))),
        Asked::And(..) | Asked::Or(..) => None,
    };
    let aliases = sought.map(|(_, alias)| alias);
    let found = cache.look_up_any(key, aliases.as_slice(), |found| match found {
        Found::Own(value) => value.get(0),
        Found::Other { key, value, .. } => {
            let [operator, a, b] = [key.get(0)?, key.get(1)?, key.get(2)?];
            let has_it = sought.is_some_and(|(term, _)| [a, b].contains(&term));
            if has_it && operator == u64::from(b'|') { value.get(0) } else { None }
        }
    });
    if found.is_none() {
        let aliases = match query {
            Asked::Or(a, b) => vec![alias(a), alias(b)],
            Asked::And(..) | Asked::Single(_) => Vec::new(),
        };
        cache.fill_as(key, &[0; VALUE_WORDS], &aliases);
    }
    found.is_some()
}
