//! A backup: the state of a part at one point of its operation order, in frames that a checksum
//! chains together.
//!
//! | file | noun |
//! |---|---|
//! | [`frame`] | a frame of the file, written and read |
//! | [`source`] | a part that may be changing during its copy: its newest slot, its log |
//! | [`deaths`] | which rows of a segment are dead in the backup |
//! | [`terms`] | the terms of a merged segment, restored to their engraved form |
//! | [`segment`] | a segment, copied |
//! | [`contents`] | the contents of a backup, with their places |
//! | [`target`] | a part that is made of it |
//!
//! `docs/backup.md` describes the protocol, its argument and the bytes. Nothing here stores to the
//! copied part, and the writer never waits.

pub(crate) mod contents;
pub(crate) mod deaths;
pub(crate) mod frame;
pub(crate) mod segment;
pub(crate) mod source;
pub mod target;
pub(crate) mod terms;

pub use contents::{Contents, PartContents, survey};
pub use deaths::Early;
pub use frame::{BACKUP_VERSION, Fault, FrameKind, FrameReader, FrameWriter, Sink};
pub use segment::CopyError;
pub use source::{Point, Source};

use crate::ground::corrupt::Corrupt;
use crate::ground::layout::NvmLayout;
use crate::ground::slot::Entry;

/// Checks that a segment's blocks lie in their partitions, so that their contents can be reached.
pub(crate) fn check_blocks(layout: &NvmLayout, at: u64, entry: &Entry) -> Result<(), Corrupt> {
    let blocks = [
        (layout.long, entry.long_start, entry.long_bytes),
        (layout.short, entry.short_start, entry.short_bytes),
    ];
    let inside = blocks.into_iter().all(|((from, room), start, bytes)| {
        let end = start.checked_add(bytes);
        start >= from && start.is_multiple_of(8) && end.is_some_and(|end| end <= from + room)
    });
    let why = "a block of the segment leaves its partition";
    if inside { Ok(()) } else { Err(Corrupt { what: "segment slot", at, why }) }
}

/// Returns words in the byte order of a file.
fn to_bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Yields the whole words in `bytes`.
fn to_words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word))
}
