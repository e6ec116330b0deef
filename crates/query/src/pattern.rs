//! Patterns: prefixes, wildcards, fuzzy words, regular expressions and ranges of words, which stand
//! for all terms of a field that they match.
//!
//! A caller with terms in ascending order tests them with a [`Matcher`], from [`Matcher::first`]
//! on. A [`Verdict`] may rule out many terms at once. Nothing matches behind a prefix. A fuzzy
//! word's distance cannot shrink behind a prefix that is too far already. Characters are Unicode's,
//! as people who type `?` count them.

use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use crate::automaton::Automaton;
use crate::fuzzy::{Fuzzy, FuzzyMatcher};
use crate::prefix_filter::PrefixFilter;
use crate::verdict::Verdict;

/// The kind of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatternKind {
    /// Terms that begin with these bytes.
    Prefix,
    /// Terms of a wildcard pattern: `*` is any characters, `?` one character, `\` escapes the next
    /// one.
    Wildcard,
    /// Terms within some edits.
    Fuzzy(Fuzzy),
    /// Whole terms of a regular expression (the index of its automaton among the query's).
    Regex(u32),
    /// Terms between two terms, whose bytes are concatenated. The first one has `split` bytes.
    Range { from: Edge, to: Edge, split: u32 },
}

/// An end of a range of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edge {
    /// No bound.
    Open,
    /// A word that belongs to the range.
    Included,
    /// A word that does not belong to the range.
    Excluded,
}

impl Edge {
    /// Returns the bound of the edge with its word.
    pub(crate) fn at<T: ?Sized>(self, word: &T) -> Bound<&T> {
        match self {
            Edge::Open => Bound::Unbounded,
            Edge::Included => Bound::Included(word),
            Edge::Excluded => Bound::Excluded(word),
        }
    }
}

