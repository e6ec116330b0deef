//! An index in a directory, whose figures are read in the memory of the process that writes it, or in a
//! copy of its file.

use std::path::Path;
use std::time::Instant;

use spirit::Index;
use spirit::stats::Stats;
use spirit_forms::figures;

use super::sample::{Durations, IndexSample, Sample};
use crate::args::IndexArgs;
use crate::directory;
use crate::failure::Failure;

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
    let heap = |is_second| {
        let (used, all) = figures::heap(stats, is_second);
        (used as f64, all as f64)
    };
    IndexSample {
        documents: stats.documents as f64,
        accepted: stats.accepted as f64,
        queries: None,
        segments: stats.segments.len() as f64,
        lag: figures::only_logged(stats) as f64,
        dram: heap(false),
        nvm: heap(true),
        parts: figures::parts(stats).map(|(part, bytes)| (part.to_owned(), bytes as f64)).into(),
    }
}
