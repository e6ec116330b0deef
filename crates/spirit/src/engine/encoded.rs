//! The encoded fields of many documents, made side by side.

use std::collections::HashMap;

use spirit_schema::Schema;

use super::Engine;
use super::side_by_side::{SIDE_BY_SIDE_MIN, side_by_side};
use crate::config::document::Document;
use crate::config::error::WriteError;

/// The encoded fields of documents, by their index.
pub(super) struct Encoded {
    /// Each for as many documents, the last for the rest.
    parts: Vec<Part>,
    part_documents: usize,
    /// Those of documents that the schema had to grow for.
    others: HashMap<usize, Vec<u8>>,
    /// The number of documents before the one that was refused, if one was.
    pub(super) count: usize,
    pub(super) refused: Option<WriteError>,
}

/// The fields of some documents, one behind the other.
#[derive(Default)]
struct Part {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Documents whose fields are left out.
    left: Vec<usize>,
}

impl Encoded {
    /// Encodes the fields of all documents, or of those before the first that is refused, on this
    /// many threads at most.
    ///
    /// What the schema has decides nothing. Where a field is new, the first document that has it
    /// decides its kind. So such documents are encoded afterwards, in their order.
    pub(super) fn of(engine: &Engine, documents: &[Document<'_>], threads: usize) -> Encoded {
        let schema = engine.view.fields.current();
        let part_documents = match documents.len() {
            0..SIDE_BY_SIDE_MIN => documents.len().max(1),
            count => count.div_ceil(threads.max(1)),
        };
        let parts = documents.chunks(part_documents).collect();
        let parts = side_by_side(parts, |part| Part::of(engine, &schema, part));
        let count = documents.len();
        let mut encoded =
            Encoded { parts, part_documents, others: HashMap::new(), count, refused: None };
        encoded.add_left(engine, documents);
        encoded
    }

    fn add_left(&mut self, engine: &Engine, documents: &[Document<'_>]) {
        for (number, part) in self.parts.iter().enumerate() {
            for at in &part.left {
                let index = number * self.part_documents + at;
                match engine.encode(&documents[index]) {
                    Ok(fields) => _ = self.others.insert(index, fields),
                    Err(error) => {
                        (self.count, self.refused) = (index, Some(error));
                        return;
                    }
                }
            }
        }
    }

    /// Returns the fields of a document.
    #[inline]
    pub(super) fn get(&self, index: usize) -> &[u8] {
        if !self.others.is_empty()
            && let Some(fields) = self.others.get(&index)
        {
            return fields;
        }
        let (part, at) = (index / self.part_documents, index % self.part_documents);
        let Part { bytes, ends, .. } = &self.parts[part];
        let start = at.checked_sub(1).map_or(0, |before| ends[before]);
        &bytes[start..ends[at]]
    }
}

impl Part {
    fn of(engine: &Engine, schema: &Schema, documents: &[Document<'_>]) -> Part {
        let mut part = Part { ends: Vec::with_capacity(documents.len()), ..Part::default() };
        for (at, document) in documents.iter().enumerate() {
            let start = part.bytes.len();
            if !engine.encode_known(schema, document, &mut part.bytes) {
                part.bytes.truncate(start);
                part.left.push(at);
            }
            part.ends.push(part.bytes.len());
        }
        part
    }
}
