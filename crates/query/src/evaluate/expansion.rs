//! A pattern's terms in a segment.
//!
//! Terms are sifted by their first bytes before they are read: many at a time where these lie in one
//! array, a block at a time where terms are packed. Otherwise a walk skips prefixes of which no
//! term can match.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use spirit_index::fresh::Extent;
use spirit_index::ground::{FieldId, TERM_BYTES_MAX, TermBuffer};
use spirit_index::snapshot::{OrderedTerm, TERMS_OF_BLOCK, TermCursor};
use spirit_index::terms::{Beginning, prefix};
use spirit_kernel as kernel;
use spirit_kernel::{Level, Spelling};
use spirit_mem::prefetch;

use super::Place;
use super::window::{Ones, ones};
use crate::fuzzy::FuzzyMatcher;
use crate::limits::Meter;
use crate::pattern::Matcher;
use crate::query::Query;
use crate::tuning::{PREFIXES_A_STEP, STEPS_AHEAD, TERMS_PASSED_MAX};
use crate::verdict::Verdict;

/// A pattern that is matched with a segment's terms.
pub(super) struct Expansion<'e, 'q> {
    field: FieldId,
    matcher: Matcher<'e>,
    meter: &'e mut Meter<'q>,
}

impl<'e, 'q> Expansion<'e, 'q> {
    /// Returns `None` if no term can match.
    pub(super) fn new(
        query: &'e Query,
        pattern: u32,
        fuzzy: &'e mut FuzzyMatcher,
        meter: &'e mut Meter<'q>,
    ) -> Option<Expansion<'e, 'q>> {
        let pattern = &query.patterns[pattern as usize];
        let matcher = query.matcher(pattern, fuzzy)?;
        Some(Expansion { field: pattern.field, matcher, meter })
    }

