//! The merged dictionary, in the second tier: from a term to its newest node (paper §4.7, where it
//! is the merged segment).
//!
//! | partition | |
//! |---|---|
//! | count | log2 of the buckets (low half), its checksum (high half); 0: no dictionary yet |
//! | buckets | a word each: the first record of a chain |
//! | lines | records of 64 bytes, and the bytes of long terms |
//!
//! | word of a record | |
//! |---|---|
//! | 0 | the bucket's next record, as a bucket's word |
//! | 1 | head: the term's newest node ([`Link`], see [`node`](crate::form::node)) |
//! | 2, 3 | key |
//! | 4 | line of a long term's bytes (low half), checksum of key and line (high half) |
//!
//! Every change is one word. A record enters its chain behind those of lower hashes, and leaves it
//! by the word before it. A merge moves the head. So no tombstones are needed.
//!
//! A word that leads to a record has its line plus one in the low half, or 0 for none. The high
//! half is a checksum of that. A word of zeros was never stored: it does not pass for one that
//! leads nowhere.
//!
//! # Growth
//! The highest bits of a hash choose the bucket, and each chain is in the order of hashes. So the
//! records of a finer bucket are side by side in the chain of the coarser one. *No record moves*
//! when buckets are added:
//!
//! 1. Each bucket of a new array leads to its first record in the old chains. Fence.
//! 2. The count says that the new array is in use. The fence of the merge's links makes that
//!    durable before a record enters.
//! 3. Once all readers of the old array have left, each chain is *cut* behind its last record. An
//!    uncut chain leads on to the next bucket's records. Until then, and after a crash before it,
//!    lookups read past their bucket's records. Their results do not change.
//!
//! A record that leaves a chain before the cut is still reachable from the bucket before. So its
//! line is not reused before the cuts are durable. (Split-ordered lists keep their order for this
//! reason too; here it is the order of the merge.)

use std::sync::atomic::Ordering::{Acquire, Relaxed};
use std::sync::atomic::{AtomicU8, AtomicU64};

use spirit_mem::{Line, Region, Span, prefetch};

use crate::form::node::{Link, Node};
use crate::ground::corrupt::{Corrupt, checksum};
use crate::ground::damage;
use crate::ground::layout::{NvmLayout, PAGE};
use crate::ground::term::{INLINE_BYTES_MAX, Term, TermKey};

/// Bytes of a record.
pub(crate) const RECORD_BYTES: u64 = 64;
/// Largest number of records of a chain that are read. A longer chain was damaged into a ring.
pub(crate) const CHAIN_MAX: usize = 4096;

/// Pages of buckets are mapped in advance if at least this many terms fall on each page.
const TERMS_A_PAGE: u64 = 4;

const _: () = assert!(RECORD_BYTES == size_of::<Line>() as u64);

/// A word that leads nowhere. No line has it.
pub(crate) const NOWHERE: u64 = 0x8C28_B28A_0000_0000;

/// Returns the word that leads to a record.
pub(crate) fn chain_word(line: u32) -> u64 {
    let next = line as u64 + 1;
    next | (checksum(0, &[next]) as u64) << 32
}

/// Returns the line in a word that leads to a record. An error means that the word was never
/// stored.
pub(crate) fn chained(word: u64) -> Result<Option<u32>, ()> {
    match (word as u32).checked_sub(1) {
        None if word == NOWHERE => Ok(None),
        Some(line) if chain_word(line) == word => Ok(Some(line)),
        _ => Err(()),
    }
}

/// Returns the word for a count of 2^`bits` buckets in use.
pub(crate) fn count_word(bits: u32) -> u64 {
    bits as u64 | (checksum(0, &[bits as u64]) as u64) << 32
}

/// Returns log2 of the buckets in use of the dictionary of `layout`, or `None` before there is one.
/// An error means that no such count was stored.
pub(crate) fn bucket_bits(region: &Region, layout: &NvmLayout) -> Result<Option<u32>, ()> {
    let (first, last) = layout.bucket_bits;
    match region.view(layout.bucket_count)[0].load(Acquire) {
        0 => Ok(None),
        word if (first..=last).contains(&(word as u32)) && count_word(word as u32) == word => {
            Ok(Some(word as u32))
        }
        _ => Err(()),
    }
}

