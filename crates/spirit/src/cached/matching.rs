//! Partial matching: a question is answered from the entry of another one that has its term (thesis
//! §3.3.3.2, rules A.5 to A.9).
//!
//! | question | partial I: entries | partial II: besides |
//! |---|---|---|
//! | newest k of a term | of an OR of two terms with this one: exact | of an AND of two terms with this one |
//! | newest k of an OR of two terms | | of one of these terms, of an OR with one of them |
//! | newest k of an AND | | |
//!
//! The question is of the same executor, with the same k. What partial II adds is approximate: some
//! matches are missing.
//!
//! An entry is found by aliases, which are hashes of a term and of the way in which terms are joined
//! in the entry. Then the words of its key are compared.

use spirit_cache::{Value, hash};
use spirit_query::{Joint, PackedTerms};

use crate::config::cache::Matching;

/// Aliases of an entry.
pub(super) const ALIASES: usize = 2;
/// Aliases that one question looks for, at most.
const SOUGHT_MAX: usize = 4;

/// Other questions' entries that may answer a question.
pub(super) struct Sought {
    aliases: [u64; SOUGHT_MAX],
    /// The joint of the entry, and the number of the question's term that it must have.
    of: [(Joint, usize); SOUGHT_MAX],
    count: usize,
}

/// What another question's entry has for a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shared {
    /// The joint of the entry's terms.
    pub(super) joint: Joint,
    /// The number of the term among them.
    pub(super) term: usize,
}

impl Sought {
    /// Returns what a question with these terms may be answered from, the most exact first.
    pub(super) fn by(key: &[u64], terms: PackedTerms, matching: Matching) -> Sought {
        let all: &[(Joint, usize)] = match (matching, terms.joint) {
            (Matching::Isomorphic, _) | (_, Joint::All) => &[],
            (Matching::Partial1, Joint::One) => &[(Joint::Any, 0)],
            (Matching::Partial1, Joint::Any) => &[],
            (Matching::Partial2, Joint::One) => &[(Joint::Any, 0), (Joint::All, 0)],
            (Matching::Partial2, Joint::Any) => {
                &[(Joint::One, 0), (Joint::One, 1), (Joint::Any, 0), (Joint::Any, 1)]
            }
        };
        let mut sought =
            Sought { aliases: [0; SOUGHT_MAX], of: [(Joint::One, 0); SOUGHT_MAX], count: 0 };
        for (joint, term) in all {
            sought.aliases[sought.count] = alias(*joint, key, terms, *term);
            sought.of[sought.count] = (*joint, *term);
            sought.count += 1;
        }
        sought
    }

    /// Returns the aliases.
    pub(super) fn aliases(&self) -> &[u64] {
        &self.aliases[..self.count]
    }

    /// Compares the key of an entry that was found by an alias with the question's. Returns what they
    /// share.
    pub(super) fn share(
        &self,
        number: usize,
        (key, terms): (&[u64], PackedTerms),
        other: Value<'_>,
    ) -> Option<Shared> {
        let (joint, own) = *self.of.get(number)?;
        let word = |at: usize| other.get(at + 1);
        let of_other = PackedTerms::find(word).filter(|found| found.joint == joint)?;
        // Of one kind, with one k, of one executor.
        if other.get(0) != key.first().copied() {
            return None;
        }
        let is_it = |term: &usize| {
            let (a, b) = (terms.words(own, of_key(key)), of_other.words(*term, word));
            a.len() == b.len() && a.eq(b)
        };
        let term = (0..of_other.count()).find(is_it)?;
        Some(Shared { joint, term })
    }
}

/// Returns the aliases of the entry of a question with these terms.
pub(super) fn aliases(
    key: &[u64],
    terms: PackedTerms,
    matching: Matching,
) -> ([u64; ALIASES], usize) {
    let count = match matching {
        Matching::Isomorphic => 0,
        Matching::Partial1 if terms.joint != Joint::Any => 0,
        Matching::Partial1 | Matching::Partial2 => terms.count(),
    };
    let mut aliases = [0; ALIASES];
    for (number, place) in aliases.iter_mut().enumerate().take(count) {
        *place = alias(terms.joint, key, terms, number);
    }
    (aliases, count)
}

/// Returns the alias of entries with a joint that have a term of this key, and its first word.
fn alias(joint: Joint, key: &[u64], terms: PackedTerms, number: usize) -> u64 {
    let first = key.first().copied().unwrap_or(0);
    let term = hash(terms.words(number, of_key(key)));
    hash([joint as u64, first, term].into_iter())
}

/// Returns the words of a key's query.
fn of_key(key: &[u64]) -> impl Fn(usize) -> Option<u64> {
    |at| key.get(at + 1).copied()
}
