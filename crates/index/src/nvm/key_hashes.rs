//! Keys of engraved segments, found without the key table: each segment has the hashes of its explicit keys, sorted.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_mem::Span;

use super::section::Kind;
use crate::descriptor::Position;
use crate::keys;
use crate::memory::Memory;
use crate::snapshot::Snapshot;

/// The row of the document with an explicit key, in one of the engraved segments before position `end`.
pub fn find_key(
    memory: &Memory,
    snapshot: &Snapshot<'_>,
    key: &[u8],
    hash: u64,
    end: Position,
) -> Option<u64> {
    let nvm = memory.nvm()?;
    let window = snapshot.window();
    let wanted = hash & 0xFFFF_FFFF;
    for position in (window.oldest..end.min(window.end)).rev() {
        let Ok((_, sections)) = nvm.sections(memory.region(), position) else { continue };
        let section = sections.get(Kind::KeyHashes);
        let hashes: Span<AtomicU64> = Span::new(section.start, section.bytes / 8);
        let hashes = memory.region().view(hashes);
        let first = hashes.partition_point(|word| word.load(Relaxed) >> 32 < wanted);
        let segment = snapshot.segment(position)?;
        let found = hashes[first..]
            .iter()
            .map(|word| word.load(Relaxed))
            .take_while(|word| word >> 32 == wanted)
            .map(|word| word as u32)
            .find(|local| {
                let row = segment.row_table().row(*local);
                keys::is(&segment, row.key(), key) && !segment.is_dead(*local)
            });
        if let Some(local) = found {
            return Some(segment.row_number(local));
        }
    }
    None
}
