//! Documents with fields on their way in: what they say of their fields is encoded against the schema, which grows by it, before an
//! executor is asked for.

use spirit_index::log::REFERENCE_BYTES_MAX;

use super::engine::Engine;
use super::{AddAllError, Index, add_here};
use crate::config::document::Document;
use crate::config::error::AddError;
use crate::write::contents::Contents;
use crate::write::ingest::Ingester;

impl Index {
    /// Adds a document with fields; says its automatic key, if it has none of its own. When this returns, every query that
    /// starts afterwards, on any thread, finds it.
    ///
    /// A field that is not in the [schema](Self::schema) joins it, with the kind of its first value, unless the index is
    /// [strict](crate::Options::strict). A document with a value that does not fit its field is refused whole.
    pub fn add_document(&self, document: &Document<'_>) -> Result<Option<u64>, AddError> {
        let engine = self.engine()?;
        let fields = encode(engine, document)?;
        let Document { key, text, .. } = *document;
        let contents = Contents { text, fields: &fields, place: None };
        match (key, &*engine.executors) {
            (Some(key), _) => engine.route(key).add(Some(key), contents).map(|_| None),
            (None, [only]) => only.add(None, contents).map(Some),
            (None, _) => add_here(engine, None, contents),
        }
    }

    /// The same; the document's text can be read again at `place`, as that of one [added from](Self::add_from) there. Its fields are
    /// in the log.
    pub fn add_document_from(
        &self,
        document: &Document<'_>,
        place: &[u8],
    ) -> Result<Option<u64>, AddError> {
        let engine = self.engine()?;
        let fields = encode(engine, document)?;
        if place.len() > REFERENCE_BYTES_MAX {
            return Err(AddError::ReferenceTooLong { bytes: place.len() });
        }
        let contents = Contents { text: document.text, fields: &fields, place: Some(place) };
        add_here(engine, document.key, contents)
    }

    /// Adds documents in order, as [`add_all`](Self::add_all) does.
    pub fn add_documents<'d, 'a: 'd>(
        &self,
        documents: impl IntoIterator<Item = &'d Document<'a>>,
    ) -> Result<u64, AddAllError> {
        let mut added = 0;
        let engine = self.engine().map_err(|error| AddAllError { added, error })?;
        let [only] = &*engine.executors else {
            for document in documents {
                self.add_document(document).map_err(|error| AddAllError { added, error })?;
                added += 1;
            }
            return Ok(added);
        };
        let mut role = only.role().map_err(|error| AddAllError { added, error })?;
        let mut documents = documents.into_iter();
        let mut collected = Ok(true);
        while collected == Ok(true) {
            collected = collect(engine, &mut role, &mut documents);
            super::commit(only, &mut role, &mut added)?;
        }
        collected.map(|_| added).map_err(|error| AddAllError { added, error })
    }

    /// Adds documents together with `offset`, as [`add_group`](Self::add_group) does: all of them or none.
    pub fn add_document_group(
        &self,
        documents: &[Document<'_>],
        offset: &[u8],
    ) -> Result<u64, AddAllError> {
        let refused = |error| AddAllError { added: 0, error };
        let engine = self.engine().map_err(refused)?;
        let fields = documents.iter().map(|document| encode(engine, document));
        let fields: Vec<Vec<u8>> = fields.collect::<Result<_, _>>().map_err(refused)?;
        let contents = documents.iter().zip(&fields).map(|(document, fields)| {
            (document.key, Contents { text: document.text, fields, place: None })
        });
        self.add_contents(&contents.collect::<Vec<_>>(), offset)
    }
}

/// Cuts documents until the batch is full; says whether there may be more of them.
fn collect<'d, 'a: 'd>(
    engine: &Engine,
    role: &mut Ingester,
    documents: &mut impl Iterator<Item = &'d Document<'a>>,
) -> Result<bool, AddError> {
    let mut collector = role.collector();
    while !collector.is_full() {
        let Some(document) = documents.next() else { return Ok(false) };
        let fields = encode(engine, document)?;
        let contents = Contents { text: document.text, fields: &fields, place: None };
        collector.collect_document(document.key.into(), contents)?;
    }
    Ok(true)
}

/// The values of a document's fields, encoded. It is not too long, so that no number is drawn for one that is refused for it.
fn encode(engine: &Engine, document: &Document<'_>) -> Result<Vec<u8>, AddError> {
    engine.check_length(document.text.len())?;
    if document.fields.is_empty() {
        return Ok(Vec::new());
    }
    let fields = engine.view.fields.encode(document)?;
    engine.check_length(document.text.len() + fields.len()).map(|()| fields)
}
