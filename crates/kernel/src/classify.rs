//! Lower-casing of ASCII and the classes of characters that a tokenizer needs, as bit masks.
//!
//! For each block of 64 bytes two masks come out: letters and digits of ASCII, and bytes from 0x80
//! up, the parts of other characters. A tokenizer then finds the borders of tokens by bit scans,
//! and looks at characters only where the second mask says so.
//!
//! Text is private memory, not shared with a writer, so ordinary vector loads do.
//! Not here: any rule of Unicode, and what a token is.

use crate::level::Level;

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// Bytes that share a pair of masks.
const BLOCK: usize = 64;

/// Bit of [`CLASS`] for letters and digits.
const ALNUM: u8 = 1;

/// Bit of [`CLASS`] for bytes from 0x80 up.
const HIGH: u8 = 2;

/// The classes of every byte.
static CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0_u8;
    loop {
        if byte.is_ascii_alphanumeric() {
            table[byte as usize] = ALNUM;
        } else if !byte.is_ascii() {
            table[byte as usize] = HIGH;
        }
        if byte == u8::MAX {
            break table;
        }
        byte += 1;
    }
};

/// A text's block with the room it goes to.
type Place<'a> = (&'a [u8; BLOCK], &'a mut [u8; BLOCK], &'a mut [u64; 2]);

/// Lower-cases the ASCII letters of `src` into `dst` and classifies its bytes.
///
/// `masks[k]` becomes `[alnum, high]` of the 64 bytes from `64 * k` on: bit `i` of the first is set if
/// byte `64 * k + i` is an ASCII letter or digit, bit `i` of the second if it is 0x80 or above. The room behind the
/// text becomes zero, in `dst` as in `masks`. Whole blocks are stored, and no part of one twice: what is loaded from
/// there next need not wait for the store to reach the cache.
///
/// # Panics
///
/// If `dst` and `masks` differ in length, or have no room for the text.
pub fn classify_lower(level: Level, src: &[u8], dst: &mut [[u8; BLOCK]], masks: &mut [[u64; 2]]) {
    let (bytes, blocks) = (src.len(), src.len().div_ceil(BLOCK));
    assert!(dst.len() >= blocks, "dst holds {} blocks, the text has {bytes} bytes", dst.len());
    assert!(masks.len() == dst.len(), "{} pairs of masks for {} blocks", masks.len(), dst.len());
    match level.usable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx512 only on a machine that has all its features.
        Level::Avx512 => unsafe { avx512(src, dst, masks) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `usable` returns Avx2 only on a machine that has all its features.
        Level::Avx2 => unsafe { avx2(src, dst, masks) },
        _ => by_blocks(src, dst, masks, portable),
    }
}

/// Calls `classify` for each block, the last one by way of a padded copy.
#[inline(always)]
fn by_blocks(
    src: &[u8],
    dst: &mut [[u8; BLOCK]],
    masks: &mut [[u64; 2]],
    classify: impl Fn(Place<'_>),
) {
    let (whole, rest) = src.as_chunks::<BLOCK>();
    let mut places = dst.iter_mut().zip(masks);
    for (from, (to, masks)) in whole.iter().zip(&mut places) {
        classify((from, to, masks));
    }
    let mut last = [0; BLOCK];
    last[..rest.len()].copy_from_slice(rest);
    for (to, masks) in places {
        classify((&last, to, masks));
        last = [0; BLOCK];
    }
}

fn portable((from, to, masks): Place<'_>) {
    *masks = [0; 2];
    for (i, (from, to)) in from.iter().zip(to).enumerate() {
        let class = CLASS[usize::from(*from)];
        masks[0] |= u64::from(class & ALNUM) << i;
        masks[1] |= u64::from(class >> 1) << i;
        *to = from.to_ascii_lowercase();
    }
}

/// A block a vector; of the last one only the bytes that are there are loaded.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn avx512(src: &[u8], dst: &mut [[u8; BLOCK]], masks: &mut [[u64; 2]]) {
    let (whole, rest) = src.as_chunks::<BLOCK>();
    let mut places = dst.iter_mut().zip(masks);
    for (from, place) in whole.iter().zip(&mut places) {
        // SAFETY: the array is 64 readable bytes.
        let text = unsafe { _mm512_loadu_si512(from.as_ptr().cast()) };
        store_classes(text, place);
    }
    // A rest is shorter than a block, so the shift is in range.
    let mut lanes = (1_u64 << rest.len()) - 1;
    for place in places {
        // SAFETY: only the selected lanes are read, and they lie inside the slice.
        let text = unsafe { _mm512_maskz_loadu_epi8(lanes, rest.as_ptr().cast()) };
        store_classes(text, place);
        lanes = 0;
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn store_classes(text: __m512i, (to, masks): (&mut [u8; BLOCK], &mut [u64; 2])) {
    let (lower, classes) = classify_64(text);
    // SAFETY: the array is 64 writable bytes.
    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), lower) };
    *masks = classes;
}

