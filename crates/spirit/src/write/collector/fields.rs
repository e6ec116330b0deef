//! Fields of a document: terms of fields, after those of the text, and values.
//!
//! Terms of different fields are different terms, so no phrase spans two fields. Between two values
//! of one text field there is a gap that no phrase spans.

use std::sync::Arc;

use spirit_index::fresh::Batch;
use spirit_index::fresh::Extent;
use spirit_index::ground::Gauge;
use spirit_index::ground::ValueKind;
use spirit_index::ground::{FieldId, Term, TermKey};
use spirit_schema::{Field, FieldKind, FieldValue, Schema, encoded};
use spirit_text::{Sink, Token};

use super::Collector;
use crate::config::error::WriteError;
use crate::storage::fields::Fields;

/// The positions between two values of one field.
const GAP: u32 = 100;

impl Collector<'_> {
    /// Adds the fields of the current document, whose text has been cut. A document that is refused
    /// leaves nothing in the batch.
    #[cold]
    pub(super) fn collect_fields(&mut self, text: &str, fields: &[u8]) -> Result<(), WriteError> {
        let (bytes, bytes_max) = (text.len() + fields.len(), self.tokenizers.document_bytes_max());
        if bytes > bytes_max {
            self.batch.unfinish();
            return Err(WriteError::DocumentTooLong { bytes, bytes_max });
        }
        let schema = self.schema.take(&self.shared.fields);
        let first = self.batch.document_start();
        let of_text = self.batch.kept_since(first);
        let cut = Cut { schema: &schema, counts: Vec::new() };
        let counts = cut.all(self, fields);
        self.schema.put_back(schema);
        self.batch.set_apart(self.batch.kept_since(first) - of_text);
        for (field, kept) in counts.into_iter().filter(|(_, kept)| *kept > 0) {
            self.batch.push_length(field, kept);
        }
        self.batch.sort_values();
        Ok(())
    }

    /// Keeps the document as given.
    #[inline]
    pub(super) fn keep(&mut self, text: &str, fields: &[u8]) {
        if fields.is_empty() {
            self.batch.keep_text(text.as_bytes());
        } else {
            self.batch.keep_parts([text.as_bytes(), &[encoded::TEXT_END], fields]);
        }
    }
}

/// The schema as an ingest role knows it. It is read again only once it has grown: all threads share
/// the lock of the newest one.
#[derive(Default)]
pub(crate) struct KnownSchema {
    growths: u64,
    schema: Option<Arc<Schema>>,
}

impl KnownSchema {
    /// Takes the schema out, which has the fields of all documents that reached the role.
    fn take(&mut self, fields: &Fields) -> Arc<Schema> {
        // Loaded before the schema: one that grows in between is read again the next time.
        let growths = fields.growths();
        match self.schema.take().filter(|_| self.growths == growths) {
            Some(schema) => schema,
            None => {
                self.growths = growths;
                fields.current()
            }
        }
    }

    fn put_back(&mut self, schema: Arc<Schema>) {
        self.schema = Some(schema);
    }
}

/// The fields of one document being cut.
struct Cut<'s> {
    schema: &'s Schema,
    /// The number of kept tokens of each text field so far.
    counts: Vec<(FieldId, u64)>,
}

impl Cut<'_> {
    /// Cuts all fields. Text fields come first and are sorted, so no other field is between two
    /// values of one field.
    fn all(mut self, collector: &mut Collector<'_>, fields: &[u8]) -> Vec<(FieldId, u64)> {
        let mut texts: Vec<(FieldId, &str)> = encoded::values(fields)
            .filter_map(|(field, value)| match value {
                FieldValue::Text(text) => Some((field, text)),
                _ => None,
            })
            .collect();
        texts.sort_by_key(|(field, _)| *field);
        for (field, text) in texts {
            self.text(collector, field, text);
        }
        let mut has_objects = false;
        for (field, value) in encoded::values(fields) {
            let (kind, bits) = match value {
                FieldValue::Text(text) => {
                    // A value that is too long for a term is words alone.
                    let keywords = self.schema.get(field).and_then(Field::keywords);
                    keywords.into_iter().for_each(|field| collector.push_keyword(field, text));
                    continue;
                }
                FieldValue::Keyword(text) => {
                    collector.push_keyword(field, text);
                    continue;
                }
                FieldValue::Boolean(yes) => {
                    collector.push_term(field, if yes { b"true" } else { b"false" });
                    (ValueKind::Boolean, yes.into())
                }
                FieldValue::Integer(number) => (ValueKind::Integer, number.cast_unsigned()),
                FieldValue::Float(number) => (ValueKind::Float, number.to_bits()),
                FieldValue::Time(time) => (ValueKind::Time, time.cast_unsigned()),
                FieldValue::Object => {
                    has_objects = true;
                    continue;
                }
            };
            collector.batch.push_value(field, kind, bits);
        }
        if has_objects {
            collector.collect_objects(self.schema, fields);
        }
        self.counts
    }

    fn text(&mut self, collector: &mut Collector<'_>, field: FieldId, text: &str) {
        let known = self.schema.get(field).map(|field| field.kind);
        let Some(FieldKind::Text(analyzer)) = known else { return };
        let is_next = self.counts.last().is_some_and(|(last, _)| *last == field);
        if is_next {
            collector.batch.push_gap(GAP);
        } else {
            self.counts.push((field, 0));
        }
        let kept = collector.cut(field, analyzer, text);
        if let Some((_, count)) = self.counts.last_mut() {
            *count += kept;
        }
    }
}

impl Collector<'_> {
    /// Cuts a value of a text field into the batch. Returns the number of tokens kept.
    fn cut(&mut self, field: FieldId, analyzer: spirit_text::Analyzer, text: &str) -> u64 {
        let first = self.batch.token_count();
        let mut sink = ToField { extent: self.extent, batch: self.batch, field, first };
        let fed = self.tokenizers.of(analyzer).feed(text, &mut sink);
        // Cannot fail: no part of a document is longer than the document.
        let Ok(summary) = fed else { return 0 };
        sink.holes_to(summary.tokens);
        if summary.skipped > 0 {
            self.shared.add(Gauge::SkippedTokens, summary.skipped as u64);
        }
        self.batch.kept_since(first) as u64
    }

    /// Adds a value that is one term.
    fn push_keyword(&mut self, field: FieldId, text: &str) {
        if self.push_term(field, text.as_bytes()) {
            self.batch.push_keyword(field);
        }
    }

    /// Adds a term as it is. False if these bytes are no term.
    pub(super) fn push_term(&mut self, field: FieldId, bytes: &[u8]) -> bool {
        let Some(term) = Term::new(field, bytes) else { return false };
        self.extent.prefetch(self.batch.push_any(term.key, bytes));
        true
    }
}

/// The receiver of one value's tokens.
struct ToField<'a> {
    extent: Extent<'a>,
    batch: &'a mut Batch,
    field: FieldId,
    /// The number of the batch's tokens before the value's. Each position of the value adds one.
    first: usize,
}

impl ToField<'_> {
    fn holes_to(&mut self, position: u32) {
        while self.batch.token_count() - self.first < position as usize {
            self.batch.push_hole();
        }
    }
}

impl Sink for &mut ToField<'_> {
    #[inline]
    fn token(&mut self, token: Token<'_>) {
        self.holes_to(token.position());
        let key = TermKey::new(self.field, token.head(), token.bytes());
        self.extent.prefetch(self.batch.push_any(key, token.bytes()));
    }
}
