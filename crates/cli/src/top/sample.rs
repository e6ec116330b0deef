//! The state of a server, or of an index, at one moment.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::figures::Figures;

/// Durations, counted up to bounds in seconds, as Prometheus has them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Durations {
    /// Bounds, each with the number of durations up to it. The last bound is infinite.
    pub(super) counts: Vec<(f64, f64)>,
}

/// An index at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct IndexSample {
    pub(crate) documents: f64,
    pub(crate) accepted: f64,
    /// None if nobody counts them.
    pub(crate) queries: Option<f64>,
    pub(crate) segments: f64,
    /// Operations that only the log has.
    pub(crate) lag: f64,
    /// Used and all bytes.
    pub(crate) dram: (f64, f64),
    pub(crate) nvm: (f64, f64),
    /// Bytes by structure.
    pub(crate) parts: BTreeMap<String, f64>,
}

/// What is of no index, of a server.
#[derive(Clone, Debug)]
pub(crate) struct ServerSample {
    pub(crate) uptime: Duration,
    pub(crate) resident: Option<f64>,
    pub(crate) waiting: f64,
    pub(crate) refused: f64,
    /// Indexes that are not served: those that start, and those that failed.
    pub(crate) starting: f64,
    pub(crate) failed: f64,
    pub(crate) searches: Durations,
    pub(crate) writes: Durations,
}

/// A server, or an index in a directory, at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) at: Instant,
    pub(crate) version: String,
    /// None for an index in a directory.
    pub(crate) server: Option<ServerSample>,
    /// Times in which groups of operations became durable on the disk.
    pub(crate) flushes: Durations,
    pub(crate) indexes: BTreeMap<String, IndexSample>,
}

impl Sample {
    /// Reads a server's figures; none if they are of another program.
    pub(crate) fn of(figures: &Figures) -> Option<Sample> {
        let version = figures.all("spirit_build_info").first()?.label("version").to_owned();
        let indexes = figures.all("spirit_documents").iter();
        let indexes = indexes.map(|figure| figure.label("index").to_owned());
        Some(Sample {
            at: Instant::now(),
            version,
            server: Some(ServerSample::of(figures)),
            flushes: Durations::of(figures, "spirit_durability_flush_duration_seconds", None),
            indexes: indexes.map(|name| (name.clone(), IndexSample::of(figures, &name))).collect(),
        })
    }
}

impl ServerSample {
    fn of(figures: &Figures) -> ServerSample {
        let uptime = figures.one("spirit_uptime_seconds").unwrap_or_default();
        let refused = figures.all("spirit_rejected_requests_total").iter();
        ServerSample {
            uptime: Duration::try_from_secs_f64(uptime).unwrap_or_default(),
            resident: figures.one("process_resident_memory_bytes"),
            waiting: figures.one("spirit_waiting_questions").unwrap_or_default(),
            refused: refused.map(|figure| figure.value).sum(),
            starting: figures.sum("spirit_indexes", "state", "starting"),
            failed: figures.sum("spirit_indexes", "state", "failed"),
            searches: Durations::of(figures, "spirit_search_duration_seconds", Some("search")),
            writes: Durations::of(figures, "spirit_ingest_duration_seconds", None),
        }
    }
}

impl IndexSample {
    fn of(figures: &Figures, index: &str) -> IndexSample {
        let sum = |name: &str| figures.sum(name, "index", index);
        let labelled = |name: &str, label: &'static str| {
            let own = figures.with(name, "index", index);
            own.map(move |figure| (figure.label(label).to_owned(), figure)).collect::<Vec<_>>()
        };
        let accepted = labelled("spirit_documents_total", "op").into_iter();
        let accepted = accepted.filter(|(op, _)| op == "accept").map(|(_, figure)| figure.value);
        let heap = |heap: &str| {
            let own = labelled("spirit_heap_bytes", "heap").into_iter();
            own.filter(|(name, _)| name == heap).fold((0.0, 0.0), |(used, all), (_, figure)| {
                let own = if figure.label("state") == "used" { figure.value } else { 0.0 };
                (used + own, all + figure.value)
            })
        };
        let parts = labelled("spirit_index_bytes", "part").into_iter();
        IndexSample {
            documents: sum("spirit_documents"),
            accepted: accepted.sum(),
            queries: Some(sum("spirit_queries_total")),
            segments: sum("spirit_segments"),
            lag: sum("spirit_durable_lag_documents"),
            dram: heap("dram"),
            nvm: heap("nvm"),
            parts: parts.map(|(part, figure)| (part, figure.value)).collect(),
        }
    }
}

