//! Hits: key, score and document of each.

use std::cell::OnceCell;
use std::fmt;
use std::ops::{Deref, Range};
use std::rc::Rc;

use spirit_index::ground::Corrupt as Damage;
use spirit_index::keys;
use spirit_index::snapshot::Snapshot;
use spirit_query::Snippet;
use spirit_schema::{Value, encoded};

use crate::config::corrupt::Corrupt;
use crate::search::highlighter::Highlighter;
use crate::search::hit_error::HitError;
use crate::search::hits::Hits;
use crate::search::stored::StoredDocument;

/// One hit of [`Hits`].
///
/// ```
/// use spirit::{Document, Index, Search};
///
/// let index = Index::builder().dram_bytes(64 << 20).store(true).open()?;
/// index.add(Document::new().key("7").text("A grey heron.").field("user", "ann"))?;
/// for hit in index.searcher().search("heron", Search::best(10))? {
///     assert_eq!(hit.key()?, "7");
///     assert_eq!(hit.text()?, "A grey heron.");
///     assert_eq!(hit.get("user")?.and_then(|user| user.as_str()), Some("ann"));
///     assert!(hit.score().is_some());
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Hit<'h> {
    hits: Held<'h>,
    place: usize,
    /// The document, once it was read.
    document: OnceCell<StoredDocument>,
}

/// The hits that one hit belongs to.
#[derive(Clone)]
enum Held<'h> {
    Borrowed(&'h Hits<'h>),
    Shared(Rc<Hits<'h>>),
}

impl<'h> Deref for Held<'h> {
    type Target = Hits<'h>;

    fn deref(&self) -> &Hits<'h> {
        match self {
            Held::Borrowed(hits) => hits,
            Held::Shared(hits) => hits,
        }
    }
}

impl fmt::Debug for Hit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hit = f.debug_struct("Hit");
        hit.field("key", &self.key()).field("score", &self.score()).finish_non_exhaustive()
    }
}

impl<'h> Hit<'h> {
    fn new(hits: Held<'h>, place: usize) -> Hit<'h> {
        Hit { hits, place, document: OnceCell::new() }
    }

    /// Returns the document's key: its own, or its number in decimal.
    pub fn key(&self) -> Result<String, HitError> {
        let mut key = Vec::new();
        self.write_key(&mut key)?;
        Ok(String::from_utf8_lossy(&key).into_owned())
    }

    /// Appends the document's key to `key`.
    pub fn write_key(&self, key: &mut Vec<u8>) -> Result<(), HitError> {
        let hit = self.hits.addresses()[self.place];
        self.hits.read(|view| {
            let memory = &view.parts[hit.executor as usize].memory;
            let segment = Snapshot::take(memory).of(hit.segment);
            keys::write_key(&segment, segment.row_table().row(hit.local).key(), key);
        })
    }

    /// Returns the score; none unless the search was for the best.
    pub fn score(&self) -> Option<f32> {
        self.hits.score(self.place)
    }

    /// Returns the value that the hit is sorted by. None if the document has none, or if the search
    /// was not by a field.
    pub fn sort_value(&self) -> Option<Value<'_>> {
        self.hits.sort_value(self.place)
    }

    /// Returns the document's sequence number. Larger is newer, over the whole index.
    pub fn sequence(&self) -> Result<u64, HitError> {
        let hit = self.hits.addresses()[self.place];
        self.hits.read(|view| view.sequence_of(hit))
    }

    /// Returns the document's text, as given. The index must [store](crate::Builder::store)
    /// documents.
    pub fn text(&self) -> Result<&str, HitError> {
        Ok(&self.document()?.text)
    }

