//! What an index says of itself: the one place that knows which figures there are.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use spirit::Index;

use crate::directory;
use crate::failure::Failure;
use crate::output::grouped;
use crate::size::Size;

#[derive(Serialize)]
pub(crate) struct Stats {
    pub(crate) documents: Documents,
    pub(crate) tokens: u64,
    pub(crate) postings: u64,
    /// Tokens that were too long to keep.
    pub(crate) skipped_tokens: u64,
    pub(crate) segments: Vec<Segments>,
    /// Segments that retention dropped.
    pub(crate) dropped_segments: u64,
    pub(crate) dictionary: Dictionary,
    pub(crate) bytes: Bytes,
    pub(crate) heap: Heap,
    /// Of an index that is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<File>,
}

/// The file that holds the second tier.
#[derive(Serialize)]
struct File {
    path: PathBuf,
    /// On the disk, so far.
    reserved: u64,
    cap: u64,
}

#[derive(Serialize)]
pub(crate) struct Documents {
    /// Those that queries find.
    pub(crate) live: u64,
    /// Accepted, over the index's life.
    pub(crate) accepted: u64,
    /// Replaced or deleted, over the index's life.
    pub(crate) deleted: u64,
}

/// The segments in one state.
#[derive(Serialize)]
pub(crate) struct Segments {
    state: String,
    count: u64,
    rows: u64,
    dead: u64,
    postings: u64,
}

#[derive(Serialize)]
pub(crate) struct Dictionary {
    terms: u64,
}

/// Bytes by structure.
#[derive(Serialize)]
pub(crate) struct Bytes {
    postings: u64,
    fresh: u64,
    vectors: u64,
    rows: u64,
    term_maps: u64,
    keys: u64,
    dictionary: u64,
}

/// The heap by tier.
#[derive(Serialize)]
pub(crate) struct Heap {
    pub(crate) dram: Tier,
    /// The second tier, of which the engine says nothing yet.
    pub(crate) persistent: Option<Tier>,
}

#[derive(Serialize)]
pub(crate) struct Tier {
    pub(crate) used: u64,
    pub(crate) cap: u64,
    partitions: Vec<Partition>,
}

#[derive(Serialize)]
pub(crate) struct Partition {
    executor: usize,
    name: &'static str,
    used: u64,
    /// All of a partition is reserved at start.
    reserved: u64,
    cap: u64,
}

impl Stats {
    pub(crate) fn of(index: &Index) -> Result<Stats, Failure> {
        let stats = index.stats().map_err(Failure::work)?;
        let documents =
            Documents { live: stats.documents, accepted: stats.accepted, deleted: stats.deleted };
        Ok(Stats {
            documents,
            tokens: stats.tokens,
            postings: stats.postings,
            skipped_tokens: stats.skipped_tokens,
            segments: by_state(&stats.segments),
            dropped_segments: stats.dropped_segments,
            dictionary: Dictionary { terms: stats.dictionary_terms },
            bytes: bytes(&stats.bytes),
            heap: Heap { dram: dram(&stats), persistent: None },
            file: None,
        })
    }

    /// With the file, if the index is in a directory.
    pub(crate) fn kept_in(mut self, directory: Option<&Path>) -> Result<Stats, Failure> {
        self.file = directory.map(File::of).transpose()?;
        Ok(self)
    }

    /// For people: a name and a value a line.
    pub(crate) fn lines(&self) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        let mut line = |name: &str, value: String| lines.push((name.to_owned(), value));
        line("documents", grouped(self.documents.live));
        line("documents ever accepted", grouped(self.documents.accepted));
        line("documents replaced or deleted", grouped(self.documents.deleted));
        line("tokens", grouped(self.tokens));
        line("postings", grouped(self.postings));
        line("terms in the dictionary", grouped(self.dictionary.terms));
        for segments in &self.segments {
            let (count, rows) = (grouped(segments.count), grouped(segments.rows));
            line(&format!("segments, {}", segments.state), format!("{count} of {rows} rows"));
        }
        line("segments dropped to make room", grouped(self.dropped_segments));
        line("heap, DRAM", self.heap.dram.fill());
        for partition in &self.heap.dram.partitions {
            let name = format!("  executor {}, {}", partition.executor, partition.name);
            line(&name, fill(partition.used, partition.cap));
        }
        match &self.file {
            None => line("heap, file", "none: the index is in memory".into()),
            Some(file) => {
                line("heap, file", file.path.display().to_string());
                line("  on the disk", fill(file.reserved, file.cap));
            }
        }
        lines
    }
}

impl File {
    fn of(directory: &Path) -> Result<File, Failure> {
        /// What `blocks` counts, whatever the file system's blocks are.
        const BLOCK_BYTES: u64 = 512;
        let path = directory::file(directory);
        let metadata = path.metadata().map_err(|error| Failure::file(&path, &error))?;
        Ok(File { path, reserved: metadata.blocks() * BLOCK_BYTES, cap: metadata.len() })
    }
}

impl Tier {
    pub(crate) fn fill(&self) -> String {
        fill(self.used, self.cap)
    }
}

fn fill(used: u64, cap: u64) -> String {
    let percent = used as f64 / cap.max(1) as f64 * 100.0;
    format!("{} of {} ({percent:.0} %)", Size(used), Size(cap))
}

/// Newest state first, as the segments are.
fn by_state(segments: &[spirit::SegmentStats]) -> Vec<Segments> {
    let mut states: Vec<Segments> = Vec::new();
    for segment in segments {
        let known = states.iter().position(|known| known.state == segment.state);
        let place = known.unwrap_or_else(|| {
            let state = segment.state.clone();
            states.push(Segments { state, count: 0, rows: 0, dead: 0, postings: 0 });
            states.len() - 1
        });
        let sum = &mut states[place];
        sum.count += 1;
        sum.rows += segment.rows;
        sum.dead += segment.dead;
        sum.postings += segment.postings;
    }
    states
}

fn bytes(bytes: &spirit::Bytes) -> Bytes {
    Bytes {
        postings: bytes.postings,
        fresh: bytes.fresh,
        vectors: bytes.vectors,
        rows: bytes.rows,
        term_maps: bytes.term_maps,
        keys: bytes.keys,
        dictionary: bytes.dictionary,
    }
}

fn dram(stats: &spirit::Stats) -> Tier {
    let partition = |of: &spirit::PartitionStats| Partition {
        executor: of.executor,
        name: of.name,
        used: of.used,
        reserved: of.bytes,
        cap: of.bytes,
    };
    let partitions: Vec<_> = stats.partitions.iter().map(partition).collect();
    let used = partitions.iter().map(|partition| partition.used).sum();
    Tier { used, cap: stats.dram_bytes, partitions }
}
