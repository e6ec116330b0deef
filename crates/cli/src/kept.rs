//! How an index is kept: what it survives, and the file that it is in.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use spirit::Index;
use spirit::settings::StartReport;
use spirit_forms::values::rounded;

use crate::directory;
use crate::failure::Failure;
use crate::output::fill;

#[derive(Serialize)]
pub(crate) struct Kept {
    durability: String,
    /// What the file lies on.
    medium: Option<String>,
    file: PathBuf,
    /// Bytes of the file that are taken on the medium so far.
    reserved: u64,
    cap: u64,
    start: Start,
}

/// What opening it found and did.
#[derive(Serialize)]
struct Start {
    segments: u64,
    /// Operations of the log that no segment had.
    replayed: u64,
    log_bytes: u64,
    seconds: f64,
}

impl Start {
    fn of(index: &Index) -> Start {
        let StartReport { segments, replayed, log_bytes, time, .. } = index.start_report();
        Start { segments, replayed, log_bytes, seconds: rounded(time.as_secs_f64(), 6) }
    }
}

impl Kept {
    /// Of the index in `directory`.
    pub(crate) fn of(index: &Index, directory: &Path) -> Result<Kept, Failure> {
        /// What `blocks` counts, whatever the file system's blocks are.
        const BLOCK_BYTES: u64 = 512;
        let file = directory::file(directory);
        let metadata = file.metadata().map_err(|error| Failure::file(&file, &error))?;
        Ok(Kept {
            durability: index.settings().durability.to_string(),
            medium: index.medium().map(|medium| medium.to_string()),
            file,
            reserved: metadata.blocks() * BLOCK_BYTES,
            cap: metadata.len(),
            start: Start::of(index),
        })
    }

    /// For people: a name and a value a line.
    pub(crate) fn lines(&self) -> [(String, String); 5] {
        let medium = self.medium.clone().unwrap_or_default();
        [
            ("durability".into(), self.durability.clone()),
            ("file".into(), self.file.display().to_string()),
            ("  medium".into(), medium),
            ("  reserved".into(), fill(self.reserved, self.cap)),
            (
                "  opened in".into(),
                format!("{} s, {} operations replayed", self.start.seconds, self.start.replayed),
            ),
        ]
    }
}
