//! The documents: one a line of a UTF-8 file, all in memory before any clock starts.

use crate::Fallible;
use crate::columns::{Column, Columns};
use serde_json::{Map, Value};
use std::path::Path;

/// All documents; the line number, from 0, is the document's key.
pub struct Corpus {
    text: String,
    ends: Vec<usize>,
    columns: Vec<Column>,
}

impl Corpus {
    /// Reads the file: JSON objects if its name ends in `.jsonl`, else texts.
    pub fn load(path: &Path) -> Fallible<Corpus> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("cannot read the documents {}: {error}", path.display()))?;
        let corpus = if path.extension().is_some_and(|ending| ending == "jsonl") {
            Corpus::of_objects(&text).map_err(|reason| format!("{} {reason}", path.display()))?
        } else {
            Corpus::of_lines(text)
        };
        if corpus.ends.is_empty() {
            return Err(format!("{} holds no documents", path.display()).into());
        }
        eprintln!("{} documents in memory", corpus.len());
        Ok(corpus)
    }

    fn of_lines(text: String) -> Corpus {
        let mut ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at).collect();
        if !text.is_empty() && !text.ends_with('\n') {
            ends.push(text.len());
        }
        Corpus { text, ends, columns: Vec::new() }
    }

    fn of_objects(lines: &str) -> Result<Corpus, String> {
        let (mut text, mut ends, mut columns) = (String::new(), Vec::new(), Columns::default());
        for (number, line) in lines.lines().enumerate() {
            let at = |reason: String| format!("line {}: {reason}", number + 1);
            let object: Map<String, Value> =
                serde_json::from_str(line).map_err(|error| at(error.to_string()))?;
            let own = object.get("text").and_then(Value::as_str);
            text.push_str(own.ok_or_else(|| at("no member `text`".to_owned()))?);
            ends.push(text.len());
            text.push('\n');
            columns.push(object).map_err(at)?;
        }
        Ok(Corpus { text, ends, columns: columns.finish() })
    }

    /// What the documents have beside their text.
    pub fn columns(&self) -> &[Column] {
        &self.columns
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_line_feed_ends_a_document() {
        let corpus = Corpus::of_lines("one\r\n\ntwo".to_owned());
        let documents: Vec<_> = corpus.iter().collect();
        assert_eq!(documents, [(0, "one\r"), (1, ""), (2, "two")]);
    }

    #[test]
    fn an_object_is_a_text_and_columns() {
        let corpus =
            Corpus::of_objects("{\"text\":\"a\\nb\",\"ts\":3}\n{\"text\":\"\"}\n").unwrap();
        assert_eq!(corpus.iter().collect::<Vec<_>>(), [(0, "a\nb"), (1, "")]);
        assert_eq!(corpus.columns().len(), 1);
        assert!(Corpus::of_objects("{\"ts\":3}\n").is_err());
    }
}
