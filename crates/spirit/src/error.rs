//! What can go wrong, for whom, and what to do about it.

use std::fmt;

use spirit_index::batch::KEY_BYTES_MAX;
use spirit_index::geometry::GeometryError;

/// Opening an index failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// The memory cannot be divided or had as asked.
    Memory(GeometryError),
    /// A thread could not be started.
    Thread(std::io::Error),
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
            OpenError::Setting { name, asked, min, max } => {
                write!(f, "{name} is {asked}: choose {min} to {max}")
            }
        }
    }
}

impl std::error::Error for OpenError {}

/// A document was not taken. The index is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddError {
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
    /// The key is empty or longer than a key may be.
    Key {
        /// Its bytes.
        bytes: usize,
    },
    /// The heap is full, and the index was told to refuse rather than to wait or to drop.
    HeapFull,
    /// The key table is full.
    KeysFull,
    /// A stage of the pipeline died; the index answers queries and takes nothing more.
    Poisoned,
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AddError::DocumentTooLong { bytes, bytes_max } => {
                write!(f, "a document of {bytes} bytes: at most {bytes_max}; split it")
            }
            AddError::DocumentTooLarge { segment_bytes } => write!(
                f,
                "the document does not fit in an empty segment of {segment_bytes} bytes; use larger segments"
            ),
            AddError::Key { bytes } => {
                write!(f, "a key of {bytes} bytes: keys have 1 to {KEY_BYTES_MAX} bytes")
            }
            AddError::HeapFull => f.write_str(
                "the heap is full; give it more DRAM, or let the index drop its oldest segment",
            ),
            AddError::KeysFull => {
                f.write_str("the key table is full; give the index more DRAM, or drop old segments")
            }
            AddError::Poisoned => f.write_str(
                "a stage of the pipeline failed; the index answers queries and takes nothing more",
            ),
        }
    }
}

impl std::error::Error for AddError {}
