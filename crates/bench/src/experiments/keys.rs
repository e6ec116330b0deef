//! `keys`: the key table against keys as dictionary terms.
//!
//! Measured: an update stream, one document a call, a fifth of the keys used before: documents a second until each
//! is visible, and bytes of index for each document's key. With the key table: `put`. With keys as terms: the newest
//! document with the key is searched for, as an engine without a key table would, then the document is added with its
//! key as one more term; what it replaces is not even deleted. Beside them the same texts without keys. Then finding a
//! document by its key, either way. One core.
//!
//! Corpus: the first 300,000 posts. The keys that come again are drawn with the seed.
//!
//! Caveats: bytes are those in use, the key table's by its slots in use (8 bytes and a seventh of a line's count).

use std::time::Instant;

use serde_json::json;
use spirit::{Index, OnFull, Operator, Query, Search};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::engine;
use crate::report::{Table, number};
use crate::timing::{Latencies, median};
use spirit_door::sim::Random;

const DOCUMENTS: usize = 300_000;
/// One key in this many was used before.
const REUSED: usize = 5;
const LOOK_UPS: usize = 20_000;

/// Where keys are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    None,
    Table,
    Terms,
}

const WAYS: [(&str, Way); 3] =
    [("no keys", Way::None), ("key table", Way::Table), ("keys as terms", Way::Terms)];

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?.first(DOCUMENTS);
    bench.begin("keys", &corpus, &[("reused", json!(1.0 / REUSED as f64))]);
    let keys = keys(corpus.len(), bench.seed);
    let mut distinct = keys.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let _pinned = bench.cores.pin(On::Second);
    let head = ["way", "docs/s", "bytes a document", "found by key, µs P50", "P95"];
    let mut table = Table::new(format!("{}: updates by key, one core", corpus.name), &head);
    let mut bytes_without = 0.0;
    for (name, way) in WAYS {
        let (mut rates, mut found) = (Vec::new(), None);
        let mut bytes = 0.0;
        for _ in 0..bench.rounds {
            let (index, rate) = stream(&corpus, &keys, way)?;
            rates.push(rate);
            let stats = index.stats()?;
            bytes = (stats.bytes.index() + stats.bytes.keys) as f64 / corpus.len() as f64;
            found = if way == Way::None { None } else { Some(find(&index, &distinct, way)?) };
        }
        let config = [("way", json!(name))];
        bench.report.row("spirit", &config, "docs_per_s", "1/s", &rates)?;
        bench.report.row("spirit", &config, "bytes_per_document", "bytes", &[bytes])?;
        let more = if way == Way::None {
            String::new()
        } else {
            format!(" (+{:.1})", bytes - bytes_without)
        };
        if way == Way::None {
            bytes_without = bytes;
        }
        let [p50, p95] = found.unwrap_or_default().map(|us| us.map_or(String::new(), number));
        table.line([name.to_owned(), number(median(&rates)), number(bytes) + &more, p50, p95]);
    }
    table.print();
    println!("no bar: the design asks that the two be compared");
    Ok(())
}

/// A key a document; one in `REUSED` was there before.
fn keys(documents: usize, seed: u64) -> Vec<String> {
    let mut random = Random::named(seed, "keys");
    let mut next = 0;
    let mut key = |at: usize| {
        if at > 0 && random.index(REUSED) == 0 {
            return format!("key{}", random.index(next));
        }
        next += 1;
        format!("key{}", next - 1)
    };
    (0..documents).map(&mut key).collect()
}

fn stream(corpus: &Corpus, keys: &[String], way: Way) -> Fallible<(Index, f64)> {
    let index = engine::options(corpus).on_full(OnFull::Refuse).open()?;
    let mut reader = index.reader()?;
    let (mut parser, mut query) = (index.parser(Operator::Or), Query::new());
    // What an engine that has keys as terms would hand over as one document of two fields.
    let with_key: Vec<String> =
        corpus.iter().zip(keys).map(|(text, key)| format!("{text} {key}")).collect();
    let start = Instant::now();
    for (number, (text, key)) in corpus.iter().zip(keys).enumerate() {
        match way {
            Way::None => index.add(text).map(drop)?,
            Way::Table => index.put(key, text)?,
            Way::Terms => {
                parser.parse_into(key, &mut query)?;
                std::hint::black_box(engine::hits(&mut reader, &query, Search::newest(1)));
                index.add(&with_key[number])?;
            }
        }
    }
    let rate = corpus.len() as f64 / start.elapsed().as_secs_f64();
    drop(reader);
    index.flush()?;
    Ok((index, rate))
}

/// P50 and P95 of finding the newest document with a key, in µs.
fn find(index: &Index, keys: &[String], way: Way) -> Fallible<[Option<f64>; 2]> {
    let mut parser = index.parser(Operator::Or);
    let mut reader = index.reader()?;
    let mut latencies = Latencies::with_capacity(LOOK_UPS);
    let step = (keys.len() / LOOK_UPS).max(1);
    for key in keys.iter().step_by(step).take(LOOK_UPS) {
        let mut query = Query::new();
        let text = if way == Way::Table { format!("key:{key}") } else { key.clone() };
        parser.parse_into(&text, &mut query)?;
        let start = Instant::now();
        let found = engine::hits(&mut reader, &query, Search::newest(1));
        latencies.push(start.elapsed());
        if found != 1 {
            return Err(format!("no document has the key {key}").into());
        }
    }
    let summary = latencies.summary();
    Ok([Some(summary.p50()), Some(summary.p95())])
}
