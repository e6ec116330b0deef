//! The documents: one a line of a UTF-8 file, all in memory before any clock starts.

use crate::Fallible;
use std::path::Path;

/// All documents; the line number, from 0, is the document's key.
pub struct Corpus {
    text: String,
    ends: Vec<usize>,
}

impl Corpus {
    /// Reads the file.
    pub fn load(path: &Path) -> Fallible<Corpus> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read the documents {}: {error}", path.display()))?;
        let mut ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        if !text.is_empty() && !text.ends_with('\n') {
            ends.push(text.len());
        }
        if ends.is_empty() {
            return Err(format!("{} holds no documents", path.display()).into());
        }
        eprintln!("{} documents in memory", ends.len());
        Ok(Corpus { text, ends })
    }

    /// How many documents there are; at least one.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The document with this key.
    pub fn get(&self, key: usize) -> &str {
        let start = if key == 0 { 0 } else { self.ends[key - 1] + 1 };
        &self.text[start..self.ends[key]]
    }

    /// The documents, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, &str)> {
        (0..self.len()).map(|key| (key as u64, self.get(key)))
    }

    /// The `turn`-th document to add after the corpus: the `tail` last ones in turn, each with its
    /// [`marker`] as the last word.
    pub fn again(&self, tail: usize, turn: usize) -> String {
        let tail = tail.clamp(1, self.len());
        let text = self.get(self.len() - tail + turn % tail);
        format!("{text} {}", marker(turn))
    }
}

/// The word that marks the `turn`-th added document and no other.
pub fn marker(turn: usize) -> String {
    format!("peermarker{turn}x")
}
