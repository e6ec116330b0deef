//! The emitter counts positions and hands tokens to the sink. All tokens of all analyzers pass it.
//!
//! Only the emitter enforces the length limit. [`Emitter::emit_at`] is inlined into the hot loops.
//! All code off the fast lane calls [`Emitter::emit_outlined`], so that a sink's code is not
//! repeated at each rare call site.

use std::ops::Range;

use crate::TERM_BYTES_MAX;
use crate::token::{SpanSink, Token};

/// Counts of one text's tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The number of positions used, with tokens that did not reach the sink.
    pub tokens: u32,
    /// The number of tokens longer than [`TERM_BYTES_MAX`]. They took a position but did not reach
    /// the sink.
    pub skipped: u32,
}

/// A sink and the position of the next token.
pub(crate) struct Emitter<S> {
    pub(crate) summary: Summary,
    sink: S,
}

impl<S: SpanSink> Emitter<S> {
    pub(crate) fn new(sink: S) -> Emitter<S> {
        Emitter { summary: Summary::default(), sink }
    }

    /// Emits the first `len` bytes of `tail`, cut from `span` of the text. `tail` must be padded,
    /// see [`Token::new`].
    #[inline(always)]
    pub(crate) fn emit(&mut self, tail: &[u8], len: usize, span: Range<usize>) {
        let position = self.summary.tokens;
        self.summary.tokens += 1;
        self.emit_at(position, tail, len, span);
    }

    /// Emits like [`Emitter::emit`], for a loop that counts positions in a register. The loop must
    /// store the count before it is read.
    #[inline(always)]
    pub(crate) fn emit_at(&mut self, position: u32, tail: &[u8], len: usize, span: Range<usize>) {
        if len > TERM_BYTES_MAX {
            self.summary.skipped += 1;
            return;
        }
        self.sink.token_at(Token::new(tail, len, position), span);
    }

    /// Emits like [`Emitter::emit`], for call sites that are not worth a copy of the sink.
    #[inline(never)]
    pub(crate) fn emit_outlined(&mut self, tail: &[u8], len: usize, span: Range<usize>) {
        self.emit(tail, len, span);
    }

    /// Hands on a token that another emitter has numbered and measured.
    #[inline(never)]
    pub(crate) fn forward(&mut self, token: Token<'_>, span: Range<usize>) {
        self.sink.token_at(token, span);
    }
}
