//! Fuzzy words: terms within a few edits of a word.
//!
//! Distances are computed row by row, a row for each character of the term, and only in the band
//! that edits can reach (Ukkonen, 1985). Terms come in ascending order, so rows for the prefix
//! shared with the previous term are kept. Over a sorted dictionary this is a walk through its
//! trie. A transposition counts once, and its characters are not edited again (optimal string
//! alignment, like Lucene's and tantivy's automata).

use spirit_index::ground::TERM_BYTES_MAX;

use crate::limits::DISTANCE_MAX;
use crate::prefix_filter::{NONE, PrefixFilter};
use crate::verdict::Verdict;

/// The conditions of a fuzzy match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fuzzy {
    /// Characters inserted, left out or replaced, at most. At most [`DISTANCE_MAX`].
    pub distance: u8,
    /// Characters at the beginning that must be equal.
    pub prefix_length: u8,
    /// True if two swapped neighbours count as one edit, not two.
    pub transpositions: bool,
}

impl Fuzzy {
    /// Allows this many edits anywhere, including transpositions.
    pub(crate) const fn within(distance: u8) -> Fuzzy {
        Fuzzy { distance, prefix_length: 0, transpositions: true }
    }
}

const REACH: usize = DISTANCE_MAX as usize;
/// Distances of a row that matter. All others exceed [`DISTANCE_MAX`] by the difference of lengths
/// alone.
const BAND: usize = 2 * REACH + 1;
/// A stand-in for every distance that is too large. Adding to it does not overflow.
const FAR: u8 = u8::MAX / 2;

/// The distances between the prefixes of a word and one prefix of a term, which has `i` characters.
/// Entry `e` is for the word's first `i + e - REACH` characters.
type Row = [u8; BAND];

/// The characters of a word: their number, and a set of bits. One edit sets at most one bit and
/// clears at most one.
#[derive(Clone, Copy, Debug, Default)]
struct Characters {
    count: u32,
    which: u64,
}

impl Characters {
    fn of(text: &[u8]) -> Characters {
        // The first byte chooses a character's bit, so different characters may share one.
        text.iter().fold(Characters::default(), |found, byte| {
            let first = u64::from(byte & 0xC0 != 0x80);
            let which = found.which | first << (byte & 63);
            Characters { count: found.count + first as u32, which }
        })
    }
}

/// A fuzzy word that terms are tested with, and the state kept from one term to the next.
#[derive(Debug)]
pub(crate) struct FuzzyMatcher {
    fuzzy: Fuzzy,
    word: [char; TERM_BYTES_MAX],
    word_len: usize,
    prefix: [u8; TERM_BYTES_MAX],
    prefix_bytes: usize,
    /// The word's characters.
    characters: Characters,
    /// The bytes of the last term.
    bytes: [u8; TERM_BYTES_MAX],
    /// The characters of the last term.
    term: [char; TERM_BYTES_MAX],
    /// The byte offset of the end of each character.
    ends: [u8; TERM_BYTES_MAX],
    /// The row for each number of characters.
    rows: [Row; TERM_BYTES_MAX + 1],
    /// The number of characters for which all this is known.
    known: usize,
}

impl Default for FuzzyMatcher {
    fn default() -> FuzzyMatcher {
        FuzzyMatcher {
            fuzzy: Fuzzy::within(0),
            word: ['\0'; TERM_BYTES_MAX],
            word_len: 0,
            prefix: [0; TERM_BYTES_MAX],
            prefix_bytes: 0,
            characters: Characters::default(),
            bytes: [0; TERM_BYTES_MAX],
            term: ['\0'; TERM_BYTES_MAX],
            ends: [0; TERM_BYTES_MAX],
            rows: [[FAR; BAND]; TERM_BYTES_MAX + 1],
            known: 0,
        }
    }
}

impl FuzzyMatcher {
    /// Begins with another word, which terms are tested with. `None` if it is too long for a term.
    pub(crate) fn begin(&mut self, fuzzy: Fuzzy, word: &str) -> Option<()> {
        self.bytes.get(..word.len())?;
        let distance = fuzzy.distance.min(DISTANCE_MAX);
        self.fuzzy = Fuzzy { distance, ..fuzzy };
        self.word_len = 0;
        for (to, from) in self.word.iter_mut().zip(word.chars()) {
            *to = from;
            self.word_len += 1;
        }
        let behind = word.char_indices().nth(fuzzy.prefix_length as usize);
        self.prefix_bytes = behind.map_or(word.len(), |(at, _)| at);
        self.prefix[..self.prefix_bytes].copy_from_slice(&word.as_bytes()[..self.prefix_bytes]);
        self.characters = Characters::of(word.as_bytes());
        self.known = 0;
        self.rows[0] = std::array::from_fn(|entry| match self.of_word(0, entry) {
            Some(len) => len as u8,
            None => FAR,
        });
        Some(())
    }

    /// Returns the prefix of all matches.
    pub(crate) fn prefix(&self) -> &[u8] {
        &self.prefix[..self.prefix_bytes]
    }

