//! `standing`: what 10,000 standing queries cost a stream, and how soon a match is with its listener.
//!
//! Measured: one thread adds 100,000 posts a second, one at a time, evenly spaced, on the first core. Without
//! standing queries, and with 10,000 of them: a quarter each single words, ANDs of two words, phrases of two words
//! and ORs of two words, of posts all over the corpus. An addition's mean time is compared. Every hundredth post has
//! a word that one more query waits for; its listener, on the second core, reads the clock when it has taken the match.
//! The matcher runs where the system lets it.
//!
//! Corpus: posts; half a million are in the index before. The seed shifts which posts queries are made of.
//!
//! Caveats: two cores for three threads. The 10,000 queues are not emptied; each has room for all of its matches.

use std::hint::spin_loop;
use std::time::{Duration, Instant};

use serde_json::json;
use spirit::{Index, Tail, Tailing};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::{Cores, On};
use crate::corpus::Corpus;
use crate::engine;
use crate::report::{Bound, Table, bar, number};
use crate::timing::{Latencies, Rounds, median};

const QUERIES: usize = 10_000;
const BASE: usize = 500_000;
const RATE: u64 = 100_000;
const SECONDS: u64 = 2;
/// One document in this many is marked.
const MARK_EVERY: u64 = 100;
const MARKER: &str = "benchmarker";
/// A match that does not come in this time is lost.
const LOST: Duration = Duration::from_secs(20);
const ROUNDS_MIN: usize = 3;

/// One round.
struct Round {
    /// The mean time of an addition, in nanoseconds.
    add_ns: f64,
    latencies: Latencies,
    /// Matches of the other queries.
    matches: usize,
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    bench.begin("standing", &corpus, &[("rate", json!(RATE)), ("queries", json!(QUERIES))]);
    let rounds = bench.rounds.max(ROUNDS_MIN);
    let (mut without, mut with, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let (mut alone, mut among, mut matches) = (Rounds::default(), Rounds::default(), 0);
    for _ in 0..rounds {
        let mut one = round(&corpus, bench.cores, 0, bench.seed)?;
        let mut all = round(&corpus, bench.cores, QUERIES, bench.seed)?;
        ratios.push(all.add_ns / one.add_ns);
        without.push(one.add_ns);
        with.push(all.add_ns);
        alone.push(one.latencies.summary());
        among.push(all.latencies.summary());
        matches = all.matches;
    }
    let head = ["standing queries", "an addition, ns", "to the listener: P50, µs", "P95", "P99"];
    let mut table = Table::new(format!("{}: {RATE} posts/s", corpus.name), &head);
    for (name, adds, latencies) in
        [("1", &without, alone.median()), ("10,001", &with, among.median())]
    {
        bench.report.row("spirit", &[("queries", json!(name))], "add_ns", "ns", adds)?;
        let cells = [median(adds), latencies.p50(), latencies.p95(), latencies.p99()];
        table.line([name.to_owned()].into_iter().chain(cells.map(number)));
    }
    table.print();
    println!("{matches} matches of the {QUERIES} queries in {SECONDS} s");
    let more = (median(&ratios) - 1.0) * 100.0;
    bar("additions beside 10,000 queries", Bound::AtMost(10.0), " % slower", "", &Ok(more));
    let p99 = among.median().p99() / 1000.0;
    bar("a match with its listener, P99", Bound::AtMost(1.0), " ms", "", &Ok(p99));
    Ok(())
}

fn round(corpus: &Corpus, cores: Cores, queries: usize, seed: u64) -> Fallible<Round> {
    let index = engine::options(corpus).open()?;
    let base = BASE.min(corpus.len() / 2);
    index.add_all((0..base).map(|number| (None, corpus.get(number))))?;
    index.settle();
    let tails: Vec<Tail> =
        (0..queries).map(|n| tail(&index, corpus, n, seed)).collect::<Result<_, _>>()?;
    let mut marked = index.tail(MARKER, Tailing::default())?;
    let mut reader = index.reader()?;
    let wanted = (RATE * SECONDS / MARK_EVERY) as usize;
    std::thread::scope(|scope| {
        let listener = scope.spawn(move || {
            let _pinned = cores.pin(On::Second);
            let mut came = Vec::with_capacity(wanted);
            while came.len() < wanted && marked.wait(LOST) {
                let count =
                    marked.take(&mut reader, 1000).map_err(|error| error.to_string())?.len();
                let now = Instant::now();
                came.extend((0..count).map(|_| now));
            }
            Ok::<_, String>(came)
        });
        let (add_ns, begun) = add(&index, corpus, base, cores)?;
        let came = listener.join().map_err(|_| "the listener died")??;
        if came.len() != wanted {
            return Err(format!("{} of {wanted} matches came", came.len()).into());
        }
        let mut latencies = Latencies::with_capacity(wanted);
        begun.iter().zip(&came).for_each(|(begun, came)| latencies.push(*came - *begun));
        let found = |tail: &Tail| usize::from(tail.wait(Duration::ZERO));
        let matches = tails.iter().map(found).sum();
        Ok(Round { add_ns, latencies, matches })
    })
}

/// Adds documents behind the first `base`, evenly spaced. Returns the mean time of an addition, and when each
/// marked one was begun.
fn add(index: &Index, corpus: &Corpus, base: usize, cores: Cores) -> Fallible<(f64, Vec<Instant>)> {
    let _pinned = cores.pin(On::First);
    let (mut begun, mut busy) = (Vec::new(), Duration::ZERO);
    let start = Instant::now();
    for number in 0..RATE * SECONDS {
        let text = corpus.get(base + number as usize % (corpus.len() - base));
        let marked = (number % MARK_EVERY == 0).then(|| format!("{text} {MARKER}"));
        let due = start + Duration::from_nanos(number * 1_000_000_000 / RATE);
        while Instant::now() < due {
            spin_loop();
        }
        let begins = Instant::now();
        index.add(marked.as_deref().unwrap_or(text))?;
        busy += begins.elapsed();
        if marked.is_some() {
            begun.push(begins);
        }
    }
    Ok((busy.as_nanos() as f64 / (RATE * SECONDS) as f64, begun))
}

/// Listens to a query made of words of a post.
fn tail(index: &Index, corpus: &Corpus, number: usize, seed: u64) -> Fallible<Tail> {
    let text = corpus.get((number * 7919 + seed as usize) % corpus.len()).to_lowercase();
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let word = |at: usize| words.get(at).copied().unwrap_or("nothing");
    // The longest word of a post is seldom a frequent one.
    let longest = (0..words.len()).max_by_key(|at| words[*at].len()).unwrap_or(0);
    let (rare, first, next) = (word(longest), word(0), word(longest + 1));
    let query = match number % 4 {
        0 => rare.to_owned(),
        1 => format!("{rare} AND {first}"),
        2 => format!("\"{rare} {next}\""),
        _ => format!("{rare} OR {next}"),
    };
    Ok(index.tail(&query, Tailing::default().capacity(1 << 20))?)
}
