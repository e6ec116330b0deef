//! Errors of opening and of writing. Their messages say what to do.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use spirit_cache::CacheError;
use spirit_index::fresh::KEY_BYTES_MAX;
use spirit_index::ground::Corrupt as Damage;
use spirit_index::ground::NVM_BYTES_MAX;
use spirit_index::ground::{
    EXECUTOR_BYTES_MAX, GeometryError, SEGMENT_BYTES_MAX, SEGMENT_BYTES_MIN,
};
use spirit_index::log::REFERENCE_BYTES_MAX;
use spirit_mem::{HeapFileError, ReserveError};
use spirit_schema::FieldError;

use crate::config::corrupt::Corrupt;

/// The index could not be opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// The DRAM does not hold the segments in flight.
    DramTooSmall {
        /// The bytes asked for.
        dram_bytes: u64,
        /// The least bytes that work with this segment size.
        dram_bytes_min: u64,
        /// The segment size, in bytes.
        segment_bytes: u64,
        /// True if the segment size may change: the index does not exist yet.
        is_new: bool,
    },
    /// The second tier does not hold the segments in flight and their log.
    NvmTooSmall {
        /// The bytes asked for.
        nvm_bytes: u64,
        /// The least bytes that work with this segment size.
        nvm_bytes_min: u64,
        /// The segment size, in bytes.
        segment_bytes: u64,
    },
    /// An executor's part of a tier is larger than it can address.
    TooLarge {
        /// The name of the setting.
        name: &'static str,
        /// The bytes asked for, for each executor.
        bytes: u64,
        /// The most bytes for each executor.
        bytes_max: u64,
    },
    /// The system did not reserve the memory.
    Reserve(Box<dyn Error + Send + Sync>),
    /// A thread could not be started.
    Thread(std::io::Error),
    /// Another process has the index open for writing.
    Locked {
        /// The index's file.
        path: PathBuf,
    },
    /// The index's file belongs to another user, who could change it while it is mapped.
    ForeignOwner {
        /// The index's file.
        path: PathBuf,
    },
    /// A file of the index could not be made, opened or written.
    File {
        /// The file.
        path: PathBuf,
        /// The action that failed.
        action: &'static str,
        /// The error of the system.
        reason: io::Error,
    },
    /// The file is no index, or an index of a version that is not supported.
    Root {
        /// The file.
        path: PathBuf,
        /// The error.
        why: String,
    },
    /// The file does not hold what was stored there.
    Corrupt(Corrupt),
    /// The medium cannot give the durability that was asked for.
    Durability {
        /// The file.
        path: PathBuf,
        /// The medium of the file.
        medium: String,
    },
    /// The machine or the file system restarted while the index was open at level process. The
    /// medium does not survive that.
    Untrusted {
        /// The file.
        path: PathBuf,
    },
    /// The file is a copy that was made while the index was open.
    Copied {
        /// The file.
        path: PathBuf,
    },
    /// The index is graceful, and was not closed in an orderly way.
    Unclean {
        /// The file.
        path: PathBuf,
    },
    /// Only an existing index in a directory can be opened for reading only.
    NothingToRead,
    /// The directory has an index that is kept, and a volatile one would have its name.
    NotVolatile {
        /// The file of that index.
        path: PathBuf,
    },
    /// Only an index in a directory can have its result cache in the second tier.
    NoSecondTier,
    /// A process has the index open for writing, and does not answer a process that wants to read.
    NoAnswer {
        /// The socket.
        path: PathBuf,
    },
    /// The process that writes the index is of another version, or writes another index.
    OtherWriter {
        /// The index's file.
        path: PathBuf,
    },
    /// The largest number of processes have the index open for reading only.
    TooManyFollowers {
        /// The most processes allowed.
        followers_max: usize,
    },
    /// The log could not be replayed. The memory is too small for it, or a text that it refers to
    /// cannot be read again.
    Recovery(WriteError),
    /// A field is unknown, or of another kind.
    Field(FieldError),
    /// A setting is out of its range.
    Setting {
        /// The name of the setting.
        name: &'static str,
        /// The value that was asked for.
        asked: u64,
        /// The least value allowed.
        min: u64,
        /// The largest value allowed.
        max: u64,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::DramTooSmall { dram_bytes, dram_bytes_min, segment_bytes, is_new } => {
                let or_else = if *is_new { ", or smaller segments" } else { "" };
                write!(
                    f,
                    "a DRAM heap of {dram_bytes} bytes is too small for segments of \
                     {segment_bytes} bytes: give at least {dram_bytes_min} bytes{or_else}"
                )
            }
            OpenError::NvmTooSmall { nvm_bytes, nvm_bytes_min, segment_bytes } => write!(
                f,
                "a second tier of {nvm_bytes} bytes is too small for segments of \
                 {segment_bytes} bytes and their log: give at least {nvm_bytes_min} bytes, or smaller segments"
            ),
            OpenError::TooLarge { name, bytes, bytes_max } => {
                let what = if *name == "dram_bytes" { "a DRAM heap" } else { "a second tier" };
                write!(
                    f,
                    "{what} of {bytes} bytes an executor: the limit is {bytes_max} bytes; use more \
                     executors"
                )
            }
            OpenError::Reserve(reason) => reason.fmt(f),
            OpenError::Thread(reason) => write!(f, "cannot start a thread: {reason}"),
            OpenError::Locked { path } => HeapFileError::Locked { path: path.clone() }.fmt(f),
            OpenError::ForeignOwner { path } => {
                HeapFileError::ForeignOwner { path: path.clone() }.fmt(f)
            }
            OpenError::File { path, action, reason } => {
                write!(f, "{}: cannot {action}: {reason}", path.display())
            }
            OpenError::Root { path, why } => write!(f, "{}: {why}", path.display()),
            OpenError::Corrupt(damage) => write!(
                f,
                "{damage}; run `spirit check`, restore a backup, or save intact parts with `spirit salvage`"
            ),
            OpenError::NotVolatile { path } => write!(
                f,
                "{}: an index is kept here; a volatile index needs a directory without one",
                path.display()
            ),
            OpenError::Durability { path, medium } => write!(
                f,
                "{}: level os is not available on {medium}, whose files a restart of the machine \
                 deletes; use level process, or a directory on a disk",
                path.display()
            ),
            OpenError::Untrusted { path } => write!(
                f,
                "{}: the machine or its file system went down while this index was open at level \
                 process, so its file mixes old and new data. Restore a backup, save intact parts \
                 with `spirit salvage`, or remove the index and add its documents again. Level os \
                 survives such a crash",
                path.display()
            ),
            OpenError::Copied { path } => write!(
                f,
                "{}: this is a copy of an index that was open, so its parts may not fit together. \
                 Copy an open index with `spirit backup`, or close it first. After a crash, open \
                 the index once in its place, then copy it. If only this copy is left, save intact \
                 parts with `spirit salvage`",
                path.display()
            ),
            OpenError::Unclean { path } => write!(
                f,
                "{}: this graceful index was not closed in an orderly way, so its data cannot be \
                 trusted; remove it and add its documents again; mode crash survives this",
                path.display()
            ),
            OpenError::NoSecondTier => f.write_str(
                "only an index in a directory has a second tier; name a directory, or put the \
                 cache in DRAM",
            ),
            OpenError::NothingToRead => f.write_str(
                "only an index in a directory can be opened for reading only; name its directory, \
                 or open it for writing",
            ),
            OpenError::NoAnswer { path } => write!(
                f,
                "{}: the process that writes this index does not answer on this socket; wait until \
                 it has started, or restart it",
                path.display()
            ),
            OpenError::OtherWriter { path } => write!(
                f,
                "{}: the process that writes this index has another version, or this directory is \
                 a copy; read the original directory with the writer's version",
                path.display()
            ),
            OpenError::TooManyFollowers { followers_max } => write!(
                f,
                "{followers_max} processes have this index open for reading only, and no more are \
                 allowed; end one of them"
            ),
            OpenError::Recovery(reason @ WriteError::Source { .. }) => write!(
                f,
                "{reason}; nothing was changed; open the index with a source that has this \
                 document"
            ),
            OpenError::Recovery(reason @ WriteError::Damaged(_)) => reason.fmt(f),
            OpenError::Recovery(reason) => write!(
                f,
                "the index does not fit in the memory it was opened with ({reason}); give it more \
                 DRAM"
            ),
            OpenError::Field(reason) => reason.fmt(f),
            OpenError::Setting { name, asked, min, max } => {
                write!(f, "{name} is {asked}: choose {min} to {max}")
            }
        }
    }
}