/// A pattern that terms are tested with, in their order.
pub(crate) enum Matcher<'p> {
    Prefix(&'p [u8]),
    Wildcard { pattern: &'p [u8], literal: usize },
    Fuzzy(&'p mut FuzzyMatcher),
    Regex(&'p Automaton),
    Range { from: Bound<&'p [u8]>, to: Bound<&'p [u8]> },
}

impl<'p> Matcher<'p> {
    /// Returns the matcher of a pattern; `None` if nothing can match. Regular expressions have
    /// their automaton among `automata`. `fuzzy` is memory for a fuzzy word.
    pub(crate) fn new(
        kind: PatternKind,
        bytes: &'p [u8],
        automata: &'p [Arc<Automaton>],
        fuzzy: &'p mut FuzzyMatcher,
    ) -> Option<Matcher<'p>> {
        Some(match kind {
            PatternKind::Prefix => Matcher::Prefix(bytes),
            PatternKind::Wildcard => Matcher::Wildcard { pattern: bytes, literal: literal(bytes) },
            PatternKind::Fuzzy(how) => {
                fuzzy.begin(how, std::str::from_utf8(bytes).ok()?)?;
                Matcher::Fuzzy(fuzzy)
            }
            PatternKind::Regex(automaton) => Matcher::Regex(automata.get(automaton as usize)?),
            PatternKind::Range { from, to, split } => {
                let (low, high) = bytes.split_at(split as usize);
                Matcher::Range { from: from.at(low), to: to.at(high) }
            }
        })
    }

    /// Returns a lower bound on all matches. Except for a range, all matches begin with it.
    pub(crate) fn first(&self) -> &[u8] {
        match self {
            Matcher::Prefix(bytes) => bytes,
            Matcher::Wildcard { pattern, literal } => &pattern[..*literal],
            Matcher::Fuzzy(fuzzy) => fuzzy.prefix(),
            Matcher::Regex(automaton) => automaton.first(),
            Matcher::Range { from: Bound::Included(bytes) | Bound::Excluded(bytes), .. } => bytes,
            Matcher::Range { from: Bound::Unbounded, .. } => &[],
        }
    }

    /// Tests a term. Terms come in ascending order, some left out.
    pub(crate) fn test(&mut self, term: &[u8]) -> Verdict {
        match self {
            Matcher::Range { from, to } => within(term, *from, *to),
            _ if !term.starts_with(self.first()) => {
                if term < self.first() {
                    Verdict::No
                } else {
                    Verdict::End
                }
            }
            Matcher::Prefix(_) => Verdict::Match,
            Matcher::Wildcard { pattern, literal } => {
                let found = wildcard_matches(&pattern[*literal..], &term[*literal..]);
                if found { Verdict::Match } else { Verdict::No }
            }
            Matcher::Fuzzy(fuzzy) => fuzzy.test(term),
            Matcher::Regex(automaton) => automaton.test(term),
        }
    }
}

impl Matcher<'_> {
    /// Returns the length of a prefix of `begins` with which no match begins, if there is one.
    /// `begins` has the first bytes of a term, padded with zeros. All of its bytes: no term with these
    /// first bytes matches, padded or not.
    pub(crate) fn rules_out(&mut self, begins: &[u8]) -> Option<usize> {
        match self {
            Matcher::Fuzzy(fuzzy) => fuzzy.rules_out(begins),
            Matcher::Regex(automaton) => automaton.rules_out(begins),
            _ => None,
        }
    }

    /// Returns the filter for the first bytes of all matches, beyond those that they
    /// [begin](Self::first) with.
    pub(crate) fn prefix_filter(&self) -> PrefixFilter {
        match self {
            Matcher::Wildcard { pattern, .. } => PrefixFilter::of_wildcard(pattern),
            Matcher::Fuzzy(fuzzy) => fuzzy.prefix_filter(),
            Matcher::Regex(automaton) => automaton.prefix_filter(),
            Matcher::Prefix(_) | Matcher::Range { .. } => PrefixFilter::default(),
        }
    }

    /// True if terms are best sifted by the [filter](Self::prefix_filter) of their first bytes, or if
    /// all that begin alike match. Few of a range or an expression may be left otherwise.
    pub(crate) fn has_filter(&self) -> bool {
        matches!(self, Matcher::Prefix(_) | Matcher::Wildcard { .. } | Matcher::Fuzzy(_))
    }

    /// True if a term matches. Terms come in any order.
    pub(crate) fn matches(&mut self, term: &[u8]) -> bool {
        let near = match self {
            Matcher::Fuzzy(fuzzy) => fuzzy.may_be_near(term),
            _ => true,
        };
        near && self.test(term) == Verdict::Match
    }
}

fn within(term: &[u8], from: Bound<&[u8]>, to: Bound<&[u8]>) -> Verdict {
    if !(from, Bound::Unbounded).contains(term) {
        Verdict::No
    } else if (Bound::Unbounded, to).contains(term) {
        Verdict::Match
    } else {
        Verdict::End
    }
}

/// Returns the number of bytes before the first special character of a wildcard pattern.
fn literal(pattern: &[u8]) -> usize {
    pattern.iter().position(|byte| matches!(byte, b'*' | b'?' | b'\\')).unwrap_or(pattern.len())
}

/// True if `pattern` matches all of `text`.
fn wildcard_matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    // The last `*`, if there is one: the position behind it in the pattern, and the end of its
    // match in the text. If the rest does not fit, its match grows by a character.
    let mut star: Option<(usize, usize)> = None;
    // Invariant: the pattern before `p` matches the text before `t`. Terminates: each round moves
    // `p` on, or moves the last `*`'s place in the text.
    loop {
        let fits = match pattern.get(p) {
            Some(b'*') => {
                star = Some((p + 1, t));
                p += 1;
                continue;
            }
            Some(b'?') if t < text.len() => Some((1, character(text, t))),
            Some(b'\\') if pattern.len() > p + 1 => {
                (text.get(t) == pattern.get(p + 1)).then_some((2, 1))
            }
            Some(byte) => (text.get(t) == Some(byte)).then_some((1, 1)),
            None if t == text.len() => return true,
            None => None,
        };
        if let Some((of_pattern, of_text)) = fits {
            (p, t) = (p + of_pattern, t + of_text);
            continue;
        }
        match star {
            Some((behind, from)) if from < text.len() => {
                let next = from + character(text, from);
                star = Some((behind, next));
                (p, t) = (behind, next);
            }
            _ => return false,
        }
    }
}

