//! Documents that are added together.

use crate::config::document::Document;

/// Documents that [`Index::write`](crate::Index::write) adds together, and the application's offset
/// in its source.
///
/// ```
/// use spirit::{Batch, Index};
///
/// # let directory = std::env::temp_dir().join(format!("spirit-batch-{}", std::process::id()));
/// let index = Index::open(&directory)?;
/// let lines = ["first line", "second line"];
/// index.write(Batch::from_iter(lines).offset(b"line 2"))?;
/// assert_eq!(index.offset()?.as_deref(), Some(&b"line 2"[..]));
/// # drop(index);
/// # std::fs::remove_dir_all(directory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch<'a> {
    pub(crate) documents: Vec<Document<'a>>,
    pub(crate) offset: Option<&'a [u8]>,
}

impl<'a> Batch<'a> {
    /// Returns an empty batch.
    pub fn new() -> Batch<'a> {
        Batch::default()
    }

    /// Appends a document.
    pub fn add(&mut self, document: impl Into<Document<'a>>) {
        self.documents.push(document.into());
    }

    /// Appends a document with this key.
    pub fn put(&mut self, key: &'a str, document: impl Into<Document<'a>>) {
        self.add(document.into().key(key));
    }

    /// Sets the application's offset: its own bytes for its place in its source.
    ///
    /// At most 4,096 bytes. Fewer, if the log has no room for them beside its longest document. It
    /// needs [`Mode::Crash`](crate::Mode::Crash).
    pub fn offset(mut self, offset: &'a [u8]) -> Batch<'a> {
        self.offset = Some(offset);
        self
    }

    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// True if the batch has no documents.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }
}

impl<'a, D: Into<Document<'a>>> FromIterator<D> for Batch<'a> {
    fn from_iter<I: IntoIterator<Item = D>>(documents: I) -> Batch<'a> {
        Batch { documents: documents.into_iter().map(Into::into).collect(), offset: None }
    }
}

impl<'a, D: Into<Document<'a>>> Extend<D> for Batch<'a> {
    fn extend<I: IntoIterator<Item = D>>(&mut self, documents: I) {
        self.documents.extend(documents.into_iter().map(Into::into));
    }
}
