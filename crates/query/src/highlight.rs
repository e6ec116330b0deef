//! Highlighting: a query's matches in a text, and the passages that show them best.
//!
//! A [`Highlighter`] cuts the text into tokens like the index, and marks those that the query asks
//! for. Terms and the matches of patterns are marked everywhere. The terms of a phrase are marked
//! only where it matches, including slop. Nothing under NOT is marked. (Lucene's unified
//! highlighter does the same.) No list of the index is read, and no positions are needed. A text
//! that the query does not match can be marked too.
//!
//! The work is linear in the text, up to [`Highlight::bytes_max`]. The rest of the text is shown,
//! but not marked. All memory except that of snippets is reused for the next text.

mod bounds;
mod fragments;
mod marks;
mod near;
mod snippet;
#[cfg(test)]
mod tests;
mod wanted;

use std::ops::Range;

use spirit_index::ground::FieldId;
use spirit_text::{Analyzer, Tokenizer};

use crate::query::Query;
use marks::{Mark, Marker};
use wanted::Wanted;

pub use snippet::Snippet;

/// Snippets of one text, at most.
pub const SNIPPETS_MAX: usize = 100;

/// The settings for highlighting texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Highlight {
    characters: usize,
    snippets: usize,
    bytes_max: usize,
}

impl Default for Highlight {
    fn default() -> Highlight {
        Highlight { characters: 150, snippets: 1, bytes_max: 1 << 20 }
    }
}

impl Highlight {
    /// Snippets of a text, at most.
    pub const SNIPPETS_MAX: usize = SNIPPETS_MAX;

    /// Sets the approximate number of characters in a snippet. Default: 150. A snippet is cut
    /// between sentences or words, so it is mostly somewhat shorter. It is longer only if a single
    /// marked word is longer. A shorter text is shown whole.
    pub fn characters(mut self, characters: usize) -> Highlight {
        self.characters = characters.max(1);
        self
    }

    /// Sets the maximal number of snippets of a text, up to [`SNIPPETS_MAX`]. Default: 1.
    pub fn snippets(mut self, snippets: usize) -> Highlight {
        self.snippets = snippets.clamp(1, SNIPPETS_MAX);
        self
    }

    /// Sets how many bytes of a text are searched for words to mark. Default: 1 MiB.
    pub fn bytes_max(mut self, bytes: usize) -> Highlight {
        self.bytes_max = bytes;
        self
    }
}

/// A marker of a query's matches in texts.
pub struct Highlighter {
    wanted: Wanted,
    tokenizer: Tokenizer,
    marker: Marker,
    how: Highlight,
}

impl Highlighter {
    /// Returns a highlighter of `query` in `field`, whose texts `analyzer` cuts. At most
    /// `document_bytes_max` bytes of a text are searched.
    pub fn new(
        query: &Query,
        field: FieldId,
        analyzer: Analyzer,
        document_bytes_max: usize,
        how: Highlight,
    ) -> Highlighter {
        let wanted = Wanted::of(query, field);
        let tokenizer = Tokenizer::new(analyzer, how.bytes_max.min(document_bytes_max));
        Highlighter { wanted, tokenizer, marker: Marker::default(), how }
    }

    /// Returns the marked bytes of `text`, as ascending ranges. No two ranges touch.
    pub fn marks(&mut self, text: &str) -> Vec<Range<usize>> {
        snippet::merged(self.mark(text).iter().map(|mark| mark.bytes.clone()))
    }

    /// Returns the passages of `text` that show the matches best, in the order of the text. Without
    /// matches, returns its beginning. Only a blank text has none.
    pub fn snippets(&mut self, text: &str) -> Vec<Snippet> {
        let Highlight { characters, snippets, .. } = self.how;
        let marks = self.mark(text);
        let chosen = fragments::choose(text, marks, characters, snippets);
        let snippet = |range: Range<usize>| {
            let first = marks.partition_point(|mark| mark.bytes.end <= range.start);
            let behind = marks.partition_point(|mark| mark.bytes.start < range.end);
            let bytes = marks[first..behind].iter().map(|mark| mark.bytes.clone());
            Snippet::new(text, range, bytes)
        };
        chosen.into_iter().map(snippet).collect()
    }

    /// Returns the snippets of several values. If any has marks, those without are left out.
    /// Otherwise returns the beginning of the first value.
    pub fn snippets_of<'v>(&mut self, values: impl Iterator<Item = &'v str>) -> Vec<Snippet> {
        let mut all: Vec<Snippet> = values.flat_map(|value| self.snippets(value)).collect();
        if all.iter().any(|snippet| !snippet.marks.is_empty()) {
            all.retain(|snippet| !snippet.marks.is_empty());
            all.truncate(self.how.snippets);
        } else {
            all.truncate(1);
        }
        all
    }

    fn mark(&mut self, text: &str) -> &[Mark] {
        self.marker.mark(&mut self.wanted, &mut self.tokenizer, text, self.how.bytes_max)
    }
}
