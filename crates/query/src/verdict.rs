//! What a pattern says of a term.

/// What is said of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It matches.
    Match,
    /// It does not.
    No,
    /// Nor does any term that begins with this many of its bytes.
    NoneWith(usize),
    /// Nor does any behind it.
    End,
}