impl Error for OpenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // The message is the inner error's, so the source is the inner error's too.
            OpenError::Reserve(reason) => reason.source(),
            OpenError::Field(reason) => reason.source(),
            OpenError::Thread(reason) | OpenError::File { reason, .. } => Some(reason),
            OpenError::Corrupt(damage) => Some(damage),
            OpenError::Recovery(reason) => Some(reason),
            _ => None,
        }
    }
}

/// Returns the name of a partition of a tier.
fn part_name(tier: &str, part: &str) -> &'static str {
    match (tier, part) {
        ("nvm", "short") => "nvm_short",
        ("nvm", "long") => "nvm_long",
        ("nvm", _) => "nvm_dictionary",
        (_, "short") => "dram_short",
        (_, "long") => "dram_long",
        _ => "dram_dictionary",
    }
}

/// Converts sizes that do not fit into the memory of an executor.
impl From<GeometryError> for OpenError {
    fn from(error: GeometryError) -> OpenError {
        match error {
            GeometryError::SegmentBytes { asked } => OpenError::Setting {
                name: "segment_bytes",
                asked,
                min: SEGMENT_BYTES_MIN,
                max: SEGMENT_BYTES_MAX,
            },
            GeometryError::HeapTooSmall { dram_bytes, dram_bytes_min, segment_bytes, is_new } => {
                OpenError::DramTooSmall { dram_bytes, dram_bytes_min, segment_bytes, is_new }
            }
            GeometryError::PartTooSmall { tier, part, asked, least } => OpenError::Setting {
                name: part_name(tier, part),
                asked,
                min: least,
                max: if tier == "nvm" { NVM_BYTES_MAX } else { EXECUTOR_BYTES_MAX },
            },
            GeometryError::NvmTooSmall { nvm_bytes, nvm_bytes_min, segment_bytes } => {
                OpenError::NvmTooSmall { nvm_bytes, nvm_bytes_min, segment_bytes }
            }
            GeometryError::NvmTooLarge { nvm_bytes } => OpenError::TooLarge {
                name: "nvm_bytes",
                bytes: nvm_bytes,
                bytes_max: NVM_BYTES_MAX,
            },
            GeometryError::HeapTooLarge { dram_bytes } => OpenError::TooLarge {
                name: "dram_bytes",
                bytes: dram_bytes,
                bytes_max: EXECUTOR_BYTES_MAX,
            },
            GeometryError::Reserve(reason) => OpenError::Reserve(reason.into()),
        }
    }
}