impl Durations {
    fn of(figures: &Figures, name: &str, kind: Option<&str>) -> Durations {
        let name = format!("{name}_bucket");
        let own = figures.all(&name).iter();
        let own = own.filter(|figure| kind.is_none_or(|kind| figure.label("kind") == kind));
        let count = |figure: &super::figures::Figure| {
            let bound = figure.label("le").parse().unwrap_or(f64::INFINITY);
            (bound, figure.value)
        };
        let mut counts: Vec<(f64, f64)> = own.map(count).collect();
        counts.sort_by(|one, other| one.0.total_cmp(&other.0));
        // Of several indexes, those with one bound belong together.
        counts.dedup_by(|one, kept| {
            let is_same = one.0 == kept.0;
            kept.1 += if is_same { one.1 } else { 0.0 };
            is_same
        });
        Durations { counts }
    }

    /// Returns the durations since an earlier moment.
    pub(crate) fn since(&self, before: &Durations) -> Durations {
        let is_same = self.counts.len() == before.counts.len();
        // A server that was started meanwhile counts from 0 again.
        if !is_same || self.count() < before.count() {
            return self.clone();
        }
        let pairs = self.counts.iter().zip(&before.counts);
        let counts = pairs.map(|((bound, now), (_, then))| (*bound, (now - then).max(0.0)));
        Durations { counts: counts.collect() }
    }

    /// Returns how many there are.
    pub(crate) fn count(&self) -> f64 {
        self.counts.last().map_or(0.0, |(_, count)| *count)
    }

    /// Returns a quantile in seconds, linear within its bucket; none without durations. What is in
    /// the last bucket counts as the last bound.
    pub(crate) fn quantile(&self, part: f64) -> Option<f64> {
        let rank = part * self.count();
        if rank <= 0.0 {
            return None;
        }
        let place = self.counts.iter().position(|(_, count)| *count >= rank)?;
        let (below, before) = match place.checked_sub(1) {
            Some(place) => self.counts[place],
            None => (0.0, 0.0),
        };
        let (bound, count) = self.counts[place];
        if bound.is_infinite() {
            return Some(below);
        }
        Some(below + (bound - below) * (rank - before) / (count - before).max(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_all_indexes_are_added() {
        let line =
            |index, bound, count| format!("d_bucket{{index=\"{index}\",le=\"{bound}\"}} {count}\n");
        let text = [line("a", "0.1", 1), line("a", "+Inf", 3), line("b", "0.1", 4)].concat();
        let figures = Figures::read(&(text + &line("b", "+Inf", 8))).unwrap();
        let durations = Durations::of(&figures, "d", None);
        assert_eq!(durations.counts, [(0.1, 5.0), (f64::INFINITY, 11.0)]);
    }

    #[test]
    fn quantiles_are_those_since_the_last_moment() {
        let of = |counts: &[(f64, f64)]| Durations { counts: counts.to_vec() };
        let then = of(&[(0.001, 100.0), (0.01, 100.0), (f64::INFINITY, 100.0)]);
        let now = of(&[(0.001, 110.0), (0.01, 199.0), (f64::INFINITY, 200.0)]);
        let since = now.since(&then);
        assert_eq!(since.count(), 100.0);
        let near = |quantile: Option<f64>, expected: f64| {
            assert!((quantile.unwrap() - expected).abs() < 1e-9, "{quantile:?} {expected}");
        };
        near(since.quantile(0.1), 0.001);
        near(since.quantile(0.5), 0.001 + 0.009 * 40.0 / 89.0);
        near(since.quantile(1.0), 0.01);
        assert_eq!(then.since(&then).quantile(0.5), None);
        // It was started again.
        assert_eq!(then.since(&now).count(), 100.0);
    }
}
