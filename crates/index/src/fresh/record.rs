//! The record of a row's [values](crate::values), written when its tokens are posted: then the ordinals of those that are terms
//! are known.

use super::FreshWriter;
use crate::batch::BatchToken;
use crate::extent::Extent;
use crate::list::Full;
use crate::memory::Memory;
use crate::term::Term;
use crate::values::{RowValue, ValueKind, record_words, write_record};

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
        for value in values {
            let bits = match value.kind {
                ValueKind::Keyword => ordinal_of(extent, &tokens[value.bits as usize])?.into(),
                _ => value.bits,
            };
            self.record.push(RowValue { bits, ..*value });
        }
        write_record(&extent.area()[first as usize..][..words as usize], &self.record);
        self.rows.put_record(memory, first);
        Ok(())
    }
}

/// The ordinal of a token that was posted. Its slot's tag may have been another's.
fn ordinal_of(extent: &Extent<'_>, token: &BatchToken) -> Result<u32, Full> {
    if extent.record(token.ordinal).key().is(token.key) {
        return Ok(token.ordinal);
    }
    let (bytes, len) = token.key.inline_bytes();
    extent.find(Term { key: token.key, bytes: &bytes[..len] }, token.hash).ok_or(Full)
}
