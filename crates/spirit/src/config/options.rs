//! How an index is made: every size and policy, with its default. Those of its [second tier](second_tier) are apart.

mod second_tier;

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use spirit_door::trace::Trace;
use spirit_index::ground::blocks::Blocks;
use spirit_index::ground::geometry::{
    GeometryError, Postings, SEGMENT_BYTES_MAX, SEGMENT_BYTES_MIN,
};
use spirit_index::merge::gather::RUN_MAX;
use spirit_mem::Residency;
use spirit_query::Level;
use spirit_schema::FieldKind;
use spirit_text::Analyzer;

use crate::config::clock::ManualClock;
use crate::config::durability::{DictionaryTier, Durability, EngravePolicy, Mode, PointerUpdate};
use crate::config::error::OpenError;
use crate::config::late_reader::{LateReader, LateWatcher};
use crate::config::log_limits;
use crate::config::on_full::OnFull;
use crate::config::recovering::Watcher;
use crate::config::source::Source;

pub(crate) use second_tier::name_word;

/// Longest document, in bytes, unless set otherwise.
pub const DOCUMENT_BYTES_MAX: usize = 1 << 20;
/// Executors in one index.
pub(crate) const EXECUTORS_MAX: usize = 64;
/// Texts of a group, in bytes, at most.
pub(crate) const GROUP_BYTES: u64 = 256 << 10;

/// Settings of an index. Start from [`Options::default`].
///
/// An index in a [directory](Options::directory) keeps the options that it was made with: executors, sizes of the second tier and of
/// segments, mode, durability, analyzer, positions, stored texts, fields, strictness, longest document, and what happens when it is
/// full. Opening it again uses those, whatever is set here. DRAM, readers and policies may differ each time.
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) dram_bytes: u64,
    /// Whether somebody said how much.
    pub(crate) is_dram_given: bool,
    /// True once they are those of an index that is there.
    pub(crate) is_there: bool,
    pub(crate) segment_bytes: Option<u64>,
    pub(crate) executors: usize,
    pub(crate) readers_max: usize,
    pub(crate) reader_lease: Duration,
    pub(crate) analyzer: Analyzer,
    pub(crate) positions: bool,
    pub(crate) store: bool,
    /// Without a kind: text, as the index's analyzer cuts it.
    pub(crate) fields: Vec<(String, Option<FieldKind>)>,
    pub(crate) strict: bool,
    pub(crate) postings: Option<Postings>,
    pub(crate) on_full: OnFull,
    pub(crate) retain: Option<Duration>,
    pub(crate) fixed_blocks: bool,
    pub(crate) residency: Residency,
    pub(crate) document_bytes_max: usize,
    pub(crate) vectors: Level,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) read_only: bool,
    /// Nothing is ever stored in the file: what is, stays in this process.
    pub(crate) private: bool,
    pub(crate) mode: Mode,
    pub(crate) durability: Durability,
    pub(crate) nvm_bytes: Option<u64>,
    pub(crate) log_bytes: Option<u64>,
    pub(crate) reserve_full: bool,
    pub(crate) engrave: EngravePolicy,
    pub(crate) pointer_update: PointerUpdate,
    pub(crate) merge_after: Option<usize>,
    pub(crate) dictionary: DictionaryTier,
    pub(crate) verify: Option<bool>,
    pub(crate) force_barriers: bool,
    pub(crate) group_wait: Duration,
    pub(crate) group_bytes: u64,
    pub(crate) watcher: Option<Watcher>,
    pub(crate) late_watcher: Option<LateWatcher>,
    pub(crate) source: Option<Source>,
    pub(crate) clock: Option<ManualClock>,
    pub(crate) trace: Option<Arc<Trace>>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            dram_bytes: 1 << 30,
            is_dram_given: false,
            is_there: false,
            segment_bytes: None,
            executors: 1,
            readers_max: 64,
            reader_lease: Duration::from_secs(10),
            analyzer: Analyzer::default(),
            positions: true,
            store: false,
            fields: Vec::new(),
            strict: false,
            postings: None,
            on_full: OnFull::default(),
            retain: None,
            fixed_blocks: false,
            residency: Residency::OnTouch,
            document_bytes_max: DOCUMENT_BYTES_MAX,
            vectors: Level::default(),
            directory: None,
            read_only: false,
            private: false,
            mode: Mode::default(),
            durability: Durability::default(),
            nvm_bytes: None,
            log_bytes: None,
            reserve_full: false,
            engrave: EngravePolicy::default(),
            pointer_update: PointerUpdate::default(),
            merge_after: None,
            dictionary: DictionaryTier::default(),
            verify: None,
            force_barriers: false,
            group_wait: Duration::ZERO,
            group_bytes: GROUP_BYTES,
            watcher: None,
            late_watcher: None,
            source: None,
            clock: None,
            trace: None,
        }
    }
}

