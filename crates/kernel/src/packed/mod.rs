//! Packed lists: numbers and postings in blocks of 128, a few bits each, and what is left in variable bytes.
//!
//! The codecs of Chilukuri and Akram (ISMM 2023, 2.2): gaps of document ids in as many bits as the block's largest needs
//! (FOR-delta), frequencies and gaps of positions with the few large ones set apart (PFOR), and variable bytes for the
//! end of a list. A block is read alone, given the lowest id that it may begin with, so a list can be entered at any.
//!
//! # Format
//!
//! It is persistent. All parts are whole 4-byte words, little endian: byte `k` of a part is bits `8 * (k % 4)` and up of its
//! word `k / 4`. Bits that nothing is said about are zero.
//!
//! *Bits* (`bits.rs`): 128 numbers of `width` bits, 0 to 32, in `4 * width` words. The words are four lanes: words `l`,
//! `l + 4`, `l + 8`, ... are lane `l`, one stream of bits, lowest first. Number `i` is in lane `i % 4`, at bits
//! `width * (i / 4)` and up of its stream.
//!
//! *Exceptions* (`patched.rs`): for each number that `width` bits do not hold, by ascending index, its index as a byte and
//! the number without its low `width` bits as variable bytes. In the bits are the low ones.
//!
//! *Variable bytes* (`bytes.rs`): 7 bits of a number a byte, lowest first; bit 7 says that another byte follows. A number
//! has 5 bytes at most.
//!
//! | part | word 0, byte 0 | byte 1 | byte 2 | byte 3 | then |
//! |---|---|---|---|---|---|
//! | block of postings | width of gaps | width of frequencies | how many exceptions | words of exceptions | bits of gaps, bits of frequencies, exceptions of frequencies |
//! | block of numbers | 0 | width | how many exceptions | words of exceptions | bits, exceptions |
//!
//! *Gaps* of ascending ids: the id less the lowest one it may be, which for the first id of a block is given, and for the others
//! one more than the id before.
//!
//! *Tails* have no header; anyone who reads one knows how many it holds, at most 127. Of numbers: each in variable bytes. Of postings: each
//! `2 * gap` in variable bytes if the frequency is 1, else `2 * gap + 1` and the frequency as one byte.
//!
//! # Damage
//!
//! A reader takes any words: missing ones are zeros, widths above 32 are 32, indices are taken modulo 128. What it returns is then
//! unspecified, and it ends after as many steps as ever.

mod bits;
mod bytes;
mod patched;
mod sums;

mod numbers;
mod postings;

/// Numbers in a block.
pub const BLOCK: usize = 128;

/// Numbers that a tail holds at most.
pub const TAIL_MAX: usize = BLOCK - 1;

pub use bits::{pack, packed_words, unpack, width_of};
pub use numbers::{
    NUMBER_TAIL_WORDS_MAX, NUMBERS_WORDS_MAX, pack_number_tail, pack_numbers, unpack_number_tail,
    unpack_numbers,
};
pub use postings::{
    POSTING_TAIL_WORDS_MAX, POSTINGS_WORDS_MAX, pack_posting_tail, pack_postings,
    unpack_posting_tail, unpack_postings, unpack_ranks,
};
pub use sums::{gaps, sum_gaps};
