//! The builder: how an index is made or opened, with every size and policy, and its default.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use spirit_index::ground::geometry::Postings;
use spirit_mem::Residency;
use spirit_schema::FieldKind;
use spirit_text::Analyzer;

use super::Index;
use crate::config::durability::{DictionaryTier, Durability, EngravePolicy, Mode, PointerUpdate};
use crate::config::error::OpenError;
use crate::config::late_reader::{LateReader, LateWatcher};
use crate::config::on_full::OnFull;
use crate::config::options::Options;
use crate::config::recovering::{Recovering, Watcher};
use crate::config::source::Source;

/// Makes or opens an index. Made by [`Index::builder`].
///
/// An index in a [directory](Builder::directory) keeps the settings that it was made with: executors, sizes of the second tier
/// and of segments, mode, durability, analyzer, positions, stored documents, fields, strictness, longest document, and what
/// happens when it is full. Opening it again uses those, whatever is set here. DRAM, readers and policies may differ each time.
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
    /// The size of the second tier, in bytes: as set or by default, divided among the executors.
    pub fn nvm_bytes_in_all(&self) -> u64 {
        self.options.nvm_bytes_in_all()
    }

    /// Makes the index, or opens it if it is there: reserves its memory, recovers what it holds, and starts its threads.
    pub fn open(self) -> Result<Index, OpenError> {
        Index::with(self.options)
    }

    /// DRAM for the whole index, in bytes: a hard cap, reserved at start. Default 1 GiB, or what the segments of an existing index need
    /// if that is more. With less, fresh segments are smaller, down to an eighth, and the file has slots for fewer documents. One
    /// exception: a start takes up to eight times as much if the log needs it, on a full disk or for a document that is too large for a
    /// smaller segment.
    pub fn dram_bytes(mut self, bytes: u64) -> Self {
        self.options.dram_bytes = bytes;
        self.options.is_dram_given = true;
        self
    }

    /// Size of a fresh segment's table, records and blocks, in bytes. Default: a 16th of an executor's DRAM, down to a
    /// 32nd if the heap has no room for larger segments; at most 128 MiB.
    pub fn segment_bytes(mut self, bytes: u64) -> Self {
        self.options.segment_bytes = Some(bytes);
        self
    }

    /// Pipelines that run in parallel. Documents are routed by key. Default 1.
    pub fn executors(mut self, executors: usize) -> Self {
        self.options.executors = executors;
        self
    }

    /// Readers at once. Default 64.
    pub fn readers_max(mut self, readers: usize) -> Self {
        self.options.readers_max = readers;
        self
    }

    /// How long [`Hits`](crate::Hits) may be kept while the index waits for their memory; after that they are invalidated,
    /// and later calls return [`LeaseExpired`](crate::error::LeaseExpired). Millisecond precision. Default 10 s.
    pub fn reader_lease(mut self, lease: Duration) -> Self {
        self.options.reader_lease = lease;
        self
    }

    /// Calls `watch` once a second while memory waits for a reader, of this process or of another one that may have been stopped.
    pub fn while_waiting(mut self, watch: impl Fn(LateReader) + Send + Sync + 'static) -> Self {
        self.options.late_watcher = Some(LateWatcher::new(watch));
        self
    }

    /// How text becomes terms. Default [`Analyzer::Standard`].
    pub fn analyzer(mut self, analyzer: Analyzer) -> Self {
        self.options.analyzer = analyzer;
        self
    }

    /// Keeps the positions of tokens, which phrases need. Default yes.
    pub fn positions(mut self, keep: bool) -> Self {
        self.options.positions = keep;
        self
    }

    /// Stores the documents' texts, which [`Hits::texts`](crate::Hits::texts) returns. Default no. A segment is full when its texts reach
    /// the segment size; a document with a longer text is refused.
    pub fn store(mut self, keep: bool) -> Self {
        self.options.store = keep;
        self
    }

    /// How posting lists are stored in the second tier: [raw](Postings::Raw) as in DRAM, the default, or
    /// [packed](Postings::Packed), which takes less than half the room and makes queries of old documents slower. An index that
    /// exists keeps its choice unless another is given, which counts for what is engraved from then on.
    pub fn postings(mut self, postings: Postings) -> Self {
        self.options.postings = Some(postings);
        self
    }

    /// A field of the documents, and its kind. A document may bring others along, unless the index is [strict](Self::strict). An
    /// index that is opened again gets those that it has not; one that it has keeps its kind. See [`Schema`](crate::schema::Schema) for what
    /// is a name.
    pub fn field(mut self, name: impl Into<String>, kind: FieldKind) -> Self {
        self.options.fields.push((name.into(), Some(kind)));
        self
    }

    /// A field of text that the index's [analyzer](Self::analyzer) cuts, as it does with texts in fields that documents bring along.
    pub fn text_field(mut self, name: impl Into<String>) -> Self {
        self.options.fields.push((name.into(), None));
        self
    }

    /// Refuses documents with fields that are not in the schema. Default no: such fields are added.
    pub fn strict(mut self, strict: bool) -> Self {
        self.options.strict = strict;
        self
    }

    /// What happens when the heap is full. Default: [`OnFull::Refuse`].
    pub fn on_full(mut self, policy: OnFull) -> Self {
        self.options.on_full = policy;
        self
    }

    /// How long documents are kept after their arrival. At most a sixteenth of that time later, no answer contains them, and their segment is
    /// dropped soon. An index in a directory stores arrivals, so they hold over restarts and in processes that only
    /// read. In an index in memory, documents that were rewritten together go when the newest of them does.
    ///
    /// Time is measured by the monotonic clock while the index is open, and by the wall clock while it is closed. So setting the wall clock
    /// has an effect only while the index is closed. Default: as long as there is room.
    pub fn retain(mut self, age: Duration) -> Self {
        self.options.retain = Some(age);
        self
    }

    /// Makes all memory resident at start. Default no: on first touch.
    pub fn prefault(mut self, prefault: bool) -> Self {
        self.options.residency = if prefault { Residency::Prefault } else { Residency::OnTouch };
        self
    }

    /// Longest document, in bytes. Default 1 MiB.
    pub fn document_bytes_max(mut self, bytes: usize) -> Self {
        self.options.document_bytes_max = bytes;
        self
    }

    /// Keeps the index in `directory`. A directory that does not exist is made; an index that is there is opened. Without a
    /// directory the index is in memory, and its mode is [`Mode::Volatile`].
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.options.directory = Some(directory.into());
        self
    }

    /// Opens the index in the [directory](Self::directory) for reading only, beside a writer or without one. Operations that
    /// change it return [`WriteError::ReadOnly`](crate::WriteError::ReadOnly). Default no.
    ///
    /// Beside a writer this process maps the writer's memory, so queries find what the writer has acknowledged. At most 32 processes can do so at once, with
    /// 31 readers each. When the writer ends, queries go on with what it acknowledged, and move to the next writer as soon as that
    /// stores something. Without a writer this process makes a private copy: it maps the file, and replays the log into as much DRAM as the writer
    /// had. That needs read permission only, and keeps nobody out. Nothing is changed: unknown [fields](Self::field) are not added.
    ///
    /// Results that are kept are invalidated after the *writer's* [`reader_lease`](Self::reader_lease), or when another writer
    /// starts. If this process is stopped for three leases in the middle of a query, the query is repeated when it goes on.
    pub fn read_only(mut self, read_only: bool) -> Self {
        self.options.read_only = read_only;
        self
    }

    /// What survives the end of the process or of the machine. Default for an index in a directory: [`Mode::Crash`].
    pub fn mode(mut self, mode: Mode) -> Self {
        self.options.mode = mode;
        self
    }

    /// What an acknowledged operation survives in [`Mode::Crash`]. Default: [`Durability::Process`].
    pub fn durability(mut self, durability: Durability) -> Self {
        self.options.durability = durability;
        self
    }

    /// Size of the second tier for the whole index, in bytes: a hard cap on its file, which grows as needed. Default: the size of
    /// the disk, but at most 128 GiB for each GiB of DRAM and 256 GiB an executor, and at least eight times the DRAM.
    pub fn nvm_bytes(mut self, bytes: u64) -> Self {
        self.options.nvm_bytes = Some(bytes);
        self
    }

    /// Size of the log, in bytes. It holds the operations of segments that are not engraved yet, which a start after a crash
    /// replays. Default: sixteen segments, or a quarter of the second tier if that is less.
    pub fn log_bytes(mut self, bytes: u64) -> Self {
        self.options.log_bytes = Some(bytes);
        self
    }

    /// Group commit: wait up to this long for other threads before syncing. Useful if many threads add one document at a time and a sync is
    /// slow. Default 0: operations that arrive during a sync share the next one. Not persisted.
    pub fn group_wait(mut self, time: Duration) -> Self {
        self.options.group_wait = time;
        self
    }

    /// Write a group once it holds this many bytes of text, or a batch of [`add_all`]. Smaller: earlier acknowledgement. 0: one document a
    /// group. Default and maximum: 256 KiB, or a sixteenth of the log if that is less. Not persisted.
    ///
    /// [`add_all`]: crate::Index::add_all
    pub fn group_bytes(mut self, bytes: u64) -> Self {
        self.options.group_bytes = bytes;
        self
    }

    /// Reads texts that were [added from](crate::Document::place) a place, when a start finds them in the log. `read` gets the place.
    pub fn source(
        mut self,
        read: impl Fn(&[u8]) -> std::io::Result<String> + Send + Sync + 'static,
    ) -> Self {
        self.options.source = Some(Source::new(read));
        self
    }

    /// Calls `watch` with the progress of a start that replays the log, after each record.
    pub fn while_recovering(mut self, watch: impl Fn(Recovering) + Send + Sync + 'static) -> Self {
        self.options.watcher = Some(Watcher::new(watch));
        self
    }

    /// Reserves the disk space of the whole second tier when the index is made. Default no: in steps, ahead of need.
    pub fn reserve_full(mut self, full: bool) -> Self {
        self.options.reserve_full = full;
        self
    }

    /// When segments are engraved: copied to the second tier. Default: as soon as they are flushed.
    pub fn engrave(mut self, policy: EngravePolicy) -> Self {
        self.options.engrave = policy;
        self
    }

    /// When segments are committed: readers go to the copies. Default: when DRAM runs short.
    pub fn pointer_update(mut self, policy: PointerUpdate) -> Self {
        self.options.pointer_update = policy;
        self
    }

    /// Merge after this many engraved segments, 1 to 16. Each merge changes words all over the second tier's dictionary, and a disk
    /// writes a whole page for each. Default 1; 8 at [`Durability::Os`] on a disk. Fewer are merged if their space is needed, and when the
    /// index closes. Queries find all documents at once either way.
    pub fn merge_after(mut self, segments: usize) -> Self {
        self.options.merge_after = Some(segments);
        self
    }

    /// Where queries read the dictionary of merged segments. Default: in DRAM, as far as there is room.
    pub fn dictionary(mut self, tier: DictionaryTier) -> Self {
        self.options.dictionary = tier;
        self
    }

    /// Compares each page of a segment in the file with its checksum when this process reads it for the first time. A query that meets a
    /// damaged page returns [`SearchError::Corrupt`](crate::SearchError::Corrupt). Default: yes at [`Durability::Os`], else no. Not
    /// persisted.
    pub fn verify(mut self, verify: bool) -> Self {
        self.options.verify = Some(verify);
        self
    }
}
