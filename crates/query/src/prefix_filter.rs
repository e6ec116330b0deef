//! The bytes that terms matching a pattern may begin with, place by place.
//!
//! The terms of a fresh segment are not sorted, so a pattern cannot skip many at once. But their
//! first bytes lie in one array. A filter of these leaves few terms that must be compared whole.

use std::collections::BTreeSet;

use spirit_index::ground::FieldId;
use spirit_index::terms::PREFIX_BYTES;
use spirit_kernel::Spelling;

use crate::limits::DISTANCE_MAX;

/// A byte that is not ASCII: no byte is allowed at this place.
pub(crate) const NONE: u8 = 0xFF;

/// Bytes that may be allowed at a place, at most: those of a fuzzy word up to [`DISTANCE_MAX`]
/// places before and after, and the end.
const CHOICES_MAX: usize = 2 * DISTANCE_MAX as usize + 2;
/// The bytes allowed at each of a term's first places, if these are ASCII. Zeros stand after the
/// term's end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PrefixFilter {
    choices: [u64; CHOICES_MAX],
    count: usize,
    /// All bits set where any byte is allowed.
    free: u64,
    misses: u32,
    /// Characters beyond ASCII that a match may begin with.
    foreign: u32,
}

/// The place of a prefix's second byte.
const CODE_BYTE: u64 = 0xFF << (8 * (PREFIX_BYTES - 1));

/// A byte for each place.
pub(crate) type Places = [u8; PREFIX_BYTES];

impl Default for PrefixFilter {
    /// Allows all bytes.
    fn default() -> PrefixFilter {
        PrefixFilter { free: u64::MAX, ..PrefixFilter::with_misses(0) }
    }
}

impl PrefixFilter {
    /// Allows no byte yet; `misses` places may have another byte.
    pub(crate) fn with_misses(misses: u32) -> PrefixFilter {
        PrefixFilter { choices: [0; CHOICES_MAX], count: 0, free: 0, misses, foreign: u32::MAX }
    }

    /// Allows at most this many characters beyond ASCII.
    pub(crate) fn with_foreign(self, foreign: u32) -> PrefixFilter {
        PrefixFilter { foreign, ..self }
    }

    /// Allows one more byte at each place, or [`NONE`].
    pub(crate) fn push(&mut self, wanted: &Places) {
        self.choices[self.count] = word(wanted);
        self.count += 1;
    }

    /// Returns the filter of a wildcard pattern: the bytes before its first `*` are known.
    pub(crate) fn of_wildcard(pattern: &[u8]) -> PrefixFilter {
        let mut wanted = [NONE; PREFIX_BYTES];
        let mut rest = pattern.iter();
        for place in &mut wanted {
            let byte = match rest.next() {
                Some(b'*') => break,
                Some(b'?') => continue,
                Some(b'\\') => *rest.next().unwrap_or(&b'\\'),
                Some(byte) => *byte,
                // The pattern ends, and so must a term.
                None => 0,
            };
            if !byte.is_ascii() {
                break;
            }
            *place = byte;
        }
        let is_free = |byte| if byte == NONE { u8::MAX } else { 0 };
        let mut filter =
            PrefixFilter { free: word(&wanted.map(is_free)), ..PrefixFilter::with_misses(0) };
        filter.push(&wanted);
        filter
    }

    /// Returns the filter for terms with one of a set of bytes at each place; any byte where there is
    /// no set, too large a set, or one beyond ASCII.
    pub(crate) fn of_sets(sets: &[Option<BTreeSet<u8>>; PREFIX_BYTES]) -> PrefixFilter {
        let is_known =
            |set: &&BTreeSet<u8>| set.len() <= CHOICES_MAX && set.iter().all(u8::is_ascii);
        let known = sets.each_ref().map(|set| set.as_ref().filter(is_known));
        let free = known.map(|set| if set.is_none() { u8::MAX } else { 0 });
        let mut filter = PrefixFilter { free: word(&free), ..PrefixFilter::with_misses(0) };
        for choice in 0..CHOICES_MAX {
            let of_set = |set: Option<&BTreeSet<u8>>| set?.iter().nth(choice).copied();
            filter.push(&known.map(|set| of_set(set).unwrap_or(NONE)));
        }
        filter
    }

