//! FOR-delta: 128 gaps, each in as many bits as the widest needs, by the kernels that our packed lists use. Fewer are in variable bytes.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use spirit_kernel::Level;
use spirit_kernel::packed::{
    BLOCK, NUMBER_TAIL_WORDS_MAX, pack, pack_number_tail, packed_words, unpack, unpack_number_tail,
    width_of,
};

use super::blocks::{Blocks, Codec};

pub(crate) struct Widths;

pub(crate) type ForDelta = Blocks<Widths>;

impl Codec for Widths {
    const NAME: &'static str = "FOR-delta";
    type Unit = AtomicU32;

    fn pack(gaps: &[u32], out: &mut Vec<AtomicU32>) {
        let Ok(gaps) = <&[u32; BLOCK]>::try_from(gaps) else { return pack_tail(gaps, out) };
        let width = width_of(gaps);
        let mut words = vec![0; packed_words(width)];
        pack(gaps, width, &mut words);
        out.extend([width].into_iter().chain(words).map(AtomicU32::new));
    }

    fn unpack(level: Level, from: &[AtomicU32], out: &mut [u32]) {
        let Ok(block) = <&mut [u32; BLOCK]>::try_from(&mut *out) else {
            return unpack_tail(from, out);
        };
        unpack(level, &from[1..], from[0].load(Relaxed), block);
    }
}

/// Appends the gaps of a block that is not full.
pub(super) fn pack_tail(gaps: &[u32], out: &mut Vec<AtomicU32>) {
    let mut words = [0; NUMBER_TAIL_WORDS_MAX];
    let count = pack_number_tail(gaps, &mut words);
    out.extend(words[..count].iter().copied().map(AtomicU32::new));
}

/// Reads what [`pack_tail`] has written.
pub(super) fn unpack_tail(from: &[AtomicU32], out: &mut [u32]) {
    unpack_number_tail(from, out);
}