    /// Returns a cursor at the first term of a registered segment that may match.
    pub(super) fn cursor<'a>(&self, place: &Place<'a>) -> TermCursor<'a> {
        place.segment.terms_from(self.field, self.matcher.first())
    }

    /// Calls `found` with each matching term of a registered segment, from the position of a
    /// [`cursor`](Self::cursor) on.
    pub(super) fn registered<'a>(
        &mut self,
        place: &Place<'a>,
        mut cursor: TermCursor<'a>,
        mut found: impl FnMut(&mut Meter<'q>, &[u8], OrderedTerm),
    ) {
        let (mask, begin) = self.begins();
        if self.matcher.has_filter() {
            if let Some(prefixes) = cursor.prefixes(mask, begin) {
                return self.listed(place.context.level, prefixes, cursor, found);
            }
            if let Some(blocks) = cursor.blocks() {
                return self.in_blocks(place, blocks, cursor, &mut found);
            }
        }
        self.walk(place, &mut cursor, u64::MAX, &mut found);
    }

    /// Tests the terms from a cursor up to a place. False if none behind it can match, or the evaluation
    /// must end.
    fn walk<'a>(
        &mut self,
        place: &Place<'a>,
        cursor: &mut TermCursor<'a>,
        until: u64,
        found: &mut impl FnMut(&mut Meter<'q>, &[u8], OrderedTerm),
    ) -> bool {
        let mut term = [0; TERM_BYTES_MAX];
        // Invariant: no term before the cursor is left to test. `passing` is a prefix of which no
        // term matches, and `passed` counts the terms skipped for it. Terminates: the cursor only
        // moves forward.
        let (mut passing, mut passed) = ([0; TERM_BYTES_MAX], 0);
        let mut passing_len = 0;
        while cursor.place() < until
            && let Some(begins) = cursor.begins()
        {
            if begins.field != self.field || !self.meter.step() {
                return false;
            }
            if let Some(count) = self.matcher.rules_out(begins.bytes()) {
                cursor.pass(count);
                continue;
            }
            let Some(ordered) = cursor.next_term(&mut term) else { return false };
            let bytes = &term[..ordered.len];
            if passing_len > 0 && bytes.starts_with(&passing[..passing_len]) {
                passed += 1;
                if passed > TERMS_PASSED_MAX {
                    // The cursor moves past all terms with the prefix. No overflow: text has no
                    // byte 255.
                    passing[passing_len - 1] += 1;
                    *cursor = place.segment.terms_from(self.field, &passing[..passing_len]);
                    passing_len = 0;
                }
                continue;
            }
            (passing_len, passed) = (0, 0);
            match self.matcher.test(bytes) {
                Verdict::Match if !self.meter.expand() => return false,
                Verdict::Match => found(self.meter, bytes, ordered),
                Verdict::No => {}
                Verdict::NoneWith(count) => {
                    passing[..count].copy_from_slice(&bytes[..count]);
                    passing_len = count;
                }
                Verdict::End => return false,
            }
        }
        true
    }

    /// Like [`registered`](Self::registered), where the terms are packed. A block is only unpacked if what
    /// its terms begin with does not rule all of them out.
    fn in_blocks<'a>(
        &mut self,
        place: &Place<'a>,
        blocks: &'a [AtomicU64],
        mut cursor: TermCursor<'a>,
        found: &mut impl FnMut(&mut Meter<'q>, &[u8], OrderedTerm),
    ) {
        let spelling = self.matcher.prefix_filter().of_field(self.field);
        let (mask, begin) = self.begins();
        let spelling = Spelling { mask, begin, ..spelling.spelling() };
        let first = cursor.place() / TERMS_OF_BLOCK;
        for (block, number) in (0..blocks.len()).zip(first..) {
            // The block's terms lie between its first one and the next block's.
            let between = &blocks[block..blocks.len().min(block + 2)];
            if !self.meter.step() || between[0].load(Relaxed) & mask > begin {
                return;
            }
            if !may_be_spelt(place.context.level, between, spelling) {
                continue;
            }
            let (start, end) = (number * TERMS_OF_BLOCK, (number + 1) * TERMS_OF_BLOCK);
            if cursor.place() < start {
                cursor.go_to(start);
            }
            if !self.walk(place, &mut cursor, end, found) {
                return;
            }
        }
    }

    /// Like [`registered`](Self::registered), where the terms' prefixes lie in one array. A kernel
    /// compares many at a time, and only the terms that it leaves are read. That is faster than a
    /// walk that skips what a prefix rules out, since most skips are short.
    fn listed<'a>(
        &mut self,
        level: Level,
        all: &'a [AtomicU64],
        mut cursor: TermCursor<'a>,
        mut found: impl FnMut(&mut Meter<'q>, &[u8], OrderedTerm),
    ) {
        let mut term = [0; TERM_BYTES_MAX];
        let prefix_filter = self.matcher.prefix_filter().of_field(self.field);
        let (mask, begin) = self.begins();
        let spelling = Spelling { mask, begin, ..prefix_filter.spelling() };
        let first = cursor.place();
        for (step, prefixes) in all.chunks(PREFIXES_A_STEP).enumerate() {
            if !self.meter.step() {
                return;
            }
            if let Some(ahead) = all.get((step + STEPS_AHEAD) * PREFIXES_A_STEP) {
                prefetch(ahead);
            }
            if !may_be_spelt(level, prefixes, spelling) {
                continue;
            }
            let candidates = self.left(prefixes, kernel::spelt(level, prefixes, spelling));
            if !self.meter.steps(candidates.count_ones() as usize) {
                return;
            }
            let first = first + (step * PREFIXES_A_STEP) as u64;
            cursor.prefetch(Ones(candidates).map(|bit| first + bit as u64));
            for bit in Ones(candidates) {
                cursor.go_to(first + bit as u64);
                let is_match = |bytes: &[u8]| self.matcher.matches(bytes);
                let Some(ordered) = cursor.next_if(&mut term, is_match) else { continue };
                if !self.meter.expand() {
                    return;
                }
                found(self.meter, &term[..ordered.len], ordered);
            }
        }
    }

    /// Returns those of the candidates that their first bytes do not rule out.
    fn left(&mut self, prefixes: &[AtomicU64], candidates: u64) -> u64 {
        let mut left = candidates;
        for bit in ones(&[candidates]) {
            let begins = Beginning::of(prefixes[bit].load(Relaxed));
            let is_no_match = self.matcher.rules_out(begins.bytes()).is_some();
            left &= !(u64::from(is_no_match) << bit);
        }
        left
    }

    /// Calls `found` with each matching term of a fresh segment, and its ordinal.
    pub(super) fn fresh(
        &mut self,
        place: &Place<'_>,
        extent: &Extent<'_>,
        mut found: impl FnMut(&mut Meter<'q>, &[u8], u32),
    ) {
        let mut long = [0; TERM_BYTES_MAX];
        let prefix_filter = self.matcher.prefix_filter().of_field(self.field);
        let (mask, begin) = self.begins();
        let spelling = Spelling { mask, begin, ..prefix_filter.spelling() };
        let ordinals = place.segment.fresh_ordinals();
        let prefixes = extent.prefixes(ordinals.end).chunks(PREFIXES_A_STEP);
        for (prefixes, first) in prefixes.zip(ordinals.step_by(PREFIXES_A_STEP)) {
            if !self.meter.step() {
                return;
            }
            // Relaxed loads suffice: the prefixes were written before the number of terms was
            // stored.
            let candidates = kernel::spelt(place.context.level, prefixes, spelling);
            let candidates = self.left(prefixes, candidates);
            if !self.meter.steps(candidates.count_ones() as usize) {
                return;
            }
            for bit in ones(&[candidates]) {
                extent.prefetch_term(first + bit as u32);
            }
            for bit in ones(&[candidates]) {
                if !self.fresh_term(extent, first + bit as u32, &mut long, &mut found) {
                    return;
                }
            }
        }
    }

    /// Returns the bits of a prefix that all matching terms share, as a mask and a value. They are
    /// those of the field and of the first bytes.
    fn begins(&self) -> (u64, u64) {
        let first = match &self.matcher {
            Matcher::Range { .. } => &[],
            matcher => matcher.first(),
        };
        let (_, code) = self.field.code();
        let known = 8 * (code + first.len()).min(size_of::<u64>()) as u32;
        (u64::MAX << (u64::BITS - known), prefix(self.field, first))
    }

    /// Tests a term of a fresh segment, and returns false if the evaluation must end. A long term's
    /// bytes are gathered first.
    #[inline]
    fn fresh_term(
        &mut self,
        extent: &Extent<'_>,
        ordinal: u32,
        long: &mut TermBuffer,
        found: &mut impl FnMut(&mut Meter<'q>, &[u8], u32),
    ) -> bool {
        let key = extent.record(ordinal).key();
        let (inline, len) = key.inline_bytes();
        let bytes = if key.is_long() {
            let (_, len) = extent.write_term(ordinal, long);
            &long[..len]
        } else {
            &inline[..len]
        };
        if self.matcher.matches(bytes) {
            if !self.meter.expand() {
                return false;
            }
            found(self.meter, bytes, ordinal);
        }
        true
    }
}

/// True unless what ascending prefixes begin with rules all of them out.
fn may_be_spelt(level: Level, prefixes: &[AtomicU64], spelling: Spelling<'_>) -> bool {
    let [first, .., last] = prefixes else { return true };
    let (first, last) = (first.load(Relaxed), last.load(Relaxed));
    let common_bytes = (first ^ last).leading_zeros() / u8::BITS;
    let apart = u64::MAX.checked_shr(common_bytes * u8::BITS).unwrap_or(0);
    let common = AtomicU64::new(first & !apart);
    let Spelling { mask, begin, free, .. } = spelling;
    let (mask, begin, free) = (mask & !apart, begin & !apart, free | apart);
    kernel::spelt(level, &[common], Spelling { mask, begin, free, ..spelling }) != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzy::Fuzzy;
    use crate::prefix_filter::PrefixFilter;
    use proptest::prelude::*;

    /// Terms of a field, in their order, few letters between them.
    fn terms() -> impl Strategy<Value = Vec<String>> {
        let term = prop_oneof![3 => "[a-c]{0,9}", 1 => "[abé\0]{0,9}"];
        proptest::collection::btree_set(term, 2..9).prop_map(|terms| terms.into_iter().collect())
    }

    fn is_ruled_out(field: FieldId, terms: &[String], filter: &PrefixFilter) -> bool {
        let of_term = |term: &String| AtomicU64::new(prefix(field, term.as_bytes()));
        let prefixes: Vec<AtomicU64> = terms.iter().map(of_term).collect();
        let filter = filter.of_field(field);
        !may_be_spelt(Level::Portable, &prefixes, filter.spelling())
    }

    #[test]
    fn terms_that_begin_alike_are_ruled_out_together() {
        let mut matcher = FuzzyMatcher::default();
        matcher.begin(Fuzzy::within(1), "heron").unwrap();
        let filter = matcher.prefix_filter();
        let of = |terms: [&str; 3]| is_ruled_out(FieldId(3), &terms.map(String::from), &filter);
        assert!(of(["star", "stark", "stars"]) && of(["йод", "йога", "йота"]));
        assert!(!of(["hero", "heron", "hers"]) && !of(["eron", "hat", "star"]));
        assert!(!of(["ég", "éheron", "éland"]));
    }

    proptest! {
        #[test]
        fn no_match_is_ruled_out_by_what_all_begin_with(
            word in prop_oneof![3 => "[a-c]{1,9}", 1 => "[abé]{1,9}"],
            terms in terms(),
            distance in 0u8..=2,
            transpositions: bool,
            field in prop_oneof![3 => Just(9u16), 1 => Just(500)],
        ) {
            let mut matcher = FuzzyMatcher::default();
            let fuzzy = Fuzzy { distance, prefix_length: 0, transpositions };
            matcher.begin(fuzzy, &word).unwrap();
            let edits = |term: &String| crate::fuzzy::tests::naive(&word, term, transpositions);
            let matches = terms.iter().any(|term| edits(term) <= distance as usize);
            let filter = matcher.prefix_filter();
            prop_assert!(!matches || !is_ruled_out(FieldId(field), &terms, &filter));
        }

        #[test]
        fn no_match_of_a_wildcard_is_ruled_out(pattern in "[a-b*?é]{1,6}", terms in terms()) {
            let characters = |text: &str| text.chars().collect::<Vec<char>>();
            let is_match = |term: &String| {
                crate::pattern::tests::naive(&characters(&pattern), &characters(term))
            };
            let filter = PrefixFilter::of_wildcard(pattern.as_bytes());
            let matches = terms.iter().any(is_match);
            prop_assert!(!matches || !is_ruled_out(FieldId(9), &terms, &filter));
        }
    }
}
