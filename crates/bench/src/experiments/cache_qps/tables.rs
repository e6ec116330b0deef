//! What the configurations found, beside the thesis' numbers.

use serde_json::json;

use super::{Figures, Medium, SIZES};
use crate::Fallible;
use crate::bench::Bench;
use crate::charts::{Figure, Series};
use crate::report::{Table, number};

/// Bytes of a posting in the thesis' results: a document's number, and a count.
const POSTING_BYTES: f64 = 12.0;
/// The thesis' documents, and the mean bytes of complete results of AND and OR (figure 5.9).
const THESIS_DOCUMENTS: f64 = 1_000_000.0;
const THESIS_BYTES: [f64; 2] = [827_787.0, 11_117_563.0];
/// The thesis' best gains of ANDs in percent: over DRAM without a cache, and over the buffered medium without one (figure 5.6).
const THESIS_GAINS: [f64; 2] = [265.99, 267.34];
/// The thesis' tails of ANDs and ORs at 20 % in milliseconds (figures 5.7 and 5.8).
const THESIS_TAILS: [f64; 2] = [20.147, 310.413];

/// A configuration.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) medium: Medium,
    /// The cache's size in percent of the index, if there is one.
    pub(super) size: Option<u64>,
    pub(super) best: Answers,
    pub(super) count: Answers,
}

/// Both logs.
#[derive(Clone, Copy)]
pub(super) struct Answers {
    pub(super) and: Figures,
    pub(super) or: Figures,
}

/// A number of a configuration.
type Of = fn(&Row) -> f64;

/// Prints all configurations, and draws the best matches.
pub(super) fn show(bench: &mut Bench, rows: &[Row]) -> Fallible<()> {
    question(bench, "best 20", rows, |row| row.best)?;
    question(bench, "count", rows, |row| row.count)?;
    claims(rows);
    differences(rows);
    let figures: [(&str, &str, &str, Of); 4] = [
        ("5.6", "Figure 5.6: ANDs, best 20", "queries a second", |row| row.best.and.qps),
        ("5.7", "Figure 5.7: ANDs, best 20", "P99, µs", |row| row.best.and.p99_us),
        ("5.8", "Figure 5.8: ORs, best 20", "P99, µs", |row| row.best.or.p99_us),
        ("5.10", "Figure 5.10: ORs, best 20", "queries a second", |row| row.best.or.qps),
    ];
    figures.into_iter().try_for_each(|(name, title, y, of)| {
        draw(bench, Figure { name, title, x: "", y }, rows, of)
    })
}

/// Prints all configurations for one question.
fn question(
    bench: &mut Bench,
    question: &str,
    rows: &[Row],
    of: fn(&Row) -> Answers,
) -> Fallible<()> {
    let base = of(&rows[0]);
    let head = [
        "configuration",
        "size, %",
        "AND QPS",
        "times",
        "hits, %",
        "P99, µs",
        "max, µs",
        "OR QPS",
        "times",
        "hits, %",
        "P99, µs",
        "max, µs",
    ];
    let title = format!("{question}: queries a second, and times those without a cache in DRAM");
    let mut table = Table::new(title, &head);
    for row in rows {
        let Answers { and, or } = of(row);
        let config = [
            ("question", json!(question)),
            ("configuration", json!(row.name)),
            ("size_percent", json!(row.size)),
        ];
        let mut cells =
            vec![row.name.clone(), row.size.map_or(String::new(), |size| size.to_string())];
        for (log, found, base) in [("AND", and, base.and), ("OR", or, base.or)] {
            let Figures { qps, p99_us, max_us, hits, .. } = found;
            bench.report.row(log, &config, "qps", "1/s", &[qps])?;
            bench.report.row(log, &config, "p99_us", "us", &[p99_us])?;
            bench.report.row(log, &config, "max_us", "us", &[max_us])?;
            cells.extend([qps, qps / base.qps, hits, p99_us, max_us].map(number));
        }
        table.line(cells);
    }
    table.print();
    Ok(())
}

