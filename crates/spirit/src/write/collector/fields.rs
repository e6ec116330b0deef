//! What a document has besides its text: terms of other fields, behind those of the text; and values.
//!
//! Terms of different fields are different terms, so no phrase goes from one field to the next. Between two values of one
//! field of text there is a gap that no phrase bridges.

use spirit_index::fresh::batch::Batch;
use spirit_index::fresh::extent::Extent;
use spirit_index::ground::roots::Gauge;
use spirit_index::ground::term::{FieldId, Term, TermKey};
use spirit_index::ground::values::ValueKind;
use spirit_schema::{FieldKind, FieldValue, Schema, encoded};
use spirit_text::{Sink, Token};

use super::Collector;
use crate::config::error::WriteError;

/// Positions between two values of one field.
const GAP: u32 = 100;

impl Collector<'_> {
    /// Adds the fields of the current document, whose text has been cut. One that is refused leaves nothing in the batch.
    #[cold]
    pub(super) fn collect_fields(&mut self, text: &str, fields: &[u8]) -> Result<(), WriteError> {
        let (bytes, bytes_max) = (text.len() + fields.len(), self.tokenizers.document_bytes_max());
        if bytes > bytes_max {
            self.batch.unfinish();
            return Err(WriteError::DocumentTooLong { bytes, bytes_max });
        }
        let schema = self.shared.fields.current();
        let first = self.batch.document_start();
        let of_text = self.batch.kept_since(first);
        let cut = Cut { schema: &schema, counts: Vec::new() };
        let counts = cut.all(self, fields);
        self.batch.set_apart(self.batch.kept_since(first) - of_text);
        for (field, kept) in counts.into_iter().filter(|(_, kept)| *kept > 0) {
            self.batch.push_length(field, kept);
        }
        self.batch.sort_values();
        Ok(())
    }

    /// Keeps the document as it was given.
    #[inline]
    pub(super) fn keep(&mut self, text: &str, fields: &[u8]) {
        if fields.is_empty() {
            self.batch.keep_text(text.as_bytes());
        } else {
            self.batch.keep_parts([text.as_bytes(), &[encoded::TEXT_END], fields]);
        }
    }
}

/// The fields of one document on their way.
struct Cut<'s> {
    schema: &'s Schema,
    /// Tokens kept of each field of text so far.
    counts: Vec<(FieldId, u64)>,
}

impl Cut<'_> {
    /// Fields of text first, one behind the other, so that values of one field have no other field between them.
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
        for (field, value) in encoded::values(fields) {
            let (kind, bits) = match value {
                FieldValue::Text(_) => continue,
                FieldValue::Keyword(text) => {
                    if collector.push_term(field, text.as_bytes()) {
                        collector.batch.push_keyword(field);
                    }
                    continue;
                }
                FieldValue::Boolean(yes) => {
                    collector.push_term(field, if yes { b"true" } else { b"false" });
                    (ValueKind::Boolean, yes.into())
                }
                FieldValue::Integer(number) => (ValueKind::Integer, number.cast_unsigned()),
                FieldValue::Float(number) => (ValueKind::Float, number.to_bits()),
                FieldValue::Time(time) => (ValueKind::Time, time.cast_unsigned()),
            };
            collector.batch.push_value(field, kind, bits);
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
    /// Cuts a value of a field of text into the batch; says how many of its tokens are kept.
    fn cut(&mut self, field: FieldId, analyzer: spirit_text::Analyzer, text: &str) -> u64 {
        let first = self.batch.token_count();
        let mut sink = ToField { extent: self.extent, batch: self.batch, field, first };
        let fed = self.tokenizers.of(analyzer).feed(text, &mut sink);
        // No part of a document is longer than the document.
        let Ok(summary) = fed else { return 0 };
        sink.holes_to(summary.tokens);
        if summary.skipped > 0 {
            self.shared.add(Gauge::SkippedTokens, summary.skipped as u64);
        }
        self.batch.kept_since(first) as u64
    }

    /// Adds a term as it is; says whether there is one in these bytes.
    fn push_term(&mut self, field: FieldId, bytes: &[u8]) -> bool {
        let Some(term) = Term::new(field, bytes) else { return false };
        self.extent.prefetch(self.batch.push_any(term.key, bytes));
        true
    }
}

/// Where the tokens of one value go.
struct ToField<'a> {
    extent: Extent<'a>,
    batch: &'a mut Batch,
    field: FieldId,
    /// The batch's tokens before the value's: each position of the value is one more.
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
