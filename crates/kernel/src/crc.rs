//! CRC-32C of words.
//!
//! The formats of the second tier check records of a few words each, by the hundred thousand. A library made for long texts spends
//! more on choosing how to go about it than the instruction takes, which is three cycles a word.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::_mm_crc32_u64;

/// The CRC-32C of the words' bytes, least significant first, behind those whose checksum is `seed`.
#[inline]
pub fn crc32c_words(seed: u32, words: &[u64]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("sse4.2") {
        // SAFETY: the machine has the instruction.
        return unsafe { sse42(seed, words) };
    }
    portable(seed, words)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn sse42(seed: u32, words: &[u64]) -> u32 {
    !words.iter().fold(u64::from(!seed), |crc, word| _mm_crc32_u64(crc, *word)) as u32
}

/// The remainders of all bytes.
const TABLE: [u32; 256] = {
    const POLYNOMIAL: u32 = 0x82F6_3B78;
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = (byte as u32, 0);
        while bit < 8 {
            crc = (crc >> 1) ^ (POLYNOMIAL * (crc & 1));
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

fn portable(seed: u32, words: &[u64]) -> u32 {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    !bytes.fold(!seed, |crc, byte| TABLE[usize::from(crc as u8 ^ byte)] ^ (crc >> 8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn it_is_the_one_of_the_standard() {
        // RFC 3720, B.4: 32 bytes of zeros, of ones, and of rising values.
        let rising: [u64; 4] = std::array::from_fn(|word| {
            u64::from_le_bytes(std::array::from_fn(|byte| (8 * word + byte) as u8))
        });
        for crc in [portable, crc32c_words] {
            assert_eq!(crc(0, &[0; 4]), 0x8A91_36AA);
            assert_eq!(crc(0, &[u64::MAX; 4]), 0x62A8_AB43);
            assert_eq!(crc(0, &rising), 0x46DD_794E);
        }
    }

    proptest! {
        #[test]
        fn twins_agree_and_a_seed_is_what_came_before(
            seed: u32,
            words in prop::collection::vec(any::<u64>(), 0..20),
            cut in 0..20_usize,
        ) {
            let whole = portable(seed, &words);
            prop_assert_eq!(crc32c_words(seed, &words), whole);
            let (first, second) = words.split_at(cut.min(words.len()));
            prop_assert_eq!(crc32c_words(crc32c_words(seed, first), second), whole);
        }
    }
}