    /// Returns the filter for the first bytes of all matches. A character that is not edited is at
    /// most as many places from its place in the word as there are edits. Each edited one takes one
    /// of them.
    pub(crate) fn prefix_filter(&self) -> PrefixFilter {
        let distance = self.fuzzy.distance as usize;
        let word = &self.word[..self.word_len];
        // Each character that is not the word's takes an edit.
        let foreign = distance + word.iter().filter(|own| !own.is_ascii()).count();
        let mut prefix_filter =
            PrefixFilter::with_misses(distance as u32).with_foreign(foreign as u32);
        // A term that ends before the word does lacks as many characters as it is shorter.
        let end = |place| if place < word.len() { NONE } else { 0 };
        prefix_filter.push(&std::array::from_fn(end));
        for shift in 0..=2 * distance {
            let near = |place: usize| (place + shift).checked_sub(distance);
            let own = |place| near(place).and_then(|at| word.get(at)).filter(|own| own.is_ascii());
            prefix_filter
                .push(&std::array::from_fn(|place| own(place).map_or(NONE, |own| *own as u8)));
        }
        prefix_filter
    }

    /// True if a term may be near enough by its set of characters, in any order. Few other terms
    /// pass.
    pub(crate) fn may_be_near(&self, term: &[u8]) -> bool {
        let [own, other] = [self.characters, Characters::of(term)];
        let edits = self.fuzzy.distance as u32;
        own.count.abs_diff(other.count) <= edits
            && (own.which & !other.which).count_ones() <= edits
            && (other.which & !own.which).count_ones() <= edits
    }

    /// Returns the number of bytes of `begins` with which no match begins, if known. `begins` has a
    /// term's first `N` bytes, padded with zeros.
    pub(crate) fn rules_out(&mut self, begins: &[u8]) -> Option<usize> {
        let len = begins.len() - begins.iter().rev().take_while(|byte| **byte == 0).count();
        let valid = begins[..len].utf8_chunks().next().map_or("", |chunk| chunk.valid());
        if let Some(end) = self.go_on(valid) {
            return Some(end);
        }
        if len == begins.len() || valid.len() < len {
            return None;
        }
        // A zero is padding or the term's own byte. The term must be too far for each number of own
        // zeros.
        for _ in len..begins.len() {
            if self.distance() <= self.fuzzy.distance {
                return None;
            }
            self.push('\0');
            if self.is_too_far() {
                return Some(begins.len());
            }
        }
        None
    }

    /// Tests a term that begins with the prefix.
    pub(crate) fn test(&mut self, term: &[u8]) -> Verdict {
        let Ok(text) = std::str::from_utf8(term) else { return Verdict::No };
        if term.len() > TERM_BYTES_MAX {
            return Verdict::No;
        }
        if let Some(end) = self.go_on(text) {
            return Verdict::NoneWith(end);
        }
        if self.distance() <= self.fuzzy.distance { Verdict::Match } else { Verdict::No }
    }

    /// Moves on to a term or to the beginning of one. If every continuation is too far, returns the
    /// length of the prefix that shows it.
    fn go_on(&mut self, text: &str) -> Option<usize> {
        self.keep_common(text.as_bytes());
        let begin = self.end_of(self.known);
        text[begin..].chars().find_map(|c| {
            let end = self.push(c);
            self.is_too_far().then_some(end)
        })
    }

    /// Returns the distance of the current term.
    fn distance(&self) -> u8 {
        let entry = (self.word_len + REACH).checked_sub(self.known).filter(|entry| *entry < BAND);
        entry.map_or(FAR, |entry| self.rows[self.known][entry])
    }

    /// Returns the byte offset after the first `characters` of the last term.
    fn end_of(&self, characters: usize) -> usize {
        characters.checked_sub(1).map_or(0, |last| self.ends[last] as usize)
    }

    /// Keeps only the state for the prefix that the last term shares with `term`.
    fn keep_common(&mut self, term: &[u8]) {
        let known = &self.bytes[..self.end_of(self.known)];
        let common = term.iter().zip(known).take_while(|(a, b)| a == b).count();
        while self.end_of(self.known) > common {
            self.known -= 1;
        }
    }

    /// Appends a character of the term. Returns the byte offset of its end.
    fn push(&mut self, c: char) -> usize {
        let begin = self.end_of(self.known);
        let end = begin + c.len_utf8();
        c.encode_utf8(&mut self.bytes[begin..end]);
        self.term[self.known] = c;
        self.ends[self.known] = end as u8;
        self.known += 1;
        self.fill_row();
        end
    }

    /// Returns the number of the word's characters that an entry is for, in the row for `i`
    /// characters of the term.
    fn of_word(&self, i: usize, entry: usize) -> Option<usize> {
        (i + entry).checked_sub(REACH).filter(|len| *len <= self.word_len)
    }