/// Divisors of an executor's DRAM that give the default segment size. The first size that fits the heap is taken.
const SEGMENT_SHARES: RangeInclusive<u64> = 16..=32;
const SEGMENT_BYTES_DEFAULT_MAX: u64 = 128 << 20;
/// Between a tenth of a second and a hundred years.
const RETAIN_MS: [u64; 2] = [100, 100 * 366 * 86_400_000];

impl Options {
    /// DRAM for the whole index, in bytes: a hard cap, reserved at start. Default 1 GiB, or what the segments of an existing index need
    /// if that is more. With less, fresh segments are smaller, down to an eighth, and the file has slots for fewer documents. One
    /// exception: a start takes up to eight times as much if the log needs it, on a full disk or for a document that is too large for a
    /// smaller segment.
    pub fn dram_bytes(mut self, bytes: u64) -> Self {
        self.dram_bytes = bytes;
        self.is_dram_given = true;
        self
    }

    /// Size of a fresh segment's table, records and blocks, in bytes. Default: a 16th of an executor's DRAM, down to a
    /// 32nd if the heap has no room for larger segments; at most 128 MiB.
    pub fn segment_bytes(mut self, bytes: u64) -> Self {
        self.segment_bytes = Some(bytes);
        self
    }

    /// Pipelines that run in parallel. Documents are routed by key. Default 1.
    pub fn executors(mut self, executors: usize) -> Self {
        self.executors = executors;
        self
    }

    /// Readers at once. Default 64.
    pub fn readers_max(mut self, readers: usize) -> Self {
        self.readers_max = readers;
        self
    }

    /// How long [`Hits`](crate::Hits) may be kept while the index waits for their memory; after that they are invalidated,
    /// and later calls return [`LeaseExpired`](crate::LeaseExpired). Millisecond precision. Default 10 s.
    pub fn reader_lease(mut self, lease: Duration) -> Self {
        self.reader_lease = lease;
        self
    }

    /// Calls `watch` once a second while memory waits for a reader, of this process or of another one that may have been stopped.
    pub fn while_waiting(mut self, watch: impl Fn(LateReader) + Send + Sync + 'static) -> Self {
        self.late_watcher = Some(LateWatcher::new(watch));
        self
    }

    /// How text becomes terms. Default [`Analyzer::Standard`].
    pub fn analyzer(mut self, analyzer: Analyzer) -> Self {
        self.analyzer = analyzer;
        self
    }

    /// Keeps the positions of tokens, which phrases need. Default yes.
    pub fn positions(mut self, keep: bool) -> Self {
        self.positions = keep;
        self
    }

    /// Stores the documents' texts, which [`Hits::texts`](crate::Hits::texts) returns. Default no. A segment is full when its texts reach
    /// the segment size; a document with a longer text is refused.
    pub fn store(mut self, keep: bool) -> Self {
        self.store = keep;
        self
    }