impl From<ReserveError> for OpenError {
    fn from(reason: ReserveError) -> OpenError {
        OpenError::Reserve(reason.into())
    }
}

impl From<CacheError> for OpenError {
    fn from(error: CacheError) -> OpenError {
        match error {
            CacheError::Bytes { bytes: asked, min, max } => {
                OpenError::Setting { name: "the number of bytes of each cache", asked, min, max }
            }
            CacheError::Entries { entries, max } => OpenError::Setting {
                name: "the number of entries of each cache",
                asked: entries.into(),
                min: 1,
                max: max.into(),
            },
            CacheError::Reserve(reason) => reason.into(),
        }
    }
}

impl From<HeapFileError> for OpenError {
    fn from(error: HeapFileError) -> OpenError {
        match error {
            HeapFileError::Locked { path } => OpenError::Locked { path },
            HeapFileError::ForeignOwner { path } => OpenError::ForeignOwner { path },
            HeapFileError::System { path, action, reason } => {
                OpenError::File { path, action, reason }
            }
        }
    }
}

impl OpenError {
    /// Returns a conversion of damage in the part of an executor.
    pub(crate) fn corrupt(executor: usize) -> impl Fn(Damage) -> OpenError {
        move |damage| OpenError::Corrupt(Corrupt::new(executor, damage))
    }
}

/// The advice for an index whose file is damaged.
pub(crate) const REMEDY: &str = "find all damage with `spirit check`; then restore a backup, or save intact parts with `spirit salvage`";