/// Checks the count of buckets in use. `is_needed` is true if the dictionary has terms of some
/// segment.
pub(crate) fn check_count(
    region: &Region,
    layout: &NvmLayout,
    is_needed: bool,
) -> Result<(), Corrupt> {
    let corrupt =
        |why| Err(Corrupt { what: "count of buckets", at: layout.bucket_count.start(), why });
    match bucket_bits(region, layout) {
        Err(()) => corrupt("its check is wrong, or it exceeds the tier"),
        Ok(None) if is_needed => corrupt("it is 0, though segments are merged"),
        Ok(_) => Ok(()),
    }
}

/// The merged dictionary, as its readers see it. A reader makes it after it has loaded which
/// segments are merged. So it has the buckets that these segments are in, or newer ones.
#[derive(Clone, Copy)]
pub struct Merged<'a> {
    region: &'a Region,
    /// False before the first merge: no bucket was ever written.
    is_made: bool,
    bits: u32,
    buckets: &'a [AtomicU64],
    pub(crate) buckets_start: u64,
    lines: &'a [Line],
    pub(crate) lines_start: u64,
}

impl<'a> Merged<'a> {
    /// Returns the dictionary of `layout`. A damaged count is taken for no dictionary; a start
    /// refuses such a file.
    pub fn new(region: &'a Region, layout: &NvmLayout) -> Merged<'a> {
        match bucket_bits(region, layout).ok().flatten() {
            Some(bits) => Merged::of_buckets(region, layout, bits),
            None => {
                let first = Merged::of_buckets(region, layout, layout.bucket_bits.0);
                Merged { is_made: false, ..first }
            }
        }
    }

    /// Returns the dictionary whose buckets are the array of 2^`bits`.
    pub(crate) fn of_buckets(region: &'a Region, layout: &NvmLayout, bits: u32) -> Merged<'a> {
        let buckets = layout.bucket_array(bits);
        Merged {
            region,
            is_made: true,
            bits,
            buckets: region.view(buckets),
            buckets_start: buckets.start(),
            lines: region.view(layout.lines),
            lines_start: layout.lines.start(),
        }
    }

    /// True once there is a dictionary.
    pub(crate) fn is_made(&self) -> bool {
        self.is_made
    }

    /// Returns the number of buckets in use.
    pub fn buckets(&self) -> usize {
        self.buckets.len()
    }

    /// Returns log2 of the number of buckets.
    pub(crate) fn bits(&self) -> u32 {
        self.bits
    }

    /// Yields the buckets that lead to records. While the tier has free room, few buckets do.
    pub(crate) fn used_buckets(&self) -> impl Iterator<Item = usize> + use<'a> {
        let buckets = self.buckets.iter().enumerate();
        buckets.filter(|(_, word)| word.load(Relaxed) != NOWHERE).map(|(bucket, _)| bucket)
    }

    /// Returns the number of lines.
    pub fn lines(&self) -> usize {
        self.lines.len()
    }

    /// Returns the bucket of a hash: the highest bits of its low half.
    pub(crate) fn bucket(&self, hash: u64) -> usize {
        ((hash as u32 as u64) << self.bits >> 32) as usize
    }

    /// Returns the least low half of a hash in `bucket`.
    pub(crate) fn first_hash(&self, bucket: usize) -> u64 {
        (bucket as u64) << 32 >> self.bits
    }

    /// Returns the offset of a bucket's word.
    pub(crate) fn bucket_place(&self, bucket: usize) -> u64 {
        self.buckets_start + bucket as u64 * 8
    }

    /// Returns the word of a bucket.
    pub(crate) fn bucket_word(&self, bucket: usize) -> u64 {
        self.buckets[bucket].load(Relaxed)
    }

    /// True if a record is sound and belongs to another bucket. The chain was not cut there.
    pub(crate) fn is_foreign(&self, bucket: usize, line: u32) -> bool {
        self.bucket(self.key(line).hash()) != bucket && self.is_sound(line)
    }

    /// Yields the records of a bucket, in the form of [`chain`](Self::chain).
    pub(crate) fn records(&self, bucket: usize) -> impl Iterator<Item = (u64, u32)> + use<'a> {
        let merged = *self;
        self.chain(bucket).take_while(move |(_, line)| !merged.is_foreign(bucket, *line))
    }

