//! `acks`: documents acknowledged at level `os` on a disk, and how long a client waits for that.
//!
//! Measured: an index below the folder for temporary files; clients that each hand over a bulk of posts, wait until it is
//! acknowledged, which is when it is on the disk, and hand over the next. The latency of a post is that of its bulk. Segments
//! are engraved and merged meanwhile; the clock of the rate stops when the last bulk is acknowledged. Beside it the same
//! at level process, and one post a call from many threads. And how many bytes of pages the process made dirty for each byte of
//! text, from making the index to closing it, as the kernel counts them: what a disk is given to write, and what it may be spared
//! where nobody syncs.
//!
//! Corpus: posts. The seed has no part in it.
//!
//! Caveats: it is the disk's figure as much as ours: one sync of this disk is measured in the same run, as a sync of 4 KiB
//! appended to a file that was written before. A virtual disk may say that it has what it has not.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use serde_json::json;
use spirit::{Durability, Index, Mode};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::engine;
use crate::report::{Bound, Table, bar, number};
use crate::scratch::Scratch;
use crate::timing::{Latencies, Rounds, median};

/// How clients hand over.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    durability: Durability,
    clients: usize,
    bulk: usize,
    /// Of the corpus.
    documents_max: usize,
}

const WAYS: [Way; 4] = [
    Way {
        name: "os, 4 clients, bulks of 500",
        durability: Durability::Os,
        clients: 4,
        bulk: 500,
        documents_max: usize::MAX,
    },
    Way {
        name: "os, 1 client, bulks of 500",
        durability: Durability::Os,
        clients: 1,
        bulk: 500,
        documents_max: usize::MAX,
    },
    Way {
        name: "os, 32 clients, one a call",
        durability: Durability::Os,
        clients: 32,
        bulk: 1,
        documents_max: 200_000,
    },
    Way {
        name: "process, 4 clients, bulks of 500",
        durability: Durability::Process,
        clients: 4,
        bulk: 500,
        documents_max: usize::MAX,
    },
];
const SEGMENT_BYTES: u64 = 16 << 20;
const SYNCS: usize = 200;
const SYNC_BYTES: usize = 4096;

/// What came of a way.
#[derive(Default)]
struct Taken {
    per_s: Vec<f64>,
    rounds: Rounds,
    /// Bytes of dirty pages for each of text.
    written: Vec<f64>,
}

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    bench.begin("acks", &corpus, &[("segment_bytes", json!(SEGMENT_BYTES))]);
    let mut taken: [Taken; WAYS.len()] = Default::default();
    let mut syncs = Rounds::default();
    let _pinned = bench.cores.pin(On::Both);
    for _ in 0..bench.rounds {
        sync(&mut syncs)?;
        for (way, taken) in WAYS.iter().zip(&mut taken) {
            measure(&corpus.first(way.documents_max), *way, taken)?;
        }
    }
    print(bench, &corpus, &taken, &syncs)
}

/// What one sync of the disk takes.
fn sync(rounds: &mut Rounds) -> Fallible<()> {
    let scratch = Scratch::on_disk()?;
    let mut file = File::create(scratch.path().join("log"))?;
    file.write_all(&vec![0; SYNCS * SYNC_BYTES])?;
    file.sync_all()?;
    let mut latencies = Latencies::with_capacity(SYNCS);
    for number in 0..SYNCS {
        let start = Instant::now();
        file.write_all_at(&[1; SYNC_BYTES], (number * SYNC_BYTES) as u64)?;
        file.sync_data()?;
        latencies.push(start.elapsed());
    }
    rounds.push(latencies.summary());
    Ok(())
}

fn measure(corpus: &Corpus, way: Way, taken: &mut Taken) -> Fallible<()> {
    let scratch = Scratch::on_disk()?;
    let before = dirtied()?;
    let index = engine::options(corpus)
        .segment_bytes(SEGMENT_BYTES)
        .mode(Mode::Crash)
        .durability(way.durability)
        .directory(scratch.path())
        .nvm_bytes(engine::heap_bytes(corpus))
        .open()?;
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    let clients = || {
        std::thread::scope(|scope| -> Result<Vec<Duration>, String> {
            let clients: Vec<_> = (0..way.clients)
                .map(|_| scope.spawn(|| client(&index, corpus, way, &next)))
                .collect();
            let mut all = Vec::new();
            for client in clients {
                all.extend(client.join().map_err(|_| "a client panicked")??);
            }
            Ok(all)
        })
    };
    let latencies = clients()?;
    taken.per_s.push(corpus.len() as f64 / start.elapsed().as_secs_f64());
    let mut round = Latencies::with_capacity(latencies.len());
    latencies.into_iter().for_each(|latency| round.push(latency));
    taken.rounds.push(round.summary());
    index.close()?;
    taken.written.push((dirtied()? - before) as f64 / corpus.text_bytes() as f64);
    Ok(())
}

/// Bytes of pages that this process has made dirty.
fn dirtied() -> Fallible<u64> {
    let counts = std::fs::read_to_string("/proc/self/io")?;
    let count = counts.lines().find_map(|line| line.strip_prefix("write_bytes: "));
    Ok(count.ok_or("/proc/self/io does not say what was written")?.parse()?)
}

/// Hands over bulks until there are no more; says how long each took.
fn client(
    index: &Index,
    corpus: &Corpus,
    way: Way,
    next: &AtomicUsize,
) -> Result<Vec<Duration>, String> {
    let mut taken = Vec::new();
    loop {
        let first = next.fetch_add(way.bulk, Relaxed);
        let end = corpus.len().min(first + way.bulk);
        if first >= end {
            return Ok(taken);
        }
        let start = Instant::now();
        let added = index.add_all((first..end).map(|number| (None, corpus.get(number))));
        added.map_err(|error| error.to_string())?;
        taken.push(start.elapsed());
    }
}

fn print(
    bench: &mut Bench,
    corpus: &Corpus,
    taken: &[Taken; WAYS.len()],
    syncs: &Rounds,
) -> Fallible<()> {
    let title = format!("{}: acknowledged documents, and a client's wait, ms", corpus.name);
    let mut table = Table::new(title, &["way", "docs/s", "P50", "P95", "P99", "written / text"]);
    let ms = |us: f64| number(us / 1e3);
    for (way, taken) in WAYS.iter().zip(taken) {
        let config = [("way", json!(way.name))];
        bench.report.row("spirit", &config, "docs_per_s", "1/s", &taken.per_s)?;
        bench.report.rounds("spirit", &config, &taken.rounds)?;
        let wait = taken.rounds.median();
        let rate = number(median(&taken.per_s));
        bench.report.row("spirit", &config, "written_per_text_byte", "1", &taken.written)?;
        let written = number(median(&taken.written));
        let [p50, p95, p99] = [wait.p50(), wait.p95(), wait.p99()].map(ms);
        table.line([way.name.to_owned(), rate, p50, p95, p99, written]);
    }
    let sync = syncs.median();
    bench.report.rounds("disk", &[], syncs)?;
    let name = "a sync of 4 KiB".to_owned();
    let [p50, p95, p99] = [sync.p50(), sync.p95(), sync.p99()].map(ms);
    table.line([name, String::new(), p50, p95, p99, String::new()]);
    table.print();
    let [first, ..] = taken;
    let rate = Ok(median(&first.per_s));
    bar("acknowledged at level os", Bound::AtLeast(100_000.0), " docs/s", "", &rate);
    let wait = Ok(first.rounds.median().p95() / 1e3);
    bar("P95 of the wait", Bound::AtMost(10.0), " ms", "", &wait);
    Ok(())
}
