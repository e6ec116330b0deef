//! Packs the rows of a segment while it is engraved: see [`packed`](crate::rows::packed).

use spirit_door::Site;

use crate::ground::section::{Kind, Section, Sections};
use crate::memory::Memory;
use crate::rows::packed::{Fields, Head, PACKED_CHUNK, word_of_stamps};
use crate::rows::stamps::stamp_bytes;
use crate::rows::{KEY_APART, KeyKind, RowKey};
use crate::snapshot::Segment;
use crate::tier::Nvm;

/// Number of rows of one step.
const ROWS: u32 = 1 << 16;

/// The packed rows of a segment on their way to the second tier.
#[derive(Debug)]
pub(crate) struct RowPacker {
    rows: u32,
    /// Number of rows of a chunk, as a power of two.
    shift: u32,
    heads: Vec<Head>,
    /// Number of chunks that are written, and number of their bytes.
    done: usize,
    written: u64,
    /// Units of the stored keys in the rows done so far.
    units: u32,
}

impl RowPacker {
    /// Makes the packer of a segment that takes no more rows.
    pub(crate) fn new(memory: &Memory, segment: &Segment<'_>) -> RowPacker {
        let (rows, shift) = (segment.rows(), memory.geometry().row_shift);
        let (mut heads, mut units, mut chunk) = (Vec::new(), 0, Vec::new());
        for first in (0..rows).step_by(1 << shift) {
            gather(segment, first, rows.min(first + (1 << shift)), &mut units, &mut chunk);
            heads.push(Head::of(&chunk));
        }
        RowPacker { rows, shift, heads, done: 0, written: 0, units: 0 }
    }

    /// Returns the bytes that the packed rows take.
    pub(crate) fn bytes(&self) -> u64 {
        let of_chunk = |(chunk, head): (usize, &Head)| head.chunk_words(self.rows_in(chunk)) * 8;
        self.heads.iter().enumerate().map(of_chunk).sum()
    }

    fn first_row(&self, chunk: usize) -> u32 {
        (chunk << self.shift) as u32
    }

    fn rows_in(&self, chunk: usize) -> u32 {
        (self.rows - self.first_row(chunk)).min(1 << self.shift)
    }

    /// Writes some chunks of rows, their directory entries, and the rows' death stamps so far.
    /// Returns true if all are written.
    pub(crate) fn advance(
        &mut self,
        memory: &Memory,
        nvm: &Nvm,
        segment: &Segment<'_>,
        sections: &Sections,
    ) -> bool {
        let [directory, rows, deaths] =
            [Kind::RowDirectory, Kind::Rows, Kind::Deaths].map(|kind| sections.get(kind));
        let end = self.heads.len().min(self.done + (ROWS >> self.shift).max(1) as usize);
        let (from, at) = (self.done, rows.start + self.written);
        let (mut words, mut places, mut chunk) = (Vec::new(), Vec::new(), Vec::new());
        // Invariant: chunks before `index` are in `words`, and `units` counts their stored keys.
        for index in from..end {
            let first = self.first_row(index);
            gather(segment, first, first + self.rows_in(index), &mut self.units, &mut chunk);
            let head = &mut self.heads[index];
            head.deaths = deaths.start + stamp_bytes(first as u64);
            places.push((at + words.len() as u64 * 8) | PACKED_CHUNK);
            head.write(&chunk, &mut words);
        }
        write(memory, nvm, at, &words);
        write(memory, nvm, directory.start + from as u64 * 8, &places);
        let (first, last) = (self.first_row(from), self.rows.min(self.first_row(end)));
        let pair = |local| word_of_stamps([local, local + 1].map(|local| stamp(segment, local)));
        let stamps: Vec<u64> = (first..last).step_by(2).map(pair).collect();
        write(memory, nvm, deaths.start + stamp_bytes(first as u64), &stamps);
        self.done = end;
        self.written += words.len() as u64 * 8;
        if end < self.heads.len() {
            return false;
        }
        let Section { start, bytes, .. } = directory;
        write(memory, nvm, start + end as u64 * 8, &vec![0; bytes as usize / 8 - end]);
        true
    }
}

fn stamp(segment: &Segment<'_>, local: u32) -> u32 {
    if local < segment.rows() { segment.row_table().row(local).death() } else { 0 }
}

/// Gathers the fields of rows. Stored keys lie apart: they get the places behind the first `units`
/// units.
fn gather(segment: &Segment<'_>, first: u32, end: u32, units: &mut u32, out: &mut Vec<Fields>) {
    let lengths = segment.lengths();
    let count = lengths.map_or(0, |lengths| lengths.len());
    out.clear();
    out.extend((first..end).map(|local| {
        let row = segment.vector_row(local);
        let key = match row.key().kind() {
            KeyKind::Stored { len, .. } => {
                let unit = *units;
                *units += len.div_ceil(2) as u32;
                RowKey::stored(unit | KEY_APART, len)
            }
            _ => row.key(),
        };
        let index = count.checked_sub(1 + local as usize);
        let length = index.zip(lengths).and_then(|(index, lengths)| lengths.get(index));
        let holes = row.tokens().wrapping_sub(length.unwrap_or(0) as u32);
        Fields { sequence: row.sequence(), holes, key }
    }));
}

fn write(memory: &Memory, nvm: &Nvm, at: u64, words: &[u64]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    nvm.door().write(Site::BodyWords, memory.region(), at, &bytes);
    nvm.door().write_back(Site::BodyWriteBack, memory.region(), at, bytes.len() as u64);
}
