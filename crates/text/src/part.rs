//! A part of a text that leaves the fast lane, and the way from its normal form to a token's bytes.

use std::ops::Range;

use crate::emitter::Emitter;
use crate::fold::Fold;
use crate::normal::{Normal, may_differ};
use crate::token::SpanSink;

/// A part of a text, as analyzers cut it: in normal form, if that may differ.
pub(crate) struct Part<'a> {
    /// The text to cut.
    pub(crate) text: &'a str,
    /// The part's first byte in the whole text.
    pub(crate) start: usize,
    normal: Option<&'a Normal>,
}

impl Part<'_> {
    /// Calls `cut` with bytes `of` of `text`.
    pub(crate) fn cut<R>(
        text: &str,
        of: Range<usize>,
        fold: &mut Fold,
        cut: impl FnOnce(Part<'_>, &mut Fold) -> R,
    ) -> R {
        let (start, text) = (of.start, &text[of]);
        if !may_differ(text) {
            return cut(Part { text, start, normal: None }, fold);
        }
        let mut normal = fold.lend();
        normal.read(text);
        let part = Part { text: normal.text(), start, normal: Some(&normal) };
        let result = cut(part, fold);
        fold.give_back(normal);
        result
    }

    /// Emits bytes `of` as one token.
    pub(crate) fn emit<S: SpanSink>(
        &self,
        of: Range<usize>,
        fold: &mut Fold,
        out: &mut Emitter<S>,
    ) {
        let within = self.normal.map_or(of.clone(), |normal| normal.span(of.clone()));
        let span = self.start + within.start..self.start + within.end;
        fold.emit_folded(&self.text[of], span, out);
    }
}
