//! What can go wrong, for whom, and what to do about it.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use spirit_index::fresh::batch::KEY_BYTES_MAX;
use spirit_index::ground::corrupt::Corrupt;
use spirit_index::ground::geometry::GeometryError;
use spirit_index::log::REFERENCE_BYTES_MAX;
use spirit_mem::{HeapFileError, Medium};
use spirit_schema::FieldError;

/// Opening an index failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// The memory cannot be divided or had as asked.
    Memory(GeometryError),
    /// A thread could not be started.
    Thread(std::io::Error),
    /// The index's file could not be made or opened.
    File(HeapFileError),
    /// The index's file is not one, or not one that this version reads.
    Root {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Something in an executor's part of the file is not what was stored there.
    Corrupt {
        /// The executor.
        executor: usize,
        /// What, and where in its part.
        what: Corrupt,
    },
    /// The medium cannot keep what was asked for.
    Durability {
        /// The file.
        path: PathBuf,
        /// What it lies on.
        medium: Medium,
    },
    /// The machine or the file system was started anew while the index was open at level process, on a medium that does not
    /// outlive that.
    Untrusted {
        /// The file.
        path: PathBuf,
    },
    /// The file is a copy, made while the index was open.
    Copied {
        /// The file.
        path: PathBuf,
    },
    /// The index keeps what was added before an orderly shutdown, and was not shut down so.
    Unclean {
        /// The file.
        path: PathBuf,
    },
    /// A process that only reads needs an index that is there.
    NothingToRead,
    /// A process has the index open for writing, and lets none in that reads.
    NoAnswer {
        /// The socket.
        path: PathBuf,
    },
    /// The process that writes the index is of another version, or writes another one.
    OtherWriter {
        /// The index's file.
        path: PathBuf,
    },
    /// As many processes as there can be have the index open for reading only.
    TooManyFollowers {
        /// How many there can be.
        followers_max: usize,
    },
    /// What the index holds does not fit in the memory that it is opened with, or a text that its log only refers to cannot be read
    /// again.
    Recovery(WriteError),
    /// An unknown field, or one of another kind.
    Field(FieldError),
    /// A setting is out of its range.
    Setting {
        /// Which.
        name: &'static str,
        /// What was asked for.
        asked: u64,
        /// The least allowed.
        min: u64,
        /// The most allowed.
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

/// What helps where the file does not hold what was stored there.
pub(crate) const REMEDY: &str = "`spirit check` says what else is damaged, and `spirit salvage` saves what is whole, or restore a backup";

/// A document of many was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddAllError {
    /// The number of documents that were added before it.
    pub added: u64,
    /// Why it was not.
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

/// An operation that changes the index was not done. The index is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteError {
    /// The text is longer than a document may be.
    DocumentTooLong {
        /// Its bytes.
        bytes: usize,
        /// The most allowed.
        bytes_max: usize,
    },
    /// The document does not fit in an empty segment.
    DocumentTooLarge {
        /// A segment's bytes.
        segment_bytes: u64,
    },
    /// A field of the document is unknown, or its value does not fit it.
    Field(FieldError),
    /// The key is empty or longer than a key may be.
    Key {
        /// Its bytes.
        bytes: usize,
    },
    /// A group's documents and offset do not fit into one record of the log.
    GroupTooLarge {
        /// Bytes of its record.
        bytes: u64,
        /// The most allowed.
        bytes_max: u64,
    },
    /// A group does not fit in an empty segment.
    GroupBeyondSegment {
        /// A segment's bytes.
        segment_bytes: u64,
    },
    /// A reference to a text is longer than it may be.
    ReferenceTooLong {
        /// Its bytes.
        bytes: usize,
    },
    /// A text that the log only refers to could not be read again.
    Source {
        /// The reference, as far as it is text.
        reference: String,
        /// Why not.
        why: String,
    },
    /// An application's offset is longer than it may be.
    OffsetTooLong {
        /// Its bytes.
        bytes: usize,
        /// The most that leaves room in the log for the longest document.
        bytes_max: usize,
    },
    /// An application's offset is kept only where what is acknowledged survives a crash.
    OffsetNotKept,
    /// The heap is full, or the disk behind it, and the policy is to refuse rather than to wait or to drop.
    HeapFull,
    /// The key table of an index in memory is full, or a group's own keys fill the part of it that they fall on.
    KeysFull,
    /// The disk failed to keep data. The index answers queries and takes nothing more; what it acknowledged is
    /// there after the next start, and this operation may be.
    SyncFailed,
    /// The file does not hold what was stored there. The index answers queries whose answers are sure, and takes nothing more;
    /// this operation may be there after the next start.
    Damaged {
        /// What is wrong, and where in the executor's part.
        what: Corrupt,
    },
    /// A stage of the pipeline died; the index answers queries and takes nothing more.
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
