//! `visible`: how long it takes to make one more document visible.
//!
//! Measured: `Index::add` of single documents to an index that holds a million posts; when it returns, every
//! query finds the document, which is checked after each addition, outside the clock. Added are the last 200
//! documents in turn, each with a word of its own, as in the peers' task of this name. One core for everything.
//! The peers: SQLite's insert in its own transaction, Lucene's add and warm refresh, tantivy's add, commit and
//! reload.
//!
//! Corpus: posts, the first million (BASELINE §3). The seed has no part in it.
//!
//! Caveats: nothing here is durable; tantivy's commit would be on a disk.

use std::time::Instant;

use spirit::{Index, Query};

use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::engine;
use crate::peers::{Call, System};
use crate::report::{Bound, Table, bar, number};
use crate::timing::{Latencies, METRICS, Rounds};
use crate::turns::{Contender, take_turns};

const DOCUMENTS: usize = 1_000_000;
/// This many of the last documents are not in the index at first.
const TAIL: usize = 200;
const WARM_ADDS: usize = 500;
const ADDS: usize = 1000;

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    let corpus = bench.corpus("posts")?;
    let corpus = corpus.first(DOCUMENTS);
    bench.begin("visible", &corpus, &[]);
    let mut contenders = contenders(bench, &corpus)?;
    let (cores, rounds) = (bench.cores, bench.rounds);
    let mut ours = Rounds::default();
    take_turns(&mut bench.peers, &mut contenders, || {
        let _pinned = cores.pin(On::Second);
        measure(&corpus, rounds, &mut ours)
    })?;

    let title = format!("{}: one document made visible, µs", corpus.name);
    let mut table = Table::new(title, &["system", "P50", "P95", "P99", "mean", "ours is faster"]);
    bench.report.rounds("spirit", &[], &ours)?;
    let spirit = ours.median();
    table.line(
        ["spirit".to_owned()].into_iter().chain(spirit.values.map(number)).chain([String::new()]),
    );
    for peer in &contenders {
        match peer.rows() {
            Err(reason) => table.not_measured(&peer.label, &reason),
            Ok(rows) => {
                for row in rows.0.iter().filter(|row| METRICS.contains(&row.metric.as_str())) {
                    bench.report.row(&peer.label, &[], &row.metric, &row.unit, &row.runs)?;
                }
                let mut cells = vec![peer.label.clone()];
                for metric in METRICS {
                    cells.push(number(rows.value("visible", metric)?));
                }
                cells.push(format!("{}×", number(rows.value("visible", "p50_us")? / spirit.p50())));
                table.line(cells);
            }
        }
    }
    table.print();
    for (system, bound, way) in [
        (System::Sqlite, 20.0, "SQLite's autocommit"),
        (System::Lucene, 100.0, "Lucene's warm refresh"),
        (System::Tantivy, 500.0, "tantivy's commit and reload"),
    ] {
        let peer = contenders.iter().find(|contender| contender.system == system);
        let theirs =
            peer.map_or(Err("not asked for".to_owned()), |peer| peer.value("visible", "p50_us"));
        let measured = theirs.map(|theirs| theirs / spirit.p50());
        bar("visible P50", Bound::AtLeast(bound), "×", way, &measured);
    }
    Ok(())
}

fn contenders(bench: &mut Bench, corpus: &Corpus) -> Fallible<Vec<Contender>> {
    let mut contenders = Vec::new();
    for system in System::ALL {
        if bench.peers.wants(system) {
            let docs = bench.peers.docs_file(corpus)?;
            let options =
                vec![("--rounds", bench.rounds.to_string()), ("--adds", ADDS.to_string())];
            let call = Call { task: "visible", docs, queries: None, on: On::Second, options };
            contenders.push(Contender::new(system, "", call));
        }
    }
    Ok(contenders)
}

fn measure(corpus: &Corpus, rounds: usize, all: &mut Rounds) -> Fallible<()> {
    let base = corpus.len().saturating_sub(TAIL);
    let index = engine::options(corpus).open()?;
    index.add_all((0..base).map(|number| (None, corpus.get(number))))?;
    index.settle();
    let mut live = Live { index: &index, corpus, turn: 0 };
    live.add(WARM_ADDS)?;
    for _ in 0..rounds {
        all.push(live.add(ADDS)?.summary());
    }
    Ok(())
}

/// An index that is being written.
struct Live<'a> {
    index: &'a Index,
    corpus: &'a Corpus,
    turn: usize,
}

impl Live<'_> {
    fn add(&mut self, documents: usize) -> Fallible<Latencies> {
        let mut latencies = Latencies::with_capacity(documents);
        let mut reader = self.index.reader()?;
        let tail = TAIL.min(self.corpus.len());
        for _ in 0..documents {
            let marker = format!("benchmarker{}x", self.turn);
            let text = self.corpus.get(self.corpus.len() - tail + self.turn % tail);
            let text = format!("{text} {marker}");
            let start = Instant::now();
            self.index.add(&text)?;
            latencies.push(start.elapsed());
            if reader.count(&Query::all_of(&[&marker]).map_err(|e| e.to_string())?)? != 1 {
                return Err(format!("added document {} is not visible", self.turn).into());
            }
            self.turn += 1;
        }
        Ok(latencies)
    }
}
