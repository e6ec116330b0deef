//! The terms of a segment with packed lists: its own dictionary, in the order of fields and bytes.
//!
//! A term is *coded* as the code of its field, followed by its bytes. So coded terms sort like
//! their bytes. A block has 32 terms. In a block, a term shares a prefix with the one before and
//! stores only the rest ([code](self::code)). So a term takes some ten bytes, with the place of its
//! list. It is found by a bisection and a walk through one block.
//!
//! | words of 8 bytes | |
//! |---|---|
//! | 1 | how many terms there are (low half), words of all blocks (high half) |
//! | those of the blocks | the blocks, each filled up with zeros to whole words |
//! | a block each | the [`prefix`](crate::terms::term_order::prefix) of its first term |
//! | a block each | its first word, counted behind the head (low half), its checksum (high half) |
//!
//! A block's checksum continues from the number of its terms.
//!
//! A block counts if its checksum is right, and is skipped otherwise. Other invalid data is skipped
//! too. So a block never yields anything but its terms.

mod code;
pub(crate) mod writer;

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU64};

use spirit_mem::{Region, Span};

use crate::ground::corrupt::{Corrupt, checksum};
use crate::ground::damage;
use crate::ground::ids::SegmentId;
use crate::ground::term::{FieldId, TERM_BYTES_MAX};
use crate::terms::entries::Entry;
use crate::terms::packed_terms::code::{Coded, Reader};
use crate::terms::term_order::prefix;

/// Number of terms of a block.
pub(crate) const BLOCK: usize = 32;
/// Largest number of bytes of a coded term.
const CODED_BYTES_MAX: usize = 2 + TERM_BYTES_MAX;
const WORD: u64 = size_of::<u64>() as u64;
/// Number of words before the blocks.
const HEAD_WORDS: u64 = 1;

/// The stored terms of a segment.
#[derive(Clone, Copy)]
pub(crate) struct PackedTerms<'a> {
    region: &'a Region,
    /// Offset of the blocks.
    body: u64,
    segment: SegmentId,
    terms: usize,
    /// The blocks' words, and their bytes.
    words: &'a [AtomicU64],
    bytes: &'a [AtomicU8],
    prefixes: &'a [AtomicU64],
    index: &'a [AtomicU64],
}

/// The result of a search for a term.
struct Sought {
    /// The place of the first term at or behind it.
    place: usize,
    /// Its list, if it is there.
    entry: Option<Entry>,
}

impl<'a> PackedTerms<'a> {
    /// Returns the terms of a segment that begin at `at`, or `None` if their head does not fit the
    /// region.
    pub(crate) fn at(region: &'a Region, at: u64, segment: SegmentId) -> Option<PackedTerms<'a>> {
        let head = region.get(Span::<AtomicU64>::new(at, HEAD_WORDS))?[0].load(Relaxed);
        let (terms, words) = (head as u32 as usize, head >> 32);
        let blocks = terms.div_ceil(BLOCK) as u64;
        let body = Span::<AtomicU64>::new(at + HEAD_WORDS * WORD, words);
        let prefixes = Span::<AtomicU64>::new(body.end(), blocks);
        Some(PackedTerms {
            region,
            body: body.start(),
            segment,
            terms,
            // The blocks' pages are proved block by block.
            words: region.peek(body)?,
            bytes: region.peek(Span::new(body.start(), words * WORD))?,
            prefixes: region.get(prefixes)?,
            index: region.get(Span::new(prefixes.end(), blocks))?,
        })
    }

    /// Returns the number of terms.
    pub(crate) fn len(&self) -> usize {
        self.terms
    }

    /// Returns the bytes of the whole dictionary.
    pub(crate) fn bytes(&self) -> u64 {
        (HEAD_WORDS + self.words.len() as u64 + 2 * self.prefixes.len() as u64) * WORD
    }

    /// Finds the list of a term. The entry's total is unknown.
    pub(crate) fn find(&self, field: FieldId, bytes: &[u8]) -> Option<Entry> {
        self.seek(field, bytes).entry
    }

    /// Returns the place of the first term at or behind this one, or [`len`](Self::len) if there is
    /// none.
    pub(crate) fn lower_bound(&self, field: FieldId, bytes: &[u8]) -> usize {
        self.seek(field, bytes).place
    }

    /// Returns the places of a field's terms.
    pub(crate) fn of_field(&self, field: FieldId) -> Range<usize> {
        let next = (field < FieldId::MAX).then(|| FieldId(field.0 + 1));
        let end = next.map_or(self.len(), |next| self.lower_bound(next, &[]));
        self.lower_bound(field, &[])..end
    }

    /// Returns a cursor from the term at `place` on.
    pub(crate) fn cursor(&self, place: usize) -> PackedTermCursor<'a> {
        let mut cursor = PackedTermCursor {
            terms: *self,
            place: 0,
            rest: Reader::default(),
            term: Coded::default(),
            entry: Entry::NONE,
        };
        cursor.go_to(place);
        cursor
    }

