//! Packs the lists of a segment while it is engraved, and records the place of each: see
//! [`packed`](crate::lists::packed).

use std::sync::atomic::AtomicU32;

use spirit_door::Site;
use spirit_mem::Span;

use crate::engrave::inversion::Inversion;
use crate::engrave::term_engraver::{GROUP, each_entry};
use crate::ground::ids::SegmentId;
use crate::ground::posting::{FREQUENCY_MAX, frequency};
use crate::lists::packed::PACKED_FIRST;
use crate::lists::packed::writer::{PositionsOf, pack_list, pack_positions, words_max};
use crate::memory::Memory;
use crate::snapshot::{Segment, Snapshot};
use crate::terms::entries::{ALONE, Entry, PACKED};
use crate::tier::Nvm;

/// Larger segments stay raw: an offset this large would collide with the `PACKED` flag.
pub(crate) const LIST_BYTES_MAX: u64 = PACKED as u64 * 4;

/// The packed lists of a segment on their way to the second tier.
#[derive(Debug)]
pub(crate) struct ListPacker {
    id: SegmentId,
    /// The terms' positions in their documents, if positions are kept.
    positions: Option<Inversion>,
    /// Packed words that are not written yet, and the number of words that are.
    words: Vec<u32>,
    written: u64,
}

impl ListPacker {
    /// Makes the packer of a segment of this many terms.
    pub(crate) fn new(memory: &Memory, id: SegmentId, terms: u32) -> ListPacker {
        let positions = memory.geometry().settings.positions.then(|| Inversion::new(terms));
        ListPacker { id, positions, words: vec![0; PACKED_FIRST as usize], written: 0 }
    }

    /// Prepares the positions, step by step. Returns true if they are ready.
    pub(crate) fn prepare(&mut self, memory: &Memory) -> bool {
        let segment = segment(memory, self.id);
        self.positions.as_mut().is_none_or(|positions| positions.advance(&segment))
    }

    /// Packs the list of the term with this ordinal and entry. Returns the term's new entry.
    pub(crate) fn pack(&mut self, memory: &Memory, ordinal: u32, entry: Entry) -> Entry {
        let segment = segment(memory, self.id);
        let mut positions = self.positions.as_ref().map(|all| all.of(&segment, ordinal));
        if entry.postings == 1 {
            let alone = positions.map_or(0, |mut positions| {
                ALONE | place_alone(entry.payload, &mut positions, &mut self.words, self.written)
            });
            return Entry { alone, ..entry };
        }
        let (region, flushed) = (memory.region(), segment.flushed());
        let list = region.view(flushed.list(entry));
        let maxima = flushed.maxima(entry).map_or(&[][..], |maxima| region.view(maxima));
        let positions = positions.as_mut().map(|positions| positions as &mut dyn PositionsOf);
        let at = pack_list(list, flushed.base_rank(), maxima, positions, &mut self.words);
        Entry { payload: PACKED | (self.written + at as u64) as u32, ..entry }
    }

    /// Writes the packed words to the section that begins at `start`.
    pub(crate) fn write(&mut self, memory: &Memory, nvm: &Nvm, start: u64) {
        if self.words.is_empty() {
            return;
        }
        self.words.resize(self.words.len().next_multiple_of(2), 0);
        let bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let at = start + self.written * 4;
        nvm.door().write(Site::BodyWords, memory.region(), at, &bytes);
        nvm.door().write_back(Site::BodyWriteBack, memory.region(), at, bytes.len() as u64);
        self.written += self.words.len() as u64;
        self.words.clear();
    }

    /// Returns the number of bytes written.
    pub(crate) fn bytes(&self) -> u64 {
        self.written * 4
    }
}

/// Returns the position of a term's only posting, or the place of its positions if it has several.
fn place_alone(
    posting: u32,
    positions: &mut dyn PositionsOf,
    words: &mut Vec<u32>,
    written: u64,
) -> u32 {
    match frequency(posting) {
        1 => positions.next(posting)[0],
        _ => (written + pack_positions(&[posting], positions, words) as u64) as u32,
    }
}

fn segment(memory: &Memory, id: SegmentId) -> Segment<'_> {
    Snapshot::of_role(memory, u64::MAX).of(id)
}

/// Returns an upper bound of the bytes that a segment's packed lists take. `map` has the numbers of
/// its ordinals.
pub(crate) fn bytes_max(memory: &Memory, id: SegmentId, map: Span<AtomicU32>) -> u64 {
    let (mut postings, mut lists) = (0, 0);
    let terms = map.len() as usize;
    for first in (0..terms).step_by(GROUP) {
        each_entry(memory, id, map, first..terms.min(first + GROUP), |_, _, entry| {
            postings += u64::from(entry.postings);
            lists += 1;
        });
    }
    let (positions, width) = match memory.geometry().settings.positions {
        true => positions_max(&segment(memory, id), postings),
        false => (0, 0),
    };
    let words = PACKED_FIRST as u64 + words_max(postings, lists, positions, width) + 2 * lists;
    (words * 4).next_multiple_of(8)
}

/// Returns two upper bounds for a segment with this many postings. The first is the number of its
/// positions. The second is the bits of the largest number written for a position.
fn positions_max(segment: &Segment<'_>, postings: u64) -> (u64, u32) {
    let tokens = |local| segment.vector_row(local).tokens();
    let rows = (0..segment.rows()).map(tokens);
    let (sum, longest) =
        rows.fold((0, 0), |(sum, longest), tokens| (sum + tokens as u64, tokens.max(longest)));
    // Postings of broken-off documents may have positions that nothing counted.
    let unknown = postings.saturating_sub(segment.descriptor().posting_count());
    let longest = longest.max(FREQUENCY_MAX);
    (sum + unknown * FREQUENCY_MAX as u64, u32::BITS - longest.leading_zeros())
}