/// The lower-cased text and its pair of masks.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi1,bmi2,lzcnt,popcnt")]
fn classify_64(text: __m512i) -> (__m512i, [u64; 2]) {
    // One unsigned compare is a range check: what lies below the range wraps to the top.
    let below = |first: u8, count: i8| {
        let offset = _mm512_sub_epi8(text, _mm512_set1_epi8(first as i8));
        _mm512_cmplt_epu8_mask(offset, _mm512_set1_epi8(count))
    };
    let (upper, lower, digit) = (below(b'A', 26), below(b'a', 26), below(b'0', 10));
    let case = _mm512_set1_epi8(0x20);
    (
        _mm512_mask_add_epi8(text, upper, text, case),
        [upper | lower | digit, _mm512_movepi8_mask(text)],
    )
}

/// Two half blocks a step.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn avx2(src: &[u8], dst: &mut [[u8; BLOCK]], masks: &mut [[u64; 2]]) {
    by_blocks(src, dst, masks, |(from, to, masks)| *masks = classify_block_avx2(from, to));
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn classify_block_avx2(from: &[u8; BLOCK], to: &mut [u8; BLOCK]) -> [u64; 2] {
    let mut pair = [0; 2];
    let (from, to) = (from.as_chunks::<32>().0, to.as_chunks_mut::<32>().0);
    for (half, (from, to)) in from.iter().zip(to).enumerate() {
        // SAFETY: the array is 32 readable bytes.
        let text = unsafe { _mm256_loadu_si256(from.as_ptr().cast()) };
        let (lower, [alnum, high]) = classify_32(text);
        // SAFETY: the array is 32 writable bytes.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), lower) };
        pair[0] |= u64::from(alnum) << (32 * half);
        pair[1] |= u64::from(high) << (32 * half);
    }
    pair
}

/// The lower-cased text and its pair of masks.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn classify_32(text: __m256i) -> (__m256i, [u32; 2]) {
    // AVX2 compares signed bytes only: the range check's offset is chosen so that it ends at -128.
    let within = |first: u8, count: i8| {
        let shift = _mm256_set1_epi8((first as i8).wrapping_add(-128));
        let end = _mm256_set1_epi8((-128 + i16::from(count)) as i8);
        _mm256_cmpgt_epi8(end, _mm256_sub_epi8(text, shift))
    };
    let (upper, lower, digit) = (within(b'A', 26), within(b'a', 26), within(b'0', 10));
    let alnum = _mm256_or_si256(_mm256_or_si256(upper, lower), digit);
    let case = _mm256_and_si256(upper, _mm256_set1_epi8(0x20));
    let masks = [_mm256_movemask_epi8(alnum) as u32, _mm256_movemask_epi8(text) as u32];
    (_mm256_add_epi8(text, case), masks)
}
