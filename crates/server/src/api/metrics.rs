//! `/metrics`: the figures of the server and of its indexes.

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use spirit::stats::Stats;

use super::server::{Server, State};
use crate::metrics::Text;

/// Prometheus' text form.
const KIND: &str = "text/plain; version=0.0.4; charset=utf-8";

/// An index, its figures, and how often it was asked.
type Figures = (String, Stats, u64);

pub(super) async fn show(State(server): State<Server>) -> Response {
    let mut text = Text::default();
    server.metrics().write(&mut text);
    let readiness = server.catalog().readiness();
    let mut failed = readiness.failed.len();
    let mut figures: Vec<Figures> = Vec::new();
    for served in server.catalog().all() {
        match served.index.stats() {
            Ok(stats) => figures.push((served.name.to_string(), stats, served.queries())),
            // It accepts nothing more, and has no figures.
            Err(_) => failed += 1,
        }
    }
    text.gauge(
        "spirit_indexes",
        "Indexes by state",
        &[
            (&[("state", "serving")], figures.len() as f64),
            (&[("state", "starting")], readiness.starting as f64),
            (&[("state", "failed")], failed as f64),
        ],
    );
    write_counts(&mut text, &figures);
    write_bytes(&mut text, &figures);
    write_caches(&mut text, &figures);
    let kind = HeaderValue::from_static(KIND);
    ([(header::CONTENT_TYPE, kind)], text.end()).into_response()
}

/// Samples of indexes: the index, a further label, the value.
type Samples<'f> = Vec<(&'f str, Option<&'static str>, f64)>;

/// Returns a sample of each index.
fn each(figures: &[Figures], value: impl Fn(&Figures) -> f64) -> Samples<'_> {
    figures.iter().map(|figure| (&*figure.0, None, value(figure))).collect()
}

/// Returns several samples of each index.
fn parts(figures: &[Figures], of: impl Fn(&Stats) -> Vec<(&'static str, u64)>) -> Samples<'_> {
    let of = |figure| {
        let (index, stats, _): &Figures = figure;
        let parts = of(stats).into_iter();
        parts.map(move |(part, value)| (&**index, Some(part), value as f64))
    };
    figures.iter().flat_map(of).collect()
}

fn write(text: &mut Text, name: &str, help: &str, label: &str, samples: &Samples<'_>) {
    let labels: Vec<Vec<(&str, &str)>> = samples
        .iter()
        .map(|(index, part, _)| {
            let part = part.map(|part| (label, part));
            [("index", *index)].into_iter().chain(part).collect()
        })
        .collect();
    let values = labels.iter().zip(samples);
    let samples: Vec<_> = values.map(|(labels, (.., value))| (&labels[..], *value)).collect();
    match name.ends_with("_total") {
        true => text.counter(name, help, &samples),
        false => text.gauge(name, help, &samples),
    }
}

fn write_counts(text: &mut Text, figures: &[Figures]) {
    let documents = each(figures, |(_, stats, _)| stats.documents as f64);
    write(text, "spirit_documents", "Documents that searches find", "", &documents);
    let changes = parts(figures, |stats| {
        vec![("accept", stats.accepted), ("delete", stats.deleted), ("expire", stats.expired)]
    });
    let help = "Documents over the life of an index: accepted, replaced or deleted, expired";
    write(text, "spirit_documents_total", help, "op", &changes);
    let queries = each(figures, |(.., queries)| *queries as f64);
    let help = "Searches, counts and reads since the start";
    write(text, "spirit_queries_total", help, "", &queries);
    let segments = each(figures, |(_, stats, _)| stats.segments.len() as f64);
    write(text, "spirit_segments", "Segments", "", &segments);
    let dropped = each(figures, |(_, stats, _)| stats.dropped_segments as f64);
    let help = "Segments that retention dropped since the start";
    write(text, "spirit_dropped_segments_total", help, "", &dropped);
}

fn write_bytes(text: &mut Text, figures: &[Figures]) {
    let bytes = parts(figures, |stats| {
        let bytes = &stats.bytes;
        vec![
            ("postings", bytes.postings),
            ("fresh", bytes.fresh),
            ("vectors", bytes.vectors),
            ("rows", bytes.rows),
            ("term_maps", bytes.term_maps),
            ("columns", bytes.columns),
            ("keys", bytes.keys),
            ("dictionary", bytes.dictionary),
            ("texts", bytes.texts),
        ]
    });
    write(text, "spirit_index_bytes", "Bytes by structure", "part", &bytes);
    for (heap, name) in [(false, "spirit_heap_bytes"), (true, "spirit_second_tier_bytes")] {
        let bytes = parts(figures, |stats| {
            let is_own = |name: &str| name.starts_with("nvm") == heap;
            let own = stats.partitions.iter().filter(|partition| is_own(partition.name));
            let (used, all) = own.fold((0, 0), |(used, all), partition| {
                (used + partition.used, all + partition.bytes)
            });
            if all == 0 {
                return Vec::new();
            }
            vec![("used", used), ("free", all.saturating_sub(used))]
        });
        let help = if heap { "Second tier, in the file" } else { "DRAM of the heap" };
        write(text, name, help, "state", &bytes);
    }
}

fn write_caches(text: &mut Text, figures: &[Figures]) {
    let families = [
        ("spirit_cache_hits_total", "Answers that the result cache had"),
        ("spirit_cache_misses_total", "Answers that the result cache lacked"),
        ("spirit_cache_evictions_total", "Answers that left the result cache"),
        ("spirit_cache_bytes", "Bytes that the result cache has reserved"),
    ];
    for (place, (name, help)) in families.into_iter().enumerate() {
        let cached = figures.iter().filter_map(|(index, stats, _)| {
            let cache = stats.cache?;
            let values = [cache.found, cache.missed, cache.evicted, cache.bytes];
            Some((&**index, None, values[place] as f64))
        });
        write(text, name, help, "", &cached.collect());
    }
}
