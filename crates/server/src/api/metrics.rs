//! `/metrics`: the figures of the server and of its indexes.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use spirit::stats::Stats;
use spirit_forms::figures as sums;

use super::server::{Server, State};
use crate::metrics::{Counted, Text};
use crate::served::{Served, Taken};

/// Prometheus' text form.
const KIND: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The engine's name of the point at which operations are durable in the log.
const LOG_FENCE: &str = "log.fence";

/// An index, its figures, and how often it was asked.
type Figures = (String, Stats, u64);

pub(super) async fn show(State(server): State<Server>) -> Response {
    let mut text = Text::default();
    server.metrics().write(&mut text);
    let readiness = server.catalog().readiness();
    let mut failed = readiness.failed.len();
    let mut figures: Vec<Figures> = Vec::new();
    let all = server.catalog().all();
    for served in &all {
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
    write_stages(&mut text, &figures, &all);
    write_budget(&mut text, &server, &all);
    let waiting = server.waiting_questions() as f64;
    text.gauge("spirit_waiting_questions", "Questions that wait for a thread", &[(&[], waiting)]);
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
    let bytes = parts(figures, |stats| sums::parts(stats).to_vec());
    write(text, "spirit_index_bytes", "Bytes by structure", "part", &bytes);
    write_heaps(text, figures);
    write_largest_free(text, figures);
}

/// Writes the two heaps of each index: DRAM, and the second tier in its file.
fn write_heaps(text: &mut Text, figures: &[Figures]) {
    let mut samples = Vec::new();
    for (index, stats, _) in figures {
        for (heap, is_second) in [("dram", false), ("nvm", true)] {
            let (used, all) = sums::heap(stats, is_second);
            if all > 0 {
                samples.push((heap_labels(index, heap, "used"), used as f64));
                samples.push((heap_labels(index, heap, "free"), all.saturating_sub(used) as f64));
            }
        }
    }
    let samples: Vec<_> = samples.iter().map(|(labels, value)| (&labels[..], *value)).collect();
    let help = "Partitions of an index in DRAM, and in the second tier, which is in its file";
    text.gauge("spirit_heap_bytes", help, &samples);
}

/// Writes the largest block that each partition could give out: of the fullest one, if an index has
/// several of a name.
fn write_largest_free(text: &mut Text, figures: &[Figures]) {
    let mut blocks: BTreeMap<(&str, &'static str), u64> = BTreeMap::new();
    for (index, stats, _) in figures {
        for partition in &stats.partitions {
            let Some(free) = partition.largest_free else { continue };
            let least = blocks.entry((index, partition.name)).or_insert(free);
            *least = free.min(*least);
        }
    }
    let labels: Vec<_> = blocks
        .iter()
        .map(|((index, name), free)| {
            let (heap, partition) = name.split_once(' ').unwrap_or(("dram", name));
            ([("index", *index), ("heap", heap), ("partition", partition)], *free as f64)
        })
        .collect();
    let samples: Vec<_> = labels.iter().map(|(labels, value)| (&labels[..], *value)).collect();
    let help = "The largest free block of a partition";
    text.gauge("spirit_heap_largest_free_bytes", help, &samples);
}

fn heap_labels<'l>(index: &'l str, heap: &'l str, state: &'l str) -> [(&'l str, &'l str); 3] {
    [("index", index), ("heap", heap), ("state", state)]
}

/// Writes what all indexes may take together, and what they have of it.
fn write_budget(text: &mut Text, server: &Server, served: &[Arc<Served>]) {
    let taken = served.iter().map(|served| served.taken()).fold(Taken::default(), Taken::and);
    let settings = server.settings();
    let mut samples = Vec::new();
    for (heap, taken, all) in
        [("dram", taken.dram, settings.dram), ("nvm", taken.nvm, settings.nvm)]
    {
        samples.push(([("heap", heap), ("state", "reserved")], taken as f64));
        samples.push(([("heap", heap), ("state", "free")], all.saturating_sub(taken) as f64));
    }
    let samples: Vec<_> = samples.iter().map(|(labels, value)| (&labels[..], *value)).collect();
    text.gauge("spirit_budget_bytes", "What all indexes may take together", &samples);
}

/// Writes the work of the threads behind writes, and what a start had to do and would have to.
fn write_stages(text: &mut Text, figures: &[Figures], served: &[Arc<Served>]) {
    let fences = each(figures, |(_, stats, _)| {
        let fences = stats.fences.iter().filter(|(name, _)| *name == LOG_FENCE);
        fences.map(|(_, count)| *count as f64).sum()
    });
    let help = "Groups of operations that were made durable since the start";
    write(text, "spirit_durability_flushes_total", help, "", &fences);
    write_log_syncs(text, figures);
    let waiting = each(figures, |(_, stats, _)| sums::only_logged(stats) as f64);
    let help = "Operations that only the log makes durable: a start replays them";
    write(text, "spirit_durable_lag_documents", help, "", &waiting);
    let lag = each(figures, |(_, stats, _)| stats.epoch_lag as f64);
    let help = "How often memory was given up since the oldest reader began, which keeps it";
    write(text, "spirit_epoch_lag", help, "", &lag);
    write_busy(text, figures);
    type Work = fn(&Stats) -> (u64, f64);
    let stages: [(&str, &str, Work); 2] = [
        ("engrave", "written to the second tier", |stats| stats.engraved),
        ("merge", "merged in the second tier", |stats| stats.merged),
    ];
    for (stage, what, of) in stages {
        let segments = each(figures, |(_, stats, _)| of(stats).0 as f64);
        let name = format!("spirit_{stage}_segments_total");
        write(text, &name, &format!("Segments that were {what} since the start"), "", &segments);
        let seconds = each(figures, |(_, stats, _)| of(stats).1);
        let name = format!("spirit_{stage}_seconds_total");
        write(text, &name, &format!("Time in which segments were {what}"), "", &seconds);
    }
    let recovery = |served: &'_ Arc<Served>| served.index.start_report().time.as_secs_f64();
    let recovery: Samples<'_> =
        served.iter().map(|served| (served.name.as_str(), None, recovery(served))).collect();
    let help = "Time from the opening of an index until documents could be added";
    write(text, "spirit_recovery_duration_seconds", help, "", &recovery);
}

/// Writes the time for which each stage of the pipeline worked, or waited.
fn write_busy(text: &mut Text, figures: &[Figures]) {
    let mut samples = Vec::new();
    for (index, stats, _) in figures {
        for (stage, seconds) in &stats.busy {
            samples.push(([("index", &**index), ("stage", *stage)], *seconds));
        }
    }
    let samples: Vec<_> = samples.iter().map(|(labels, value)| (&labels[..], *value)).collect();
    let help = "Time for which each stage worked since the start; ingest as far as documents came together";
    text.counter("spirit_stage_busy_seconds_total", help, &samples);
}

/// Writes the time in which groups became durable on the disk. An index that survives only the end of
/// the process does not wait for the disk.
fn write_log_syncs(text: &mut Text, figures: &[Figures]) {
    let labels: Vec<_> = figures.iter().map(|(index, ..)| [("index", &**index)]).collect();
    let counted = figures.iter().map(|(_, stats, _)| Counted {
        counts: stats.log_syncs.clone(),
        seconds: stats.log_sync_seconds,
    });
    let samples: Vec<_> = labels.iter().map(|labels| &labels[..]).zip(counted).collect();
    let help = "Time to make a group of operations durable on the disk, by durability os";
    text.histograms("spirit_durability_flush_duration_seconds", help, &samples);
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
