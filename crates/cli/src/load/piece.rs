//! A piece of a source: records that were read and parsed, up to a place where all of them go in.

use std::sync::Arc;

use crate::chunk::Chunk;
use crate::document::Parser;
use crate::failure::Failure;
use crate::format::Format;
use crate::input::Mark;
use crate::resume::Unfinished;

pub(super) struct Piece {
    /// The format and the names of columns, in a source's first piece.
    pub(super) begun: Option<(Format, Vec<u8>)>,
    pub(super) chunk: Chunk,
    /// Records that are no documents, in order.
    pub(super) bad: Vec<Bad>,
    /// The number of records that hold no text.
    pub(super) without_text: u64,
    /// The last record, and the place behind it if that is known.
    pub(super) mark: Option<(u64, Option<Mark>)>,
    pub(super) ended: Ended,
}

/// A record that is no document.
pub(super) struct Bad {
    /// The documents of the chunk that came before it.
    pub(super) before: usize,
    pub(super) line: u64,
    pub(super) kind: &'static str,
    pub(super) reason: String,
    /// As it was read, if it has bytes and they are kept.
    pub(super) record: Option<Vec<u8>>,
}

/// Why a piece ends where it does.
pub(super) enum Ended {
    /// It is large enough.
    Full,
    /// Nothing more is there yet.
    Pause,
    /// At the source's end. The place there is to be kept, unless the source is not the one that was
    /// read before.
    End {
        keep: Option<u64>,
        rest: Option<Rest>,
    },
    /// The source has other records before the place than were read.
    Other,
    Failed(Failure),
}

/// A last record without an ending, where places are wanted.
pub(super) struct Rest {
    pub(super) number: u64,
    pub(super) record: Vec<u8>,
    pub(super) parser: Arc<Parser>,
    /// What went in of it before.
    pub(super) before: Option<Unfinished>,
}

impl Piece {
    pub(super) fn new(chunk: Chunk) -> Piece {
        Piece {
            begun: None,
            chunk,
            bad: Vec::new(),
            without_text: 0,
            mark: None,
            ended: Ended::Full,
        }
    }

    /// True if the source has no other behind it.
    pub(super) fn is_last(&self) -> bool {
        !matches!(self.ended, Ended::Full | Ended::Pause)
    }
}
