//! Operations that take effect only if their condition holds.

use crate::config::document::Document;
use crate::config::error::WriteError;

/// A document that is put under a key, or a key whose document is deleted, perhaps under a condition.
///
/// ```
/// use spirit::{Index, Operation, WriteError};
///
/// let index = Index::builder().dram_bytes(64 << 20).open()?;
/// let made = index.apply(&[Operation::put("stock", "7 left").if_absent()]).remove(0)?;
/// assert_eq!(made.replaced, None);
///
/// // A reader of `7 left` may replace it, once.
/// let sale = Operation::put("stock", "6 left").if_sequence(made.sequence);
/// let sold = index.apply(&[sale.clone(), sale]);
/// assert!(sold[0].is_ok());
/// assert!(matches!(sold[1], Err(WriteError::Conflict { current: Some(_) })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Operation<'a> {
    pub(crate) change: Change<'a>,
    pub(crate) condition: Condition,
}

/// What an operation does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change<'a> {
    /// Adds a document, with the key that it brings or an automatic one.
    Put(Document<'a>),
    /// Deletes the document with a key.
    Delete(&'a str),
}

/// What has to hold of a key when its operation is decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Condition {
    #[default]
    Always,
    /// No document has the key.
    Absent,
    /// The key's document is the one that the operation with this sequence number put.
    Sequence(u64),
}

impl<'a> Operation<'a> {
    /// Adds a document. If it has a key, it replaces the document that has the key.
    pub fn add(document: impl Into<Document<'a>>) -> Operation<'a> {
        Operation { change: Change::Put(document.into()), condition: Condition::Always }
    }

    /// Puts a document under a key. It replaces the document that has the key.
    pub fn put(key: &'a str, document: impl Into<Document<'a>>) -> Operation<'a> {
        Operation::add(document.into().key(key))
    }

    /// Deletes the document with a key. A key without a document is no error.
    pub fn delete(key: &'a str) -> Operation<'a> {
        Operation { change: Change::Delete(key), condition: Condition::Always }
    }

    /// Returns the key; none for a document with an automatic one.
    pub(crate) fn key(&self) -> Option<&'a str> {
        match &self.change {
            Change::Put(document) => document.key,
            Change::Delete(key) => Some(key),
        }
    }

    /// Requires that no document has the key. An automatic key is always new.
    pub fn if_absent(mut self) -> Operation<'a> {
        self.condition = Condition::Absent;
        self
    }

    /// Requires that the key's document is the one of the operation with this
    /// [sequence number](crate::Hit::sequence).
    pub fn if_sequence(mut self, sequence: u64) -> Operation<'a> {
        self.condition = Condition::Sequence(sequence);
        self
    }
}

/// What an operation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// The operation's sequence number.
    pub sequence: u64,
    /// The sequence number of the document that it replaced or deleted; none if the key had none.
    pub replaced: Option<u64>,
    /// The number of the document that was added, which is its automatic key if it has no other.
    pub number: Option<u64>,
}

impl Condition {
    /// Returns an error unless the condition holds of a key whose document has this sequence number.
    pub(crate) fn check(self, current: Option<u64>) -> Result<(), WriteError> {
        let holds = match self {
            Condition::Always => true,
            Condition::Absent => current.is_none(),
            Condition::Sequence(expected) => current == Some(expected),
        };
        if holds { Ok(()) } else { Err(WriteError::Conflict { current }) }
    }
}