    /// How posting lists are stored in the second tier: [raw](Postings::Raw) as in DRAM, the default, or
    /// [packed](Postings::Packed), which takes less than half the room and makes queries of old documents slower. An index that
    /// exists keeps its choice unless another is given, which counts for what is engraved from then on.
    pub fn postings(mut self, postings: Postings) -> Self {
        self.postings = Some(postings);
        self
    }

    /// A field of the documents, and its kind. A document may bring others along, unless the index is [strict](Self::strict). An
    /// index that is opened again gets those that it has not; one that it has keeps its kind. See [`Schema`](crate::Schema) for what
    /// is a name.
    pub fn field(mut self, name: impl Into<String>, kind: FieldKind) -> Self {
        self.fields.push((name.into(), Some(kind)));
        self
    }

    /// A field of text that the index's [analyzer](Self::analyzer) cuts, as it does with texts in fields that documents bring along.
    pub fn text_field(mut self, name: impl Into<String>) -> Self {
        self.fields.push((name.into(), None));
        self
    }

    /// Refuses documents with fields that are not in the schema. Default no: such fields are added.
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// What happens when the heap is full. Default: [`OnFull::Refuse`].
    pub fn on_full(mut self, policy: OnFull) -> Self {
        self.on_full = policy;
        self
    }

    /// How long documents are kept after their arrival. At most a sixteenth of that time later, no answer contains them, and their segment is
    /// dropped soon. An index in a directory stores arrivals, so they hold over restarts and in processes that only
    /// read. In an index in memory, documents that were rewritten together go when the newest of them does.
    ///
    /// Time is measured by the monotonic clock while the index is open, and by the wall clock while it is closed. So setting the wall clock
    /// has an effect only while the index is closed. Default: as long as there is room.
    pub fn retain(mut self, age: Duration) -> Self {
        self.retain = Some(age);
        self
    }

    /// Fixed-sized posting blocks (FSB) in fresh segments, for comparison. Default: variable-sized.
    pub fn fixed_blocks(mut self, fixed: bool) -> Self {
        self.fixed_blocks = fixed;
        self
    }

    /// Makes all memory resident at start. Default no: on first touch.
    pub fn prefault(mut self, prefault: bool) -> Self {
        self.residency = if prefault { Residency::Prefault } else { Residency::OnTouch };
        self
    }

    /// Longest document, in bytes. Default 1 MiB.
    pub fn document_bytes_max(mut self, bytes: usize) -> Self {
        self.document_bytes_max = bytes;
        self
    }

    /// The widest vector unit to use, for comparison. Default: the widest that the machine has.
    pub fn vectors(mut self, level: Level) -> Self {
        self.vectors = level;
        self
    }

    /// Executors, as set.
    pub fn get_executors(&self) -> usize {
        self.executors
    }

    /// Bytes of a segment, as set or by default.
    pub fn get_segment_bytes(&self) -> u64 {
        self.segment()
    }

    /// Bytes of the second tier, as set or by default.
    pub fn get_nvm_bytes(&self) -> u64 {
        self.nvm().bytes * self.executors as u64
    }

    /// The analyzer, as set.
    pub fn get_analyzer(&self) -> Analyzer {
        self.analyzer
    }

    /// Whether the order of tokens is kept, as set.
    pub fn get_positions(&self) -> bool {
        self.positions
    }

    /// Whether the documents' texts are kept, as set.
    pub fn get_store(&self) -> bool {
        self.store
    }

    /// The fields, as set.
    pub fn get_fields(&self) -> impl Iterator<Item = (&str, FieldKind)> {
        let text = FieldKind::Text(self.analyzer);
        self.fields.iter().map(move |(name, kind)| (&**name, kind.unwrap_or(text)))
    }

    /// See [`postings`](Self::postings).
    pub fn get_postings(&self) -> Postings {
        self.postings.unwrap_or_default()
    }

    /// Whether documents may bring no fields along, as set.
    pub fn get_strict(&self) -> bool {
        self.strict
    }