/// Returns the number of bytes of the character at `at`.
fn character(text: &[u8], at: usize) -> usize {
    let following = text[at + 1..].iter().take_while(|byte| **byte & 0xC0 == 0x80);
    1 + following.count()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Matches by trying all ways.
    pub(crate) fn naive(pattern: &[char], text: &[char]) -> bool {
        match pattern {
            [] => text.is_empty(),
            ['*', rest @ ..] => (0..=text.len()).any(|skip| naive(rest, &text[skip..])),
            ['?', rest @ ..] => !text.is_empty() && naive(rest, &text[1..]),
            ['\\', c, rest @ ..] => text.first() == Some(c) && naive(rest, &text[1..]),
            [c, rest @ ..] => text.first() == Some(c) && naive(rest, &text[1..]),
        }
    }

    fn asked(kind: PatternKind, pattern: &str, term: &str) -> Verdict {
        let mut fuzzy = FuzzyMatcher::default();
        Matcher::new(kind, pattern.as_bytes(), &[], &mut fuzzy).unwrap().test(term.as_bytes())
    }

    #[test]
    fn verdicts_pass_over_what_cannot_match() {
        assert_eq!(asked(PatternKind::Prefix, "be", "be"), Verdict::Match);
        assert_eq!(asked(PatternKind::Prefix, "be", "beer"), Verdict::Match);
        assert_eq!(asked(PatternKind::Prefix, "be", "bar"), Verdict::No);
        assert_eq!(asked(PatternKind::Prefix, "be", "c"), Verdict::End);
        assert_eq!(asked(PatternKind::Wildcard, "b?r*", "bart"), Verdict::Match);
        assert_eq!(asked(PatternKind::Wildcard, "b?r*", "cart"), Verdict::End);
        assert_eq!(asked(PatternKind::Wildcard, "\\*", "*"), Verdict::Match);
        assert_eq!(asked(PatternKind::Wildcard, "\\*", "a"), Verdict::No);
        // A question mark is a character, however many bytes it has.
        for (pattern, term, matches) in
            [("?", "é", true), ("h?ron", "héron", true), ("??", "é", false), ("*?b", "éb", true)]
        {
            let found = asked(PatternKind::Wildcard, pattern, term) == Verdict::Match;
            assert_eq!(found, matches, "{pattern} and {term}");
        }
    }

    #[test]
    fn ranges_end_where_they_end() {
        let kind = |from, to| PatternKind::Range { from, to, split: 1 };
        let half_open = kind(Edge::Included, Edge::Excluded);
        for (term, verdict) in [
            ("a", Verdict::No),
            ("b", Verdict::Match),
            ("bz", Verdict::Match),
            ("cz", Verdict::Match),
            ("d", Verdict::End),
        ] {
            assert_eq!(asked(half_open, "bd", term), verdict, "{term}");
        }
        let open = PatternKind::Range { from: Edge::Excluded, to: Edge::Open, split: 1 };
        assert_eq!(asked(open, "b", "b"), Verdict::No);
        assert_eq!(asked(open, "b", "zzz"), Verdict::Match);
        assert_eq!(asked(kind(Edge::Excluded, Edge::Included), "bb", "b"), Verdict::No);
        assert_eq!(asked(kind(Edge::Included, Edge::Included), "ba", "b"), Verdict::End);
    }

    proptest! {
        #[test]
        fn wildcards_match_what_all_ways_do(
            pattern in "[a-b*?é\\\\]{0,8}",
            text in "[a-b*é]{0,8}",
        ) {
            let characters = |text: &str| text.chars().collect::<Vec<char>>();
            let expected = naive(&characters(&pattern), &characters(&text));
            let found = asked(PatternKind::Wildcard, &pattern, &text) == Verdict::Match;
            prop_assert_eq!(found, expected);
        }
    }
}
