//! A padded buffer for one term that cannot be read straight out of the lower-cased text.
//!
//! It holds words with non-ASCII letters, whose lower-case form may have another length (`İ` grows
//! from two bytes to three), stems, and verbatim keywords. Case is mapped character by character,
//! without context: a final `Σ` becomes `σ`, so that a word and its prefix fold alike.

use std::ops::Range;

use crate::TERM_BYTES_MAX;
use crate::emitter::Emitter;
use crate::token::{HEAD_BYTES, SpanSink, Token};

/// Length recorded for a term that outgrew the buffer: any value the emitter will skip.
const OVERFLOW: usize = TERM_BYTES_MAX + 1;

/// One term under construction.
pub(crate) struct Fold {
    /// Room for the longest term, and beyond it the bytes [`Token::head`] may read.
    bytes: [u8; TERM_BYTES_MAX + HEAD_BYTES],
    /// Bytes in use, or `OVERFLOW`.
    len: usize,
}

impl Fold {
    pub(crate) fn new() -> Fold {
        Fold { bytes: [0; TERM_BYTES_MAX + HEAD_BYTES], len: 0 }
    }

    /// Appends bytes as they are; a term that grows too long becomes one to skip.
    fn push(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        if end > TERM_BYTES_MAX {
            self.len = OVERFLOW;
            return;
        }
        self.bytes[self.len..end].copy_from_slice(bytes);
        self.len = end;
    }

    /// Appends one character's lower-case form.
    fn push_lower(&mut self, c: char) {
        if c.is_ascii() && self.len < TERM_BYTES_MAX {
            self.bytes[self.len] = c.to_ascii_lowercase() as u8;
            self.len += 1;
            return;
        }
        for lower in c.to_lowercase() {
            self.push(lower.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }

    /// Hands the term to the sink, unless it is empty, and starts the next one.
    fn emit<S: SpanSink>(&mut self, span: Range<usize>, out: &mut Emitter<S>) {
        if self.len != 0 {
            out.emit_outlined(&self.bytes, self.len, span);
        }
        self.len = 0;
    }

    /// Emits `word` lower-cased, as one token; it begins at byte `start` of the text.
    pub(crate) fn emit_lower<S: SpanSink>(
        &mut self,
        word: &str,
        start: usize,
        out: &mut Emitter<S>,
    ) {
        for c in word.chars() {
            self.push_lower(c);
        }
        self.emit(start..start + word.len(), out);
    }

    /// Emits `value` verbatim, as one token; it begins at byte `start` of the text.
    pub(crate) fn emit_verbatim<S: SpanSink>(
        &mut self,
        value: &str,
        start: usize,
        out: &mut Emitter<S>,
    ) {
        self.push(value.as_bytes());
        self.emit(start..start + value.len(), out);
    }

    /// The term `bytes` in a padded buffer, at `position`; it must fit.
    pub(crate) fn token(&mut self, bytes: &[u8], position: u32) -> Token<'_> {
        self.bytes[..bytes.len()].copy_from_slice(bytes);
        Token::new(&self.bytes, bytes.len(), position)
    }
}
