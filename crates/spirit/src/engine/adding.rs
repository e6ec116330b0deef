//! Adding documents, one by one or as a stream.
//!
//! A document's fields are encoded with the schema, which may grow, before an executor is chosen.
//! The key decides the executor, or else the number that is drawn for the document.
//!
//! Many documents for several executors are added in [rounds](super::rounds).

use std::sync::atomic::Ordering::Relaxed;

use spirit_index::log::REFERENCE_BYTES_MAX;
use spirit_schema::Schema;

use super::Engine;
use super::executor::Executor;
use super::rounds;
use crate::config::document::Document;
use crate::config::error::WriteError;
use crate::write::contents::{Called, Contents};
use crate::write::ingest::{Committed, Ingester};

impl Engine {
    /// Adds a document, with its own key or an automatic one. Returns its number.
    pub(crate) fn add(&self, document: &Document<'_>) -> Result<u64, WriteError> {
        let fields = self.encode(document)?;
        let contents = Contents::of(document, &fields);
        match (document.key, &*self.executors) {
            (Some(key), _) => self.route(key).add(Some(key), contents),
            (None, [only]) => only.add(None, contents),
            (None, _) => self.add_numbered(contents).map(|(number, _)| number),
        }
    }

    /// Adds a document with an automatic key to one of several executors, chosen by the number.
    ///
    /// Within an executor, automatic keys must ascend with the rows. So threads take the roles in
    /// the order of the numbers. The ingestion itself runs in parallel. Returns the document's number
    /// and sequence number.
    pub(super) fn add_numbered(&self, contents: Contents<'_>) -> Result<(u64, u64), WriteError> {
        let admission = self.admission();
        let (number, executor, mut role) = loop {
            let number = self.numbers.documents.fetch_add(1, Relaxed);
            let executor = &self.executors[self.executor_of(number)];
            let role = executor.role()?;
            // A number that is another document's explicit key is passed over.
            if !role.has_number(number) {
                break (number, executor, role);
            }
        };
        drop(admission);
        role.collector().collect(Called::Number(number), contents)?;
        let Committed { result, .. } = role.commit();
        let sequence = role.first_sequence();
        executor.serve(&mut role);
        result.map(|()| (number, sequence))
    }

    /// Returns the number that the next document without a key gets.
    pub(crate) fn next_number(&self) -> Result<u64, WriteError> {
        let _admission = self.admission();
        let mut number = self.numbers.documents.load(Relaxed);
        while self.executors[self.executor_of(number)].role()?.has_number(number) {
            number += 1;
        }
        Ok(number)
    }

    /// Adds documents in order, in batches, so that their cache misses overlap.
    pub(crate) fn add_all<'d>(
        &self,
        documents: impl Iterator<Item = Document<'d>>,
    ) -> Result<u64, WriteError> {
        let mut added = 0;
        let ended = match &*self.executors {
            [only] => self.add_batches(only, documents, &mut added),
            _ => rounds::add(self, documents, &mut added),
        };
        ended.map(|()| added).map_err(|error| WriteError::AfterSome { added, error: error.into() })
    }

    fn add_batches<'d>(
        &self,
        executor: &Executor,
        mut documents: impl Iterator<Item = Document<'d>>,
        added: &mut u64,
    ) -> Result<(), WriteError> {
        let mut role = executor.role()?;
        let mut collected = Ok(true);
        while collected == Ok(true) {
            collected = self.collect(&mut role, &mut documents);
            let Committed { added: count, result, .. } = role.commit();
            *added += count;
            executor.serve(&mut role);
            result?;
        }
        collected.map(|_| ())
    }

    /// Collects documents until the batch is full. True if there may be more of them.
    #[inline]
    fn collect<'d>(
        &self,
        role: &mut Ingester,
        documents: &mut impl Iterator<Item = Document<'d>>,
    ) -> Result<bool, WriteError> {
        let mut collector = role.collector();
        while !collector.is_full() {
            let Some(document) = documents.next() else { return Ok(false) };
            let fields = self.encode(&document)?;
            collector.collect(document.key.into(), Contents::of(&document, &fields))?;
        }
        Ok(true)
    }

    /// Appends the fields of a document if `schema` has all of them, and nothing is wrong with it.
    /// False otherwise.
    pub(super) fn encode_known(
        &self,
        schema: &Schema,
        document: &Document<'_>,
        fields: &mut Vec<u8>,
    ) -> bool {
        let start = fields.len();
        self.check(document).is_ok()
            && schema.encode(document.fields.iter().copied(), fields).is_ok()
            && self.check_length(document.text.len() + fields.len() - start).is_ok()
    }

    /// Encodes the values of a document's fields. A document that is too long or has no valid key is
    /// refused here, before a number is drawn for it.
    #[inline]
    pub(crate) fn encode(&self, document: &Document<'_>) -> Result<Vec<u8>, WriteError> {
        self.check(document)?;
        if document.fields.is_empty() {
            return Ok(Vec::new());
        }
        let fields = self.view.fields.encode(document)?;
        self.check_length(document.text.len() + fields.len()).map(|()| fields)
    }

    /// Returns an error if a document is too long, whatever its fields, or has no valid key.
    fn check(&self, document: &Document<'_>) -> Result<(), WriteError> {
        Called::from(document.key).check()?;
        self.check_length(document.text.len())?;
        match document.place {
            Some(place) if place.len() > REFERENCE_BYTES_MAX => {
                Err(WriteError::ReferenceTooLong { bytes: place.len() })
            }
            _ => Ok(()),
        }
    }

    /// Returns an error if a document of this many bytes is too long.
    fn check_length(&self, bytes: usize) -> Result<(), WriteError> {
        let bytes_max = self.options.document_bytes_max;
        if bytes > bytes_max {
            Err(WriteError::DocumentTooLong { bytes, bytes_max })
        } else {
            Ok(())
        }
    }
}