    /// True if a writer can have made them. Each block's checksum is right, and the terms ascend
    /// over all blocks. The prefixes match the blocks' first terms.
    pub(crate) fn are_sound(&self) -> bool {
        let mut before = Coded::default();
        let mut cursor = self.cursor(0);
        for place in 0..self.len() {
            let in_order = cursor.place() == place && before.bytes() < cursor.term.bytes();
            let (field, bytes) = cursor.term.parts();
            let is_first = place.is_multiple_of(BLOCK);
            let is_led_to = !is_first || self.prefix(place / BLOCK) == prefix(field, bytes);
            let is_none = bytes.is_empty() && field == FieldId::TEXT;
            if !in_order || is_none || !is_led_to {
                return false;
            }
            before = cursor.term;
            cursor.advance();
        }
        true
    }

    fn prefix(&self, block: usize) -> u64 {
        self.prefixes[block].load(Relaxed)
    }

    fn block_terms(&self, block: usize) -> usize {
        (self.terms - block * BLOCK).min(BLOCK)
    }

    /// Returns the words of a block by its index entry. The range may be invalid.
    fn range(&self, block: usize) -> Range<usize> {
        let place = |entry: &AtomicU64| entry.load(Relaxed) as u32 as usize;
        place(&self.index[block])..self.index.get(block + 1).map_or(self.words.len(), place)
    }

    /// Returns the bytes from the beginning of a block on, unchecked.
    fn body(&self, block: usize) -> Reader<'a> {
        let Range { start, end } = self.range(block);
        let len = end.min(self.words.len()).saturating_sub(start);
        self.region.prove(self.body + start as u64 * WORD, len as u64 * WORD);
        Reader::new(self.bytes.get(start * WORD as usize..).unwrap_or(&[]))
    }

    /// Returns the terms of a block, if its checksum is right. Notes the damage otherwise.
    fn believed(&self, block: usize) -> Option<Reader<'a>> {
        let terms = self.checked(block);
        if terms.is_none() {
            let at = self.body + self.range(block).start as u64 * WORD;
            let why = "the checksum of a block is wrong";
            damage::note(self.region, Corrupt { what: "packed terms", at, why });
        }
        terms
    }

    fn checked(&self, block: usize) -> Option<Reader<'a>> {
        let words = |word: &AtomicU64| word.load(Relaxed);
        let entry = words(&self.index[block]);
        let body = self.words.get(self.range(block))?;
        let mut check = self.block_terms(block) as u32;
        let (groups, rest) = body.as_chunks::<8>();
        for group in groups {
            check = checksum(check, &group.each_ref().map(words));
        }
        for word in rest {
            check = checksum(check, &[words(word)]);
        }
        (check == (entry >> 32) as u32).then(|| self.body(block))
    }

    /// Compares the first term of a block with another term.
    fn compare_first(&self, block: usize, field: FieldId, bytes: &[u8]) -> Ordering {
        self.prefix(block).cmp(&prefix(field, bytes)).then_with(|| {
            let mut first = Coded::default();
            self.body(block).term(&mut first);
            first.parts().cmp(&(field, bytes))
        })
    }

    fn seek(&self, field: FieldId, bytes: &[u8]) -> Sought {
        let (mut low, mut high) = (0, self.prefixes.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let is_behind = self.compare_first(middle, field, bytes).is_gt();
            if is_behind { high = middle } else { low = middle + 1 }
        }
        match low.checked_sub(1) {
            Some(block) => self.seek_in(block, field, bytes),
            None => Sought { place: 0, entry: None },
        }
    }

    /// Searches for a term in the block whose first term is not behind it. The common prefix with
    /// the wanted term never shrinks while the terms are before it. So most terms are skipped by
    /// the number of bytes that they share with the one before.
    fn seek_in(&self, block: usize, field: FieldId, bytes: &[u8]) -> Sought {
        let (start, count) = (block * BLOCK, self.block_terms(block));
        let end = Sought { place: start + count, entry: None };
        let Some(mut rest) = self.believed(block) else { return end };
        let (code, len) = field.code();
        let wanted = |at: usize| if at < len { Some(&code[at]) } else { bytes.get(at - len) };
        let mut common = 0;
        for place in start..start + count {
            let (shared, suffix) = rest.lengths();
            let mut order = shared.cmp(&common).reverse();
            if order.is_eq() {
                let differs = |at: &usize| wanted(common + at) != Some(&rest.peek(*at));
                let same = (0..suffix).find(differs).unwrap_or(suffix);
                common += same;
                order = match (same < suffix, wanted(common)) {
                    (true, Some(byte)) => rest.peek(same).cmp(byte),
                    (true, None) => Ordering::Greater,
                    (false, Some(_)) => Ordering::Less,
                    (false, None) => Ordering::Equal,
                };
            }
            rest.skip(suffix);
            match order {
                Ordering::Less => rest.skip_lead(),
                Ordering::Equal => {
                    return Sought { place, entry: Some(rest.lead(self.segment)) };
                }
                Ordering::Greater => return Sought { place, entry: None },
            }
        }
        end
    }
}

