//! Sizes and policies of an index, with their defaults. Those of the [second tier](second_tier) are
//! in a module of their own.

mod second_tier;

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use spirit_door::sim::SlowMedium;
use spirit_door::trace::Trace;
use spirit_index::ground::Blocks;
use spirit_index::ground::{
    EXECUTOR_BYTES_MAX, GeometryError, NVM_BYTES_MAX, Parts, Postings, SEGMENT_BYTES_MAX,
    SEGMENT_BYTES_MIN,
};
use spirit_index::merge::RUN_MAX;
use spirit_mem::Residency;
use spirit_query::Level;
use spirit_schema::{FieldKind, Schema};
use spirit_text::Analyzer;

use crate::config::cache::Cache;
use crate::config::clock::ManualClock;
use crate::config::durability::{Durability, Mode};
use crate::config::error::OpenError;
use crate::config::late_reader::LateWatcher;
use crate::config::log_limits;
use crate::config::media::Media;
use crate::config::on_full::OnFull;
use crate::config::policies::{DictionaryTier, EngravePolicy, PointerUpdate};
use crate::config::recovering::Watcher;
use crate::config::source::Source;

pub(crate) use second_tier::name_word;

/// See [`Document::BYTES_MAX`](crate::Document::BYTES_MAX).
pub(crate) const DOCUMENT_BYTES_MAX: usize = 1 << 20;
/// See [`Searcher::QUERY_BYTES_MAX`](crate::Searcher::QUERY_BYTES_MAX).
pub(crate) const QUERY_BYTES_MAX: usize = 1 << 20;
/// The most executors in one index.
pub(crate) const EXECUTORS_MAX: usize = 64;
/// The most result caches of one index.
const CACHES_MAX: u64 = 64;
/// The default of the most bytes of text in a group.
pub(crate) const GROUP_BYTES: u64 = 256 << 10;

/// The settings of a [builder](crate::Builder); the defaults for those that were not set.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) dram_bytes: u64,
    /// True if the caller set `dram_bytes`.
    pub(crate) is_dram_given: bool,
    /// True once these are the settings of an existing index.
    pub(crate) is_there: bool,
    pub(crate) segment_bytes: Option<u64>,
    pub(crate) executors: usize,
    pub(crate) readers_max: usize,
    pub(crate) reader_lease: Duration,
    pub(crate) analyzer: Analyzer,
    pub(crate) positions: bool,
    pub(crate) store: bool,
    /// True if texts are stored and not searched.
    pub(crate) opaque_text: bool,
    /// The names and kinds of fields. No kind means text, with the index's analyzer.
    pub(crate) fields: Vec<(String, Option<FieldKind>)>,
    /// The schema of an index in memory, if it begins with one.
    pub(crate) schema: Option<Arc<Schema>>,
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
    /// True if stores to the file stay in this process.
    pub(crate) private: bool,
    pub(crate) mode: Mode,
    pub(crate) durability: Durability,
    pub(crate) nvm_bytes: Option<u64>,
    /// The sizes of partitions, for all executors together: those of DRAM, and of the second tier.
    pub(crate) dram_parts: Parts,
    pub(crate) nvm_parts: Parts,
    pub(crate) log_bytes: Option<u64>,
    pub(crate) reserve_full: bool,
    pub(crate) engrave: EngravePolicy,
    pub(crate) pointer_update: PointerUpdate,
    pub(crate) merge_after: Option<usize>,
    /// Threads of each executor behind the ingest role.
    pub(crate) stage_threads: usize,
    pub(crate) keeps_raw: bool,
    pub(crate) dictionary: DictionaryTier,
    pub(crate) media: Media,
    pub(crate) verify: Option<bool>,
    pub(crate) force_barriers: bool,
    /// What the second tier is slowed to.
    pub(crate) slow_medium: Option<SlowMedium>,
    pub(crate) group_wait: Duration,
    pub(crate) group_bytes: u64,
    pub(crate) watcher: Option<Watcher>,
    pub(crate) late_watcher: Option<LateWatcher>,
    pub(crate) source: Option<Source>,
    pub(crate) clock: Option<ManualClock>,
    /// The result cache, if any.
    pub(crate) cache: Option<Cache>,
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
            opaque_text: false,
            fields: Vec::new(),
            schema: None,
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
            dram_parts: Parts::default(),
            nvm_parts: Parts::default(),
            log_bytes: None,
            reserve_full: false,
            engrave: EngravePolicy::default(),
            pointer_update: PointerUpdate::default(),
            merge_after: None,
            stage_threads: 1,
            keeps_raw: false,
            dictionary: DictionaryTier::default(),
            media: Media::default(),
            verify: None,
            force_barriers: false,
            slow_medium: None,
            group_wait: Duration::ZERO,
            group_bytes: GROUP_BYTES,
            watcher: None,
            late_watcher: None,
            source: None,
            clock: None,
            cache: None,
            trace: None,
        }
    }
}