    /// Finds the place in the chain for a new record of this hash. Returns the offset of the word
    /// before it, and the word that it leads on by.
    pub(crate) fn gap(&self, hash: u64) -> (u64, u64) {
        let bucket = self.bucket(hash);
        let mut at = self.bucket_place(bucket);
        for (_, line) in self.chain(bucket) {
            // Stop also where the chain was not cut: readers of coarser buckets go on there.
            if self.key(line).hash() as u32 > hash as u32 || self.is_foreign(bucket, line) {
                return (at, chain_word(line));
            }
            at = self.place(line);
        }
        (at, NOWHERE)
    }

    /// Yields the words along a bucket's chain, from the bucket's own on: the offset of each, and
    /// the line that it leads to. Ends at a word that was never stored, and notes that. A chain
    /// that was not cut continues with the next bucket's records.
    pub(crate) fn chain(&self, bucket: usize) -> impl Iterator<Item = (u64, u32)> + use<'a> {
        let merged = *self;
        let mut at = merged.bucket_place(bucket);
        std::iter::from_fn(move || {
            if !merged.is_made {
                return None;
            }
            let word = merged.region.view(Span::<AtomicU64>::new(at, 1))[0].load(Acquire);
            let line = match chained(word) {
                Ok(Some(line)) if (line as usize) < merged.lines.len() => line,
                Ok(None) => return None,
                _ => {
                    merged.note(at, "the check of a word that leads to a record is wrong");
                    return None;
                }
            };
            let found = (at, line);
            at = merged.place(line);
            Some(found)
        })
        .take(CHAIN_MAX)
    }

    /// Maps the pages of the buckets of these hashes, if enough terms fall on each page. Mapping
    /// many pages at once takes a fraction of the time of single faults.
    pub(crate) fn map_buckets(&self, hashes: std::ops::RangeInclusive<u64>, count: usize) {
        let [first, last] =
            [hashes.start(), hashes.end()].map(|hash| self.bucket_place(self.bucket(*hash)) / PAGE);
        let pages = last - first + 1;
        if count as u64 >= pages * TERMS_A_PAGE {
            self.region.map_pages(first * PAGE, pages * PAGE);
        }
    }

    /// Prefetches the bucket of a hash.
    pub(crate) fn prefetch_bucket(&self, hash: u64) {
        prefetch(&self.buckets[self.bucket(hash)]);
    }

    /// Prefetches the record that the search for `hash` compares first. Its bucket should be in the
    /// cache.
    pub(crate) fn prefetch(&self, hash: u64) {
        let word = self.buckets[self.bucket(hash)].load(Relaxed);
        // The word only guides a prefetch, so it needs no check.
        if let Some(line) =
            (word as u32).checked_sub(1).and_then(|line| self.lines.get(line as usize))
        {
            prefetch(line);
        }
    }

    /// Prefetches a record, if there is such a line.
    pub(crate) fn prefetch_record(&self, line: u32) {
        if let Some(line) = self.lines.get(line as usize) {
            prefetch(line);
        }
    }

    /// Returns the offset of a record.
    pub(crate) fn place(&self, line: u32) -> u64 {
        self.lines_start + line as u64 * RECORD_BYTES
    }

    fn word(&self, line: u32, word: usize) -> u64 {
        self.lines[line as usize].pair(word).load(Relaxed)
    }

    /// Returns the key of the record at `line`, which must exist.
    pub fn key(&self, line: u32) -> TermKey {
        TermKey { low: self.word(line, 2), high: self.word(line, 3) }
    }

    /// Returns the lines of a long term's bytes: the first, and their number. Returns `None` if
    /// they are out of range.
    pub(crate) fn apart(&self, line: u32) -> Option<(u32, u32)> {
        let key = self.key(line);
        let (first, lines) = (self.word(line, 4) as u32, long_lines(key.len()));
        let fits = first as usize + lines as usize <= self.lines.len();
        (key.is_long() && fits).then_some((first, lines))
    }

    /// True if a record is what was stored there.
    pub(crate) fn is_sound(&self, line: u32) -> bool {
        let words = [self.word(line, 2), self.word(line, 3), self.word(line, 4) & 0xFFFF_FFFF];
        checksum(0, &words) == (self.word(line, 4) >> 32) as u32
            && self.key(line).is_long() == self.apart(line).is_some()
    }

    /// Returns the key of the record at `line`, and the place of its term's bytes if it is a long
    /// one. Returns `None` if that is no sound record.
    pub(crate) fn term(&self, line: u32) -> Option<(TermKey, Span<AtomicU8>)> {
        if line as usize >= self.lines.len() || !self.is_sound(line) {
            return None;
        }
        let key = self.key(line);
        let apart = self.apart(line).map(|(first, _)| (self.place(first), key.len() as u64));
        let (start, len) = apart.unwrap_or_default();
        Some((key, Span::new(start, len)))
    }

    /// Reads the bytes of a record's term if it is a long one; otherwise none.
    pub fn long_bytes(&self, line: u32, out: &mut Vec<u8>) {
        out.clear();
        if let Some((first, lines)) = self.apart(line) {
            self.region.read_words(self.place(first), lines as u64 * RECORD_BYTES, out);
            out.truncate(self.key(line).len());
        }
    }

    /// Returns the link to the term's newest node.
    pub fn head(&self, line: u32) -> Link {
        Link(self.lines[line as usize].pair(1).load(Acquire))
    }

    /// Finds the record of a term. It skips damaged records and notes them: one of them may be the
    /// term's.
    pub fn find(&self, term: Term<'_>, hash: u64) -> Option<u32> {
        self.chain(self.bucket(hash)).map(|(_, line)| line).find(|line| {
            self.is_known(*line)
                && self.key(*line) == term.key
                && (!term.key.is_long() || self.has_bytes(*line, term.bytes))
        })
    }

    /// True if a record is what was stored there. Notes the damage otherwise.
    pub(crate) fn is_known(&self, line: u32) -> bool {
        let is_sound = self.is_sound(line);
        if !is_sound {
            self.note(self.place(line), "the checksum of a record is wrong");
        }
        is_sound
    }

    #[cold]
    fn note(&self, at: u64, why: &'static str) {
        damage::note(self.region, Corrupt { what: "merged dictionary", at, why });
    }

    /// True if the record's term is a long one with these bytes. Their number matches its key.
    fn has_bytes(&self, line: u32, bytes: &[u8]) -> bool {
        self.apart(line).is_some_and(|(first, _)| {
            let stored = Span::<AtomicU8>::new(self.place(first), bytes.len() as u64);
            self.region.view(stored).iter().map(|b| b.load(Relaxed)).eq(bytes.iter().copied())
        })
    }

    /// Returns the node that a link of the term with `key` leads to, and the link to the next older
    /// one. Returns `None`, and notes the damage, if no such node was stored there.
    pub(crate) fn follow(&self, link: Link, key: TermKey) -> Option<(Node, Link)> {
        let node = Node::read(self.region, link.place())
            .filter(|node| node.segment.position() == link.position() && node.is_of(key));
        let Some(node) = node else {
            self.note(link.place(), "a link leads here, where its term has no node");
            return None;
        };
        // Chains go back in time. One that does not was damaged, and may be a ring.
        if node.link.is_none() || node.link.position() < link.position() {
            return Some((node, node.link));
        }
        self.note(link.place(), "a link from here leads to a segment that is not older");
        Some((node, Link::default()))
    }
}

