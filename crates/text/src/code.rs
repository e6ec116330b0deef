//! `code`: `standard`, with the signs that belong to names in programming.
//!
//! - `++` directly behind a word that begins with a letter ends it (`C++`, `g++`), unless a letter
//!   or `_` follows. A version may follow: `C++17` is `c++` and `17`.
//! - `#` behind such a word ends it (`C#`, `F#`), unless a letter, a digit or `_` follows.
//! - A sign that a mark or a tone of skin continues belongs to that, and no word.
//! - `.` directly in front of a letter begins a word (`.NET`, `.gitignore`), if it stands at the
//!   beginning of the text, behind white space, or behind an opening sign such as `(`, `"` or `/`.
//!
//! So `c`, `c++` and `c#` are three terms. Names such as `node.js` and `snake_case` are whole in
//! `standard` already. `social` has the first two rules as well.

use std::ops::Range;

use crate::emitter::Emitter;
use crate::fold::Fold;
use crate::joins::Joins;
use crate::scan::{Lower, Runs};
use crate::signs::{extends_sign, is_apostrophe};
use crate::standard::{Around, slow_lane, walk};
use crate::token::SpanSink;

static JOINS: Joins = Joins::CODE;

/// Emits the words of `text`, whose lower-cased copy is `lower` and whose runs are `runs`.
#[inline(never)]
pub(crate) fn words<S: SpanSink>(
    text: &str,
    lower: Lower<'_>,
    runs: Runs<'_>,
    fold: &mut Fold,
    out: &mut Emitter<S>,
) {
    walk(lower, runs, &JOINS, out, |floor, run, out| {
        slow_lane(text, lower, floor, run, &widened, fold, out)
    });
}

/// Returns a word with its signs; none if the normal form may have others.
fn widened(around: Around<'_>, word: Range<usize>) -> Option<Range<usize>> {
    let end = word.end + signs_behind(around.text, &word, around.is_normal)?;
    let start = if has_dot_before(around, &word) { word.start - 1 } else { word.start };
    Some(start..end)
}

/// Returns the number of bytes of the signs behind a word of `text` that end it. None if a character
/// that normalizing may remove stands among or behind them, unless the text is normalized.
pub(crate) fn signs_behind(text: &str, word: &Range<usize>, is_normal: bool) -> Option<usize> {
    let rest = &text[word.end..];
    let bytes = match rest.as_bytes() {
        [b'+', b'+', ..] => 2,
        [b'#', ..] => 1,
        [b'+', 0x80..=0xff, ..] if !is_normal => return None,
        _ => return Some(0),
    };
    let is_digit = |c: char| c.is_numeric() && bytes == 2;
    match rest[bytes..].chars().next() {
        _ if !text[word.clone()].starts_with(char::is_alphabetic) => Some(0),
        Some(c) if !c.is_ascii() && !is_normal => None,
        Some('+' | '#' | '_') => Some(0),
        Some(c) if c.is_alphanumeric() && !is_digit(c) => Some(0),
        Some(c) if extends_sign(c) => Some(0),
        _ => Some(bytes),
    }
}

fn has_dot_before(Around { text, floor, before, .. }: Around<'_>, word: &Range<usize>) -> bool {
    if word.start <= floor || !text[..word.start].ends_with('.') {
        return false;
    }
    let begins_word = text[word.clone()].starts_with(char::is_alphabetic);
    let before = text[..word.start - 1].chars().next_back().or(before);
    begins_word && before.is_none_or(|c| c.is_whitespace() || is_opening(c))
}

/// True for signs before which no word ends, so that a dot behind them ends no sentence.
fn is_opening(c: char) -> bool {
    matches!(c, '(' | '[' | '{' | '<' | '"' | '`' | '/' | '\\' | ',' | ';' | ':' | '=' | '|')
        || matches!(c, '\'' | '“' | '„' | '«' | '‚' | '–' | '—')
        || is_apostrophe(c)
}
