//! Blocks and tails of posting words: see the format in [`packed`](super).
//!
//! What comes out are words again, so every kernel for runs works on an unpacked block (see [`run_of`](crate::run_of)).

use super::bits::{PACKED_WORDS_MAX, pack, packed_words, unpack, width_of};
use super::bytes::{Reader, Writer};
use super::numbers::split_header;
use super::patched::{PATCHED_WORDS_MAX, Patch, pack_patched, unpack_patched};
use super::sums::{gaps, sum_gaps};
use super::{BLOCK, TAIL_MAX};
use crate::level::Level;
use crate::run::{FREQUENCY_BITS, FREQUENCY_MASK, RANK_MAX};
use std::sync::atomic::AtomicU32;

/// Words of a block at most.
pub const POSTINGS_WORDS_MAX: usize = 1 + PACKED_WORDS_MAX + PATCHED_WORDS_MAX;

/// Words of a tail at most: twice a gap is 25 bits, in four bytes, and a byte of frequency.
pub const POSTING_TAIL_WORDS_MAX: usize = (TAIL_MAX * (4 + 1)).div_ceil(4);

/// Writes a block of words that ascend by rank, from `start` or above, to the front of `out`. Returns its words.
///
/// Words that do not ascend come back as they are too, but take more room.
pub fn pack_postings(
    words: &[u32; BLOCK],
    start: u32,
    out: &mut [u32; POSTINGS_WORDS_MAX],
) -> usize {
    let gaps = gaps(&words.map(|word| word >> FREQUENCY_BITS), start);
    let frequencies = words.map(|word| word & FREQUENCY_MASK);
    let width = width_of(&gaps);
    let [header, body @ ..] = out;
    let of_gaps = pack(&gaps, width, body);
    let Some(behind) = body[of_gaps..].first_chunk_mut() else {
        unreachable!("there is room for gaps and frequencies at their widest");
    };
    let patch = pack_patched(&frequencies, behind);
    let Patch { width: of_frequencies, exceptions, exception_words } = patch;
    *header = u32::from_le_bytes([width as u8, of_frequencies, exceptions, exception_words]);
    1 + of_gaps + patch.words()
}

/// Reads the block at the front of `words`, which was written with the same `start`. Returns its words; of a damaged
/// one that may be more than there are.
pub fn unpack_postings(
    level: Level,
    words: &[AtomicU32],
    start: u32,
    out: &mut [u32; BLOCK],
) -> usize {
    let (body, patch, count) = unpack_gaps(level, words, start, out);
    let mut frequencies = [0; BLOCK];
    unpack_patched(level, body, patch, &mut frequencies);
    for (word, frequency) in out.iter_mut().zip(frequencies) {
        *word = *word << FREQUENCY_BITS | frequency & FREQUENCY_MASK;
    }
    count
}

/// The same with a frequency of 0 in each word: those of the block are not looked at.
pub fn unpack_ranks(
    level: Level,
    words: &[AtomicU32],
    start: u32,
    out: &mut [u32; BLOCK],
) -> usize {
    let (_, _, count) = unpack_gaps(level, words, start, out);
    out.iter_mut().for_each(|word| *word <<= FREQUENCY_BITS);
    count
}

/// Reads the ranks. Returns where frequencies begin, what they are read with, and the words of the block.
#[inline]
fn unpack_gaps<'a>(
    level: Level,
    words: &'a [AtomicU32],
    start: u32,
    out: &mut [u32; BLOCK],
) -> (&'a [AtomicU32], Patch, usize) {
    let ([of_gaps, width, exceptions, exception_words], body) = split_header(words);
    let patch = Patch { width, exceptions, exception_words };
    unpack(level, body, of_gaps.into(), out);
    sum_gaps(level, start, out);
    let of_gaps = packed_words(of_gaps.into());
    (body.get(of_gaps..).unwrap_or(&[]), patch, 1 + of_gaps + patch.words())
}

/// Writes the first [`TAIL_MAX`] words, or all if they are fewer; they ascend as those of a block. Returns the words
/// written.
pub fn pack_posting_tail(
    words: &[u32],
    start: u32,
    out: &mut [u32; POSTING_TAIL_WORDS_MAX],
) -> usize {
    let (mut writer, mut lowest) = (Writer::new(out), start);
    for word in words.iter().take(TAIL_MAX) {
        let (rank, frequency) = (word >> FREQUENCY_BITS, word & FREQUENCY_MASK);
        let gap = rank.wrapping_sub(lowest) & RANK_MAX;
        writer.number(2 * gap + u32::from(frequency != 1));
        if frequency != 1 {
            writer.byte(frequency as u8);
        }
        lowest = rank.wrapping_add(1);
    }
    writer.words()
}

/// Reads as many words as `out` has room for, which were written with the same `start`. Returns the words that held them.
pub fn unpack_posting_tail(words: &[AtomicU32], start: u32, out: &mut [u32]) -> usize {
    let (mut reader, mut lowest) = (Reader::new(words), start);
    for word in out {
        let number = reader.number();
        let frequency = if number & 1 == 0 { 1 } else { u32::from(reader.byte()) };
        let rank = lowest.wrapping_add(number >> 1);
        *word = rank << FREQUENCY_BITS | frequency;
        lowest = rank.wrapping_add(1);
    }
    reader.words()
}