/// Draws a number of all configurations: a bar for each size, and without a cache a single one.
fn draw(bench: &Bench, figure: Figure<'_>, rows: &[Row], of: Of) -> Fallible<()> {
    let groups: Vec<&[Row]> = rows.chunk_by(|a, b| a.name == b.name).collect();
    let names: Vec<String> = groups.iter().map(|group| group[0].name.clone()).collect();
    let of_size = |(size, _): (u64, u64)| {
        let value = |group: &&[Row]| {
            let is_it = |row: &&Row| row.size.is_none_or(|of_row| of_row == size);
            group.iter().find(is_it).map_or(f64::NAN, of)
        };
        Series::bars(format!("{size} % of the index"), groups.iter().map(value))
    };
    bench.charts.bars(figure, &names, &SIZES.map(of_size))
}

/// What the thesis says in its text, and the same of ours.
fn claims(rows: &[Row]) {
    let mut table = Table::new("the thesis' text, and ours", &["", "thesis", "ours", ""]);
    let best = rows.iter().max_by(|a, b| a.best.and.qps.total_cmp(&b.best.and.qps));
    let buffered = rows.iter().find(|row| row.medium == Medium::Disk && row.size.is_none());
    let (Some(best), Some(buffered)) = (best, buffered) else { return };
    let gain = |base: &Row| number((best.best.and.qps / base.best.and.qps - 1.0) * 100.0);
    let line = |table: &mut Table, what: &str, thesis: f64, ours: String, which: &str| {
        table.line([what, &number(thesis), &ours, which]);
    };
    let [over_dram, over_buffered] = THESIS_GAINS;
    let which = format!("{}, {} %", best.name, best.size.unwrap_or(0));
    line(
        &mut table,
        "ANDs, best over D-N-N, % (thesis: P-B-D-T)",
        over_dram,
        gain(&rows[0]),
        &which,
    );
    line(&mut table, "ANDs, best over P-B-N-N, %", over_buffered, gain(buffered), &which);
    let least = |of: Of| {
        let at_largest = rows.iter().filter(|row| row.size == Some(SIZES[2].0));
        at_largest.min_by(|a, b| of(a).total_cmp(&of(b)))
    };
    let tails: [(&str, Of); 2] = [
        ("ANDs, lowest P99 at 20 %, ms", |row| row.best.and.p99_us / 1e3),
        ("ORs, lowest P99 at 20 %, ms", |row| row.best.or.p99_us / 1e3),
    ];
    for ((what, of), thesis) in tails.into_iter().zip(THESIS_TAILS) {
        let Some(row) = least(of) else { continue };
        line(&mut table, what, thesis, number(of(row)), &row.name);
    }
    table.print();
}

/// The buffered medium minus the direct one (figures 5.12 and 5.13), means over all caches of a size.
fn differences(rows: &[Row]) {
    let head = ["size, %", "AND QPS", "thesis", "AND P99, µs", "OR QPS", "thesis", "OR P99, µs"];
    let mut table = Table::new("P-B minus P-D; figures 5.12 and 5.13", &head);
    let mean = |medium: Medium, size: u64, of: Of| {
        let all: Vec<f64> = rows
            .iter()
            .filter(|row| row.medium == medium && row.size == Some(size))
            .map(of)
            .collect();
        all.iter().sum::<f64>() / all.len().max(1) as f64
    };
    for (size, _) in SIZES {
        let minus = |of: Of| number(mean(Medium::Disk, size, of) - mean(Medium::Memory, size, of));
        // The thesis names the least, which is at 5 %, and the peak; of ORs the most.
        let thesis = if size == SIZES[0].0 { "7,467" } else { "to 18,632" };
        table.line([
            size.to_string(),
            minus(|row| row.best.and.qps),
            thesis.to_owned(),
            minus(|row| row.best.and.p99_us),
            minus(|row| row.best.or.qps),
            "±141 at most".to_owned(),
            minus(|row| row.best.or.p99_us),
        ]);
    }
    table.print();
}

