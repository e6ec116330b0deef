//! `ingest`: documents a second until all of them are visible.
//!
//! Measured: a fresh index with one executor; documents in memory, added in order by one thread; the clock stops
//! when the last is visible and every full segment is flushed. All threads on one core, as the peers' are.
//! `simple` analyzer, positions on, text not stored, the key a stored integer in every engine (ours: automatic).
//! The peers' figure is their `add`: everything handed over, not necessarily searchable; `add_commit` is beside it.
//!
//! Corpora: posts and articles (BASELINE §1). The seed has no part in it.
//!
//! Caveats: the segment being filled at the end stays as it is, found by queries and not flushed; the table says
//! which share of the postings was flushed, and the row with small segments has nearly all of them flushed. Our heap is
//! touched beforehand, as Lucene's is; the row "heap untouched" pays for its page faults in the clock. Lucene's
//! first rounds do not count (its compiler is at work), and only the last half of every turn does for the others.
//! Two cores: only the flush stage moves away.

use std::time::Instant;

use serde_json::json;
use spirit::Builder;
use spirit::lab::Level;

use super::steps;
use crate::Fallible;
use crate::bench::Bench;
use crate::cores::On;
use crate::corpus::Corpus;
use crate::engine;
use crate::peers::{Call, System};
use crate::report::{Bound, Table, bar, number};
use crate::timing::median;
use crate::turns::{Contender, take_turns};

pub(super) fn run(bench: &mut Bench) -> Fallible<()> {
    for name in bench.corpora(true) {
        let corpus = bench.corpus(name)?;
        bench.begin(
            "ingest",
            &corpus,
            &[("analyzer", json!("simple")), ("positions", json!(true))],
        );
        on_corpus(bench, &corpus)?;
    }
    Ok(())
}

/// A way of ours to ingest.
struct Variant {
    name: &'static str,
    on: On,
    keys: Keys,
    prefault: bool,
    /// Other than what all experiments take.
    segment_bytes: Option<u64>,
    vectors: Option<Level>,
}

/// Where keys come from, and how documents are handed over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keys {
    /// Automatic, many documents a call.
    Automatic,
    /// Given and looked up, many documents a call.
    Given,
    /// Given and looked up, a document a call.
    Put,
}

const ONE_CORE: Variant = Variant {
    name: "one core",
    on: On::Second,
    keys: Keys::Automatic,
    prefault: true,
    segment_bytes: None,
    vectors: None,
};

const OTHERS: [Variant; 7] = [
    Variant { name: "one core, keys given and checked", keys: Keys::Given, ..ONE_CORE },
    Variant { name: "one core, the same, one put at a time", keys: Keys::Put, ..ONE_CORE },
    Variant { name: "one core, 8 MiB segments", segment_bytes: Some(8 << 20), ..ONE_CORE },
    Variant { name: "one core, heap untouched", prefault: false, ..ONE_CORE },
    Variant { name: "one core, AVX2", vectors: Some(Level::Avx2), ..ONE_CORE },
    Variant { name: "one core, portable", vectors: Some(Level::Portable), ..ONE_CORE },
    Variant { name: "two cores", on: On::Both, ..ONE_CORE },
];

/// Seconds of each round: until `add_all` returned, and until all was flushed.
#[derive(Default)]
struct Taken {
    added: Vec<f64>,
    settled: Vec<f64>,
    /// The share of the postings that was flushed.
    flushed: f64,
}

fn on_corpus(bench: &mut Bench, corpus: &Corpus) -> Fallible<()> {
    let (cores, rounds) = (bench.cores, bench.rounds);
    let measure = |variant: &Variant, keys: &[String], taken: &mut Taken| -> Fallible<()> {
        let _pinned = cores.pin(variant.on);
        (0..rounds).try_for_each(|_| ingest(corpus, variant, keys, taken))
    };
    let mut contenders = contenders(bench, corpus)?;
    let mut ours = Taken::default();
    take_turns(&mut bench.peers, &mut contenders, || measure(&ONE_CORE, &[], &mut ours))?;

    let title = format!("{}: ingest, documents a second until visible", corpus.name);
    let mut table =
        Table::new(title, &["system", "docs/s", "MB/s", "ns/token", "until added", "flushed"]);
    print_ours(bench, corpus, &ONE_CORE, &ours, &mut table)?;
    let keys: Vec<String> = (0..corpus.len()).map(|number| format!("k{number}")).collect();
    for variant in &OTHERS {
        let mut taken = Taken::default();
        measure(variant, &keys, &mut taken)?;
        print_ours(bench, corpus, variant, &taken, &mut table)?;
    }
    for contender in &contenders {
        print_peer(bench, corpus, contender, &mut table)?;
    }
    table.print();
    steps::run(bench, corpus, [&ours.added, &ours.settled])?;
    verdict(corpus, median(&ours.settled), &contenders);
    Ok(())
}

