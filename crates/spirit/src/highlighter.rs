//! Highlighting of hits, of an index that stores texts: why each was found.

use spirit_index::term::FieldId;
use spirit_query::{Highlight, Query, Snippet};
use spirit_text::Tokenizer;

use crate::hits::Hits;
use crate::index::Index;
use crate::reader::Reader;
use crate::search::SearchError;
use crate::texts::TextError;

/// Marks what a query found, in one text after another. Made by [`Index::highlighter`] and [`Reader::highlighter_text`]; it is for
/// one thread at a time, and keeps its memory: a bit more than [`Highlight::bytes_max`], and what the longest text takes.
///
/// ```
/// use spirit::{Highlight, Options, Search};
///
/// let index = Options::default().dram_bytes(64 << 20).store(true).open()?;
/// index.add("A grey heron stands in the reed.")?;
/// let mut reader = index.reader()?;
/// let mut highlighter = reader.highlighter_text("heron OR reed", Highlight::default())?;
/// let hits = reader.search_text("heron OR reed", Search::newest(10))?;
/// for hit in 0..hits.len() {
///     for snippet in hits.highlight(hit, &mut highlighter)? {
///         let html = snippet.marked_html("<em>", "</em>");
///         assert_eq!(html, "A grey <em>heron</em> stands in the <em>reed</em>.");
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Highlighter {
    marks: spirit_query::Highlighter,
    /// The bytes of the text at hand.
    text: Vec<u8>,
}

impl Highlighter {
    /// The parts of `text` that show best what the query finds in it, in the order of the text; its beginning if that is nothing.
    /// Only a blank text has none.
    pub fn snippets(&mut self, text: &str) -> Vec<Snippet> {
        self.marks.snippets(text)
    }
}

impl Index {
    /// A highlighter of what `query` asks for in texts. The query may then go.
    pub fn highlighter(&self, query: &Query, how: Highlight) -> Highlighter {
        let bytes_max = how.get_bytes_max().min(self.options.document_bytes_max);
        let tokenizer = Tokenizer::new(self.options.analyzer, bytes_max);
        let marks = spirit_query::Highlighter::new(query, FieldId(0), tokenizer, how);
        Highlighter { marks, text: Vec::new() }
    }
}

impl Reader<'_> {
    /// A highlighter of what [`search_text`](Self::search_text) finds with the same text.
    pub fn highlighter_text(
        &mut self,
        text: &str,
        how: Highlight,
    ) -> Result<Highlighter, SearchError> {
        let index = self.index;
        Ok(index.highlighter(self.parse(text)?, how))
    }
}

impl Hits<'_> {
    /// The parts of the text of the hit at `index` (0 is the first) that show best why it was found: see
    /// [`Highlighter::snippets`].
    ///
    /// # Panics
    /// If there is no such hit.
    pub fn highlight(
        &self,
        index: usize,
        highlighter: &mut Highlighter,
    ) -> Result<Vec<Snippet>, TextError> {
        let Highlighter { marks, text } = highlighter;
        text.clear();
        self.write_text(index, text)?;
        // What was given was UTF-8, and a checksum says that this is what was given.
        Ok(marks.snippets(&String::from_utf8_lossy(text)))
    }
}
