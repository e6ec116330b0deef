//! The builder: sizes and policies for making or opening an index, with their defaults.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use spirit_index::ground::Postings;
use spirit_mem::Residency;
use spirit_schema::FieldKind;
use spirit_text::Analyzer;

use super::Index;
use crate::config::cache::Cache;
use crate::config::durability::{Durability, Mode};
use crate::config::error::OpenError;
use crate::config::late_reader::{LateReader, LateWatcher};
use crate::config::on_full::OnFull;
use crate::config::options::Options;
use crate::config::progress::Progress;
use crate::config::recovering::Watcher;
use crate::config::source::Source;

/// A builder that makes or opens an index. [`Index::builder`] returns one.
///
/// An index in a [directory](Builder::directory) keeps these settings for life, and opening it
/// again ignores other values:
///
/// - executors, and the sizes of segments, second tier and log;
/// - mode, durability, policy for a full heap, and retention;
/// - analyzer, positions, stored documents, fields, strictness, and longest document.
///
/// DRAM, readers and the other policies may differ each time.
///
/// ```
/// use spirit::{Index, OnFull};
///
/// let index = Index::builder().dram_bytes(64 << 20).on_full(OnFull::DropOldest).store(true).open()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Builder {
    pub(crate) options: Options,
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.options.fmt(f)
    }
}

impl Builder {
    /// Returns the size of the second tier in bytes, for all executors together: as set or by
    /// default.
    pub fn nvm_bytes_in_all(&self) -> u64 {
        self.options.nvm_bytes_in_all()
    }

    /// Makes the index, or opens an existing one: reserves its memory, recovers it, and starts its
    /// threads.
    ///
    /// # Errors
    /// If a setting is out of range. If memory, file or threads are not available. If the file is
    /// damaged, in use, or cannot be trusted.
    pub fn open(self) -> Result<Index, OpenError> {
        Index::with(self.options)
    }

    /// Checks the settings of an index that is not there yet, without making it.
    ///
    /// # Errors
    /// If a setting is out of range, or the memory is too small for what it must hold.
    pub fn check(&self) -> Result<(), OpenError> {
        self.options.check()?;
        self.options.check_sizes()
    }

    /// Sets the DRAM for the whole index, in bytes: a hard cap, reserved at start.
    ///
    /// Default 1 GiB, or the need of an existing index's segments if that is more. With less DRAM
    /// than that, fresh segments are smaller, down to an eighth, and the file has slots for fewer
    /// documents.
    ///
    /// A start may take up to eight times as much if the log needs it. This happens on a full disk,
    /// or for a document that is too large for a smaller segment.
    pub fn dram_bytes(mut self, bytes: u64) -> Self {
        self.options.dram_bytes = bytes;
        self.options.is_dram_given = true;
        self
    }

    /// Sets the size of a fresh segment in bytes: its table, records and blocks.
    ///
    /// Default: a 16th of an executor's DRAM, but at most 128 MiB. Down to a 32nd if the heap has
    /// no room for larger segments.
    pub fn segment_bytes(mut self, bytes: u64) -> Self {
        self.options.segment_bytes = Some(bytes);
        self
    }

    /// Sets the number of executors: pipelines that run in parallel, from 1 to 64. Documents are
    /// routed by key. Default 1.
    pub fn executors(mut self, executors: usize) -> Self {
        self.options.executors = executors;
        self
    }

    /// Keeps answers in a [result cache](Cache). Default: no cache.
    pub fn cache(mut self, cache: Cache) -> Self {
        self.options.cache = Some(cache);
        self
    }

    /// Sets the most readers at one time, from 1 to 4,096. Default 64.
    pub fn readers_max(mut self, readers: usize) -> Self {
        self.options.readers_max = readers;
        self
    }

    /// Sets how long [`Hits`](crate::Hits) may be kept while the index waits for their memory.
    ///
    /// After that they are invalidated, and later calls return
    /// [`HitError::Lease`](crate::HitError::Lease). Millisecond precision, at most one day. Default
    /// 10 s.
    pub fn reader_lease(mut self, lease: Duration) -> Self {
        self.options.reader_lease = lease;
        self
    }

    /// Calls `watch` once a second while memory waits for a reader. The reader may be in another
    /// process, which may have been stopped.
    pub fn while_waiting(mut self, watch: impl Fn(LateReader) + Send + Sync + 'static) -> Self {
        self.options.late_watcher = Some(LateWatcher::new(watch));
        self
    }

