//! Patterns: one bitmap of the documents of all terms of a segment that a pattern matches.
//!
//! The first clause that needs the bitmap makes it, from the [terms](super::expansion) that the
//! pattern matches.

use std::sync::atomic::Ordering::Relaxed;

use spirit_index::fresh::Extent;
use spirit_index::ground::rank;
use spirit_index::snapshot::Segment;
use spirit_index::terms::Entry;
use spirit_kernel as kernel;
use spirit_kernel::Level;
use spirit_mem::Region;

use super::expansion::Expansion;
use super::window::Window;
use super::{Evaluation, Place, words};
use crate::collect::Limit;
use crate::fuzzy::FuzzyMatcher;
use crate::packed;
use crate::query::{Kind, NodeId};
use crate::query_pattern::PATTERNS_MAX;

/// The bitmaps of a reader's patterns. Pages that no query needs are not backed.
pub(crate) struct PatternBits {
    bits: Vec<u64>,
    /// The documents in which a phrase prefix may occur.
    candidates: Vec<u64>,
    words_each: usize,
    /// The leaves whose bitmaps for the current segment are known, a bit each.
    known: u32,
    fuzzy: FuzzyMatcher,
}

const _: () = assert!(PATTERNS_MAX <= u32::BITS as usize);

impl PatternBits {
    /// Reserves bitmaps for segments of at most this many rows.
    pub(crate) fn new(rows_max: u32) -> PatternBits {
        let words_each = rows_max.div_ceil(64) as usize;
        let bits = vec![0; words_each * PATTERNS_MAX];
        let candidates = vec![0; words_each];
        PatternBits { bits, candidates, words_each, known: 0, fuzzy: FuzzyMatcher::default() }
    }

    /// Forgets all bitmaps, since the current segment has changed.
    pub(super) fn forget(&mut self) {
        self.known = 0;
    }

    fn of(&self, leaf: u32) -> &[u64] {
        &self.bits[leaf as usize * self.words_each..][..self.words_each]
    }

    /// Returns the bitmaps of a phrase prefix's candidates and of its matches in the current
    /// segment.
    pub(super) fn of_phrase(
        &mut self,
        place: &Place<'_>,
        leaf: u32,
    ) -> (&mut [u64], &mut [u64], &mut FuzzyMatcher) {
        let words = place.words();
        let bits = &mut self.bits[leaf as usize * self.words_each..][..words];
        (&mut self.candidates[..words], bits, &mut self.fuzzy)
    }
}

