//! What a demonstration measured: for people, and as one JSON object.

use std::io::{self, Write};
use std::sync::atomic::Ordering::Relaxed;

use serde::Serialize;
use serde_json::{Map, Value};
use spirit_forms::values::rounded;

use super::histogram::Histogram;
use super::live::{Kind, Live};
use super::stream::Streamed;
use crate::output::{grouped, rate};
use crate::stats::Stats;

#[derive(Serialize)]
pub(crate) struct Summary {
    /// Where the documents came from.
    pub(crate) source: String,
    pub(crate) seed: u64,
    pub(crate) documents: u64,
    pub(crate) refused: u64,
    /// How often the whole corpus went in: a small one is repeated.
    pub(crate) rounds: u64,
    pub(crate) bytes: u64,
    pub(crate) tokens: u64,
    pub(crate) seconds: f64,
    pub(crate) documents_per_second: f64,
    pub(crate) ns_per_token: f64,
    /// From the start of `add` until another thread found the document.
    pub(crate) visibility: Percentiles,
    pub(crate) queries: Map<String, Value>,
    /// Queries for a word of an added document that found nothing.
    pub(crate) missed: u64,
    pub(crate) stats: Stats,
}

/// Microseconds.
#[derive(Serialize)]
pub(crate) struct Percentiles {
    count: u64,
    p50_us: Option<f64>,
    p95_us: Option<f64>,
    p99_us: Option<f64>,
    max_us: Option<f64>,
}

impl Percentiles {
    pub(crate) fn of(histogram: &Histogram) -> Percentiles {
        let us = |per_mille| histogram.percentile(per_mille).map(|ns| rounded(ns as f64 / 1e3, 3));
        Percentiles {
            count: histogram.count(),
            p50_us: us(500),
            p95_us: us(950),
            p99_us: us(990),
            max_us: us(1000),
        }
    }
}

/// What was streamed.
#[derive(Default)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) seed: u64,
    pub(crate) refused: u64,
    pub(crate) rounds: u64,
    pub(crate) bytes: u64,
    pub(crate) tokens: u64,
}

impl Summary {
    pub(crate) fn of(source: Source, streamed: Streamed, live: &Live, stats: Stats) -> Summary {
        let percentiles = |kind| serde_json::to_value(Percentiles::of(live.latency(kind)));
        let queries = Kind::ALL
            .into_iter()
            .filter_map(|kind| Some((kind.name().to_owned(), percentiles(kind).ok()?)))
            .collect();
        let documents = streamed.documents as u64;
        let ns = streamed.time.as_nanos() as f64;
        Summary {
            source: source.name,
            seed: source.seed,
            documents,
            refused: source.refused,
            rounds: source.rounds,
            bytes: source.bytes,
            tokens: source.tokens,
            seconds: rounded(streamed.time.as_secs_f64(), 6),
            documents_per_second: rounded(rate(documents, streamed.time), 1),
            ns_per_token: rounded(ns / source.tokens.max(1) as f64, 2),
            visibility: Percentiles::of(&live.probe.delays),
            queries,
            missed: live.missed.load(Relaxed),
            stats,
        }
    }

    pub(crate) fn write(&self, live: &Live, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}", self.source)?;
        if self.rounds > 1 {
            let rounds = grouped(self.rounds);
            writeln!(out, "added {rounds} times, until enough was measured")?;
        }
        writeln!(
            out,
            "{} documents in {:.2} s: {}/s, {:.1} MB/s, {} ns a token",
            grouped(self.documents),
            self.seconds,
            grouped(self.documents_per_second as u64),
            self.bytes as f64 / self.seconds.max(1e-9) / 1e6,
            self.ns_per_token
        )?;
        writeln!(
            out,
            "\n{:<32}{:>10}{:>10}{:>10}{:>12}",
            "microseconds", "p50", "p95", "p99", "measured"
        )?;
        row(out, "found by another thread after", &self.visibility)?;
        for kind in Kind::ALL {
            let name = format!("query: {}", kind.name().replace('_', " "));
            row(out, &name, &Percentiles::of(live.latency(kind)))?;
        }
        writeln!(out, "\n{:<32}{}", "queries that missed a document", grouped(self.missed))?;
        for (name, value) in self.stats.lines() {
            writeln!(out, "{name:<32}{value}")?;
        }
        Ok(())
    }
}

fn row(out: &mut impl Write, name: &str, times: &Percentiles) -> io::Result<()> {
    let us = |value: Option<f64>| value.map_or("-".into(), |us| format!("{us:.1}"));
    writeln!(
        out,
        "{name:<32}{:>10}{:>10}{:>10}{:>12}",
        us(times.p50_us),
        us(times.p95_us),
        us(times.p99_us),
        grouped(times.count)
    )
}