    fn fill_row(&mut self) {
        let i = self.known;
        let mut row = [FAR; BAND];
        // Invariant: the entries before have their distances, and so have the rows before.
        for entry in 0..BAND {
            let Some(j) = self.of_word(i, entry) else { continue };
            if j == 0 {
                row[entry] = i.min(FAR as usize) as u8;
                continue;
            }
            let (last, above) = (self.term[i - 1], &self.rows[i - 1]);
            let mut nearest = above[entry] + u8::from(last != self.word[j - 1]);
            if entry + 1 < BAND {
                nearest = nearest.min(above[entry + 1] + 1);
            }
            if entry > 0 {
                nearest = nearest.min(row[entry - 1] + 1);
            }
            let swapped = self.fuzzy.transpositions
                && i > 1
                && j > 1
                && last == self.word[j - 2]
                && self.term[i - 2] == self.word[j - 1];
            if swapped {
                nearest = nearest.min(self.rows[i - 2][entry] + 1);
            }
            row[entry] = nearest.min(FAR);
        }
        self.rows[i] = row;
    }

    /// True if no term that begins with the known characters is near enough. The least distance of
    /// a row is at most one more than that of the row before: a character may be inserted. So a
    /// transposition, which costs one and leads from the last row but one, comes from no nearer row.
    fn is_too_far(&self) -> bool {
        let nearest = self.rows[self.known].iter().copied().min().unwrap_or(FAR);
        nearest > self.fuzzy.distance
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the distance, by the whole table.
    pub(crate) fn naive(word: &str, term: &str, transpositions: bool) -> usize {
        let (a, b): (Vec<char>, Vec<char>) = (word.chars().collect(), term.chars().collect());
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                if i == 0 || j == 0 {
                    table[i][j] = i + j;
                    continue;
                }
                let replaced = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut nearest = replaced.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                if transpositions && i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]
                {
                    nearest = nearest.min(table[i - 2][j - 2] + 1);
                }
                table[i][j] = nearest;
            }
        }
        table[a.len()][b.len()]
    }

    /// A term that begins with the whole word may go on. A term that begins with a part of it is
    /// another one.
    #[test]
    fn a_prefix_as_long_as_the_word_leaves_room_behind_it() {
        for prefix_length in [3, 4, 200] {
            let fuzzy = Fuzzy { distance: 1, prefix_length, transpositions: true };
            let mut matcher = FuzzyMatcher::default();
            matcher.begin(fuzzy, "abé").unwrap();
            assert_eq!(matcher.prefix(), "abé".as_bytes());
            assert_eq!(matcher.test("abé".as_bytes()), Verdict::Match);
            assert_eq!(matcher.test("abéa".as_bytes()), Verdict::Match);
            assert_eq!(matcher.test("abéé".as_bytes()), Verdict::Match);
            assert_ne!(matcher.test("abéab".as_bytes()), Verdict::Match);
        }
    }

    /// Zeros after a beginning may be the term's own: "é" and "é\0\0" are too far, and "é\0" is
    /// not.
    #[test]
    fn a_beginning_may_end_with_zeros_of_its_own() {
        let mut matcher = FuzzyMatcher::default();
        matcher.begin(Fuzzy { transpositions: false, ..Fuzzy::within(1) }, "éé\0").unwrap();
        assert_eq!(matcher.rules_out(b"\xc3\xa9\0\0\0\0\0"), None);
        assert_eq!(matcher.test("é\0".as_bytes()), Verdict::Match);
        assert_eq!(matcher.rules_out(b"ab\0\0\0\0\0"), Some(2));
        assert_eq!(matcher.rules_out(b"\xc3\xa9ab\0\0\0"), Some(4));
    }

    proptest! {
        /// Over sorted terms, with skipping by its verdicts, the matcher finds all terms that are
        /// near.
        #[test]
        fn it_finds_all_that_is_near(
            word in prop_oneof![3 => "[abé]{0,9}", 1 => "[abé\0]{0,9}"],
            terms in proptest::collection::btree_set("[abé\0]{1,10}", 0..60),
            distance in 0u8..=2,
            prefix_length in 0u8..3,
            transpositions: bool,
        ) {
            let prefix: String = word.chars().take(prefix_length as usize).collect();
            let expected: Vec<&String> = terms
                .iter()
                .filter(|term| term.starts_with(&prefix))
                .filter(|term| naive(&word, term, transpositions) <= distance as usize)
                .collect();
            let mut matcher = FuzzyMatcher::default();
            matcher.begin(Fuzzy { distance, prefix_length, transpositions }, &word).unwrap();
            prop_assert_eq!(matcher.prefix(), prefix.as_bytes());
            let (mut found, mut passed) = (Vec::new(), None::<Vec<u8>>);
            for term in terms.iter().filter(|term| term.starts_with(&prefix)) {
                let bytes = term.as_bytes();
                prop_assert!(!expected.contains(&term) || matcher.may_be_near(bytes));
                let mut begins = [0; 7];
                begins.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
                if passed.as_ref().is_some_and(|passed| match passed.len() {
                    7.. if bytes.len() < 7 => begins[..] == passed[..7],
                    _ => bytes.starts_with(passed),
                }) {
                    continue;
                }
                if let Some(count) = matcher.rules_out(&begins) {
                    passed = Some(begins[..count].to_vec());
                    continue;
                }
                match matcher.test(bytes) {
                    Verdict::Match => found.push(term),
                    Verdict::NoneWith(len) => passed = Some(bytes[..len].to_vec()),
                    Verdict::No | Verdict::End => {}
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
