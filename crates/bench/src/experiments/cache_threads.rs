//! `cache-threads`: threads that share result caches, and what a lock would cost.
//!
//! Measured: one and two threads replay the thesis' log of ANDs over one and two caches (figure 5.2 has 1, 10 and 50 caches for
//! 50 threads). Look-ups a second, with a fill after each miss. The control has a lock around each look-up and fill, as the
//! thesis' caches have (its RW lock is taken for writing by look-ups too, since they change the order of entries).
//!
//! No index is asked, so this is the most that threads can get in each other's way.
//!
//! Caveats: two cores. With one cache threads find what others filled in, with two each cache learns alone.

use std::sync::Mutex;
use std::time::Instant;

use serde_json::json;
use spirit_cache::{Cache, CacheConfig, Key};

use crate::Fallible;
use crate::bench::Bench;
use crate::cache_logs::{Asked, Log};
use crate::charts::{Figure, Series};
use crate::report::{Bound, Table, bar, number};
use crate::timing::median;

/// Entries of each cache: two thirds of the log's different queries.
const ENTRIES: u32 = 4000;
const BYTES: u64 = 32 << 20;
const VALUE_WORDS: usize = 65;
const ROUNDS_MIN: usize = 5;

/// A cache, with or without the thesis' lock.
struct Shared {
    cache: Cache,
    lock: Option<Mutex<()>>,
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    bench.begin("cache-threads", &corpus, &[("entries", json!(ENTRIES))]);
    let log = Log::and(bench.seed);
    let head = ["threads", "caches", "without a lock, M/s", "with", "times", "hits, %"];
    let mut table = Table::new("look-ups a second", &head);
    let (mut two, mut rows) = (0.0, Vec::new());
    for (threads, caches) in [(1, 1), (2, 1), (2, 2)] {
        let rounds = bench.rounds.max(ROUNDS_MIN);
        let (mut free, mut locked, mut ratios, mut hits) =
            (Vec::new(), Vec::new(), Vec::new(), 0.0);
        for _ in 0..rounds {
            let [a, b] =
                [replay(&log, threads, caches, false)?, replay(&log, threads, caches, true)?];
            free.push(a.0);
            locked.push(b.0);
            ratios.push(a.0 / b.0);
            hits = a.1;
        }
        let key = [("threads", json!(threads)), ("caches", json!(caches))];
        bench.report.row("without a lock", &key, "look_ups_per_s", "1/s", &free)?;
        bench.report.row("with a lock", &key, "look_ups_per_s", "1/s", &locked)?;
        let rates = [median(&free) / 1e6, median(&locked) / 1e6, median(&ratios), hits];
        rows.push((format!("{threads} : {caches}"), rates));
        table.line([threads.to_string(), caches.to_string()].into_iter().chain(rates.map(number)));
        if (threads, caches) == (2, 1) {
            two = median(&ratios);
        }
    }
    table.print();
    let groups: Vec<String> = rows.iter().map(|(name, _)| name.clone()).collect();
    let column = |name, at: usize| Series::bars(name, rows.iter().map(|(_, rates)| rates[at]));
    let title = "Figure 5.2, without an index";
    let figure =
        Figure { name: "5.2", title, x: "threads : caches", y: "million look-ups a second" };
    bench.charts.bars(figure, &groups, &[column("without a lock", 0), column("with a lock", 1)])?;
    bar(
        "two threads, one cache",
        Bound::AtLeast(1.0),
        "× as many look-ups",
        "with the thesis' lock",
        &Ok(two),
    );
    Ok(())
}

/// Replays the log twice by each thread, once to warm. Returns look-ups a second, and the hits in percent.
fn replay(log: &Log, threads: usize, caches: usize, is_locked: bool) -> Fallible<(f64, f64)> {
    let config = CacheConfig { entries: Some(ENTRIES), ..CacheConfig::new(BYTES) };
    let make = |_| {
        let cache = Cache::new(&config, None)?;
        Ok::<Shared, Box<dyn std::error::Error + Send + Sync>>(Shared {
            cache,
            lock: is_locked.then(Mutex::default),
        })
    };
    let caches: Vec<Shared> =
        (0..caches).map(make).collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let pass = |thread: usize| {
        let shared = &caches[thread % caches.len()];
        let from = log.queries.len() * thread / threads;
        let queries = log.queries.iter().cycle().skip(from).take(log.queries.len());
        queries.filter(|query| asks(shared, **query)).count()
    };
    let all = |_| {
        std::thread::scope(|scope| {
            let started: Vec<_> =
                (0..threads).map(|thread| scope.spawn(move || pass(thread))).collect();
            started.into_iter().map(|thread| thread.join().unwrap_or(0)).sum::<usize>()
        })
    };
    all(0);
    let start = Instant::now();
    let hits = all(1);
    let asked = (log.queries.len() * threads) as f64;
    Ok((asked / start.elapsed().as_secs_f64(), hits as f64 * 100.0 / asked))
}

fn asks(shared: &Shared, query: Asked) -> bool {
    let words = query.key();
    let key = Key::new(&words);
    let _locked = shared.lock.as_ref().map(|lock| lock.lock());
    // All words are read, as by a query that shows them.
    let found =
        shared.cache.look_up(key, |value| Some(value.iter().fold(0, |all, word| all ^ word)));
    if found.is_none() {
        shared.cache.fill(key, &[1; VALUE_WORDS]);
    }
    found.is_some()
}
