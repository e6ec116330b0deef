//! The automaton of a regular expression, which tests whole terms byte by byte.
//!
//! It is deterministic, so a term takes one step a byte, whatever the expression. It is made when
//! the query is made, within a limit of bytes. Terms that begin alike lead to the same state, so a
//! state without a way on rules them all out.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;
use regex_automata::{Anchored, MatchKind};
use regex_syntax::hir::Hir;
use spirit_index::ground::TERM_BYTES_MAX;
use spirit_index::terms::PREFIX_BYTES;

use crate::prefix_filter::PrefixFilter;
use crate::verdict::Verdict;

/// States that are followed for the filter of first bytes, at most. Beyond them any byte is allowed.
const STATES_FOLLOWED_MAX: usize = 32;

/// Bytes of each of the two intermediate forms of an automaton, at most. They bound the time to make
/// it: the worst expressions known take 30 ms.
const WORKING_BYTES_MAX: usize = 512 << 10;

/// An automaton that accepts the terms of an expression.
pub(crate) struct Automaton {
    dfa: dense::DFA<Vec<u32>>,
    start: StateID,
    first: Vec<u8>,
    prefix_filter: PrefixFilter,
}

impl fmt::Debug for Automaton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Automaton").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

impl Automaton {
    /// Returns the automaton of an expression; `None` if it takes more than `bytes_max` bytes, or more
    /// than [`WORKING_BYTES_MAX`] to be made.
    pub(crate) fn new(expression: &Hir, bytes_max: usize) -> Option<Automaton> {
        let of_nfa = thompson::Config::new()
            .nfa_size_limit(Some(WORKING_BYTES_MAX))
            .which_captures(WhichCaptures::None);
        let nfa = thompson::Compiler::new().configure(of_nfa).build_from_hir(expression).ok()?;
        // All ways to match are followed, since the last byte of a term decides.
        let of_dfa = dense::Config::new()
            .match_kind(MatchKind::All)
            .start_kind(StartKind::Anchored)
            .accelerate(false)
            .dfa_size_limit(Some(bytes_max))
            .determinize_size_limit(Some(WORKING_BYTES_MAX));
        let dfa = dense::Builder::new().configure(of_dfa).build_from_nfa(&nfa).ok()?;
        let start = dfa.start_state(&start::Config::new().anchored(Anchored::Yes)).ok()?;
        let mut ways = Ways { dfa: &dfa, go_on: HashMap::new() };
        let (first, prefix_filter) = (ways.common_prefix(start), ways.prefix_filter(start));
        Some(Automaton { dfa, start, first, prefix_filter })
    }

    /// Returns the number of bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.dfa.memory_usage()
    }

    /// Returns the bytes with which all matches begin.
    pub(crate) fn first(&self) -> &[u8] {
        &self.first
    }

    /// Returns the filter for the first bytes of all matches.
    pub(crate) fn prefix_filter(&self) -> PrefixFilter {
        self.prefix_filter
    }

    /// Tests a whole term.
    pub(crate) fn test(&self, term: &[u8]) -> Verdict {
        match self.walk(term) {
            Ok(state) if accepts(&self.dfa, state) => Verdict::Match,
            Ok(_) => Verdict::No,
            // No text has such a byte, and no prefix that ends with it has a successor.
            Err(len) if term[len - 1] == u8::MAX => Verdict::No,
            Err(len) => Verdict::NoneWith(len),
        }
    }

    /// Returns the number of bytes of `begins` with which no match begins, if known. `begins` has a
    /// term's first `N` bytes, padded with zeros.
    pub(crate) fn rules_out(&self, begins: &[u8]) -> Option<usize> {
        let len = begins.len() - begins.iter().rev().take_while(|byte| **byte == 0).count();
        self.walk(&begins[..len]).err()
    }

    /// Returns the state behind these bytes, or how many of them no match begins with.
    fn walk(&self, bytes: &[u8]) -> Result<StateID, usize> {
        let mut state = self.start;
        for (at, byte) in bytes.iter().enumerate() {
            state = self.dfa.next_state(state, *byte);
            if self.dfa.is_dead_state(state) {
                return Err(at + 1);
            }
        }
        Ok(state)
    }
}

/// True if a term that leads to a state matches.
fn accepts(dfa: &dense::DFA<Vec<u32>>, state: StateID) -> bool {
    dfa.is_match_state(dfa.next_eoi_state(state))
}

/// The ways from state to state that lead to matches.
struct Ways<'d> {
    dfa: &'d dense::DFA<Vec<u32>>,
    /// For each state seen, true if it accepts, or has a way on.
    go_on: HashMap<StateID, bool>,
}

