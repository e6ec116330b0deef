//! Packs lists. Their words are appended to those of earlier lists.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use spirit_kernel::packed::{
    BLOCK, POSTING_TAIL_WORDS_MAX, POSTINGS_WORDS_MAX, pack_posting_tail, pack_postings,
};

use crate::ground::posting::{frequency, rank};
use crate::lists::packed::HEAD_WORDS;
use crate::lists::packed::positions::{push_numbers, write};

/// The source of postings' positions.
pub(crate) trait PositionsOf {
    /// Returns the positions of the next posting, which is `posting`.
    fn next(&mut self, posting: u32) -> &[u32];
}

/// Appends a list of several postings. Returns its place: the number of words before it. `base` is
/// the rank of the segment's newest row. `maxima` are those of the list's blocks, if it has more
/// than one. Without `positions` it writes none.
pub(crate) fn pack_list(
    list: &[AtomicU32],
    base: u32,
    maxima: &[AtomicU64],
    mut positions: Option<&mut dyn PositionsOf>,
    out: &mut Vec<u32>,
) -> usize {
    let blocks = list.len().div_ceil(BLOCK);
    if blocks > 1 {
        out.resize(out.len().next_multiple_of(2), 0);
    }
    let first = out.len();
    if blocks > 1 {
        write_head(list, maxima, out);
    }
    let mut start = base;
    // Invariant: `start` is the lowest rank that the next block may begin with.
    for (number, block) in list.chunks(BLOCK).enumerate() {
        if blocks > 1 {
            out[first + blocks + number] = (out.len() - first) as u32;
        }
        let mut words = [0; BLOCK];
        words.iter_mut().zip(block).for_each(|(word, from)| *word = from.load(Relaxed));
        let words = &words[..block.len()];
        pack_block(words, start, out);
        start = words.last().map_or(0, |last| rank(*last) + 1);
        if let Some(positions) = &mut positions {
            pack_positions(words, *positions, out);
        }
    }
    first
}

/// Appends the last posting of each block, room for the blocks' places, and the maxima.
fn write_head(list: &[AtomicU32], maxima: &[AtomicU64], out: &mut Vec<u32>) {
    let (first, blocks) = (out.len(), maxima.len());
    let last = |block: &[AtomicU32]| block.last().map_or(0, |word| word.load(Relaxed) & !0xFF);
    out.extend(list.chunks(BLOCK).map(last));
    out.resize(first + 2 * blocks, 0);
    for word in maxima {
        let word = word.load(Relaxed);
        out.extend([word as u32, (word >> 32) as u32]);
    }
    debug_assert_eq!(out.len() - first, HEAD_WORDS * blocks);
}

fn pack_block(words: &[u32], start: u32, out: &mut Vec<u32>) {
    if let Ok(words) = words.try_into() {
        let mut packed = [0; POSTINGS_WORDS_MAX];
        let count = pack_postings(words, start, &mut packed);
        out.extend_from_slice(&packed[..count]);
    } else {
        let mut packed = [0; POSTING_TAIL_WORDS_MAX];
        let count = pack_posting_tail(words, start, &mut packed);
        out.extend_from_slice(&packed[..count]);
    }
}

/// Appends the positions of postings. Returns the number of words before them.
pub(crate) fn pack_positions(
    postings: &[u32],
    positions: &mut dyn PositionsOf,
    out: &mut Vec<u32>,
) -> usize {
    let first = out.len();
    let mut numbers = Vec::with_capacity(postings.len());
    for posting in postings {
        push_numbers(frequency(*posting), positions.next(*posting), &mut numbers);
    }
    write(&numbers, out);
    first
}

