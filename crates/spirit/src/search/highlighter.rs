//! Highlighting of hits, for an index that stores texts.

use spirit_query::{Highlight, Query, Snippet};
use spirit_schema::{FieldId, FieldKind, FieldValue, encoded};
use spirit_text::Analyzer;

use crate::engine::readable::Readable;
use crate::search::error::SearchError;

/// A highlighter, which marks a query's matches in one text after another.
/// [`Searcher::highlighter`](crate::Searcher::highlighter) makes one.
///
/// It serves one thread at a time, and keeps its memory. It takes a bit more than
/// [`Highlight::bytes_max`] and the longest text.
///
/// ```
/// use spirit::{Index, Search};
/// use spirit::search::Highlight;
///
/// let index = Index::builder().dram_bytes(64 << 20).store(true).open()?;
/// index.add("A grey heron stands in the reed.")?;
/// let searcher = index.searcher();
/// let mut highlighter = searcher.highlighter("heron OR reed", Highlight::default())?;
/// for hit in searcher.search("heron OR reed", Search::newest(10))? {
///     for snippet in hit.snippets(&mut highlighter)? {
///         let html = snippet.marked_html("<em>", "</em>");
///         assert_eq!(html, "A grey <em>heron</em> stands in the <em>reed</em>.");
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Highlighter {
    marks: spirit_query::Highlighter,
    /// The field whose values are marked.
    field: FieldId,
    /// The current document, as stored.
    pub(crate) stored: Vec<u8>,
}

impl Highlighter {
    /// Returns the snippets of `text` that show the query's matches best, in the order of the text.
    /// If there is no match, returns the beginning. A blank text has no snippets.
    pub fn snippets(&mut self, text: &str) -> Vec<Snippet> {
        self.marks.snippets(text)
    }

    /// Returns the snippets of a stored document; none if its values cannot be read.
    pub(crate) fn of_stored(&mut self, stored: &[u8]) -> Option<Vec<Snippet>> {
        let (text, values) = encoded::split(stored);
        if self.field == FieldId::TEXT {
            // The text was UTF-8 when it was added, and a checksum proves that it is unchanged.
            return Some(self.snippets(&String::from_utf8_lossy(text)));
        }
        if !encoded::is_whole(values, |_| true) {
            return None;
        }
        let field = self.field;
        let own = encoded::values(values).filter_map(|(id, value)| match value {
            FieldValue::Text(text) | FieldValue::Keyword(text) if id == field => Some(text),
            _ => None,
        });
        Some(self.marks.snippets_of(own))
    }

    /// Returns a highlighter of the matches of `query` in texts. It does not borrow the query.
    pub(crate) fn of_texts(index: &Readable, query: &Query, how: Highlight) -> Highlighter {
        Highlighter::new(index, query, FieldId::TEXT, index.options.analyzer, how)
    }

    /// Returns a highlighter of the matches of `query` in a field of text or keywords, or in the
    /// keywords of a text field, as the field's own analyzer cuts them.
    pub(crate) fn of_field(
        index: &Readable,
        name: &str,
        query: &Query,
        how: Highlight,
    ) -> Result<Highlighter, SearchError> {
        let schema = index.view().fields.current();
        let found = schema.asked(name);
        let kind = found.map(|(_, kind)| kind);
        let unmarkable = || SearchError::Unmarkable { field: name.to_owned(), kind };
        let analyzer = match kind {
            Some(FieldKind::Text(analyzer)) => analyzer,
            Some(FieldKind::Keyword) => Analyzer::Keyword,
            _ => return Err(unmarkable()),
        };
        let (id, _) = found.ok_or_else(unmarkable)?;
        let mut highlighter = Highlighter::new(index, query, id, analyzer, how);
        // Keywords of a text field are its values.
        let stored = schema.field_name(id).and_then(|name| schema.by_name(name));
        highlighter.field = stored.ok_or_else(unmarkable)?.id;
        Ok(highlighter)
    }

    fn new(
        index: &Readable,
        query: &Query,
        field: FieldId,
        analyzer: Analyzer,
        how: Highlight,
    ) -> Highlighter {
        let bytes_max = index.options.document_bytes_max;
        let marks = spirit_query::Highlighter::new(query, field, analyzer, bytes_max, how);
        Highlighter { marks, field, stored: Vec::new() }
    }
}
