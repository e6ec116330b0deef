//! `simple`: maximal runs of Unicode alphanumeric characters, lower-cased, nothing dropped.
//!
//! The least clever analyzer, and the one other engines can be set up to match token for token. An ASCII run is a token as
//! it stands; a run with other characters is split character by character, and only that run pays for it.

use crate::emitter::Emitter;
use crate::fold::Fold;
use crate::scan::{Lower, Run, Runs};
use crate::token::Token;

/// Emits the tokens of `text`, whose lower-cased copy is `lower` and whose runs are `runs`.
#[inline(always)]
pub(crate) fn words<F: FnMut(Token<'_>)>(
    text: &str,
    lower: Lower<'_>,
    runs: Runs<'_>,
    fold: &mut Fold,
    out: &mut Emitter<F>,
) {
    for Run { start, end, mixed } in runs {
        if mixed {
            split_run(&text[start..end], fold, out);
        } else {
            out.emit(lower.from(start), end - start);
        }
    }
}

/// A run with non-ASCII characters: some may be letters, some punctuation.
#[cold]
#[inline(never)]
fn split_run<F: FnMut(Token<'_>)>(run: &str, fold: &mut Fold, out: &mut Emitter<F>) {
    for c in run.chars() {
        if c.is_alphanumeric() {
            fold.push_lower(c);
        } else {
            fold.emit(out);
        }
    }
    fold.emit(out);
}
