//! The tokens of a text that a query marks.

use std::ops::Range;

use spirit_text::{Analyzer, Token, Tokenizer};

use super::near;
use super::wanted::{Pattern, Wanted};
use crate::pattern::Matcher;
use crate::verdict::Verdict;

/// A token that is marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Its bytes in the text.
    pub(super) bytes: Range<usize>,
    /// Its characters in the text.
    pub(super) characters: Range<usize>,
    /// The number of the query's term or pattern that it matches.
    pub(super) number: u32,
}

/// A marker of texts, one after another, which reuses its memory.
#[derive(Default)]
pub(super) struct Marker {
    candidates: Vec<Candidate>,
    occurrences: Vec<Occurrences>,
    marks: Vec<Mark>,
}

/// A token that is marked, or would be if a phrase matched there.
struct Candidate {
    bytes: Range<usize>,
    number: u32,
    marked: bool,
}

/// The occurrences of a term of the query.
#[derive(Clone, Default)]
struct Occurrences {
    positions: Vec<u32>,
    /// The candidate at each position.
    candidates: Vec<usize>,
}

impl Marker {
    /// Returns the marked tokens in the first `bytes_max` bytes of `text`, in order. No two
    /// overlap.
    pub(super) fn mark(
        &mut self,
        wanted: &mut Wanted,
        tokenizer: &mut Tokenizer,
        text: &str,
        bytes_max: usize,
    ) -> &[Mark] {
        self.candidates.clear();
        self.occurrences.iter_mut().for_each(Occurrences::clear);
        self.occurrences.resize(wanted.terms(), Occurrences::default());
        if !wanted.is_nothing() {
            self.find(wanted, tokenizer, text, bytes_max);
            self.mark_phrases(wanted);
        }
        self.measure(text);
        &self.marks
    }

    /// Finds the candidates.
    fn find(
        &mut self,
        wanted: &mut Wanted,
        tokenizer: &mut Tokenizer,
        text: &str,
        bytes_max: usize,
    ) {
        let mut patterns = std::mem::take(&mut wanted.patterns);
        let mut matchers = Matchers::of(&mut patterns, wanted.terms());
        let head = head(text, bytes_max.min(tokenizer.document_bytes_max()), tokenizer.analyzer());
        let is_cut = head.len() < text.len();
        let cut = tokenizer.for_each_span(head, |token, bytes| {
            // A token that ends at the cut may continue behind it.
            if !(is_cut && bytes.end == head.len()) {
                self.consider(wanted, &mut matchers, token, bytes);
            }
        });
        debug_assert!(cut.is_ok(), "the head is no longer than the tokenizer takes");
        wanted.patterns = patterns;
    }

    fn consider(
        &mut self,
        wanted: &Wanted,
        matchers: &mut Matchers<'_>,
        token: Token<'_>,
        bytes: Range<usize>,
    ) {
        let term = wanted.term(token.bytes());
        let marked = match term {
            Some((number, true)) => Some(number),
            _ => matchers.first_match(token.bytes()),
        };
        let (number, mut prefix) = (term.map(|(number, _)| number), None);
        for number in number.into_iter().chain(wanted.prefixes(token.bytes())) {
            let occurrences = &mut self.occurrences[number as usize];
            occurrences.positions.push(token.position());
            occurrences.candidates.push(self.candidates.len());
            prefix = Some(number);
        }
        // A term has its own number, even if a pattern matches it too.
        if let Some(number) = number.or(marked).or(prefix) {
            self.candidates.push(Candidate { bytes, number, marked: marked.is_some() });
        }
    }

    /// Marks the terms of phrases where these match.
    fn mark_phrases(&mut self, wanted: &Wanted) {
        let Marker { candidates, occurrences, .. } = self;
        for phrase in &wanted.phrases {
            let positions = |term: u32| &*occurrences[term as usize].positions;
            near::in_matches(&phrase.slots, phrase.slop, positions, |term, occurrence| {
                candidates[occurrences[term as usize].candidates[occurrence]].marked = true;
            });
        }
    }

    /// Makes marks of the marked candidates, and counts their characters.
    fn measure(&mut self, text: &str) {
        self.marks.clear();
        let (mut at, mut characters) = (0, 0);
        for Candidate { bytes, number, .. } in self.candidates.iter().filter(|c| c.marked) {
            let start = characters + text[at..bytes.start].chars().count();
            characters = start + text[bytes.clone()].chars().count();
            at = bytes.end;
            let mark =
                Mark { bytes: bytes.clone(), characters: start..characters, number: *number };
            self.marks.push(mark);
        }
    }
}

impl Occurrences {
    fn clear(&mut self) {
        self.positions.clear();
        self.candidates.clear();
    }
}

/// The matchers of a query's patterns, with their numbers.
struct Matchers<'p>(Vec<(u32, Matcher<'p>)>);

impl<'p> Matchers<'p> {
    fn of(patterns: &'p mut [Pattern], first: usize) -> Matchers<'p> {
        let numbered = (first as u32..).zip(patterns);
        let ready = numbered.filter_map(|(number, pattern)| Some((number, pattern.matcher()?)));
        Matchers(ready.collect())
    }

    /// Returns the number of the first pattern that matches a term.
    fn first_match(&mut self, term: &[u8]) -> Option<u32> {
        let matches = |matcher: &mut Matcher<'_>| matcher.test(term) == Verdict::Match;
        self.0.iter_mut().find_map(|(number, matcher)| matches(matcher).then_some(*number))
    }
}

/// Returns at most `bytes_max` bytes of a text's beginning. It is cut at a blank, if there is one.
fn head(text: &str, bytes_max: usize, analyzer: Analyzer) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    if analyzer == Analyzer::Keyword {
        // Part of a value is another value.
        return "";
    }
    let head = &text[..text.floor_char_boundary(bytes_max)];
    // The blank is included, so the word before it does not end at the cut.
    let blank = head.char_indices().rfind(|(_, c)| c.is_whitespace());
    blank.map_or(head, |(at, c)| &head[..at + c.len_utf8()])
}