impl Ways<'_> {
    /// Returns the bytes that lead on from a state, each with its state.
    fn from(&mut self, state: StateID) -> Vec<(u8, StateID)> {
        let next = (0..=u8::MAX).map(|byte| (byte, self.dfa.next_state(state, byte)));
        next.filter(|(_, state)| self.goes_on(*state)).collect()
    }

    /// True if a state accepts, or any byte leads on from it. Behind the last byte of a match there
    /// is a state that is not dead, and does neither.
    fn goes_on(&mut self, state: StateID) -> bool {
        let dfa = self.dfa;
        *self.go_on.entry(state).or_insert_with(|| {
            let is_dead = |byte| dfa.is_dead_state(dfa.next_state(state, byte));
            !dfa.is_dead_state(state)
                && (accepts(dfa, state)
                    || !dfa
                        .byte_classes()
                        .representatives(..)
                        .all(|unit| unit.as_u8().is_none_or(is_dead)))
        })
    }

    /// Returns the bytes with which all matches begin.
    fn common_prefix(&mut self, start: StateID) -> Vec<u8> {
        let (mut prefix, mut state) = (Vec::new(), start);
        // Invariant: all matches begin with `prefix`, which leads to `state`. Terminates: each round
        // adds a byte, and terms have at most `TERM_BYTES_MAX`.
        while prefix.len() < TERM_BYTES_MAX && !accepts(self.dfa, state) {
            let [(byte, next)] = self.from(state)[..] else { break };
            prefix.push(byte);
            state = next;
        }
        prefix
    }

    /// Returns the filter for the first bytes of all matches.
    fn prefix_filter(&mut self, start: StateID) -> PrefixFilter {
        let mut sets: [Option<BTreeSet<u8>>; PREFIX_BYTES] = Default::default();
        let (mut states, mut may_have_ended) = (vec![start], false);
        for set in &mut sets {
            let mut allowed = BTreeSet::new();
            let mut next = BTreeSet::new();
            for state in &states {
                may_have_ended |= accepts(self.dfa, *state);
                for (byte, state) in self.from(*state) {
                    allowed.insert(byte);
                    next.insert(state);
                }
            }
            if next.len() > STATES_FOLLOWED_MAX {
                break;
            }
            if may_have_ended {
                allowed.insert(0);
            }
            *set = Some(allowed);
            states = next.into_iter().collect();
        }
        PrefixFilter::of_sets(&sets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn automaton(expression: &str) -> Automaton {
        Automaton::new(&regex_syntax::parse(expression).unwrap(), 1 << 20).unwrap()
    }

    #[test]
    fn what_all_matches_begin_with_is_known() {
        for (expression, first) in [
            ("heron", "heron"),
            ("her(on|ring)s?", "her"),
            ("he?r", "h"),
            ("a+b", "a"),
            ("a*", ""),
            ("(?i)heron", ""),
            ("gr[ae]y", "gr"),
            ("é[aà]", "é"),
            ("[éè]", "\u{c3}"),
            ("^sea$", "sea"),
        ] {
            let found = automaton(expression);
            let begins = first.chars().map(|c| c as u32 as u8).collect::<Vec<u8>>();
            let bytes = if first == "\u{c3}" { begins } else { first.as_bytes().to_vec() };
            assert_eq!(found.first(), bytes, "{expression}");
        }
    }

    #[test]
    fn a_dead_end_rules_out_all_that_begins_alike() {
        let found = automaton("her(on|ring)s?");
        assert_eq!(found.test(b"heron"), Verdict::Match);
        assert_eq!(found.test(b"herrings"), Verdict::Match);
        assert_eq!(found.test(b"her"), Verdict::No);
        assert_eq!(found.test(b"herald"), Verdict::NoneWith(4));
        assert_eq!(found.test(b"her\xff"), Verdict::No);
        assert_eq!(found.rules_out(b"hea\0"), Some(3));
        assert_eq!(found.rules_out(b"her\0"), None);
        assert_eq!(found.rules_out(b"\0\0\0\0"), None);
    }

    #[test]
    fn an_automaton_that_grows_without_end_is_refused() {
        for expression in ["(a|b)*a(a|b){40}", "a{1000}{1000}", r"\w{900}"] {
            let expression = regex_syntax::parse(expression).unwrap();
            assert!(Automaton::new(&expression, 64 << 10).is_none(), "{expression}");
        }
    }

    proptest! {
        /// A term that is ruled out by its first bytes does not match, nor does any that begins so.
        #[test]
        fn no_match_is_ruled_out(
            expression in "([ab]|[ab]\\?|b\\*|\\.|\\(a\\|bé\\)|\\[abé\\]\\+|a\\{1,3\\}){0,5}",
            term in "[abé\0]{0,9}",
        ) {
            let found = automaton(&expression);
            let mut begins = [0; PREFIX_BYTES];
            let len = term.len().min(PREFIX_BYTES);
            begins[..len].copy_from_slice(&term.as_bytes()[..len]);
            let anchored = regex::Regex::new(&format!("^(?:{expression})$")).unwrap();
            let is_match = anchored.is_match(&term);
            prop_assert_eq!(found.test(term.as_bytes()) == Verdict::Match, is_match);
            if is_match {
                prop_assert!(term.as_bytes().starts_with(found.first()));
                prop_assert_eq!(found.rules_out(&begins), None);
                prop_assert!(crate::prefix_filter::tests::admits(&found.prefix_filter(), &term));
            }
            if let Verdict::NoneWith(len) = found.test(term.as_bytes()) {
                let longer = String::from_utf8_lossy(&term.as_bytes()[..len]).into_owned();
                for more in ["", "a", "b", "é", "ab"] {
                    prop_assert!(!anchored.is_match(&[&longer, more].concat()));
                }
            }
        }
    }
}
