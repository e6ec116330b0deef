//! Damage in the file of an index.

use std::fmt;

use spirit_index::ground::Corrupt as Damage;

/// A part of the file that does not hold what was stored there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Corrupt {
    /// The executor whose part of the file it is in; none for the root, and in a
    /// [`WriteError`](crate::WriteError).
    pub executor: Option<usize>,
    /// The kind of thing that is damaged: "posting list", "text", …
    pub what: &'static str,
    /// The offset in bytes. [`Index::check`](crate::Index::check) and salvages count it from the start
    /// of the file, all others from the start of the executor's part.
    pub at: u64,
    /// The kind of damage.
    pub why: &'static str,
    /// An upper bound of the number of documents in it; none if unknown.
    pub documents_max: Option<u64>,
}

impl Corrupt {
    pub(crate) fn new(executor: impl Into<Option<usize>>, damage: Damage) -> Corrupt {
        let Damage { what, at, why } = damage;
        Corrupt { executor: executor.into(), what, at, why, documents_max: None }
    }
}

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Corrupt { executor, what, at, why, documents_max } = self;
        if let Some(executor) = executor {
            write!(f, "executor {executor}: ")?;
        }
        write!(f, "{what} at {at:#x}: {why}")?;
        match documents_max {
            Some(1) => f.write_str("; at most 1 document or deletion was in it"),
            Some(count) => write!(f, "; at most {count} documents and deletions were in it"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Corrupt {}
