//! Any words as packed postings and numbers: they are read to an end, and every level reads the same; what is packed is
//! read back, however large its gaps.

use std::sync::atomic::AtomicU32;

use spirit_index::lists::Positions;
use spirit_kernel::Level;
use spirit_kernel::packed::{
    BLOCK, NUMBER_TAIL_WORDS_MAX, NUMBERS_WORDS_MAX, POSTINGS_WORDS_MAX, TAIL_MAX, pack_numbers,
    pack_postings, unpack, unpack_number_tail, unpack_numbers, unpack_posting_tail,
    unpack_postings, unpack_ranks,
};

/// Positions of one posting that are looked at.
const POSITIONS_MAX: usize = 1000;

/// Reads `data` as words: the first byte says how wide numbers are, the next four bytes which id is the lowest.
pub fn packed(data: &[u8]) {
    let (head, body) = data.split_at(data.len().min(5));
    let mut first = [0; 5];
    first[..head.len()].copy_from_slice(head);
    let [width, start @ ..] = first;
    let start = u32::from_le_bytes(start);
    let plain: Vec<u32> = body.chunks(4).map(word).collect();
    let words: Vec<AtomicU32> = plain.iter().copied().map(AtomicU32::new).collect();
    read(&words, u32::from(width), start);
    write(&plain, start);
}

fn word(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
}

fn read(words: &[AtomicU32], width: u32, start: u32) {
    let by_level: Vec<_> = Level::all_supported()
        .map(|level| {
            let [mut bits, mut numbers, mut postings, mut ranks] = [[0; BLOCK]; 4];
            unpack(level, words, width, &mut bits);
            let used = [
                unpack_numbers(level, words, &mut numbers),
                unpack_postings(level, words, start, &mut postings),
                unpack_ranks(level, words, start, &mut ranks),
            ];
            (bits, numbers, postings, ranks, used)
        })
        .collect();
    assert!(by_level.windows(2).all(|pair| pair[0] == pair[1]), "levels differ");
    let mut tail = [0; TAIL_MAX];
    assert!(unpack_number_tail(words, &mut tail) <= NUMBER_TAIL_WORDS_MAX);
    unpack_posting_tail(words, start, &mut tail);
    for count in [0, 1, TAIL_MAX] {
        let positions = Positions::new(words).of_last(&tail[..count]);
        assert!(positions.take(POSITIONS_MAX).count() <= POSITIONS_MAX);
    }
}

fn write(plain: &[u32], start: u32) {
    let mut values = [0; BLOCK];
    values.iter_mut().zip(plain).for_each(|(to, from)| *to = *from);
    let mut out = [0; NUMBERS_WORDS_MAX];
    let used = pack_numbers(&values, &mut out);
    let mut postings = [0; POSTINGS_WORDS_MAX];
    let of_postings = pack_postings(&values, start, &mut postings);
    let shared = |words: &[u32]| words.iter().copied().map(AtomicU32::new).collect::<Vec<_>>();
    let (numbers, postings) = (shared(&out[..used]), shared(&postings[..of_postings]));
    for level in Level::all_supported() {
        let mut back = [0; BLOCK];
        assert_eq!((unpack_numbers(level, &numbers, &mut back), back), (used, values));
        let read = unpack_postings(level, &postings, start, &mut back);
        assert_eq!((read, back), (of_postings, values), "from {start}");
    }
}
