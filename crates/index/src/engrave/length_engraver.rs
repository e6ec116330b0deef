//! Document lengths of one byte each, in segments where all are that short.

use spirit_door::Site;

use crate::ground::layout::PIECE_BYTES;
use crate::ground::section::Section;
use crate::memory::Memory;
use crate::rows::lengths::{LengthArray, length_bytes, short_length_bytes};
use crate::snapshot::Segment;
use crate::tier::Nvm;

/// Returns the bytes that a segment's lengths take. `packs` is true if its lists are packed.
pub(crate) fn bytes(segment: &Segment<'_>, packs: bool) -> u64 {
    let rows = segment.rows() as u64;
    let is_short = |lengths: LengthArray<'_>| {
        let longest = (0..lengths.len()).filter_map(|index| lengths.get(index)).max();
        longest.is_none_or(|longest| longest <= u8::MAX as u16)
    };
    let are_short = packs && segment.lengths().is_some_and(is_short);
    if are_short { short_length_bytes(rows) } else { length_bytes(rows) }
}

/// Writes a segment's lengths to their section if they take one byte each there. Longer ones are
/// copied elsewhere.
pub(crate) fn write(memory: &Memory, nvm: &Nvm, section: Section, segment: &Segment<'_>) {
    let Some(lengths) = segment.lengths() else { return };
    if section.bytes >= length_bytes(lengths.len() as u64) {
        return;
    }
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