/// Returns an upper bound of the words for this many postings, lists and positions, with positions
/// below `2^width`.
pub(crate) fn words_max(postings: u64, lists: u64, positions: u64, width: u32) -> u64 {
    let blocks = postings / BLOCK as u64 + lists;
    // A tail's posting has up to five bytes; a block's has fewer. Each part may end within a word,
    // and a list may begin one word later.
    let of_postings = (postings * 5).div_ceil(4) + blocks * (HEAD_WORDS as u64 + 4);
    // Each saturated posting has one more number. The width must hold the counts too.
    let numbers = positions + positions / 255;
    of_postings + (numbers * width as u64).div_ceil(32) + 2 * blocks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lists::maxima::blocks_of;
    use crate::lists::packed::PackedList;
    use proptest::prelude::*;
    use spirit_kernel::Level;
    use spirit_mem::{Region, Residency, Span};

    /// Positions that are made of the posting.
    struct Made(Vec<u32>);

    impl PositionsOf for Made {
        fn next(&mut self, posting: u32) -> &[u32] {
            self.0 = made(posting);
            &self.0
        }
    }

    fn made(posting: u32) -> Vec<u32> {
        let count =
            frequency(posting) + if frequency(posting) == 255 { rank(posting) % 3 } else { 0 };
        (0..count).map(|i| i * (rank(posting) % 5 + 1) + rank(posting) % 7).collect()
    }

    proptest! {
        /// Every block comes back as it was, with its positions, and a rank is found where it is.
        #[test]
        fn lists_read_back(
            gaps in prop::collection::vec((0u32..300, prop_oneof![9 => 1u32..4, 1 => 200u32..256]), 2..700),
            before in 0usize..3,
            with_positions: bool,
        ) {
            let mut next = 0;
            let postings: Vec<u32> = gaps.iter().map(|(gap, frequency)| {
                next += gap + 1;
                next << 8 | frequency
            }).collect();
            let list: Vec<AtomicU32> = postings.iter().map(|word| AtomicU32::new(*word)).collect();
            let blocks = blocks_of(list.len() as u32);
            let maxima: Vec<AtomicU64> = (0..blocks).map(|block| AtomicU64::new(block << 40 | 3)).collect();
            let mut out = vec![9; before];
            let mut positions = Made(Vec::new());
            let positions: Option<&mut dyn PositionsOf> =
                if with_positions { Some(&mut positions) } else { None };
            let base = rank(postings[0]) / 2;
            let place = pack_list(&list, base, &maxima, positions, &mut out);
            let counted = if with_positions { postings.iter().map(|word| made(*word).len()).sum() } else { 0 };
            prop_assert!(out.len() as u64 - before as u64 <= words_max(list.len() as u64, 1, counted as u64, 11));

            let region = Region::reserve(out.len() as u64 * 4, Residency::OnTouch).unwrap();
            let words = region.view(Span::<AtomicU32>::new(0, out.len() as u64));
            words.iter().zip(&out).for_each(|(to, word)| to.store(*word, Relaxed));
            let span = Span::new(place as u64 * 4, (out.len() - place) as u64);
            let packed = PackedList::new(span, list.len() as u32, base);
            prop_assert_eq!(packed.maxima(&region).len() as u64, blocks);
            for (one, two) in packed.maxima(&region).iter().zip(&maxima) {
                prop_assert_eq!(one.load(Relaxed), two.load(Relaxed));
            }
            let mut found = [0; BLOCK];
            for (block, expected) in postings.chunks(BLOCK).enumerate() {
                let unpacked = packed.unpack(&region, Level::detect(), block, &mut found);
                prop_assert_eq!(&found[..unpacked.count], expected);
                if with_positions {
                    for at in 0..unpacked.count {
                        let positions = packed.positions(&region, unpacked.positions_at);
                        let read: Vec<u32> = positions.of_last(&found[..=at]).collect();
                        prop_assert_eq!(read, made(found[at]));
                    }
                }
            }
            let has = |wanted| packed.has(&region, Level::detect(), wanted);
            for wanted in [postings[0], postings[postings.len() / 2], postings[postings.len() - 1]] {
                prop_assert!(has(rank(wanted)));
                let next = rank(wanted) + 1;
                prop_assert_eq!(has(next), postings.iter().any(|word| rank(*word) == next));
            }
        }
    }
}