    /// Returns the filter for [prefixes](spirit_index::terms::prefix) of a field, of any that has as
    /// many bytes of code.
    pub(crate) fn of_field(mut self, field: FieldId) -> PrefixFilter {
        let (_, code) = field.code();
        // A second byte of code moves the others on. It may be any here.
        if code > 1 {
            self.choices.iter_mut().for_each(|choice| *choice >>= u8::BITS);
            self.free = self.free >> u8::BITS | CODE_BYTE;
            self.foreign = self.foreign.saturating_add(1);
        }
        self
    }

    /// Returns the filter for [prefixes](spirit_index::terms::prefix) of any field whose code is one
    /// byte.
    pub(crate) fn spelling(&self) -> Spelling<'_> {
        let choices = &self.choices[..self.count];
        let PrefixFilter { free, misses, foreign, .. } = *self;
        Spelling { mask: 0, begin: 0, choices, free, misses, foreign }
    }
}

/// Packs the bytes in the order of a prefix.
fn word(places: &Places) -> u64 {
    places.iter().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::fuzzy::{Fuzzy, FuzzyMatcher};
    use proptest::prelude::*;
    use spirit_index::terms::prefix;
    use spirit_kernel::{Level, spelt};
    use std::sync::atomic::AtomicU64;

    pub(crate) fn admits(filter: &PrefixFilter, term: &str) -> bool {
        let admits_in = |field| {
            let beginning = AtomicU64::new(prefix(field, term.as_bytes()));
            let filter = filter.of_field(field);
            spelt(Level::Portable, &[beginning], filter.spelling()) == 1
        };
        let narrow = admits_in(FieldId(9));
        // Where less of a term is known, it may be admitted for that.
        assert!(!narrow || [240, 500, FieldId::MAX.0].map(FieldId).into_iter().all(admits_in));
        narrow
    }

    #[test]
    fn few_other_terms_are_like_a_wildcard() {
        let filter = PrefixFilter::of_wildcard(b"b?r*s");
        assert!(
            ["bar", "bars", "bur\u{e9}s", "b\u{e9}rs"].iter().all(|term| admits(&filter, term))
        );
        assert!(["bat", "car", "b", ""].iter().all(|term| !admits(&filter, term)));
        let filter = PrefixFilter::of_wildcard(b"?ar");
        assert!(["bar", "\u{e9}ar"].iter().all(|term| admits(&filter, term)));
        assert!(["bars", "ba", "ar", "bas"].iter().all(|term| !admits(&filter, term)));
        let filter = PrefixFilter::of_wildcard(b"\\*a\\");
        assert!(admits(&filter, "*a\\") && !admits(&filter, "ba\\") && !admits(&filter, "*ab"));
    }

    #[test]
    fn few_other_terms_are_like_a_fuzzy_word() {
        let mut matcher = FuzzyMatcher::default();
        matcher.begin(Fuzzy::within(1), "stream").unwrap();
        let filter = matcher.prefix_filter();
        let near = ["stream", "tream", "streamer", "strxam", "tsream", "strea", "xstream"];
        assert!(near.iter().all(|term| admits(&filter, term)));
        let far = ["str", "xtreax", "strike", "engine", "meanwhile"];
        assert!(far.iter().all(|term| !admits(&filter, term)));
    }

    proptest! {
        #[test]
        fn no_match_of_a_wildcard_is_ruled_out(
            pattern in "[a-b*?é\\\\\0]{0,9}",
            text in "[a-b*é\0]{0,9}",
        ) {
            let characters = |text: &str| text.chars().collect::<Vec<char>>();
            let matches = crate::pattern::tests::naive(&characters(&pattern), &characters(&text));
            prop_assert!(!matches || admits(&PrefixFilter::of_wildcard(pattern.as_bytes()), &text));
        }

        #[test]
        fn no_match_of_a_fuzzy_word_is_ruled_out(
            word in prop_oneof![3 => "[a-cé]{0,9}", 1 => "[abé\0]{0,9}"],
            term in prop_oneof![3 => "[a-cé]{0,9}", 1 => "[abé\0]{0,9}"],
            distance in 0u8..=2,
            transpositions: bool,
        ) {
            let mut matcher = FuzzyMatcher::default();
            matcher.begin(Fuzzy { distance, prefix_length: 0, transpositions }, &word).unwrap();
            let edits = crate::fuzzy::tests::naive(&word, &term, transpositions);
            prop_assert!(edits > distance as usize || admits(&matcher.prefix_filter(), &term));
        }
    }
}
