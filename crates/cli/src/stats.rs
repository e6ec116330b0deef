//! What an index says of itself: the one place that knows which figures there are.

use std::path::Path;

use serde::{Serialize, Serializer};
use spirit::Index;
use spirit::cache::CacheStats;
use spirit_forms::size::Size;
use spirit_forms::values::rounded;

use crate::failure::Failure;
use crate::kept::Kept;
use crate::output::{fill, grouped};

#[derive(Serialize)]
pub(crate) struct Stats {
    pub(crate) documents: Documents,
    /// All of this is as of the operations below this number, at least.
    sequence: u64,
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
    /// Seconds for which each stage of the pipeline worked since the start.
    busy_seconds: Busy,
    /// What segments take in the second tier, by section.
    sections: Vec<Section>,
    pub(crate) mode: String,
    /// The fields of the documents, and whether documents may bring others along.
    schema: Vec<Field>,
    strict: bool,
    /// Of this process, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    cache: Option<ResultCache>,
    /// Of an index in a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<Kept>,
}

/// Seconds by stage.
#[derive(Default)]
pub(crate) struct Busy(Vec<(&'static str, f64)>);

impl Busy {
    /// The stages' times as `index` counts them.
    pub(crate) fn of(stats: &spirit::stats::Stats) -> Busy {
        Busy(stats.busy.clone())
    }
}

impl Serialize for Busy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let named = self.0.iter().map(|(stage, time)| (stage.replace(' ', "_"), rounded(*time, 6)));
        serializer.collect_map(named)
    }
}

#[derive(Serialize)]
struct Section {
    name: &'static str,
    bytes: u64,
}

#[derive(Serialize)]
struct Field {
    name: String,
    kind: String,
}

#[derive(Serialize)]
pub(crate) struct Documents {
    /// Those that queries find.
    pub(crate) live: u64,
    /// Accepted, over the index's life.
    pub(crate) accepted: u64,
    /// Replaced or deleted, over the index's life.
    pub(crate) deleted: u64,
    /// Dropped to make room or by age, over the index's life.
    pub(crate) dropped: u64,
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
    /// Distinct terms in DRAM.
    terms: u64,
    /// Segments whose terms they are.
    segments: u64,
}

/// The result cache: its figures, and the answers that were joined.
struct ResultCache {
    stats: CacheStats,
    joined: u64,
    /// Segments from entries, and segments that questions with an entry evaluated.
    segments: [u64; 2],
}

impl Serialize for ResultCache {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let [cached, evaluated] = self.segments;
        let more = [
            ("joined", self.joined),
            ("cached_segments", cached),
            ("evaluated_segments", evaluated),
        ];
        serializer.collect_map(self.stats.figures().chain(more))
    }
}

impl ResultCache {
    fn lines(&self, lines: &mut Vec<(String, String)>) {
        let ResultCache { stats, joined, segments: [cached, evaluated] } = self;
        let mut line = |name: &str, value: String| lines.push((name.to_owned(), value));
        line("result cache", fill(stats.bytes - stats.free_bytes, stats.bytes));
        let (entries, max) = (grouped(stats.entries.into()), grouped(stats.entries_max.into()));
        line("  entries", format!("{entries} of {max}, {} evicted", grouped(stats.evicted)));
        let (found, missed) = (grouped(stats.found), grouped(stats.missed));
        line("  look-ups", format!("{found} found, {missed} missed"));
        line("  answers joined", grouped(*joined));
        let (cached, evaluated) = (grouped(*cached), grouped(*evaluated));
        line("  segments of hits", format!("{cached} from entries, {evaluated} evaluated"));
    }
}

/// Bytes by structure.
#[derive(Serialize)]
pub(crate) struct Bytes {
    postings: u64,
    fresh: u64,
    vectors: u64,
    rows: u64,
    term_maps: u64,
    columns: u64,
    keys: u64,
    dictionary: u64,
    /// Stored texts, where they lie: compressed in the second tier.
    texts: u64,
    /// The same texts as they were given.
    texts_raw: u64,
}

/// The heap by tier.
#[derive(Serialize)]
pub(crate) struct Heap {
    pub(crate) dram: Tier,
    /// The second tier, if there is one.
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
    /// All of a partition is reserved at start, as address space.
    reserved: u64,
    cap: u64,
}

impl Stats {
    pub(crate) fn of(index: &Index) -> Result<Stats, Failure> {
        let stats = index.stats().map_err(Failure::work)?;
        let documents = Documents {
            live: stats.documents,
            accepted: stats.accepted,
            deleted: stats.deleted,
            dropped: stats.expired,
        };
        let schema = index.schema();
        let fields = schema.fields().iter();
        let sections = stats.sections.iter().copied().filter(|(_, bytes)| *bytes > 0);
        Ok(Stats {
            documents,
            sequence: stats.sequence,
            tokens: stats.tokens,
            postings: stats.postings,
            skipped_tokens: stats.skipped_tokens,
            segments: by_state(&stats.segments),
            dropped_segments: stats.dropped_segments,
            dictionary: Dictionary {
                terms: stats.dictionary_terms,
                segments: stats.segments.iter().filter(|s| s.in_dictionary).count() as u64,
            },
            bytes: bytes(&stats.bytes),
            heap: heap(&stats),
            busy_seconds: Busy::of(&stats),
            sections: sections.map(|(name, bytes)| Section { name, bytes }).collect(),
            mode: index.settings().mode.to_string(),
            schema: fields
                .map(|field| Field { name: field.name.clone(), kind: field.kind.to_string() })
                .collect(),
            strict: !schema.is_dynamic(),
            cache: stats.cache.map(|cache| ResultCache {
                stats: cache,
                joined: stats.joined_answers,
                segments: [stats.cached_segments, stats.evaluated_segments],
            }),
            kept: None,
        })
    }