    /// Sets the analyzer, which turns text into terms. Default [`Analyzer::Standard`].
    pub fn analyzer(mut self, analyzer: Analyzer) -> Self {
        self.options.analyzer = analyzer;
        self
    }

    /// Keeps the positions of tokens, which phrases need. Default yes.
    pub fn positions(mut self, keep: bool) -> Self {
        self.options.positions = keep;
        self
    }

    /// Stores the documents' texts, which [`Hits::texts`](crate::Hits::texts) returns. Default no.
    ///
    /// A segment is full when its texts reach the segment size. A document with a longer text is
    /// refused.
    pub fn store(mut self, keep: bool) -> Self {
        self.options.store = keep || self.options.opaque_text;
        self
    }

    /// Stores the documents' texts without searching them. Only their fields are. Default no.
    ///
    /// For documents whose text is their source, such as JSON. It is given back byte for byte. Yes
    /// stores documents, whatever [`store`](Self::store) says.
    pub fn opaque_text(mut self, opaque: bool) -> Self {
        self.options.opaque_text = opaque;
        self.options.store |= opaque;
        self
    }

    /// Packs posting lists in the second tier. That takes less than half the space and makes queries
    /// of old documents slower. Default: no.
    ///
    /// An existing index keeps its choice unless another is set. The new choice applies to segments
    /// engraved from then on.
    pub fn packed(mut self, packed: bool) -> Self {
        self.options.postings = Some(if packed { Postings::Packed } else { Postings::Raw });
        self
    }

    /// Adds a field of the documents, with its kind.
    ///
    /// Documents may add others, unless the index is [strict](Self::strict). Opening an existing
    /// index adds the fields that it does not have. A field that it has keeps its kind. See
    /// [`Schema`](crate::schema::Schema) for valid names.
    pub fn field(mut self, name: impl Into<String>, kind: FieldKind) -> Self {
        self.options.fields.push((name.into(), Some(kind)));
        self
    }

    /// Adds a field of text with the index's [analyzer](Self::analyzer). Text fields that documents
    /// add use it too.
    pub fn text_field(mut self, name: impl Into<String>) -> Self {
        self.options.fields.push((name.into(), None));
        self
    }

    /// Refuses documents with fields that are not in the schema. Default no: such fields are added.
    pub fn strict(mut self, strict: bool) -> Self {
        self.options.strict = strict;
        self
    }

    /// Sets the policy for a full heap. Default [`OnFull::Refuse`].
    pub fn on_full(mut self, policy: OnFull) -> Self {
        self.options.on_full = policy;
        self
    }

    /// Sets how long documents are kept after their arrival: from 100 ms to 100 years. Default: as
    /// long as there is room.
    ///
    /// At most a sixteenth of that time later, no answer contains them, and their segment is
    /// dropped soon. An index in a directory stores arrivals, so they hold over restarts and in
    /// processes that only read. In an index in memory, documents that were rewritten together go
    /// with the newest of them.
    ///
    /// The monotonic clock measures time while the index is open, and the wall clock while it is
    /// closed. So setting the wall clock has an effect only while the index is closed.
    pub fn retain(mut self, age: Duration) -> Self {
        self.options.retain = Some(age);
        self
    }

    /// Makes all memory resident at start. Default no: on first touch.
    pub fn prefault(mut self, prefault: bool) -> Self {
        self.options.residency = if prefault { Residency::Prefault } else { Residency::OnTouch };
        self
    }

    /// Sets the most bytes of a document, up to 64 MiB. Default 1 MiB. The size of the log limits
    /// it too.
    pub fn document_bytes_max(mut self, bytes: usize) -> Self {
        self.options.document_bytes_max = bytes;
        self
    }

