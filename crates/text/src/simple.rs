//! `simple`: maximal runs of Unicode alphanumeric characters, lower-cased. Nothing is dropped.
//!
//! The simplest analyzer. Other engines can be configured to match it token for token. An ASCII run
//! is a token. A run with other characters is split character by character, and only that run costs
//! time.

use crate::emitter::Emitter;
use crate::fold::Fold;
use crate::scan::{Lower, Run, Runs};
use crate::token::SpanSink;

/// Emits the tokens of `text`, whose lower-cased copy is `lower` and whose runs are `runs`.
#[inline(never)]
pub(crate) fn words<S: SpanSink>(
    text: &str,
    lower: Lower<'_>,
    runs: Runs<'_>,
    fold: &mut Fold,
    out: &mut Emitter<S>,
) {
    let mut position = out.summary.tokens;
    runs.for_each(|Run { start, end, mixed }| {
        if mixed {
            out.summary.tokens = position;
            split_run(text, lower, [start, end], fold, out);
            position = out.summary.tokens;
        } else {
            out.emit_at(position, lower.from(start), end - start, start..end);
            position += 1;
        }
    });
    out.summary.tokens = position;
}

/// Splits a run with non-ASCII characters: some may be letters, some punctuation.
#[cold]
#[inline(never)]
fn split_run<S: SpanSink>(
    text: &str,
    lower: Lower<'_>,
    [start, end]: [usize; 2],
    fold: &mut Fold,
    out: &mut Emitter<S>,
) {
    let mut word = start;
    for (offset, c) in text[start..end].char_indices() {
        if !is_alphanumeric(c) {
            let at = start + offset;
            emit_word(text, lower, [word, at], fold, out);
            word = at + c.len_utf8();
        }
    }
    emit_word(text, lower, [word, end], fold, out);
}

/// Like `char::is_alphanumeric`, for characters of runs.
fn is_alphanumeric(c: char) -> bool {
    match c {
        ..='\u{7f}' => true,
        // General punctuation, the most common reason to be here: dashes and curly quotation marks.
        // Saves two table searches.
        '\u{2000}'..='\u{206f}' => false,
        _ => c.is_alphanumeric(),
    }
}

/// Emits one word of the text, which may be empty.
fn emit_word<S: SpanSink>(
    text: &str,
    lower: Lower<'_>,
    [start, end]: [usize; 2],
    fold: &mut Fold,
    out: &mut Emitter<S>,
) {
    let word = &text[start..end];
    if !word.is_ascii() {
        fold.emit_lower(word, start, out);
    } else if !word.is_empty() {
        out.emit_outlined(lower.from(start), word.len(), start..end);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_shortcut_agrees_with_the_standard_library() {
        let others = ('\u{80}'..=char::MAX).chain('0'..='9').chain('A'..='Z').chain('a'..='z');
        assert!(others.into_iter().all(|c| super::is_alphanumeric(c) == c.is_alphanumeric()));
    }
}