    /// Of an index that is in `directory`, if it is in one.
    pub(crate) fn of_kept(index: &Index, directory: Option<&Path>) -> Result<Stats, Failure> {
        let kept = directory.map(|directory| Kept::of(index, directory)).transpose()?;
        Ok(Stats { kept, ..Stats::of(index)? })
    }

    /// For people: a name and a value a line.
    pub(crate) fn lines(&self) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        let mut line = |name: &str, value: String| lines.push((name.to_owned(), value));
        line("documents", grouped(self.documents.live));
        line("documents ever accepted", grouped(self.documents.accepted));
        line("documents replaced or deleted", grouped(self.documents.deleted));
        line("as of operation", grouped(self.sequence));
        line("documents dropped", grouped(self.documents.dropped));
        line("tokens", grouped(self.tokens));
        line("postings", grouped(self.postings));
        line("terms in the dictionary", grouped(self.dictionary.terms));
        if self.bytes.texts > 0 {
            let (taken, given) = (Size(self.bytes.texts), Size(self.bytes.texts_raw));
            line("stored texts", format!("{taken} for {given}"));
        }
        for segments in &self.segments {
            let (count, rows) = (grouped(segments.count), grouped(segments.rows));
            line(&format!("segments, {}", segments.state), format!("{count} with {rows} rows"));
        }
        line("segments dropped to make room", grouped(self.dropped_segments));
        self.heap.dram.lines("heap, DRAM", &mut lines);
        match &self.heap.persistent {
            Some(tier) => tier.lines("heap, second tier", &mut lines),
            None => lines.push(("heap, second tier".into(), "none: the index is in memory".into())),
        }
        for (stage, time) in self.busy_seconds.0.iter().filter(|(_, time)| *time > 0.0) {
            lines.push((format!("busy, {stage}"), format!("{time:.3} s since the start")));
        }
        for Section { name, bytes } in &self.sections {
            lines.push((format!("  segments' {name}"), Size(*bytes).to_string()));
        }
        self.cache.iter().for_each(|cache| cache.lines(&mut lines));
        lines.push(("mode".into(), self.mode.clone()));
        for field in &self.schema {
            lines.push((format!("field {}", field.name), field.kind.clone()));
        }
        if self.strict {
            lines.push(("other fields".into(), "refused".into()));
        }
        if let Some(kept) = &self.kept {
            lines.extend(kept.lines());
        }
        lines
    }
}

impl Tier {
    fn of(partitions: Vec<Partition>, cap: u64) -> Tier {
        let used = partitions.iter().map(|partition| partition.used).sum();
        Tier { used, cap, partitions }
    }

    pub(crate) fn fill(&self) -> String {
        fill(self.used, self.cap)
    }

    fn lines(&self, name: &str, lines: &mut Vec<(String, String)>) {
        lines.push((name.into(), self.fill()));
        for partition in &self.partitions {
            let name = format!("  executor {}, {}", partition.executor, partition.name);
            lines.push((name, fill(partition.used, partition.cap)));
        }
    }
}

/// Newest state first, as the segments are.
fn by_state(segments: &[spirit::stats::SegmentStats]) -> Vec<Segments> {
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

fn bytes(bytes: &spirit::stats::Bytes) -> Bytes {
    Bytes {
        postings: bytes.postings,
        fresh: bytes.fresh,
        vectors: bytes.vectors,
        rows: bytes.rows,
        term_maps: bytes.term_maps,
        columns: bytes.columns,
        keys: bytes.keys,
        dictionary: bytes.dictionary,
        texts: bytes.texts,
        texts_raw: bytes.texts_raw,
    }
}

/// What the engine calls partitions of the second tier begins so.
const PERSISTENT: &str = "nvm ";

fn heap(stats: &spirit::stats::Stats) -> Heap {
    let (mut dram, mut persistent) = (Vec::new(), Vec::new());
    for of in &stats.partitions {
        let (tier, name) = match of.name.strip_prefix(PERSISTENT) {
            Some(name) => (&mut persistent, name),
            None => (&mut dram, of.name),
        };
        let (executor, used, cap) = (of.executor, of.used, of.bytes);
        tier.push(Partition { executor, name, used, reserved: cap, cap });
    }
    let kept = stats.nvm_bytes > 0;
    Heap {
        dram: Tier::of(dram, stats.dram_bytes),
        persistent: kept.then(|| Tier::of(persistent, stats.nvm_bytes)),
    }
}