    /// Sets the directory of the index. A missing directory is made; an existing index is opened.
    ///
    /// Without a directory the index is in DRAM, and its mode is [`Mode::Volatile`]. In that mode, a
    /// directory is where the second tier's file lies, and must have no index.
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.options.directory = Some(directory.into());
        self
    }

    /// Opens the index in the [directory](Self::directory) for reading only, with or without a
    /// writer. Default no. Operations that change it return
    /// [`WriteError::ReadOnly`](crate::WriteError::ReadOnly). Unknown [fields](Self::field) are not
    /// added.
    ///
    /// With a writer, this process maps the writer's memory. So queries find all that the writer
    /// has acknowledged. At most 32 processes can do so at one time, with 31 readers each. When the
    /// writer ends, queries continue on what it acknowledged. They move to the next writer once
    /// that stores something.
    ///
    /// Without a writer, this process makes a private copy. It maps the file, and replays the log
    /// into as much DRAM as the writer had. This needs only read permission, and keeps no process
    /// out.
    ///
    /// Hits that are kept are invalidated after the *writer's*
    /// [`reader_lease`](Self::reader_lease), or when another writer starts. If this process is
    /// stopped for three leases during a query, the query is repeated when the process continues.
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.options.read_only = read_only;
        self
    }

    /// Sets which operations survive the end of the process or of the machine. Default for an index
    /// in a directory: [`Mode::Crash`].
    pub fn mode(mut self, mode: Mode) -> Self {
        self.options.mode = mode;
        self
    }

    /// Sets the kind of crash that acknowledged operations survive in [`Mode::Crash`]. Default
    /// [`Durability::Process`].
    pub fn durability(mut self, durability: Durability) -> Self {
        self.options.durability = durability;
        self
    }

    /// Sets the size of the second tier for the whole index, in bytes: a hard cap on its file,
    /// which grows as needed.
    ///
    /// Default: the size of the disk, within bounds. At most 128 GiB for each GiB of DRAM, and 256
    /// GiB for each executor. At least eight times the DRAM.
    pub fn nvm_bytes(mut self, bytes: u64) -> Self {
        self.options.nvm_bytes = Some(bytes);
        self
    }

    /// Sets the size of each executor's log, in bytes.
    ///
    /// The log holds the operations of segments that are not engraved yet. A start after a crash
    /// replays them. Default: sixteen segments, or a quarter of the second tier if that is less,
    /// but at least four longest documents.
    pub fn log_bytes(mut self, bytes: u64) -> Self {
        self.options.log_bytes = Some(bytes);
        self
    }

    /// Sets the wait of a group commit: up to this long for other threads before syncing. Not
    /// persisted.
    ///
    /// Useful if many threads add one document at a time and a sync is slow. Default 0: operations
    /// that arrive during a sync share the next one.
    pub fn group_wait(mut self, time: Duration) -> Self {
        self.options.group_wait = time;
        self
    }

    /// Sets the size at which a group, or a batch of [`add_all`], is written, in bytes of text. Not
    /// persisted.
    ///
    /// A smaller value acknowledges earlier. 0 means one document in each group. Default and
    /// maximum: 256 KiB, or a sixteenth of the log if that is less.
    ///
    /// [`add_all`]: crate::Index::add_all
    pub fn group_bytes(mut self, bytes: u64) -> Self {
        self.options.group_bytes = bytes;
        self
    }

    /// Sets the function that reads a text again from its [place](crate::Document::place). A start
    /// calls `read` with each place that it finds in the log.
    pub fn source(
        mut self,
        read: impl Fn(&[u8]) -> std::io::Result<String> + Send + Sync + 'static,
    ) -> Self {
        self.options.source = Some(Source::new(read));
        self
    }

    /// Calls `watch` with the progress of a start that replays the log, after each record.
    pub fn while_recovering(mut self, watch: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.options.watcher = Some(Watcher::new(watch));
        self
    }

    /// Reserves the disk space of the whole second tier when the index is made. Default no: in
    /// steps, ahead of need.
    pub fn reserve_full(mut self, full: bool) -> Self {
        self.options.reserve_full = full;
        self
    }

    /// Sets how many engraved segments are merged at once, from 1 to 16. Default 1; 8 at
    /// [`Durability::Os`] on a disk.
    ///
    /// Each merge changes words all over the second tier's dictionary, and a disk writes a whole
    /// page for each. Fewer segments are merged if their space is needed, and when the index
    /// closes. Queries find all documents at once either way.
    pub fn merge_after(mut self, segments: usize) -> Self {
        self.options.merge_after = Some(segments);
        self
    }

    /// Compares each page of a segment in the file with its checksum when this process first reads
    /// it.
    ///
    /// A query that reads a damaged page returns
    /// [`SearchError::Corrupt`](crate::SearchError::Corrupt). Default: yes at [`Durability::Os`],
    /// else no. Not persisted.
    pub fn verify(mut self, verify: bool) -> Self {
        self.options.verify = Some(verify);
        self
    }
}
