//! PFOR: 128 gaps in as few bits as most of them need. The high bits of the others are apart, in variable bytes. By our kernels.

use std::sync::atomic::AtomicU32;

use spirit_kernel::Level;
use spirit_kernel::packed::{BLOCK, NUMBERS_WORDS_MAX, pack_numbers, unpack_numbers};

use super::blocks::{Blocks, Codec};
use super::for_delta::{pack_tail, unpack_tail};

pub(crate) struct Patched;

pub(crate) type Pfor = Blocks<Patched>;

impl Codec for Patched {
    const NAME: &'static str = "PFOR";
    type Unit = AtomicU32;

    fn pack(gaps: &[u32], out: &mut Vec<AtomicU32>) {
        let Ok(gaps) = <&[u32; BLOCK]>::try_from(gaps) else { return pack_tail(gaps, out) };
        let mut words = [0; NUMBERS_WORDS_MAX];
        let count = pack_numbers(gaps, &mut words);
        out.extend(words[..count].iter().copied().map(AtomicU32::new));
    }

    fn unpack(level: Level, from: &[AtomicU32], out: &mut [u32]) {
        let Ok(block) = <&mut [u32; BLOCK]>::try_from(&mut *out) else {
            return unpack_tail(from, out);
        };
        unpack_numbers(level, from, block);
    }
}
