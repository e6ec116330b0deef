//! Bytes in words, and variable bytes: numbers of 7 bits a byte, lowest first.
//!
//! A reader loads the two words a number can lie in and finds its end by a bit scan, so there is no loop over bytes and no
//! branch on how many there are.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Bits of a number in a byte.
const BITS: u32 = 7;

/// The bit of a byte that says that another follows.
const MORE: u8 = 0x80;

/// Bytes of a number at most.
pub(super) const NUMBER_BYTES_MAX: usize = u32::BITS.div_ceil(BITS) as usize;

/// How many bytes a number of this many bits takes.
pub(super) fn bytes_of_width(width: u32) -> usize {
    width.div_ceil(BITS).max(1) as usize
}

/// Writes bytes to words from their beginning on.
pub(super) struct Writer<'a> {
    words: &'a mut [u32],
    at: usize,
}

impl<'a> Writer<'a> {
    /// `words` have room for all that will be written.
    pub(super) fn new(words: &'a mut [u32]) -> Self {
        Writer { words, at: 0 }
    }

    pub(super) fn byte(&mut self, byte: u8) {
        let slot = &mut self.words[self.at / 4];
        let before = if self.at.is_multiple_of(4) { 0 } else { *slot };
        *slot = before | u32::from(byte) << (8 * (self.at % 4));
        self.at += 1;
    }

    pub(super) fn number(&mut self, mut number: u32) {
        while number >= u32::from(MORE) {
            self.byte(number as u8 | MORE);
            number >>= BITS;
        }
        self.byte(number as u8);
    }

    /// The words written, the last one filled with zeros.
    pub(super) fn words(&self) -> usize {
        self.at.div_ceil(4)
    }
}

/// Reads bytes of words from their beginning on; behind their end all are zeros.
pub(super) struct Reader<'a> {
    words: &'a [AtomicU32],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(words: &'a [AtomicU32]) -> Self {
        Reader { words, at: 0 }
    }

    #[inline(always)]
    pub(super) fn byte(&mut self) -> u8 {
        let byte = self.next_bytes() as u8;
        self.at += 1;
        byte
    }

    #[inline(always)]
    pub(super) fn number(&mut self) -> u32 {
        let bytes = self.next_bytes();
        // The first byte that no other follows; of damaged ones the fifth.
        let ends = !bytes & 0x80_8080_8080 | 1 << 39;
        let bits = ends.trailing_zeros() + 1;
        self.at += bits as usize / 8;
        let bytes = bytes & (u64::MAX >> (64 - bits));
        let group = |i: u32| bytes >> i & 0x7F << (BITS * i);
        (group(0) | group(1) | group(2) | group(3) | group(4)) as u32
    }

    /// The words that hold what was read.
    pub(super) fn words(&self) -> usize {
        self.at.div_ceil(4)
    }

    /// At least the next five bytes.
    #[inline(always)]
    fn next_bytes(&self) -> u64 {
        let word = |at: usize| self.words.get(at).map_or(0, |word| u64::from(word.load(Relaxed)));
        let at = self.at / 4;
        (word(at) | word(at + 1) << 32) >> (8 * (self.at % 4))
    }
}