    /// Returns the first value of a field; none if the document has no value there.
    pub fn get(&self, field: &str) -> Result<Option<Value<'_>>, HitError> {
        Ok(self.fields()?.find(|(name, _)| *name == field).map(|(_, value)| value))
    }

    /// Iterates over the fields: names and values, in the order in which they were given.
    pub fn fields(&self) -> Result<impl Iterator<Item = (&str, Value<'_>)>, HitError> {
        Ok(self.document()?.fields())
    }

    /// Returns the document as given: its text, and the values of its fields. It is read once.
    pub(crate) fn document(&self) -> Result<&StoredDocument, HitError> {
        if let Some(document) = self.document.get() {
            return Ok(document);
        }
        let document = self.read_document()?;
        Ok(self.document.get_or_init(|| document))
    }

    fn read_document(&self) -> Result<StoredDocument, HitError> {
        let mut stored = Vec::new();
        self.write_stored(&mut stored)?;
        let fields = &self.hits.desk().seat.view().fields;
        let read = || StoredDocument::read(&stored, &fields.current());
        let corrupt = |what| self.corrupt(what);
        if let Some(document) = read() {
            return Ok(document);
        }
        // A document that another process wrote may be seen before its fields are.
        fields.catch_up().map_err(corrupt)?;
        let why = "its fields are not in the list of fields";
        read().ok_or(corrupt(Damage { what: "text", at: 0, why }))
    }

    /// Appends the document's text to `text`. An error leaves `text` unchanged.
    pub fn write_text(&self, text: &mut Vec<u8>) -> Result<(), HitError> {
        let start = text.len();
        self.write_stored(text)?;
        let (of_text, _) = encoded::split(&text[start..]);
        text.truncate(start + of_text.len());
        Ok(())
    }

    /// Appends the document as it is stored. An error leaves `stored` unchanged.
    fn write_stored(&self, stored: &mut Vec<u8>) -> Result<(), HitError> {
        let hit = self.hits.addresses()[self.place];
        if !self.hits.desk().index.options.store {
            return Err(HitError::NotStored);
        }
        let before = stored.len();
        let written = self.hits.read(|view| {
            let memory = &view.parts[hit.executor as usize].memory;
            let mut scratch = self.hits.desk().texts.borrow_mut();
            let segment = Snapshot::take(memory).of(hit.segment);
            segment.write_text(hit.local, scratch.get_or_insert_default(), stored)
        });
        if written.is_err() {
            stored.truncate(before);
        }
        written?.map_err(|what| self.corrupt(what))
    }

    /// Returns the snippets of the text that show the query's matches best.
    ///
    /// A highlighter of a field returns snippets of the field's values. Their ranges count from the
    /// beginning of the value. If any value has marks, values without are left out. A document
    /// without a value has no snippets.
    pub fn snippets(&self, highlighter: &mut Highlighter) -> Result<Vec<Snippet>, HitError> {
        let mut stored = std::mem::take(&mut highlighter.stored);
        stored.clear();
        let found = self.write_stored(&mut stored).and_then(|()| {
            let unreadable = Damage { what: "text", at: 0, why: "its values cannot be read" };
            highlighter.of_stored(&stored).ok_or(self.corrupt(unreadable))
        });
        highlighter.stored = stored;
        found
    }

    fn corrupt(&self, what: Damage) -> HitError {
        let executor = self.hits.addresses()[self.place].executor as usize;
        HitError::Corrupt(Corrupt::new(executor, what))
    }
}

impl Hits<'_> {
    /// Returns the hit at `place`, counted from 0; none if there are not that many.
    pub fn get(&self, place: usize) -> Option<Hit<'_>> {
        (place < self.len()).then(|| Hit::new(Held::Borrowed(self), place))
    }

    /// Iterates over the hits in their order.
    pub fn iter(&self) -> HitsIter<'_> {
        HitsIter { hits: Held::Borrowed(self), places: 0..self.len() }
    }

    /// Returns the keys, in the order of the hits.
    pub fn keys(&self) -> Result<Vec<String>, HitError> {
        self.iter().map(|hit| hit.key()).collect()
    }

    /// Returns the texts, in the order of the hits.
    pub fn texts(&self) -> Result<Vec<String>, HitError> {
        let text = |hit: Hit<'_>| {
            let mut text = Vec::new();
            hit.write_text(&mut text)?;
            // The text was UTF-8 when it was added, and a checksum proves that it is unchanged.
            Ok(String::from_utf8_lossy(&text).into_owned())
        };
        self.iter().map(text).collect()
    }
}

/// An iterator over [`Hits`].
#[derive(Clone)]
pub struct HitsIter<'h> {
    hits: Held<'h>,
    places: Range<usize>,
}

impl<'h> Iterator for HitsIter<'h> {
    type Item = Hit<'h>;

    fn next(&mut self) -> Option<Hit<'h>> {
        self.places.next().map(|place| Hit::new(self.hits.clone(), place))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}

impl DoubleEndedIterator for HitsIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.places.next_back().map(|place| Hit::new(self.hits.clone(), place))
    }
}

impl ExactSizeIterator for HitsIter<'_> {}

impl<'h> IntoIterator for &'h Hits<'_> {
    type Item = Hit<'h>;
    type IntoIter = HitsIter<'h>;

    fn into_iter(self) -> HitsIter<'h> {
        self.iter()
    }
}

impl<'r> IntoIterator for Hits<'r> {
    type Item = Hit<'r>;
    type IntoIter = HitsIter<'r>;

    fn into_iter(self) -> HitsIter<'r> {
        let places = 0..self.len();
        HitsIter { hits: Held::Shared(Rc::new(self)), places }
    }
}
