//! Tokens: views into a padded buffer.
//!
//! The dictionary keys terms by their first 16 bytes. Every buffer continues for at least
//! [`HEAD_BYTES`] bytes after a token's start. So that key is one load and one mask, not a copy of
//! unknown length.

use std::ops::Range;

/// The width of [`Token::head`] in bytes, and the least number of readable bytes from a token's
/// start.
pub(crate) const HEAD_BYTES: usize = 16;

/// The masks of [`Token::head`]: `HEAD_MASKS[n]` keeps the low `n` bytes.
static HEAD_MASKS: [u128; HEAD_BYTES + 1] = head_masks();

const fn head_masks() -> [u128; HEAD_BYTES + 1] {
    let mut masks = [u128::MAX; HEAD_BYTES + 1];
    let mut n = 0;
    while n < HEAD_BYTES {
        masks[n] = (1 << (8 * n)) - 1;
        n += 1;
    }
    masks
}

/// One token of a text, valid while the sink runs. It has 1 to [`crate::TERM_BYTES_MAX`] bytes.
#[derive(Clone, Copy, Debug)]
pub struct Token<'a> {
    /// The buffer from the token's first byte to the buffer's end: at least `HEAD_BYTES` long.
    tail: &'a [u8],
    len: u32,
    position: u32,
}

impl<'a> Token<'a> {
    /// Returns the token of the first `len` bytes of `tail`, which must have at least `HEAD_BYTES`.
    #[inline(always)]
    pub(crate) fn new(tail: &'a [u8], len: usize, position: u32) -> Token<'a> {
        debug_assert!(0 < len && len <= crate::TERM_BYTES_MAX);
        debug_assert!(tail.len() >= HEAD_BYTES.max(len));
        Token { tail, len: len as u32, position }
    }

    /// Returns the term: 1 to [`crate::TERM_BYTES_MAX`] bytes of UTF-8.
    #[inline(always)]
    pub fn bytes(&self) -> &'a [u8] {
        &self.tail[..self.len as usize]
    }

    /// Returns the term as text.
    pub fn text(&self) -> &'a str {
        std::str::from_utf8(self.bytes()).expect("every analyzer cuts at character boundaries")
    }

    /// Returns the first `min(len, 16)` bytes of the term, little endian, the rest zero.
    #[inline(always)]
    pub fn head(&self) -> u128 {
        let window = self.tail.first_chunk().expect("token buffers are padded");
        u128::from_le_bytes(*window) & HEAD_MASKS[(self.len as usize).min(HEAD_BYTES)]
    }

    /// Returns the length of the term in bytes: 1 to [`crate::TERM_BYTES_MAX`].
    #[expect(clippy::len_without_is_empty, reason = "a token is never empty")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Returns the number of tokens before this one in the text, with those that were left out.
    #[inline(always)]
    pub fn position(&self) -> u32 {
        self.position
    }
}

/// A receiver of a text's tokens, in order.
///
/// It is a trait, not a closure, because a fast sink needs `#[inline(always)]`. Its code then lies
/// in the loop that finds the tokens.
pub trait Sink {
    /// Takes the next token.
    fn token(&mut self, token: Token<'_>);
}

/// A closure as a sink.
pub(crate) struct Each<F>(pub(crate) F);

impl<F: FnMut(Token<'_>)> Sink for Each<F> {
    #[inline(always)]
    fn token(&mut self, token: Token<'_>) {
        (self.0)(token);
    }
}

/// A sink that also gets the bytes of the text that each token was cut from.
///
/// Analyzers feed only these. Every [`Sink`] is one that ignores spans. Unused spans are not
/// computed: the fast lanes compile to the same code as without spans. Only the filter of `english`
/// always uses spans, to hand them on.
pub(crate) trait SpanSink {
    /// Takes the next token, which was cut from `span`.
    fn token_at(&mut self, token: Token<'_>, span: Range<usize>);
}

impl<S: Sink> SpanSink for S {
    #[inline(always)]
    fn token_at(&mut self, token: Token<'_>, _: Range<usize>) {
        self.token(token);
    }
}

/// A closure as a sink that uses spans.
pub(crate) struct EachSpan<F>(pub(crate) F);

impl<F: FnMut(Token<'_>, Range<usize>)> SpanSink for EachSpan<F> {
    #[inline(always)]
    fn token_at(&mut self, token: Token<'_>, span: Range<usize>) {
        (self.0)(token, span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn head_is_the_term_cut_or_padded_to_sixteen_bytes() {
        let buffer: Vec<u8> = (1..=40).collect();
        for len in 1..=20 {
            let token = Token::new(&buffer[3..], len, 7);
            let mut expected = [0; HEAD_BYTES];
            let kept = len.min(HEAD_BYTES);
            expected[..kept].copy_from_slice(&buffer[3..3 + kept]);
            assert_eq!(token.head(), u128::from_le_bytes(expected));
            assert_eq!(token.bytes(), &buffer[3..3 + len]);
            assert_eq!((token.len(), token.position()), (len, 7));
        }
    }
}