/// A cursor over the terms of a segment. It skips damaged blocks.
#[derive(Clone, Copy)]
pub(crate) struct PackedTermCursor<'a> {
    terms: PackedTerms<'a>,
    /// Place of the current term.
    place: usize,
    /// The rest of its block.
    rest: Reader<'a>,
    term: Coded,
    entry: Entry,
}

impl<'a> PackedTermCursor<'a> {
    /// Returns the prefixes of the first terms of blocks, from the current term's block on.
    pub(crate) fn blocks(&self) -> &'a [AtomicU64] {
        self.terms.prefixes.get(self.place / BLOCK..).unwrap_or(&[])
    }

    /// Returns the place of the current term, or [`len`](PackedTerms::len) at the end.
    pub(crate) fn place(&self) -> usize {
        self.place
    }

    /// Returns the current term: its field, its bytes and its list. The entry's total is unknown.
    pub(crate) fn term(&self) -> Option<(FieldId, &[u8], Entry)> {
        let (field, bytes) = self.term.parts();
        (self.place < self.terms.len()).then_some((field, bytes, self.entry))
    }

    /// Moves to the next term.
    pub(crate) fn advance(&mut self) {
        self.place += 1;
        if self.place.is_multiple_of(BLOCK) {
            self.enter(self.place / BLOCK);
        } else if self.place < self.terms.len() {
            self.read();
        }
    }

    /// Moves to the term at a place, or to the next one that can be read.
    pub(crate) fn go_to(&mut self, place: usize) {
        self.enter(place / BLOCK);
        while self.place < place.min(self.terms.len()) {
            self.advance();
        }
    }

    /// Moves to the first term whose [`prefix`] is above `word`. `word` is not below the prefix of
    /// the current term.
    pub(crate) fn pass(&mut self, word: u64) {
        let block = self.place / BLOCK;
        let behind = self.terms.prefixes.get(block + 1..).unwrap_or(&[]);
        let blocks = behind.partition_point(|prefix| prefix.load(Relaxed) <= word);
        if blocks > 0 {
            self.enter(block + blocks);
        }
        while let Some((field, bytes, _)) = self.term()
            && prefix(field, bytes) <= word
        {
            self.advance();
        }
    }

    /// Moves to the first term of a block, or of the next block whose checksum is right.
    fn enter(&mut self, mut block: usize) {
        let blocks = self.terms.prefixes.len();
        while block < blocks {
            if let Some(body) = self.terms.believed(block) {
                (self.place, self.rest) = (block * BLOCK, body);
                return self.read();
            }
            block += 1;
        }
        self.place = self.terms.len();
    }

    fn read(&mut self) {
        self.rest.term(&mut self.term);
        self.entry = self.rest.lead(self.terms.segment);
    }
}

#[cfg(test)]
mod tests;
