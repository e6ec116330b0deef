//! What every dictionary engine does.

use spirit_index::ground::{FieldId, Term};

use crate::Fallible;

/// A map from keys to words.
pub(crate) trait DictionaryEngine: Send {
    /// Maps a key to a word, in place of the one that it was mapped to.
    fn put(&mut self, key: Term<'_>, head: u64) -> Fallible<()>;

    /// Ends the load: what was put is durable, and may be read.
    fn finish(&mut self) -> Fallible<()>;

    /// Returns the word of a key, once the load has ended.
    fn get(&self, key: Term<'_>) -> Fallible<Option<u64>>;

    /// Calls `take` with every key, in an order of the engine's, once the load has ended.
    fn iterate(&self, take: &mut dyn FnMut(FieldId, &[u8], u64)) -> Fallible<()>;

    /// Returns the bytes that were stored to mapped files. What system calls wrote is counted by the system.
    fn stored_bytes(&self) -> u64 {
        0
    }
}

/// What a dictionary is made for, at most.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Room {
    /// Keys.
    pub(crate) keys: u64,
    /// Lines of our own structure that they take.
    pub(crate) lines: u64,
}