/// Divisors of an executor's DRAM that give the default segment size. The first size that fits the
/// heap is taken.
const SEGMENT_SHARES: RangeInclusive<u64> = 16..=32;
const SEGMENT_BYTES_DEFAULT_MAX: u64 = 128 << 20;
/// Flushing, and the rest.
const STAGE_THREADS_MAX: u64 = 2;
/// The bounds of `retain`, in milliseconds: a tenth of a second, and a hundred years.
const RETAIN_MS: [u64; 2] = [100, 100 * 366 * 86_400_000];

impl Options {
    /// Iterates over the names and kinds of the fields, as set.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, FieldKind)> {
        let text = FieldKind::Text(self.analyzer);
        self.fields.iter().map(move |(name, kind)| (&**name, kind.unwrap_or(text)))
    }

    /// Returns how posting lists are stored, as set or by default.
    pub(crate) fn postings(&self) -> Postings {
        self.postings.unwrap_or_default()
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
        self.check_parts()?;
        within("readers_max", self.readers_max, 1, 4096)?;
        if let Some(cache) = &self.cache {
            within("the number of caches", cache.caches, 1, CACHES_MAX)?;
            cache.each(self.residency).check()?;
        }
        self.check_segment()?;
        within("merge_after", self.merge_after.unwrap_or(1), 1, RUN_MAX as u64)?;
        within("stage_threads", self.stage_threads, 1, STAGE_THREADS_MAX)?;
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

    /// Checks the sizes of partitions before any use of them: sums of larger sizes overflow.
    fn check_parts(&self) -> Result<(), OpenError> {
        let executors = self.executors as u64;
        let [dram, nvm] = [EXECUTOR_BYTES_MAX, NVM_BYTES_MAX].map(|bytes| bytes * executors);
        let all = [
            ("dram_short", self.dram_parts.short, dram),
            ("dram_long", self.dram_parts.long, dram),
            ("dram_dictionary", self.dram_parts.dictionary, dram),
            ("nvm_short", self.nvm_parts.short, nvm),
            ("nvm_long", self.nvm_parts.long, nvm),
            ("nvm_dictionary", self.nvm_parts.dictionary, nvm),
        ];
        match all.into_iter().find(|(_, asked, max)| asked > max) {
            Some((name, asked, max)) => Err(OpenError::Setting { name, asked, min: 0, max }),
            None => Ok(()),
        }
    }

    /// Checks the segment size before any use of it: sums of larger sizes overflow.
    fn check_segment(&self) -> Result<(), OpenError> {
        match self.segment_bytes {
            Some(asked) if !(SEGMENT_BYTES_MIN..=SEGMENT_BYTES_MAX).contains(&asked) => {
                Err(GeometryError::SegmentBytes { asked }.into())
            }
            _ => Ok(()),
        }
    }

    /// Returns the size of a segment in bytes, as set or by default.
    pub(crate) fn segment(&self) -> u64 {
        let asked = self.segment_bytes.unwrap_or_else(|| self.default_segment());
        asked.min(SEGMENT_BYTES_MAX + 1)
    }

    fn default_segment(&self) -> u64 {
        let dram_bytes = self.dram_bytes / self.executors as u64;
        let of =
            |share: u64| (dram_bytes / share).clamp(SEGMENT_BYTES_MIN, SEGMENT_BYTES_DEFAULT_MAX);
        let fits = |share: &u64| {
            let options = Options { segment_bytes: Some(of(*share)), ..self.clone() };
            let geometry = options.geometry();
            !matches!(
                geometry,
                Err(GeometryError::HeapTooSmall { .. } | GeometryError::PartTooSmall { .. })
            )
        };
        // If no size fits, `check` names the least DRAM for the smallest segment.
        of(SEGMENT_SHARES.clone().find(fits).unwrap_or(*SEGMENT_SHARES.end()))
    }

    /// Returns the schema of an index without fields.
    pub(crate) fn empty_schema(&self) -> Schema {
        match self.opaque_text {
            true => Schema::of_sources(self.analyzer, !self.strict),
            false => Schema::new(self.analyzer, !self.strict),
        }
    }

    /// Returns the settings of each executor's memory.
    pub(crate) fn memory(&self) -> spirit_index::ground::Settings {
        let dram_bytes = self.dram_bytes / self.executors as u64;
        let segment_bytes = self.segment();
        // A tail block takes at most a thousandth of a small segment, so that few terms do not fill
        // it.
        let doublings = (segment_bytes >> 15).clamp(1, 128).ilog2();
        let blocks = if self.fixed_blocks {
            Blocks::Fixed { units: 4 }
        } else {
            Blocks::Variable { doublings }
        };
        spirit_index::ground::Settings {
            dram_bytes,
            segment_bytes,
            blocks,
            positions: self.positions,
            store: self.store,
            postings: self.postings(),
            residency: self.residency,
            parts: self.dram_parts.each(self.executors as u64),
            nvm: self.directory.as_ref().map(|_| self.nvm()),
        }
    }
}
