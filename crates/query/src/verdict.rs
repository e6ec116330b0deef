//! Verdicts of a pattern on a term.

/// A pattern's verdict on a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The term matches.
    Match,
    /// The term does not match.
    No,
    /// No term matches that begins with this many of its bytes.
    NoneWith(usize),
    /// Neither this term matches nor any after it.
    End,
}
