//! Blocks and tails of numbers of any kind, such as gaps of positions: see the format in [`packed`](super).

use super::bytes::{NUMBER_BYTES_MAX, Reader, Writer};
use super::patched::{PATCHED_WORDS_MAX, Patch, pack_patched, unpack_patched};
use super::{BLOCK, TAIL_MAX};
use crate::level::Level;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Words of a block at most.
pub const NUMBERS_WORDS_MAX: usize = 1 + PATCHED_WORDS_MAX;

/// Words of a tail at most.
pub const NUMBER_TAIL_WORDS_MAX: usize = (TAIL_MAX * NUMBER_BYTES_MAX).div_ceil(4);

/// Writes a block to the front of `out`. Returns its words.
pub fn pack_numbers(values: &[u32; BLOCK], out: &mut [u32; NUMBERS_WORDS_MAX]) -> usize {
    let [header, body @ ..] = out;
    let patch = pack_patched(values, body);
    *header = u32::from_le_bytes([0, patch.width, patch.exceptions, patch.exception_words]);
    1 + patch.words()
}

/// Reads the block at the front of `words`. Returns its words; of a damaged one that may be more than there are.
pub fn unpack_numbers(level: Level, words: &[AtomicU32], out: &mut [u32; BLOCK]) -> usize {
    let (header, body) = split_header(words);
    let [_, width, exceptions, exception_words] = header;
    let patch = Patch { width, exceptions, exception_words };
    unpack_patched(level, body, patch, out);
    1 + patch.words()
}

/// The bytes of the first word, and the words behind it.
pub(super) fn split_header(words: &[AtomicU32]) -> ([u8; 4], &[AtomicU32]) {
    let Some((header, body)) = words.split_first() else { return ([0; 4], &[]) };
    (header.load(Relaxed).to_le_bytes(), body)
}

/// Writes the first [`TAIL_MAX`] values, or all if they are fewer. Returns the words written.
pub fn pack_number_tail(values: &[u32], out: &mut [u32; NUMBER_TAIL_WORDS_MAX]) -> usize {
    let mut writer = Writer::new(out);
    values.iter().take(TAIL_MAX).for_each(|value| writer.number(*value));
    writer.words()
}

/// Reads as many values as `out` has room for. Returns the words that held them.
pub fn unpack_number_tail(words: &[AtomicU32], out: &mut [u32]) -> usize {
    let mut reader = Reader::new(words);
    out.iter_mut().for_each(|value| *value = reader.number());
    reader.words()
}
