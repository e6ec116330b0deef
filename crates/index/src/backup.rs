//! A backup: the state of a part at one point of its operation order, in frames that a checksum chains together.
//!
//! | file | noun |
//! |---|---|
//! | [`frame`] | a frame of the file, written and read |
//! | [`source`] | a part that is copied while somebody may be changing it: its newest slot, its log |
//! | [`deaths`] | which rows of a segment are dead in the backup |
//! | [`terms`] | the terms of a merged segment, made again as they were engraved |
//! | [`segment`] | a segment, copied |
//! | [`contents`] | what a backup holds, and where |
//! | [`target`] | a part that is made of it |
//!
//! The protocol, its argument and the bytes are described in `docs/backup.md`. Nothing here stores to the part that is
//! copied, and nobody is asked to wait.

pub mod contents;
pub mod deaths;
pub mod frame;
pub mod segment;
pub mod source;
pub mod target;
pub mod terms;

use crate::ground::corrupt::Corrupt;
use crate::ground::layout::NvmLayout;
use crate::ground::slot::Entry;

/// Whether a segment's blocks lie in their partitions, so that whatever is in them can be reached.
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

/// Words as they lie in a file.
fn to_bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The words of whole ones.
fn to_words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word))
}
