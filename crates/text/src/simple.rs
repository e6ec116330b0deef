//! `simple`: maximal runs of Unicode alphanumeric characters and the marks behind them, folded.
//! Nothing is dropped.
//!
//! The simplest analyzer. Other engines can be configured to match it token for token in ASCII text.
//! An ASCII run is a token. A run with other characters is normalized and split character by
//! character. Only that run costs time.

use crate::emitter::Emitter;
use crate::fold::Fold;
use crate::part::Part;
use crate::scan::{Lower, Run, Runs};
use crate::signs::is_mark;
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
            split_run(text, [start, end], fold, out);
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
    [start, end]: [usize; 2],
    fold: &mut Fold,
    out: &mut Emitter<S>,
) {
    Part::cut(text, start..end, fold, |part, fold| {
        let mut word = None;
        for (at, c) in part.text.char_indices() {
            let continues = is_alphanumeric(c) || word.is_some() && is_mark(c);
            match word {
                None if continues && !is_mark(c) => word = Some(at),
                Some(start) if !continues => {
                    part.emit(start..at, fold, out);
                    word = None;
                }
                _ => {}
            }
        }
        if let Some(start) = word {
            part.emit(start..part.text.len(), fold, out);
        }
    });
}

/// Like `char::is_alphanumeric`, for characters of runs.
fn is_alphanumeric(c: char) -> bool {
    match c {
        ..='\u{7f}' => c.is_ascii_alphanumeric(),
        // General punctuation, the most common reason to be here: dashes and curly quotation marks.
        // Saves two table searches.
        '\u{2000}'..='\u{206f}' => false,
        _ => c.is_alphanumeric(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_shortcut_agrees_with_the_standard_library() {
        assert!(('\0'..=char::MAX).all(|c| super::is_alphanumeric(c) == c.is_alphanumeric()));
    }
}