    /// What happens when the heap is full, as set.
    pub fn get_on_full(&self) -> OnFull {
        self.on_full
    }

    /// How long documents are kept, if that was set.
    pub fn get_retain(&self) -> Option<Duration> {
        self.retain
    }

    /// Where the index is kept, if it is.
    pub fn get_directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    pub(crate) fn check(&self) -> Result<(), OpenError> {
        let within = |name, asked: usize, min: u64, max: u64| {
            let asked = asked as u64;
            if (min..=max).contains(&asked) {
                Ok(())
            } else {
                Err(OpenError::Setting { name, asked, min, max })
            }
        };
        within("executors", self.executors, 1, EXECUTORS_MAX as u64)?;
        within("readers_max", self.readers_max, 1, 4096)?;
        self.check_segment()?;
        within("merge_after", self.merge_after.unwrap_or(1), 1, RUN_MAX as u64)?;
        let lease_ms = usize::try_from(self.reader_lease.as_millis()).unwrap_or(usize::MAX);
        within("reader_lease in ms", lease_ms, 1, 86_400_000)?;
        within("document_bytes_max", self.document_bytes_max, 1, 64 << 20)?;
        if let Some(age) = self.retain {
            let age_ms = usize::try_from(age.as_millis()).unwrap_or(usize::MAX);
            within("retain in ms", age_ms, RETAIN_MS[0], RETAIN_MS[1])?;
        }
        if self.directory.is_some() && self.is_logged() {
            let log_bytes = self.nvm().log_bytes;
            let max = log_limits::document_bytes_max(log_bytes);
            within("document_bytes_max, for a log of this size,", self.document_bytes_max, 1, max)?;
        }
        Ok(())
    }

    /// Before it is made use of: sums of larger sizes overflow.
    fn check_segment(&self) -> Result<(), OpenError> {
        match self.segment_bytes {
            Some(asked) if !(SEGMENT_BYTES_MIN..=SEGMENT_BYTES_MAX).contains(&asked) => {
                Err(OpenError::Memory(GeometryError::SegmentBytes { asked }))
            }
            _ => Ok(()),
        }
    }

    /// The size of a segment in bytes, as set or by default.
    fn segment(&self) -> u64 {
        let asked = self.segment_bytes.unwrap_or_else(|| self.default_segment());
        asked.min(SEGMENT_BYTES_MAX + 1)
    }

    fn default_segment(&self) -> u64 {
        let dram_bytes = self.dram_bytes / self.executors as u64;
        let of =
            |share: u64| (dram_bytes / share).clamp(SEGMENT_BYTES_MIN, SEGMENT_BYTES_DEFAULT_MAX);
        let fits = |share: &u64| {
            let options = Options { segment_bytes: Some(of(*share)), ..self.clone() };
            !matches!(options.geometry(), Err(GeometryError::HeapTooSmall { .. }))
        };
        // If none fits, `check` names the least DRAM for the smallest segment.
        of(SEGMENT_SHARES.clone().find(fits).unwrap_or(*SEGMENT_SHARES.end()))
    }

    /// Settings of each executor's memory.
    pub(crate) fn memory(&self) -> spirit_index::ground::geometry::Settings {
        let dram_bytes = self.dram_bytes / self.executors as u64;
        let segment_bytes = self.segment();
        // A tail block is at most a thousandth of a small segment, so that few terms do not fill it.
        let doublings = (segment_bytes >> 15).clamp(1, 128).ilog2();
        let blocks = if self.fixed_blocks {
            Blocks::Fixed { units: 4 }
        } else {
            Blocks::Variable { doublings }
        };
        spirit_index::ground::geometry::Settings {
            dram_bytes,
            segment_bytes,
            blocks,
            positions: self.positions,
            store: self.store,
            postings: self.get_postings(),
            residency: self.residency,
            nvm: self.directory.as_ref().map(|_| self.nvm()),
        }
    }
}
