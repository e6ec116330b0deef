//! Counts positions and hands tokens to the sink: the one door through which every analyzer's
//! tokens leave.
//!
//! The length limit is enforced here and nowhere else. [`Emitter::emit_at`] is inlined into the hot
//! loops; everything off the fast lane goes through [`Emitter::emit_outlined`], so a sink's code is
//! not repeated at each rare call site.

use std::ops::Range;

use crate::TERM_BYTES_MAX;
use crate::token::{SpanSink, Token};

/// What became of one text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Positions used, tokens that did not reach the sink included.
    pub tokens: u32,
    /// Tokens longer than [`TERM_BYTES_MAX`], which took a position but did not reach the sink.
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

    /// Emits the first `len` bytes of `tail`, which is padded as [`Token::new`] asks, and was cut from `span` of the text.
    #[inline(always)]
    pub(crate) fn emit(&mut self, tail: &[u8], len: usize, span: Range<usize>) {
        let position = self.summary.tokens;
        self.summary.tokens += 1;
        self.emit_at(position, tail, len, span);
    }

    /// [`Emitter::emit`] for a loop that counts positions itself, in a register, and stores the
    /// count before anybody looks.
    #[inline(always)]
    pub(crate) fn emit_at(&mut self, position: u32, tail: &[u8], len: usize, span: Range<usize>) {
        if len > TERM_BYTES_MAX {
            self.summary.skipped += 1;
            return;
        }
        self.sink.token_at(Token::new(tail, len, position), span);
    }

    /// [`Emitter::emit`] for places that are not worth a copy of the sink.
    #[inline(never)]
    pub(crate) fn emit_outlined(&mut self, tail: &[u8], len: usize, span: Range<usize>) {
        self.emit(tail, len, span);
    }

    /// Hands on a token another emitter has already numbered and measured.
    #[inline(never)]
    pub(crate) fn forward(&mut self, token: Token<'_>, span: Range<usize>) {
        self.sink.token_at(token, span);
    }
}
