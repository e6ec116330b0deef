//! What the first bytes of all terms that a pattern matches are like, place by place.
//!
//! A fresh segment's terms have no order in which many could be passed over at once, but their first bytes lie in an array. Holding these to an
//! outline leaves few terms to be looked at themselves.

use spirit_index::terms::term_order::PREFIX_BYTES;
use spirit_kernel::Spelling;

use crate::limits::DISTANCE_MAX;

/// A byte that no character of one byte is: nothing is wanted.
pub(crate) const NONE: u8 = 0xFF;

/// Bytes that can be wanted at a place: those a fuzzy word has up to so many places before and behind, and the end.
const CHOICES_MAX: usize = 2 * DISTANCE_MAX as usize + 2;
/// Which bytes are wanted at each of a term's first places, where the term has only characters of one byte; zeros stand behind its end.
#[derive(Debug)]
pub(crate) struct Outline {
    choices: [u64; CHOICES_MAX],
    count: usize,
    /// Ones where any byte will do.
    free: u64,
    misses: u32,
}

/// A byte for each place.
pub(crate) type Places = [u8; PREFIX_BYTES];

impl Default for Outline {
    /// Any bytes will do.
    fn default() -> Outline {
        Outline { free: u64::MAX, ..Outline::with_misses(0) }
    }
}

impl Outline {
    /// Nothing is wanted yet, and so many places may have something else.
    pub(crate) fn with_misses(misses: u32) -> Outline {
        Outline { choices: [0; CHOICES_MAX], count: 0, free: 0, misses }
    }

    /// One more byte is wanted at each place, or [`NONE`].
    pub(crate) fn push(&mut self, wanted: &Places) {
        self.choices[self.count] = word(wanted);
        self.count += 1;
    }

    /// Of a wildcard, whose places are known before its first `*`.
    pub(crate) fn of_wildcard(pattern: &[u8]) -> Outline {
        let mut wanted = [NONE; PREFIX_BYTES];
        let mut rest = pattern.iter();
        for place in &mut wanted {
            let byte = match rest.next() {
                Some(b'*') => break,
                Some(b'?') => continue,
                Some(b'\\') => *rest.next().unwrap_or(&b'\\'),
                Some(byte) => *byte,
                // It ends, and so does what matches.
                None => 0,
            };
            if !byte.is_ascii() {
                break;
            }
            *place = byte;
        }
        let is_free = |byte| if byte == NONE { u8::MAX } else { 0 };
        let mut outline = Outline { free: word(&wanted.map(is_free)), ..Outline::with_misses(0) };
        outline.push(&wanted);
        outline
    }

    /// The same of [prefixes](spirit_index::terms::term_order::prefix) of any field.
    pub(crate) fn spelling(&self) -> Spelling<'_> {
        let choices = &self.choices[..self.count];
        Spelling { mask: 0, begin: 0, choices, free: self.free, misses: self.misses }
    }
}

/// The bytes as those of a prefix.
fn word(places: &Places) -> u64 {
    places.iter().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzzy::{Fuzzy, FuzzyMatcher};
    use proptest::prelude::*;
    use spirit_index::ground::term::FieldId;
    use spirit_index::terms::term_order::prefix;
    use spirit_kernel::{Level, spelt};
    use std::sync::atomic::AtomicU64;

    fn admits(outline: &Outline, term: &str) -> bool {
        let beginning = AtomicU64::new(prefix(FieldId(9), term.as_bytes()));
        spelt(Level::Portable, &[beginning], outline.spelling()) == 1
    }

    #[test]
    fn few_other_terms_are_like_a_wildcard() {
        let outline = Outline::of_wildcard(b"b?r*s");
        assert!(
            ["bar", "bars", "bur\u{e9}s", "b\u{e9}rs"].iter().all(|term| admits(&outline, term))
        );
        assert!(["bat", "car", "b", ""].iter().all(|term| !admits(&outline, term)));
        let outline = Outline::of_wildcard(b"?ar");
        assert!(["bar", "\u{e9}ar"].iter().all(|term| admits(&outline, term)));
        assert!(["bars", "ba", "ar", "bas"].iter().all(|term| !admits(&outline, term)));
        let outline = Outline::of_wildcard(b"\\*a\\");
        assert!(admits(&outline, "*a\\") && !admits(&outline, "ba\\") && !admits(&outline, "*ab"));
    }

    #[test]
    fn few_other_terms_are_like_a_fuzzy_word() {
        let mut matcher = FuzzyMatcher::default();
        matcher.begin(Fuzzy::within(1), "stream").unwrap();
        let outline = matcher.outline();
        let near = ["stream", "tream", "streamer", "strxam", "tsream", "strea", "xstream"];
        assert!(near.iter().all(|term| admits(&outline, term)));
        let far = ["str", "xtreax", "strike", "engine", "meanwhile"];
        assert!(far.iter().all(|term| !admits(&outline, term)));
    }

    proptest! {
        #[test]
        fn no_match_of_a_wildcard_is_ruled_out(
            pattern in "[a-b*?é\\\\\0]{0,9}",
            text in "[a-b*é\0]{0,9}",
        ) {
            let characters = |text: &str| text.chars().collect::<Vec<char>>();
            let matches = crate::pattern::tests::naive(&characters(&pattern), &characters(&text));
            prop_assert!(!matches || admits(&Outline::of_wildcard(pattern.as_bytes()), &text));
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
            prop_assert!(edits > distance as usize || admits(&matcher.outline(), &term));
        }
    }
}
