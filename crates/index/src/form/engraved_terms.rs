//! The terms of an engraved segment that is not merged. They are in the order of their nodes: by
//! the low halves of their hashes.
//!
//! | section | |
//! |---|---|
//! | term hashes | low half of each term's hash |
//! | term keys | key, and where a long term's bytes are: three words |
//! | long terms | the bytes of long terms, each filled up to whole words |
//! | nodes | where the postings are |

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

use spirit_mem::{Region, Span, prefetch};

use crate::form::node::Nodes;
use crate::ground::section::{Kind, Sections};
use crate::ground::term::{Term, TermKey};

/// Bytes of a term's key in the second tier: the key, and the place of a long term's bytes.
pub(crate) const TERM_KEY_BYTES: u64 = 24;
const _: () = assert!(TERM_KEY_BYTES == size_of::<TermKey>() as u64 + 8);
/// Bytes of a term's hash.
pub(crate) const TERM_HASH_BYTES: u64 = 4;

/// The key of a term in an engraved segment that is not merged.
#[derive(Clone, Copy)]
pub(crate) struct EngravedKey {
    pub(crate) key: TermKey,
    /// Offset of a long term's bytes in their section.
    long: u64,
}

impl EngravedKey {
    /// Returns the end of a long term's bytes in their section, filled up to whole words.
    pub(crate) fn long_end(&self) -> Option<u64> {
        self.long.checked_add((self.key.len() as u64).next_multiple_of(8))
    }
}

/// The terms of an engraved segment that is not merged.
#[derive(Clone, Copy)]
pub(crate) struct EngravedTerms<'a> {
    region: &'a Region,
    hashes: &'a [AtomicU32],
    keys: &'a [[AtomicU64; TERM_KEY_BYTES as usize / 8]],
    keys_start: u64,
    longs_start: u64,
    pub(crate) nodes: Nodes<'a>,
}

impl<'a> EngravedTerms<'a> {
    /// Returns the terms of the segment with these sections, whose sizes have been checked.
    pub(crate) fn of(region: &'a Region, sections: &Sections) -> EngravedTerms<'a> {
        let nodes = Nodes::of(region, sections);
        let keys = sections.get(Kind::TermKeys);
        let words: &[AtomicU64] = region.view(Span::new(keys.start, keys.bytes / 8));
        let hashes = Span::new(sections.get(Kind::TermHashes).start, nodes.len() as u64);
        EngravedTerms {
            region,
            hashes: region.view(hashes),
            keys: words.as_chunks().0,
            keys_start: keys.start,
            longs_start: sections.get(Kind::LongTerms).start,
            nodes,
        }
    }

    /// Returns the number of terms.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the low half of a term's hash, which chooses its bucket.
    #[inline]
    pub(crate) fn hash(&self, index: usize) -> u64 {
        self.hashes[index].load(Relaxed) as u64
    }

    /// Returns a term's key.
    #[inline]
    pub(crate) fn key(&self, index: usize) -> EngravedKey {
        let [low, high, long] = self.keys[index].each_ref().map(|word| word.load(Relaxed));
        EngravedKey { key: TermKey { low, high }, long }
    }

    /// Prefetches a term's key and node.
    #[inline]
    pub(crate) fn prefetch(&self, index: usize) {
        prefetch(&self.keys[index]);
        self.nodes.prefetch(index);
    }

    /// Returns the offset of a term's key.
    pub(crate) fn key_place(&self, index: usize) -> u64 {
        self.keys_start + index as u64 * TERM_KEY_BYTES
    }

    /// Reads the bytes of a long term, or none of a short one, whose key holds them.
    #[inline]
    pub(crate) fn long_bytes(&self, key: EngravedKey, out: &mut Vec<u8>) {
        out.clear();
        if key.key.is_long() {
            let len = key.key.len();
            let at = self.longs_start + key.long;
            self.region.read_words(at, (len as u64).next_multiple_of(8), out);
            out.truncate(len);
        }
    }

    /// Returns the index of a term.
    pub(crate) fn find(&self, term: Term<'_>, hash: u64) -> Option<usize> {
        let wanted = hash as u32;
        let first = self.hashes.partition_point(|hash| hash.load(Relaxed) < wanted);
        let same = self.hashes[first..].iter().take_while(|hash| hash.load(Relaxed) == wanted);
        (first..first + same.count()).find(|index| {
            let found = self.key(*index);
            found.key == term.key && (!term.key.is_long() || self.has_bytes(found, term.bytes))
        })
    }

    /// True if a long term has these bytes. Their number matches its key.
    fn has_bytes(&self, key: EngravedKey, bytes: &[u8]) -> bool {
        let at = self.longs_start + key.long;
        let stored = self.region.get(Span::<AtomicU8>::new(at, bytes.len() as u64));
        stored
            .is_some_and(|stored| stored.iter().map(|b| b.load(Relaxed)).eq(bytes.iter().copied()))
    }
}

/// Returns the bytes of the hashes of this many terms, in whole words.
pub(crate) fn hash_bytes(terms: u64) -> u64 {
    (terms * TERM_HASH_BYTES).next_multiple_of(8)
}