/// Threads and caches (figure 5.2).
pub(super) fn threads(bench: &mut Bench, rows: &[((usize, u64), Figures)]) -> Fallible<()> {
    let head = ["threads", "caches", "AND QPS", "hits, %", "P99, µs", "max, µs"];
    let mut table = Table::new(
        "D-L-T, 20 %: threads and caches; figure 5.2 (thesis: 10 caches for 50 threads best)",
        &head,
    );
    for ((threads, caches), found) in rows {
        let config = [("threads", json!(threads)), ("caches", json!(caches))];
        bench.report.row("D-L-T", &config, "qps", "1/s", &[found.qps])?;
        bench.report.row("D-L-T", &config, "p99_us", "us", &[found.p99_us])?;
        let cells = [found.qps, found.hits, found.p99_us, found.max_us].map(number);
        table.line([threads.to_string(), caches.to_string()].into_iter().chain(cells));
    }
    table.print();
    let groups: Vec<String> =
        rows.iter().map(|((threads, caches), _)| format!("{threads} : {caches}")).collect();
    let (title, x) = ("Figure 5.2: ANDs", "threads : caches");
    let figure = Figure { name: "5.2", title, x, y: "queries a second" };
    bench.charts.bars(figure, &groups, &[Series::bars("D-L-T", rows.iter().map(|row| row.1.qps))])
}

/// Questions that take less time than a look-up.
pub(super) fn bypassed(bench: &mut Bench, rows: &[(String, [Figures; 2])]) -> Fallible<()> {
    let head = ["question, medium", "QPS without", "with", "P99, µs", "with", "hits, %"];
    let mut table = Table::new("questions that do not reach the cache; figure 5.1", &head);
    for (name, [plain, cached]) in rows {
        let config = [("question", json!(name))];
        bench.report.row("plain", &config, "qps", "1/s", &[plain.qps])?;
        bench.report.row("cached", &config, "qps", "1/s", &[cached.qps])?;
        let cells = [plain.qps, cached.qps, plain.p99_us, cached.p99_us, cached.hits].map(number);
        table.line([name.clone()].into_iter().chain(cells));
    }
    table.print();
    let groups: Vec<String> = rows.iter().map(|(name, _)| name.clone()).collect();
    let column = |name, at: usize| Series::bars(name, rows.iter().map(|(_, found)| found[at].qps));
    let title = "Figure 5.1: questions that do not reach the cache";
    let figure = Figure { name: "5.1", title, x: "", y: "queries a second" };
    bench.charts.bars(figure, &groups, &[column("without a cache", 0), column("with one", 1)])
}

/// Bytes of complete results (figure 5.9).
pub(super) fn bytes(bench: &mut Bench, documents: usize, matches: [f64; 2]) -> Fallible<()> {
    let head = ["", "mean bytes", "a document of the index", "thesis", "a document of its index"];
    let mut table = Table::new("bytes of complete results, 12 a posting; figure 5.9", &head);
    let mut shares = [Vec::new(), Vec::new()];
    for ((name, matches), thesis) in ["AND", "OR"].into_iter().zip(matches).zip(THESIS_BYTES) {
        let bytes = matches * POSTING_BYTES;
        let [ours, theirs] = [bytes / documents as f64, thesis / THESIS_DOCUMENTS];
        bench.report.row(name, &[], "result_bytes", "B", &[bytes])?;
        let cells = [bytes, ours, thesis, theirs].map(number);
        table.line([name.to_owned()].into_iter().chain(cells));
        shares[0].push(ours);
        shares[1].push(theirs);
    }
    table.print();
    let [ours, theirs] = shares;
    let theirs = Series { is_paper: true, ..Series::bars("thesis", theirs) };
    let title = "Figure 5.9: bytes of complete results";
    let figure = Figure { name: "5.9", title, x: "", y: "bytes for each document of the index" };
    bench.charts.bars(figure, &["AND".into(), "OR".into()], &[Series::bars("ours", ours), theirs])
}
