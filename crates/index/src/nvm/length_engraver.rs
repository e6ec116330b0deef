//! Documents' lengths, a byte each, where all are that short.

use spirit_door::Site;

use super::engrave::PIECE_BYTES;
use super::section::Section;
use super::tier::Nvm;
use crate::lengths::{LengthArray, length_bytes, short_length_bytes};
use crate::memory::Memory;

/// Bytes that lengths take at least.
pub(super) fn bytes(lengths: LengthArray<'_>) -> u64 {
    let rows = lengths.len() as u64;
    let longest = (0..lengths.len()).filter_map(|index| lengths.get(index)).max();
    let are_short = longest.is_none_or(|longest| longest <= u8::MAX as u16);
    if are_short { short_length_bytes(rows) } else { length_bytes(rows) }
}

/// Writes them to their section, a byte each.
pub(super) fn write(memory: &Memory, nvm: &Nvm, section: Section, lengths: LengthArray<'_>) {
    let length = |index| lengths.get(index).unwrap_or(0) as u8;
    let mut bytes = Vec::new();
    for first in (0..section.bytes).step_by(PIECE_BYTES as usize) {
        let end = section.bytes.min(first + PIECE_BYTES);
        bytes.clear();
        bytes.extend((first..end).map(|index| length(index as usize)));
        let at = section.start + first;
        nvm.door().write(Site::BodyWords, memory.region(), at, &bytes);
        nvm.door().write_back(Site::BodyWriteBack, memory.region(), at, bytes.len() as u64);
    }
}
