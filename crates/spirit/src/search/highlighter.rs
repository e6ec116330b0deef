//! Highlighting of hits, of an index that stores texts: why each was found.

use spirit_index::ground::corrupt::Corrupt;
use spirit_query::{Highlight, Query, Snippet};
use spirit_schema::{FieldId, FieldKind, FieldValue, encoded};
use spirit_text::{Analyzer, Tokenizer};

use crate::index::Index;
use crate::search::error::SearchError;
use crate::search::hits::Hits;
use crate::search::reader::Reader;
use crate::search::texts::TextError;

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
    /// Whose values are marked.
    field: FieldId,
    snippets_max: usize,
    /// The bytes of the current text.
    text: Vec<u8>,
}

impl Highlighter {
    /// The parts of `text` that show best what the query finds in it, in the order of the text; its beginning if that is nothing.
    /// Only a blank text has none.
    pub fn snippets(&mut self, text: &str) -> Vec<Snippet> {
        self.marks.snippets(text)
    }

    /// The same of several values. Where something is marked in one of them, those without marks are left out; else the
    /// first one's beginning is there.
    fn snippets_of<'v>(&mut self, values: impl Iterator<Item = &'v str>) -> Vec<Snippet> {
        let mut all: Vec<Snippet> = values.flat_map(|value| self.marks.snippets(value)).collect();
        if all.iter().any(|snippet| !snippet.marks.is_empty()) {
            all.retain(|snippet| !snippet.marks.is_empty());
            all.truncate(self.snippets_max);
        } else {
            all.truncate(1);
        }
        all
    }
}

impl Index {
    /// A highlighter of what `query` asks for in texts. The query may then go.
    pub fn highlighter(&self, query: &Query, how: Highlight) -> Highlighter {
        self.marking(query, FieldId::TEXT, self.options.analyzer, how)
    }

    /// A highlighter of what `query` asks for in a field of text or keywords: of the field's own words, as its own analyzer cuts them.
    /// [`Hits::highlight`] then looks at the field's values. It fails with [`SearchError::Unmarkable`] if there is no such field yet,
    /// or if it has other values.
    pub fn highlighter_in(
        &self,
        field: &str,
        query: &Query,
        how: Highlight,
    ) -> Result<Highlighter, SearchError> {
        let schema = self.schema();
        let found = schema.by_name(field);
        let kind = found.map(|found| found.kind);
        let unmarkable = || SearchError::Unmarkable { field: field.to_owned(), kind };
        let analyzer = match kind {
            Some(FieldKind::Text(analyzer)) => analyzer,
            Some(FieldKind::Keyword) => Analyzer::Keyword,
            _ => return Err(unmarkable()),
        };
        let id = found.ok_or_else(unmarkable)?.id;
        Ok(self.marking(query, id, analyzer, how))
    }

    fn marking(
        &self,
        query: &Query,
        field: FieldId,
        analyzer: Analyzer,
        how: Highlight,
    ) -> Highlighter {
        let bytes_max = how.get_bytes_max().min(self.options.document_bytes_max);
        let tokenizer = Tokenizer::new(analyzer, bytes_max);
        let marks = spirit_query::Highlighter::new(query, field, tokenizer, how);
        Highlighter { marks, field, snippets_max: how.get_snippets(), text: Vec::new() }
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

    /// The same of what it finds in a field of text or keywords: see [`Index::highlighter_in`].
    ///
    /// ```
    /// use spirit::{Analyzer, Document, FieldKind, Highlight, Options, Search};
    ///
    /// let options = Options::default().dram_bytes(64 << 20).store(true);
    /// let index = options.field("title", FieldKind::Text(Analyzer::English)).open()?;
    /// index.add_document(&Document::new().text("They stand.").field("title", "Grey Herons"))?;
    /// let mut reader = index.reader()?;
    /// let mut highlighter = reader.highlighter_text_in("title", "title:heron", Highlight::default())?;
    /// let hits = reader.search_text("title:heron", Search::newest(10))?;
    /// let snippets = hits.highlight(0, &mut highlighter)?;
    /// assert_eq!(snippets[0].marked("[", "]"), "Grey [Herons]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn highlighter_text_in(
        &mut self,
        field: &str,
        text: &str,
        how: Highlight,
    ) -> Result<Highlighter, SearchError> {
        let index = self.index;
        index.highlighter_in(field, self.parse(text)?, how)
    }
}

impl Hits<'_> {
    /// The parts of the text of the hit at `index` (0 is the first) that show best why it was found: see
    /// [`Highlighter::snippets`]. Of a highlighter of another field they are parts of its values, and their ranges count from where the
    /// value begins. Values without marks are left out where another has some; a document without a value has no snippets.
    ///
    /// # Panics
    /// If there is no such hit.
    pub fn highlight(
        &self,
        index: usize,
        highlighter: &mut Highlighter,
    ) -> Result<Vec<Snippet>, TextError> {
        let mut text = std::mem::take(&mut highlighter.text);
        text.clear();
        let found = self.write_stored(index, &mut text).and_then(|()| {
            let (of_text, values) = encoded::split(&text);
            if highlighter.field == FieldId::TEXT {
                // What was given was UTF-8, and a checksum says that this is what was given.
                return Ok(highlighter.snippets(&String::from_utf8_lossy(of_text)));
            }
            if !encoded::is_whole(values, |_| true) {
                let why = "its values cannot be read";
                return Err(self.corrupt(index, Corrupt { what: "text", at: 0, why }));
            }
            let field = highlighter.field;
            let own = encoded::values(values).filter_map(|(id, value)| match value {
                FieldValue::Text(text) | FieldValue::Keyword(text) if id == field => Some(text),
                _ => None,
            });
            Ok(highlighter.snippets_of(own))
        });
        highlighter.text = text;
        found
    }
}