impl<C: Limit> Evaluation<'_, C> {
    /// Returns the first rank from `target` on that a pattern matches, or [`END`].
    pub(super) fn next_of_pattern(
        &mut self,
        place: &Place<'_>,
        node: NodeId,
        pattern: u32,
        target: u32,
    ) -> u32 {
        self.expand(place, node, pattern);
        let leaf = self.query.patterns[pattern as usize].leaf;
        place.next_one(&self.scratch.patterns.of(leaf)[..place.words()], target)
    }

    /// Sets the bits of a window's documents that a pattern matches.
    pub(super) fn add_pattern(
        &mut self,
        place: &Place<'_>,
        node: NodeId,
        pattern: u32,
        window: Window,
        bits: &mut [u64],
    ) {
        self.expand(place, node, pattern);
        let from = (window.start - place.base) as usize / 64;
        let leaf = self.query.patterns[pattern as usize].leaf;
        let words = &self.scratch.patterns.of(leaf)[..place.words()];
        for (to, from) in bits.iter_mut().zip(words.get(from..).unwrap_or(&[])) {
            *to |= from;
        }
    }

    /// Fills in the bitmap of a leaf in the current segment, unless it is known. `first` is the
    /// first of its patterns.
    fn expand(&mut self, place: &Place<'_>, node: NodeId, first: u32) {
        let leaf = self.query.patterns[first as usize].leaf;
        let patterns = &mut self.scratch.patterns;
        if patterns.known >> leaf & 1 == 1 {
            return;
        }
        patterns.known |= 1 << leaf;
        let PatternBits { bits, words_each, .. } = patterns;
        bits[leaf as usize * *words_each..][..place.words()].fill(0);
        if let Kind::PhrasePrefix(_) = self.query.nodes[node as usize].kind {
            return self.expand_phrase(place, node, first);
        }
        self.query.patterns_of(first).for_each(|pattern| self.expand_one(place, pattern));
    }

    /// Adds what one pattern matches in the current segment to the bitmap of its leaf.
    fn expand_one(&mut self, place: &Place<'_>, pattern: u32) {
        let found = &self.query.patterns[pattern as usize];
        let PatternBits { bits, words_each, fuzzy, .. } = &mut self.scratch.patterns;
        let bits = &mut bits[found.leaf as usize * *words_each..][..place.words()];
        let bytes = self.query.pattern_bytes(found);
        if let Some((column, within)) = words::places(place, found.field, found.kind, bytes) {
            return column.range_bits(self.settings.level, place.base, within, bits);
        }
        let region = self.snapshot.memory().region();
        let mut bitmap = Bitmap { region, level: self.settings.level, base: place.base, bits };
        let meter = &mut self.meter;
        let Some(mut expansion) = Expansion::new(self.query, pattern, fuzzy, meter) else { return };
        match &place.context.extent {
            Some(extent) => {
                expansion.fresh(place, extent, |_, _, ordinal| bitmap.add_fresh(extent, ordinal));
            }
            None => {
                let cursor = expansion.cursor(place);
                expansion.registered(place, cursor, |_, _, term| {
                    bitmap.add_entry(&place.segment, term.entry);
                });
            }
        }
    }

    /// Calls `found` with each term that a pattern matches in the current segment, and its number
    /// of documents.
    pub(super) fn each_expansion(
        &mut self,
        place: &Place<'_>,
        pattern: u32,
        mut found: impl FnMut(&[u8], u32),
    ) {
        let fuzzy = &mut self.scratch.patterns.fuzzy;
        let meter = &mut self.meter;
        let Some(mut expansion) = Expansion::new(self.query, pattern, fuzzy, meter) else { return };
        match &place.context.extent {
            Some(extent) => expansion.fresh(place, extent, |_, term, ordinal| {
                let list = extent.record(ordinal).list();
                let rows = place.segment.rows();
                found(term, list.count_below(rows, extent.area(), extent.blocks()));
            }),
            None => {
                let cursor = expansion.cursor(place);
                expansion.registered(place, cursor, |_, bytes, term| {
                    found(bytes, term.entry.postings);
                });
            }
        }
    }
}

/// Calls `take` with each posting of a list in a fresh segment.
pub(super) fn each_fresh(extent: &Extent<'_>, ordinal: u32, mut take: impl FnMut(u32)) {
    let head = extent.record(ordinal).list().read();
    head.buffer[..head.buffered].iter().for_each(|word| take(*word));
    let mut chain = head.chain;
    while let Some((block, older)) = chain.next(extent.area(), extent.blocks()) {
        block.iter().for_each(|word| take(word.load(Relaxed)));
        chain = older;
    }
}

/// The documents of the terms found, as a bitmap.
struct Bitmap<'e> {
    region: &'e Region,
    level: Level,
    /// The rank of bit 0.
    base: u32,
    bits: &'e mut [u64],
}

impl Bitmap<'_> {
    fn add_entry(&mut self, segment: &Segment<'_>, entry: Entry) {
        if entry.postings == 1 {
            return self.add_word(entry.payload);
        }
        if let Some(list) = segment.packed(entry) {
            return packed::add_all(list, self.region, self.level, self.base, self.bits);
        }
        let flushed = segment.flushed();
        match flushed.bitmap(entry) {
            Some(dense) => kernel::or_bits(self.level, self.region.view(dense), 0, self.bits),
            None => {
                let list = self.region.view(flushed.list(entry));
                kernel::set_bits(self.level, list, self.base, self.bits);
            }
        }
    }

    fn add_fresh(&mut self, extent: &Extent<'_>, ordinal: u32) {
        each_fresh(extent, ordinal, |word| self.add_word(word));
    }

    /// Sets the bit of a posting. Postings that are newer than the snapshot have no bit.
    fn add_word(&mut self, word: u32) {
        let bit = rank(word).wrapping_sub(self.base) as usize;
        if let Some(word) = self.bits.get_mut(bit / 64) {
            *word |= 1 << (bit % 64);
        }
    }
}
