//! What became of a question in the result cache.

use std::fmt;

/// What became of a question in the result cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// There is no cache.
    #[default]
    Off,
    /// It did not go to the cache.
    Bypassed(Bypass),
    /// There was no entry for it, or too little was left of it.
    Missed,
    /// Segments were answered from an entry. Only rows that came since were evaluated.
    Hit,
    /// Like a hit, but segments that are new, or in which documents died, were evaluated too.
    Joined,
    /// It has no entry of its own. Clauses had, for some segments.
    Clauses,
    /// Segments were answered from the entry of another question that has its term: some matches are
    /// missing. Only with [`Matching::Partial2`](crate::cache::Matching).
    Approximate,
}

/// The reason why a question did not go to the result cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bypass {
    /// The newest matches of at most two terms are found in less time.
    Newest,
    /// The documents of one term are counted already.
    OneTerm,
    /// It asks for documents by their keys, under which they move to other segments.
    Keys,
    /// Its key would be too long.
    Large,
    /// It was not asked before.
    New,
    /// It was timed: the next one may be kept.
    Timed,
    /// It took less time than an entry is worth.
    Cheap,
    /// Matches in the order of a keyword, or of several fields, are not kept.
    Order,
    /// Scores that fade change with the time.
    Fades,
    /// It is a later page, or forces an evaluator.
    Page,
}

impl Outcome {
    /// Returns the outcome of a question, by whether there was an entry, and whether some segments
    /// were evaluated.
    pub(super) fn of(is_found: bool, is_changed: bool) -> Outcome {
        match (is_found, is_changed) {
            (false, _) => Outcome::Missed,
            (true, true) => Outcome::Joined,
            (true, false) => Outcome::Hit,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Off => f.write_str("no result cache"),
            Outcome::Bypassed(why) => write!(f, "not asked: {why}"),
            Outcome::Missed => f.write_str("missed: no entry, or too little left of it"),
            Outcome::Hit => f.write_str("hit: only rows that came since were evaluated"),
            Outcome::Clauses => {
                f.write_str("clauses: it was evaluated, with the matches that are known of clauses")
            }
            Outcome::Approximate => f.write_str(
                "approximate: from an answer to another query with its term, some matches are missing",
            ),
            Outcome::Joined => f.write_str(
                "joined: segments that are new or changed were evaluated, and rows that came since",
            ),
        }
    }
}

impl fmt::Display for Bypass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Bypass::Newest => "the newest matches of two terms are found in less time",
            Bypass::OneTerm => "the documents of one term are counted already",
            Bypass::Keys => "it asks for documents by their keys",
            Bypass::Large => "the query is too large",
            Bypass::New => "it was not asked before",
            Bypass::Timed => "it was timed, and may be kept the next time",
            Bypass::Cheap => "it takes less time than an entry is worth",
            Bypass::Order => {
                "matches in the order of a keyword, or of several fields, are not kept"
            }
            Bypass::Fades => "its scores change with the time",
            Bypass::Page => "it is a later page, or forces an evaluator",
        })
    }
}