/// An operation that changes the index failed. Unless a variant says otherwise, the index is
/// unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteError {
    /// The document's text is too long.
    DocumentTooLong {
        /// The length of the text, in bytes.
        bytes: usize,
        /// The most bytes allowed.
        bytes_max: usize,
    },
    /// The document does not fit in an empty segment.
    DocumentTooLarge {
        /// The size of a segment, in bytes.
        segment_bytes: u64,
    },
    /// A field of the document is unknown, or its value does not fit the field.
    Field(FieldError),
    /// The key is empty or too long.
    Key {
        /// The length of the key, in bytes.
        bytes: usize,
    },
    /// The key's document is not the one that the [operation](crate::Operation) requires.
    Conflict {
        /// The sequence number of the document that the key has; none if it has none.
        current: Option<u64>,
    },
    /// A group's documents and offset do not fit into one record of the log.
    GroupTooLarge {
        /// The size of the record, in bytes.
        bytes: u64,
        /// The most bytes allowed.
        bytes_max: u64,
    },
    /// A group does not fit in an empty segment.
    GroupBeyondSegment {
        /// The size of a segment, in bytes.
        segment_bytes: u64,
    },
    /// The reference to a text is too long.
    ReferenceTooLong {
        /// The length of the reference, in bytes.
        bytes: usize,
    },
    /// A text that the log refers to could not be read again.
    Source {
        /// The reference; bytes that are not UTF-8 are replaced.
        reference: String,
        /// The reason.
        why: String,
    },
    /// The application's offset is too long.
    OffsetTooLong {
        /// The length of the offset, in bytes.
        bytes: usize,
        /// The most bytes that leave room in the log for the longest document.
        bytes_max: usize,
    },
    /// An offset needs [`Mode::Crash`](crate::Mode::Crash): other indexes do not keep it.
    OffsetNotKept,
    /// The heap or the disk is full, and the policy is to refuse rather than to wait or to drop.
    HeapFull,
    /// The key table of an index in memory is full, or a group's own keys fill one part of it.
    KeysFull,
    /// The disk failed to keep data. The index answers queries and accepts nothing more. The next
    /// start has everything that was acknowledged, and possibly this operation.
    SyncFailed,
    /// The file does not hold what was stored there. The index answers queries that read no damaged
    /// part, and accepts nothing more. The next start may have this operation.
    Damaged(Corrupt),
    /// A stage of the pipeline died. The index answers queries and accepts nothing more.
    Poisoned,
    /// The index was opened for reading only.
    ReadOnly,
    /// A bulk load was begun and not finished. The index accepts nothing else.
    BulkUnfinished,
    /// A collection has documents without a key and others whose keys are numbers, so that a key
    /// could be two documents'.
    BulkKeysMixed,
    /// A document of a stream was refused, and those before it were added.
    AfterSome {
        /// The number of documents that were added before it.
        added: u64,
        /// The reason.
        error: Box<WriteError>,
    },
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::DocumentTooLong { bytes, bytes_max } => {
                write!(f, "a document of {bytes} bytes: the limit is {bytes_max} bytes; split it")
            }
            WriteError::DocumentTooLarge { segment_bytes } => write!(
                f,
                "the document does not fit in an empty segment of {segment_bytes} bytes; use larger segments, or more DRAM"
            ),
            WriteError::GroupTooLarge { bytes, bytes_max } => write!(
                f,
                "a group of {bytes} bytes in the log: the limit is {bytes_max} bytes; make smaller \
                 groups, or a larger log"
            ),
            WriteError::GroupBeyondSegment { segment_bytes } => write!(
                f,
                "the group does not fit in an empty segment of {segment_bytes} bytes; make smaller groups, or larger segments, or use more DRAM"
            ),
            WriteError::ReferenceTooLong { bytes } => {
                write!(
                    f,
                    "a reference of {bytes} bytes: the limit is {REFERENCE_BYTES_MAX} bytes; use a shorter one"
                )
            }
            WriteError::Source { reference, why } => {
                write!(f, "the document at {reference:?} cannot be read again: {why}")
            }
            WriteError::OffsetTooLong { bytes, bytes_max } => {
                write!(
                    f,
                    "an offset of {bytes} bytes: the limit is {bytes_max} bytes; use a larger log, \
                     or a smaller document_bytes_max"
                )
            }
            WriteError::OffsetNotKept => f.write_str(
                "only mode crash keeps an offset; make the index in mode crash, or add without \
                 offsets",
            ),
            WriteError::Field(reason) => reason.fmt(f),
            WriteError::Key { bytes } => {
                write!(f, "a key of {bytes} bytes: keys have 1 to {KEY_BYTES_MAX} bytes")
            }
            WriteError::Conflict { current: None } => {
                f.write_str("no document has the key; read the key again")
            }
            WriteError::Conflict { current: Some(sequence) } => write!(
                f,
                "the key has another document, of sequence number {sequence}; read it again"
            ),
            WriteError::HeapFull => f.write_str(
                "the heap or its disk is full; give the index more DRAM, make room on the disk, or \
                 let the index drop its oldest segment",
            ),
            WriteError::KeysFull => {
                f.write_str("the key table is full; give the index more DRAM, or drop old segments")
            }
            WriteError::SyncFailed => f.write_str(
                "the disk failed to keep data; the index answers queries and accepts no more \
                 writes; repair the disk and open the index again",
            ),
            WriteError::Damaged(damage) => {
                write!(f, "the index is damaged and accepts no more writes; {damage}; {REMEDY}")
            }
            WriteError::Poisoned => f.write_str(
                "a stage of the pipeline failed; the index answers queries and accepts no more \
                 writes",
            ),
            WriteError::AfterSome { added, error } => write!(f, "after {added} documents: {error}"),
            WriteError::BulkUnfinished => f.write_str(
                "a bulk load of this index is unfinished: run `spirit index` again with the same \
                 files, or `spirit index --give-up` to keep what is in",
            ),
            WriteError::BulkKeysMixed => f.write_str(
                "the collection has documents without a key, which are called by their number, and \
                 others whose keys are numbers; give all of them keys, or none",
            ),
            WriteError::ReadOnly => f.write_str(
                "the index was opened for reading only; open it for writing, or write through the \
                 process that has it open",
            ),
        }
    }
}

impl Error for WriteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            WriteError::Field(reason) => reason.source(),
            WriteError::Damaged(damage) => Some(damage),
            WriteError::AfterSome { error, .. } => Some(error),
            _ => None,
        }
    }
}
