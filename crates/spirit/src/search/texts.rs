//! The texts of hits and their fields, of an index that stores them.

use std::fmt;

use spirit_index::ground::corrupt::Corrupt;
use spirit_index::snapshot::Snapshot;
use spirit_schema::encoded;

use crate::config::document::StoredDocument;
use crate::config::error::REMEDY;
use crate::search::hit_error::HitError;
use crate::search::hits::Hits;
use crate::stages::lease::LeaseExpired;

/// The text of a hit cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextError {
    /// The index was made without [`Options::store`](crate::Options::store).
    NotStored,
    /// The results were kept for too long.
    Lease(LeaseExpired),
    /// The file does not hold what was stored there. [`check`](crate::check()) says what else is wrong with it.
    Corrupt {
        /// The executor whose part of the file it is.
        executor: usize,
        /// What is wrong.
        reason: Corrupt,
    },
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TextError::NotStored => f.write_str(
                "the index does not store the documents' texts: index them anew with store set to yes",
            ),
            TextError::Lease(expired) => expired.fmt(f),
            TextError::Corrupt { executor, reason } => {
                write!(f, "a text cannot be read; executor {executor}: {reason}; {REMEDY}")
            }
        }
    }
}

impl std::error::Error for TextError {}

impl From<HitError> for TextError {
    fn from(error: HitError) -> TextError {
        match error {
            HitError::Lease(expired) => TextError::Lease(expired),
            HitError::Corrupt { executor, what } => TextError::Corrupt { executor, reason: what },
        }
    }
}

impl Hits<'_> {
    /// Appends the text of the hit at `index` (0 is the first) to `text`, as it was given. An error leaves `text` as it was.
    ///
    /// # Panics
    /// If there is no such hit.
    pub fn write_text(&self, index: usize, text: &mut Vec<u8>) -> Result<(), TextError> {
        let start = text.len();
        self.write_stored(index, text)?;
        let (of_text, _) = encoded::split(&text[start..]);
        text.truncate(start + of_text.len());
        Ok(())
    }

    /// The document of the hit at `index` (0 is the newest), as it was given: its text, and the values of its fields.
    ///
    /// # Panics
    /// If there is no such hit.
    pub fn document(&self, index: usize) -> Result<StoredDocument, TextError> {
        let mut stored = Vec::new();
        self.write_stored(index, &mut stored)?;
        let fields = self.fields();
        let read = || StoredDocument::read(&stored, &fields.current());
        let corrupt = |reason| self.corrupt(index, reason);
        if let Some(document) = read() {
            return Ok(document);
        }
        // What another process writes may be seen before the fields that it has.
        fields.catch_up().map_err(corrupt)?;
        let why = "it has fields that the list of fields has not";
        read().ok_or(corrupt(Corrupt { what: "text", at: 0, why }))
    }

    /// Appends what is stored of the hit at `index`.
    pub(crate) fn write_stored(&self, index: usize, text: &mut Vec<u8>) -> Result<(), TextError> {
        let hit = self.hits[index];
        if !self.index.options.store {
            return Err(TextError::NotStored);
        }
        let before = text.len();
        let written = self.read(|view| {
            let memory = &view.parts[hit.executor as usize].memory;
            let mut scratch = self.scratch.borrow_mut();
            let segment = Snapshot::take(memory).of(hit.segment);
            segment.write_text(hit.local, scratch.get_or_insert_default(), text)
        });
        if written.is_err() {
            text.truncate(before);
        }
        let written = written?;
        written.map_err(|reason| self.corrupt(index, reason))
    }

    /// The error that what is stored of the hit at `index` is not what was stored.
    pub(crate) fn corrupt(&self, index: usize, reason: Corrupt) -> TextError {
        TextError::Corrupt { executor: self.hits[index].executor as usize, reason }
    }

    /// The texts, newest first, as they were given.
    pub fn texts(&self) -> Result<Vec<String>, TextError> {
        let text = |i| {
            let mut text = Vec::new();
            self.write_text(i, &mut text)?;
            // What was given was UTF-8, and a checksum says that this is what was given.
            Ok(String::from_utf8_lossy(&text).into_owned())
        };
        (0..self.len()).map(text).collect()
    }
}
