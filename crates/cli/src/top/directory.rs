//! An index in a directory, whose figures are read in the memory of the process that writes it, or in a
//! copy of its file.

use std::path::Path;
use std::time::Instant;

use spirit::Index;
use spirit::stats::{SegmentStats, Stats};

use super::sample::{Durations, IndexSample, Sample};
use crate::args::IndexArgs;
use crate::directory;
use crate::failure::Failure;

/// The states of segments that are not in the second tier.
const FRESH: [&str; 2] = ["ingested", "flushed"];
/// The engine's names of partitions of the second tier begin so.
const SECOND: &str = "nvm ";

/// The index.
pub(crate) struct Directory {
    /// The path, as it was given.
    name: String,
    /// The name in tables.
    short: String,
    index: Index,
}

impl Directory {
    /// Opens the index for reading.
    pub(crate) fn open(path: &Path) -> Result<Directory, Failure> {
        let index = directory::open_to_ask(path, &IndexArgs::default())?;
        let name = path.display().to_string();
        let short = path.file_name().map(|last| last.to_string_lossy().into_owned());
        Ok(Directory { short: short.unwrap_or_else(|| name.clone()), name, index })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Reads the figures.
    pub(crate) fn sample(&self) -> Result<Sample, String> {
        let stats = self.index.stats().map_err(|error| format!("{}: {error}", self.name))?;
        let flushes = Durations { counts: counts(&stats) };
        let indexes = [(self.short.clone(), index(&stats))].into();
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Ok(Sample { at: Instant::now(), version, server: None, flushes, indexes })
    }

    pub(crate) fn close(self, shown: Result<(), Failure>) -> Result<(), Failure> {
        directory::close(self.index, shown)
    }
}

fn counts(stats: &Stats) -> Vec<(f64, f64)> {
    stats.log_syncs.iter().map(|(bound, count)| (*bound, *count as f64)).collect()
}

fn index(stats: &Stats) -> IndexSample {
    let only_logged = |one: &&SegmentStats| FRESH.contains(&&*one.state);
    let lag: u64 = stats.segments.iter().filter(only_logged).map(|one| one.rows).sum();
    let heap = |is_second: bool| {
        let own = stats.partitions.iter();
        let own = own.filter(|one| one.name.starts_with(SECOND) == is_second);
        own.fold((0.0, 0.0), |(used, all), one| (used + one.used as f64, all + one.bytes as f64))
    };
    let bytes = &stats.bytes;
    let parts = [
        ("postings", bytes.postings),
        ("fresh", bytes.fresh),
        ("vectors", bytes.vectors),
        ("rows", bytes.rows),
        ("term_maps", bytes.term_maps),
        ("columns", bytes.columns),
        ("keys", bytes.keys),
        ("dictionary", bytes.dictionary),
        ("texts", bytes.texts),
    ];
    IndexSample {
        documents: stats.documents as f64,
        accepted: stats.accepted as f64,
        queries: None,
        segments: stats.segments.len() as f64,
        lag: lag as f64,
        dram: heap(false),
        nvm: heap(true),
        parts: parts.map(|(part, bytes)| (part.to_owned(), bytes as f64)).into(),
    }
}
