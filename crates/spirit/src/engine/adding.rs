//! Adding documents, one by one or as a stream.
//!
//! A document's fields are encoded with the schema, which may grow, before an executor is chosen.
//! The key decides the executor, or else the number that is drawn for the document.
//!
//! Many documents for several executors are added a *round* at a time, [spread](super::spread) over
//! all of them. Each executor's part of a round is committed in batches, as with one executor.

use std::sync::atomic::Ordering::Relaxed;

use spirit_index::log::REFERENCE_BYTES_MAX;
use spirit_schema::Schema;

use super::Engine;
use super::executor::Executor;
use super::spread::{Numbered, SIDE_BY_SIDE_MIN, Spread, side_by_side};
use crate::config::document::Document;
use crate::config::error::WriteError;
use crate::write::contents::{Called, Contents};
use crate::write::ingest::{Committed, Ingester};

/// The most documents of a round. Starting threads for it takes a small part of its time
/// (experiment `executors`).
const ROUND_DOCUMENTS: usize = 4096;
/// The most bytes of a round's texts.
const ROUND_BYTES: usize = 4 << 20;
/// A document of this part of a segment's bytes may not fit in what is left of it, or at all.
const LARGE_PART: usize = 256;

impl Engine {
    /// Adds a document, with its own key or an automatic one. Returns its number.
    pub(crate) fn add(&self, document: &Document<'_>) -> Result<u64, WriteError> {
        let fields = self.encode(document)?;
        let contents = contents(document, &fields);
        match (document.key, &*self.executors) {
            (Some(key), _) => self.route(key).add(Some(key), contents),
            (None, [only]) => only.add(None, contents),
            (None, _) => self.add_numbered(contents),
        }
    }

    /// Adds a document with an automatic key to one of several executors, chosen by the number.
    ///
    /// Within an executor, automatic keys must ascend with the rows. So threads take the roles in
    /// the order of the numbers. The ingestion itself runs in parallel.
    fn add_numbered(&self, contents: Contents<'_>) -> Result<u64, WriteError> {
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
        executor.serve(&mut role);
        result.map(|()| number)
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
            _ => self.add_rounds(documents, &mut added),
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
            collector.collect(document.key.into(), contents(&document, &fields))?;
        }
        Ok(true)
    }

    /// Adds documents to several executors, a round at a time.
    fn add_rounds<'d>(
        &self,
        mut documents: impl Iterator<Item = Document<'d>>,
        added: &mut u64,
    ) -> Result<(), WriteError> {
        // A document that may need a segment of its own is added alone.
        let large_min =
            self.executors[0].shared.memory.geometry().extent_bytes as usize / LARGE_PART;
        loop {
            let (round, large) = next_round(&mut documents, large_min);
            *added += self.add_round(&round).map_err(|(before, error)| {
                *added += before;
                error
            })?;
            match large {
                Some(document) => self.add(&document)?,
                None if round.len() < ROUND_DOCUMENTS => return Ok(()),
                None => continue,
            };
            *added += 1;
        }
    }

    /// Adds a round. An error has the number of documents before the one that was refused.
    fn add_round(&self, round: &[Document<'_>]) -> Result<u64, (u64, WriteError)> {
        let (fields, refused) = self.encode_all(round);
        let documents: Vec<_> = round
            .iter()
            .zip(&fields)
            .map(|(document, fields)| (document.key, contents(document, fields)))
            .collect();
        if !documents.is_empty() {
            let mut spread = Spread::begin(self).map_err(|error| (0, error))?;
            spread.draw(&documents, |_| false);
            let parts = spread.each(|_, role, part| write_part(role, part));
            spread.end();
            let stopped = parts.into_iter().filter_map(Result::err);
            if let Some((index, error)) = stopped.min_by_key(|(index, _)| *index) {
                return Err((index as u64, error));
            }
        }
        let count = documents.len() as u64;
        refused.map_or(Ok(count), |error| Err((count, error)))
    }

    /// Encodes the values of documents, side by side if there are many. If one is refused, returns
    /// those before it, and the reason.
    ///
    /// What the schema has decides nothing. Where a field is new, the first document that has it
    /// decides its kind. So such documents are encoded again, in their order.
    pub(super) fn encode_all(
        &self,
        documents: &[Document<'_>],
    ) -> (Vec<Vec<u8>>, Option<WriteError>) {
        let schema = self.view.fields.current();
        let known = |document: &Document<'_>| self.encode_known(&schema, document);
        let encoded: Vec<Option<Vec<u8>>> = match documents.len() {
            0..SIDE_BY_SIDE_MIN => documents.iter().map(known).collect(),
            count => {
                let parts = documents.chunks(count.div_ceil(self.executors.len()));
                let all = |part: &[Document<'_>]| part.iter().map(known).collect::<Vec<_>>();
                side_by_side(parts.collect(), all).into_iter().flatten().collect()
            }
        };
        let mut fields = Vec::with_capacity(documents.len());
        for (document, encoded) in documents.iter().zip(encoded) {
            match encoded.map_or_else(|| self.encode(document), Ok) {
                Ok(encoded) => fields.push(encoded),
                Err(error) => return (fields, Some(error)),
            }
        }
        (fields, None)
    }

    /// Encodes the values of a document if `schema` has all its fields, and nothing is wrong with it.
    fn encode_known(&self, schema: &Schema, document: &Document<'_>) -> Option<Vec<u8>> {
        self.check(document).ok()?;
        let mut fields = Vec::new();
        schema.encode(document.fields.iter().copied(), &mut fields).ok()?;
        self.check_length(document.text.len() + fields.len()).ok()?;
        Some(fields)
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

/// Returns the documents of the next round, and the large one behind them, if that ended it.
fn next_round<'d>(
    documents: &mut impl Iterator<Item = Document<'d>>,
    large_min: usize,
) -> (Vec<Document<'d>>, Option<Document<'d>>) {
    let (mut round, mut bytes) = (Vec::with_capacity(ROUND_DOCUMENTS), 0);
    while round.len() < ROUND_DOCUMENTS {
        let Some(document) = documents.next() else { break };
        let document_bytes = document.text_bytes();
        if document_bytes >= large_min || bytes + document_bytes > ROUND_BYTES {
            return (round, Some(document));
        }
        bytes += document_bytes;
        round.push(document);
    }
    (round, None)
}

/// Commits a part of a round in batches. An error has the document that was refused.
fn write_part(role: &mut Ingester, part: &[Numbered<'_>]) -> Result<(), (usize, WriteError)> {
    let mut rest = part;
    while let Some(first) = rest.first() {
        let (mut collector, mut count) = (role.collector(), 0);
        while let Some(next) = rest.get(count).filter(|_| !collector.is_full()) {
            let collected = collector.collect_drawn(next.called, next.contents, Some(next.drawn));
            collected.map_err(|error| (first.index, error))?;
            count += 1;
        }
        let Committed { added, result, .. } = role.commit_drawn();
        rest = &rest[added as usize..];
        result.map_err(|error| (rest.first().map_or(first.index, |next| next.index), error))?;
    }
    Ok(())
}

/// Returns the contents of a document with encoded fields.
#[inline]
pub(crate) fn contents<'d>(document: &Document<'d>, fields: &'d [u8]) -> Contents<'d> {
    Contents { text: document.text, fields, place: document.place }
}
