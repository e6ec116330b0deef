//! Writes the record of a row's [values](crate::ground::values) after its tokens are posted. By
//! then the ordinals of its terms are known, and for fields of text the statistics of the rows
//! before.

use crate::fresh::FreshWriter;
use crate::fresh::batch::BatchToken;
use crate::fresh::extent::Extent;
use crate::fresh::field_lengths::FreshLengths;
use crate::ground::term::Term;
use crate::ground::values::{RowValue, ValueKind, record_words, write_record};
use crate::lists::list::Full;
use crate::memory::Memory;

impl FreshWriter {
    #[cold]
    pub(super) fn put_record(
        &mut self,
        memory: &Memory,
        extent: &Extent<'_>,
        tokens: &[BatchToken],
        values: &[RowValue],
    ) -> Result<(), Full> {
        let words = record_words(values.len());
        let first = self.allocate(extent, words).ok_or(Full)?;
        self.record.clear();
        let mut values = values.iter();
        // Each step takes one value, or the two of a field of text, so that the loop ends.
        while let Some(value) = values.next() {
            let bits = match value.kind {
                ValueKind::Keyword => ordinal_of(extent, &tokens[value.bits as usize])?.into(),
                ValueKind::Text => {
                    let kept = values.next().map_or(0, |length| length.bits);
                    self.record.extend(self.fields.values(value.field, kept));
                    continue;
                }
                _ => value.bits,
            };
            self.record.push(RowValue { bits, ..*value });
        }
        write_record(&extent.area()[first as usize..][..words as usize], &self.record);
        self.rows.put_record(memory, first);
        let (lengths, row) = (self.lengths(memory, extent), self.rows());
        self.fields.note(lengths, (memory, self.id), row, &self.record);
        Ok(())
    }

    /// Discounts the newest `rows` rows, which were given up. No reader has seen them: they are
    /// dead from birth.
    pub fn discount(&mut self, memory: &Memory, rows: u32) {
        let lengths = self.lengths(memory, &self.extent(memory));
        self.fields.discount(lengths, self.rows() - rows);
        self.rows.discount(memory, rows);
    }

    /// Returns the lengths of the segment's fields of text.
    fn lengths<'a>(&self, memory: &'a Memory, extent: &Extent<'a>) -> FreshLengths<'a> {
        FreshLengths::new(memory.region(), memory.geometry(), self.rows.records(), *extent)
    }
}

/// Returns the ordinal of a posted token. The tag of the token's slot may have been another term's.
fn ordinal_of(extent: &Extent<'_>, token: &BatchToken) -> Result<u32, Full> {
    if extent.record(token.ordinal).key().is(token.key) {
        return Ok(token.ordinal);
    }
    let (bytes, len) = token.key.inline_bytes();
    extent.find(Term { key: token.key, bytes: &bytes[..len] }, token.hash).ok_or(Full)
}
