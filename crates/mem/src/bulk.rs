//! Moves of many words between places of a region, and between a region and ordinary memory.
//!
//! Other threads may see both sides, so nothing here is a plain `memcpy`. The string instruction,
//! written as `asm!`, stands for one relaxed atomic access to each word. A copy may tear between
//! words. So its target must not be visible to other threads yet.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::region::Region;
use crate::span::Span;

const WORD: u64 = size_of::<u64>() as u64;

impl Region {
    /// Copies `words` 64-bit words from offset `from` to offset `to`, both multiples of 8. The
    /// ranges must not overlap.
    ///
    /// # Panics
    /// If a range leaves the region or is misaligned, or if they overlap.
    pub fn copy_words(&self, to: u64, from: u64, words: u64) {
        let (source, target) = (Span::<AtomicU64>::new(from, words), Span::new(to, words));
        assert!(
            source.end() <= to || target.end() <= from || words == 0,
            "{words} words at {from:#x} overlap those at {to:#x}"
        );
        let (source, target) = (self.view(source), self.view(target));
        move_words(source.as_ptr().cast(), target);
    }

    /// Writes `bytes`, whole words of 8 bytes, at `to`, a multiple of 8.
    ///
    /// # Panics
    /// If the range leaves the region or is misaligned, or if there is a part of a word.
    pub fn write_bytes(&self, to: u64, bytes: &[u8]) {
        assert!(
            (bytes.len() as u64).is_multiple_of(WORD),
            "{} bytes are not whole words",
            bytes.len()
        );
        let target = self.view(Span::new(to, bytes.len() as u64 / WORD));
        move_words(bytes.as_ptr(), target);
    }

    /// Writes parts of whole words of 8 bytes, one after the other, at `to`, a multiple of 8.
    /// Bypasses the caches where the processor can. After a [`fence`](crate::persist::fence) it
    /// needs no [write-back](Self::write_back).
    ///
    /// # Panics
    /// If the range leaves the region or is misaligned, or if there is a part of a word.
    pub fn stream_bytes(&self, to: u64, parts: [&[u8]; 2]) {
        let mut at = to;
        for part in parts {
            let target = self.view(Span::<AtomicU64>::new(at, part.len() as u64 / WORD));
            let (words, rest) = part.as_chunks();
            assert!(rest.is_empty(), "{} bytes are not whole words", part.len());
            stream_words(words, target);
            at += part.len() as u64;
        }
        // Such stores are not ordered with others: later stores might be seen before them.
        #[cfg(target_arch = "x86_64")]
        crate::persist::fence();
        #[cfg(not(target_arch = "x86_64"))]
        self.write_back(to, at - to);
    }

    /// Appends `bytes` bytes from `at`, both multiples of 8, to `out`.
    ///
    /// # Panics
    /// If the range leaves the region or is misaligned.
    pub fn read_words(&self, at: u64, bytes: u64, out: &mut Vec<u8>) {
        let words = self.view(Span::<AtomicU64>::new(at, bytes / WORD));
        let before = out.len();
        out.resize(before + words.len() * WORD as usize, 0);
        let (targets, _) = out[before..].as_chunks_mut();
        for (word, target) in words.iter().zip(targets) {
            *target = word.load(Relaxed).to_le_bytes();
        }
    }
}

/// Stores words, bypassing the caches. A fence has to precede any store that depends on them.
#[cfg(target_arch = "x86_64")]
fn stream_words(source: &[[u8; WORD as usize]], target: &[AtomicU64]) {
    for (to, from) in target.iter().zip(source) {
        let word = i64::from_le_bytes(*from);
        // SAFETY: `to` is an atomic, which may be written through a shared reference, whole and
        // aligned; the caller fences.
        unsafe { std::arch::x86_64::_mm_stream_si64(to.as_ptr().cast(), word) };
    }
}

/// Stores words through the caches.
#[cfg(not(target_arch = "x86_64"))]
fn stream_words(source: &[[u8; WORD as usize]], target: &[AtomicU64]) {
    for (to, from) in target.iter().zip(source) {
        to.store(u64::from_le_bytes(*from), Relaxed);
    }
}

/// Copies as many words as `target` has from `source`, which has at least as many, at any
/// alignment.
#[cfg(target_arch = "x86_64")]
fn move_words(source: *const u8, target: &[AtomicU64]) {
    // SAFETY: `target` is a slice of atomics, which may be written through shared references.
    // `source` points to as many readable words: both callers take it from a slice of that length.
    // The direction flag is clear by the calling convention. Another thread may write `source`
    // meanwhile. The processor then reads some value of each word.
    unsafe {
        std::arch::asm!(
            "rep movsq",
            inout("rcx") target.len() => _,
            inout("rsi") source => _,
            inout("rdi") target.as_ptr() => _,
            options(nostack, preserves_flags)
        );
    }
}

/// Copies words like the function above, one by one.
#[cfg(not(target_arch = "x86_64"))]
fn move_words(source: *const u8, target: &[AtomicU64]) {
    for (index, word) in target.iter().enumerate() {
        let mut bytes = [0; WORD as usize];
        for (i, byte) in bytes.iter_mut().enumerate() {
            // SAFETY: `source` points to as many words as `target` has.
            let from = unsafe { source.add(index * WORD as usize + i) };
            // SAFETY: as above. A byte needs no alignment, and other writers use atomics.
            *byte = unsafe { &*from.cast::<std::sync::atomic::AtomicU8>() }.load(Relaxed);
        }
        word.store(u64::from_le_bytes(bytes), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::Residency;
    use std::sync::atomic::Ordering::Relaxed as Order;

    #[test]
    fn words_go_where_they_should_and_nowhere_else() {
        let region = Region::reserve(1 << 20, Residency::OnTouch).unwrap();
        let words: Vec<u8> = (1..=100u64).flat_map(u64::to_le_bytes).collect();
        region.write_bytes(64, &words);
        region.copy_words(4096, 64, 99);
        region.copy_words(0, 0, 0);
        let at = |at: u64| region.view(Span::<AtomicU64>::new(at, 1))[0].load(Order);
        assert_eq!([at(56), at(64), at(856), at(864)], [0, 1, 100, 0]);
        assert_eq!([at(4088), at(4096), at(4880), at(4888)], [0, 1, 99, 0]);
        let mut out = Vec::new();
        region.read_words(4096, 16, &mut out);
        assert_eq!(out, [1u64, 2].map(u64::to_le_bytes).concat());
    }

    #[test]
    fn what_goes_past_the_caches_comes_where_it_should() {
        let region = Region::reserve(1 << 20, Residency::OnTouch).unwrap();
        let words: Vec<u8> = (1..=20u64).flat_map(u64::to_le_bytes).collect();
        for (at, cut, count) in
            (8..12).flat_map(|at| (0..6).flat_map(move |a| (a..12).map(move |b| (at, a, b))))
        {
            let (before, behind) = words[..count * 8].split_at(cut * 8);
            region.stream_bytes(at * 8, [before, behind]);
            let found =
                region.view(Span::<AtomicU64>::new(0, 64)).iter().map(|word| word.swap(0, Order));
            let wanted = (0..at).map(|_| 0).chain(1..=count as u64).chain(std::iter::repeat(0));
            assert!(found.eq(wanted.take(64)), "{count} words at word {at}, cut at {cut}");
        }
    }

    #[test]
    #[should_panic(expected = "overlap")]
    fn overlapping_words_are_not_copied() {
        let region = Region::reserve(4096, Residency::OnTouch).unwrap();
        region.copy_words(8, 0, 2);
    }
}