fn ingest(corpus: &Corpus, variant: &Variant, keys: &[String], taken: &mut Taken) -> Fallible<()> {
    let options: Builder = engine::options(corpus).prefault(variant.prefault);
    let options = match variant.segment_bytes {
        Some(segment_bytes) => options.segment_bytes(segment_bytes),
        None => options,
    };
    let index = options.vectors(variant.vectors.unwrap_or_default()).open()?;
    let start = Instant::now();
    let mut keyed = keys.iter().map(String::as_str).zip(corpus.iter());
    match variant.keys {
        Keys::Automatic => {
            index.add_all(corpus.iter().map(|text| (None, text)))?;
        }
        Keys::Given => {
            index.add_all(keyed.map(|(key, text)| (Some(key), text)))?;
        }
        Keys::Put => keyed.try_for_each(|(key, text)| index.put(key, text))?,
    }
    taken.added.push(start.elapsed().as_secs_f64());
    index.settle();
    taken.settled.push(start.elapsed().as_secs_f64());
    taken.flushed = engine::flushed_share(&index.stats()?);
    if index.accepted() != corpus.len() as u64 || index.deleted() != 0 {
        return Err("an index accepted other documents than it was given".into());
    }
    Ok(())
}

fn contenders(bench: &mut Bench, corpus: &Corpus) -> Fallible<Vec<Contender>> {
    let mut contenders = Vec::new();
    for system in System::ALL {
        if bench.peers.wants(system) {
            let docs = bench.peers.docs_file(corpus)?;
            let options =
                vec![("--rounds", bench.rounds.to_string()), ("--seconds-min", "0".to_owned())];
            let call = Call { task: "ingest", docs, queries: None, on: On::Second, options };
            contenders.push(Contender::new(system, "", call));
        }
    }
    Ok(contenders)
}

fn print_ours(
    bench: &mut Bench,
    corpus: &Corpus,
    variant: &Variant,
    taken: &Taken,
    table: &mut Table,
) -> Fallible<()> {
    let rates =
        |seconds: &[f64]| seconds.iter().map(|s| corpus.len() as f64 / s).collect::<Vec<_>>();
    let costs: Vec<f64> = taken.settled.iter().map(|s| s * 1e9 / corpus.tokens as f64).collect();
    let config = [("variant", json!(variant.name))];
    bench.report.row("spirit", &config, "docs_per_s", "1/s", &rates(&taken.settled))?;
    bench.report.row("spirit", &config, "docs_per_s_until_added", "1/s", &rates(&taken.added))?;
    bench.report.row("spirit", &config, "ns_per_token", "ns", &costs)?;
    bench.report.row("spirit", &config, "flushed_postings", "share", &[taken.flushed])?;
    let seconds = median(&taken.settled);
    table.line([
        format!("spirit {}", variant.name),
        number(corpus.len() as f64 / seconds),
        number(corpus.text_bytes() as f64 / seconds / 1e6),
        number(median(&costs)),
        number(corpus.len() as f64 / median(&taken.added)),
        format!("{:.0} %", taken.flushed * 100.0),
    ]);
    Ok(())
}

fn print_peer(
    bench: &mut Bench,
    corpus: &Corpus,
    peer: &Contender,
    table: &mut Table,
) -> Fallible<()> {
    let rows = match peer.rows() {
        Ok(rows) => rows,
        Err(reason) => {
            table.not_measured(&peer.label, &reason);
            return Ok(());
        }
    };
    for row in &rows.0 {
        let config = [("workload", json!(row.workload))];
        bench.report.row(peer.system.name(), &config, &row.metric, &row.unit, &row.runs)?;
    }
    for workload in ["add", "add_commit"] {
        let rate = rows.value(workload, "docs_per_s")?;
        table.line([
            format!("{} {workload}", peer.label),
            number(rate),
            number(rate * corpus.text_bytes() as f64 / corpus.len() as f64 / 1e6),
            number(rows.value(workload, "ns_per_token")?),
            String::new(),
            String::new(),
        ]);
    }
    Ok(())
}

fn verdict(corpus: &Corpus, seconds: f64, contenders: &[Contender]) {
    let bound = if corpus.is_short() { 8.0 } else { 6.0 };
    let of = |system: System| {
        let found = contenders.iter().find(|contender| contender.system == system);
        found.map_or(Err(format!("{}: not asked for", system.name())), |c| {
            c.value("add", "docs_per_s")
        })
    };
    let rate = corpus.len() as f64 / seconds;
    let measured = match (of(System::Tantivy), of(System::Lucene)) {
        (Ok(tantivy), Ok(lucene)) => Ok(rate / tantivy.max(lucene)),
        (Err(reason), _) | (_, Err(reason)) => Err(reason),
    };
    let against = "the better of tantivy's and Lucene's add";
    bar(&format!("{} ingest", corpus.name), Bound::AtLeast(bound), "×", against, &measured);
}