/// Returns the number of lines that a long term's bytes take.
pub(crate) fn long_lines(bytes: usize) -> u32 {
    bytes.div_ceil(RECORD_BYTES as usize) as u32
}

/// Returns the lines that terms take, at most. `long_bytes` are those of the long ones, each in whole
/// words of 8, and so 16 at least.
pub(crate) fn lines_max(terms: u64, long_bytes: u64) -> u64 {
    terms + long_bytes / 16
}

const _: () = assert!(INLINE_BYTES_MAX >= 8 && RECORD_BYTES >= 16);

/// Returns the words of a record behind its chain word and head.
pub(crate) fn record_words(key: TermKey, long: u32) -> [u64; 3] {
    let check = checksum(0, &[key.low, key.high, long as u64]);
    [key.low, key.high, long as u64 | (check as u64) << 32]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chain_words_say_what_they_were_told() {
        assert_eq!(NOWHERE, (checksum(0, &[0]) as u64) << 32);
        assert_eq!(chained(NOWHERE), Ok(None));
        assert!(chained(0).is_err());
        let word = chain_word(77);
        assert_eq!(chained(word), Ok(Some(77)));
        for bit in 0..64 {
            assert_ne!(chained(word ^ 1 << bit), Ok(Some(77)), "bit {bit}");
            assert!(chained(word ^ 1 << bit).is_err(), "bit {bit}");
        }
    }
}
