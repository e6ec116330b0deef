//! Errors of opening and of writing. Their messages say what to do.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use spirit_index::fresh::batch::KEY_BYTES_MAX;
use spirit_index::ground::corrupt::Corrupt;
use spirit_index::ground::geometry::GeometryError;
use spirit_index::log::REFERENCE_BYTES_MAX;
use spirit_mem::{HeapFileError, Medium};
use spirit_schema::FieldError;

/// The index could not be opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// The memory cannot be divided or reserved with these sizes.
    Memory(GeometryError),
    /// A thread could not be started.
    Thread(std::io::Error),
    /// The index's file could not be made or opened.
    File(HeapFileError),
    /// The file is no index, or an index of a version that is not supported.
    Root {
        /// The file.
        path: PathBuf,
        /// The error.
        why: String,
    },
    /// A part of an executor's memory in the file does not hold what was stored there.
    Corrupt {
        /// The executor.
        executor: usize,
        /// The error, and its place in the executor's part.
        what: Corrupt,
    },
    /// The medium cannot give the durability that was asked for.
    Durability {
        /// The file.
        path: PathBuf,
        /// The medium of the file.
        medium: Medium,
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
            OpenError::Memory(reason) => reason.fmt(f),
            OpenError::Thread(reason) => write!(f, "cannot start a thread: {reason}"),
            OpenError::File(reason) => reason.fmt(f),
            OpenError::Root { path, why } => write!(f, "{}: {why}", path.display()),
            OpenError::Corrupt { executor, what } => {
                write!(
                    f,
                    "executor {executor}: {what}; run `spirit check`, restore a backup, or take what is whole with \
                     `spirit salvage`"
                )
            }
            OpenError::Durability { path, medium } => write!(
                f,
                "{}: on {medium}, level os is not available, since what is in memory goes with the machine: use level process, \
                 or a directory on a disk",
                path.display()
            ),
            OpenError::Untrusted { path } => write!(
                f,
                "{}: the machine or its file system went down while this index was open at level process, which does not \
                 survive that: what reached the disk is a mixture of old and new; restore a backup, or remove the index \
                 and add its documents again, at level os if that is to be avoided; `spirit salvage` makes an index of \
                 what is whole of it",
                path.display()
            ),
            OpenError::Copied { path } => write!(
                f,
                "{}: this is a copy of an index that was open, so its parts may be of different moments: copy an open index \
                 with `spirit backup`, or close it before; after a crash, open it once where it was; if this is all that is \
                 left, `spirit salvage` makes an index of what is whole",
                path.display()
            ),
            OpenError::Unclean { path } => write!(
                f,
                "{}: this graceful index was not closed in an orderly way, so what it holds cannot be trusted: remove \
                 it and add its documents again, in mode crash if that is to be avoided",
                path.display()
            ),
            OpenError::NothingToRead => f.write_str(
                "an index that is opened for reading only is one in a directory: name it, or open it for writing",
            ),
            OpenError::NoAnswer { path } => write!(
                f,
                "{}: a process has this index open for writing, and does not answer there: wait until it has started, or start \
                 it anew",
                path.display()
            ),
            OpenError::OtherWriter { path } => write!(
                f,
                "{}: the process that writes this index is of another version, or the directory is a copy: read it with \
                 the version that writes it, where that writes it",
                path.display()
            ),
            OpenError::TooManyFollowers { followers_max } => write!(
                f,
                "{followers_max} processes have this index open for reading only, which is as many as there can be: end one"
            ),
            OpenError::Recovery(reason @ WriteError::Source { .. }) => write!(
                f,
                "{reason}; nothing was changed: open the index with a source that has what was added from it"
            ),
            OpenError::Recovery(reason @ WriteError::Damaged { .. }) => reason.fmt(f),
            OpenError::Recovery(reason) => write!(
                f,
                "what the index holds does not fit in the memory it was opened with ({reason}): give it more DRAM"
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
            OpenError::Memory(reason) => reason.source(),
            OpenError::File(reason) => reason.source(),
            OpenError::Field(reason) => reason.source(),
            OpenError::Thread(reason) => Some(reason),
            OpenError::Corrupt { what, .. } => Some(what),
            OpenError::Recovery(reason) => Some(reason),
            _ => None,
        }
    }
}

/// The advice for an index whose file is damaged.
pub(crate) const REMEDY: &str = "`spirit check` says what else is damaged, and `spirit salvage` saves what is whole, or restore a backup";

/// A document of a stream was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddAllError {
    /// The number of documents that were added before it.
    pub added: u64,
    /// The reason.
    pub error: WriteError,
}

impl fmt::Display for AddAllError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "after {} documents: {}", self.added, self.error)
    }
}

impl Error for AddAllError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.error)
    }
}

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
    Damaged {
        /// The error, and its place in the executor's part.
        what: Corrupt,
    },
    /// A stage of the pipeline died. The index answers queries and accepts nothing more.
    Poisoned,
    /// The index was opened for reading only.
    ReadOnly,
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WriteError::DocumentTooLong { bytes, bytes_max } => {
                write!(f, "a document of {bytes} bytes: at most {bytes_max}; split it")
            }
            WriteError::DocumentTooLarge { segment_bytes } => write!(
                f,
                "the document does not fit in an empty segment of {segment_bytes} bytes; use larger segments, or more DRAM"
            ),
            WriteError::GroupTooLarge { bytes, bytes_max } => write!(
                f,
                "a group of {bytes} bytes, with what the log adds: at most {bytes_max}; make smaller groups, or a larger log"
            ),
            WriteError::GroupBeyondSegment { segment_bytes } => write!(
                f,
                "the group does not fit in an empty segment of {segment_bytes} bytes; make smaller groups, or larger segments, or use more DRAM"
            ),
            WriteError::ReferenceTooLong { bytes } => {
                write!(f, "a reference of {bytes} bytes: at most {REFERENCE_BYTES_MAX}")
            }
            WriteError::Source { reference, why } => {
                write!(f, "the document at {reference:?} cannot be read again: {why}")
            }
            WriteError::OffsetTooLong { bytes, bytes_max } => {
                write!(
                    f,
                    "an offset of {bytes} bytes: at most {bytes_max}; make a larger log, or one of shorter documents"
                )
            }
            WriteError::OffsetNotKept => f.write_str(
                "an offset is kept only in mode crash: make the index so, or add without offsets",
            ),
            WriteError::Field(reason) => reason.fmt(f),
            WriteError::Key { bytes } => {
                write!(f, "a key of {bytes} bytes: keys have 1 to {KEY_BYTES_MAX} bytes")
            }
            WriteError::HeapFull => f.write_str(
                "the heap is full, or the disk that it is kept on; give it more DRAM, make room on the disk, or let the index \
                 drop its oldest segment",
            ),
            WriteError::KeysFull => {
                f.write_str("the key table is full; give the index more DRAM, or drop old segments")
            }
            WriteError::SyncFailed => f.write_str(
                "the disk failed to keep data; the index answers queries and takes nothing more: mend the \
                 disk and open the index again",
            ),
            WriteError::Damaged { what } => {
                write!(f, "the index is damaged and takes nothing more; {what}; {REMEDY}")
            }
            WriteError::Poisoned => f.write_str(
                "a stage of the pipeline failed; the index answers queries and takes nothing more",
            ),
            WriteError::ReadOnly => f.write_str(
                "the index was opened for reading only: open it for writing, or ask the process that writes it",
            ),
        }
    }
}

impl Error for WriteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            WriteError::Field(reason) => reason.source(),
            WriteError::Damaged { what } => Some(what),
            _ => None,
        }
    }
}
