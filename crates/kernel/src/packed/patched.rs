//! Bits with exceptions: a width that most numbers of a block fit, and the others' high bits behind them.
//!
//! One large number in 128 makes all of them wide; set apart it costs two or three bytes. The writer takes the
//! width that needs the fewest words, counting both.

use super::bits::{WIDTH_MAX, low_bits, pack, packed_words, unpack, width_of};
use super::bytes::{Reader, Writer, bytes_of_width};
use super::{BLOCK, bits::PACKED_WORDS_MAX};
use crate::level::Level;
use std::sync::atomic::AtomicU32;

/// Words of a patched block at most: the writer may always do without exceptions.
pub(super) const PATCHED_WORDS_MAX: usize = PACKED_WORDS_MAX;

/// What a reader of a patched block has to know of it: three bytes of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patch {
    pub(super) width: u8,
    pub(super) exceptions: u8,
    pub(super) exception_words: u8,
}

impl Patch {
    /// Words of bits and exceptions.
    pub(super) fn words(self) -> usize {
        packed_words(self.width.into()) + usize::from(self.exception_words)
    }
}

/// Writes bits and exceptions to the front of `out`.
pub(super) fn pack_patched(values: &[u32; BLOCK], out: &mut [u32; PATCHED_WORDS_MAX]) -> Patch {
    let width = best_width(values);
    let (bits, behind) = out.split_at_mut(packed_words(width));
    pack(values, width, bits);
    let (mut writer, mut exceptions) = (Writer::new(behind), 0);
    for (index, value) in (0..).zip(values) {
        if value & low_bits(width) != *value {
            writer.byte(index);
            writer.number(value >> width);
            exceptions += 1;
        }
    }
    Patch { width: width as u8, exceptions, exception_words: writer.words() as u8 }
}

/// The width with the fewest words, and of several the largest: exceptions cost time.
fn best_width(values: &[u32; BLOCK]) -> u32 {
    let widest = width_of(values);
    let mut count_of = [0; WIDTH_MAX as usize + 1];
    values.iter().for_each(|value| count_of[(WIDTH_MAX - value.leading_zeros()) as usize] += 1);
    let words = |width: u32| {
        let bytes_of = |own: u32| count_of[own as usize] * (1 + bytes_of_width(own - width));
        let bytes = (width + 1..=widest).map(bytes_of);
        packed_words(width) + bytes.sum::<usize>().div_ceil(4)
    };
    (0..=widest).rev().min_by_key(|width| words(*width)).unwrap_or(widest)
}

/// Reads what [`pack_patched`] has written. Nothing says that the words, or the patch, are whole.
pub(super) fn unpack_patched(
    level: Level,
    words: &[AtomicU32],
    patch: Patch,
    out: &mut [u32; BLOCK],
) {
    let width = u32::from(patch.width);
    unpack(level, words, width, out);
    let mut reader = Reader::new(words.get(packed_words(width)..).unwrap_or(&[]));
    for _ in 0..patch.exceptions {
        let index = usize::from(reader.byte()) % BLOCK;
        out[index] |= reader.number().checked_shl(width).unwrap_or(0);
    }
}
