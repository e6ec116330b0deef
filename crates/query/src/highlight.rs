//! Highlighting: what in a text a query found, and the parts of it that show that best.
//!
//! A [`Highlighter`] cuts the text into tokens as the index did, and marks those that the query asks for: terms and what its patterns
//! match wherever they are, the terms of a phrase only where it matches, slop and all, and nothing of what stands under NOT. (So
//! does Lucene's unified highlighter.) It looks at no list of the index and needs no positions there: a text that the query does
//! not match can be marked too.
//!
//! The work is linear in the text, up to [`Highlight::bytes_max`]; what comes behind that is shown, and not marked. All
//! memory but that of snippets is kept from one text to the next.

mod bounds;
mod fragments;
mod marks;
mod near;
mod snippet;
#[cfg(test)]
mod tests;
mod wanted;

use std::ops::Range;

use spirit_index::ground::term::FieldId;
use spirit_text::Tokenizer;

use crate::query::Query;
use marks::{Mark, Marker};
use wanted::Wanted;

pub use snippet::Snippet;

/// The most snippets of one text.
pub const SNIPPETS_MAX: usize = 100;

/// How texts are highlighted.
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
    /// About how many characters a snippet has. Default: 150. It is cut between sentences or words, so it is mostly somewhat
    /// shorter, and longer only if a single marked word is. A text that is no longer is shown whole.
    pub fn characters(mut self, characters: usize) -> Highlight {
        self.characters = characters.max(1);
        self
    }

    /// How many snippets a text has at most, up to [`SNIPPETS_MAX`]. Default: 1.
    pub fn snippets(mut self, snippets: usize) -> Highlight {
        self.snippets = snippets.clamp(1, SNIPPETS_MAX);
        self
    }

    /// The same, as it was set.
    pub fn get_snippets(&self) -> usize {
        self.snippets
    }

    /// Of how much of a text words are marked, in bytes. Default: 1 MiB.
    pub fn bytes_max(mut self, bytes: usize) -> Highlight {
        self.bytes_max = bytes;
        self
    }

    /// The same, as it was set.
    pub fn get_bytes_max(&self) -> usize {
        self.bytes_max
    }
}

/// Marks in texts what a query found there.
pub struct Highlighter {
    wanted: Wanted,
    tokenizer: Tokenizer,
    marker: Marker,
    how: Highlight,
}

impl Highlighter {
    /// A highlighter of what `query` asks for in `field`, whose texts `tokenizer` cuts. What is longer than the tokenizer takes is
    /// marked up to there.
    pub fn new(query: &Query, field: FieldId, tokenizer: Tokenizer, how: Highlight) -> Highlighter {
        let wanted = Wanted::of(query, field);
        Highlighter { wanted, tokenizer, marker: Marker::default(), how }
    }

    /// The bytes of `text` that are marked, ascending; no two ranges touch.
    pub fn marks(&mut self, text: &str) -> Vec<Range<usize>> {
        snippet::merged(self.mark(text).iter().map(|mark| mark.bytes.clone()))
    }

    /// The parts of `text` that show best what was found in it, in the order of the text; its beginning if that is nothing.
    /// Only a blank text has none.
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

    fn mark(&mut self, text: &str) -> &[Mark] {
        self.marker.mark(&mut self.wanted, &mut self.tokenizer, text, self.how.bytes_max)
    }
}
