//! The stored keys of a segment that is engraved without document vectors. They lie one behind the
//! other, each in its own units. The [rows](crate::engrave::row_packer) that lead to them count
//! units in this way too.

use spirit_door::Site;

use crate::ground::layout::PIECE_BYTES;
use crate::ground::section::{Kind, Section, Sections};
use crate::memory::Memory;
use crate::rows::{KeyKind, RowKey};
use crate::snapshot::Segment;
use crate::tier::Nvm;

/// Returns an upper bound of the bytes that the stored keys among `keys` take, in whole words.
pub(crate) fn bytes(keys: impl Iterator<Item = RowKey>) -> u64 {
    keys.map(units).sum::<u64>().next_multiple_of(4) * 2
}

/// Returns the units that a key takes, or 0 if it is not stored.
pub(crate) fn units(key: RowKey) -> u64 {
    match key.kind() {
        KeyKind::Stored { len, .. } => len.div_ceil(2) as u64,
        _ => 0,
    }
}

/// Writes the stored keys among `keys` to the section of vectors.
pub(crate) fn write(
    memory: &Memory,
    nvm: &Nvm,
    sections: &Sections,
    segment: &Segment<'_>,
    keys: impl Iterator<Item = RowKey>,
) {
    let (door, region) = (nvm.door(), memory.region());
    let mut bytes = Vec::new();
    for key in keys {
        let KeyKind::Stored { unit: from, len } = key.kind() else { continue };
        bytes.extend(segment.stored_key(from, len));
        bytes.resize(bytes.len().next_multiple_of(2), 0);
    }
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    const PIECE: usize = PIECE_BYTES as usize;
    let Section { start, .. } = sections.get(Kind::Vectors);
    for (at, piece) in (start..).step_by(PIECE).zip(bytes.chunks(PIECE)) {
        door.write(Site::BodyWords, region, at, piece);
        door.write_back(Site::BodyWriteBack, region, at, piece.len() as u64);
    }
}
