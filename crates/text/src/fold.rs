//! A padded buffer for one term that cannot be read from the lower-cased text.
//!
//! It holds words with non-ASCII letters, stems, and verbatim keywords. The lower-case form of such
//! a word may have another length: `İ` grows from two bytes to three. Case is mapped character by
//! character, without context. A final `Σ` becomes `σ`, so that a word and its prefix fold alike.

use std::ops::Range;

use crate::TERM_BYTES_MAX;
use crate::emitter::Emitter;
use crate::token::{HEAD_BYTES, SpanSink, Token};

/// The length of a term that outgrew the buffer. The emitter skips such terms.
const OVERFLOW: usize = TERM_BYTES_MAX + 1;

/// A term under construction.
pub(crate) struct Fold {
    /// The longest term, and the bytes after it that [`Token::head`] may read.
    bytes: [u8; TERM_BYTES_MAX + HEAD_BYTES],
    /// The number of bytes in use, or `OVERFLOW`.
    len: usize,
}

impl Fold {
    pub(crate) fn new() -> Fold {
        Fold { bytes: [0; TERM_BYTES_MAX + HEAD_BYTES], len: 0 }
    }

    /// Appends bytes unchanged. A term that grows too long will be skipped.
    fn push(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        if end > TERM_BYTES_MAX {
            self.len = OVERFLOW;
            return;
        }
        self.bytes[self.len..end].copy_from_slice(bytes);
        self.len = end;
    }

    /// Appends the lower-case form of a character.
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

    /// Hands the term to the sink, unless it is empty, and begins the next one.
    fn emit<S: SpanSink>(&mut self, span: Range<usize>, out: &mut Emitter<S>) {
        if self.len != 0 {
            out.emit_outlined(&self.bytes, self.len, span);
        }
        self.len = 0;
    }

    /// Emits `word` lower-cased, as one token. It begins at byte `start` of the text.
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

    /// Emits `value` verbatim, as one token. It begins at byte `start` of the text.
    pub(crate) fn emit_verbatim<S: SpanSink>(
        &mut self,
        value: &str,
        start: usize,
        out: &mut Emitter<S>,
    ) {
        self.push(value.as_bytes());
        self.emit(start..start + value.len(), out);
    }

    /// Returns the term `bytes` in a padded buffer, at `position`. It must fit.
    pub(crate) fn token(&mut self, bytes: &[u8], position: u32) -> Token<'_> {
        self.bytes[..bytes.len()].copy_from_slice(bytes);
        Token::new(&self.bytes, bytes.len(), position)
    }
}
