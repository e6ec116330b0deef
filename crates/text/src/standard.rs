//! `standard`: the words of UAX #29, lower-cased.
//!
//! There are three lanes, and a run takes the slowest that it needs:
//!
//! - A run of ASCII that nothing joins to a neighbour is a word. Most are, at little more cost than
//!   in `simple`.
//! - A run with a join (`don't`, `3.14`, `snake_case`) or with characters of known class (`naïve`,
//!   `“so”`) is cut character by character.
//! - If a rarer character decides, a *region* of the text goes to the `unicode-segmentation` crate,
//!   which has all rules and tables.
//!
//! This file only proves where a region may begin and end:
//!
//! - A region begins where the word before it ended (its *floor*). The word has letters, digits
//!   and `_` that joined to nothing. So there is a boundary, and no rule of UAX #29 looks back
//!   across it.
//! - A region ends before ASCII white space that an ASCII byte follows. The rules always break
//!   before such a space, unless another space precedes it. They always break between a space and
//!   an ASCII character that is no space.

use unicode_segmentation::UnicodeSegmentation;

use crate::classes::{CORE, UNKNOWN, class_at, word_end};
use crate::emitter::Emitter;
use crate::fold::Fold;
use crate::joins::Joins;
use crate::scan::{Lower, Run, Runs};
use crate::token::SpanSink;

static JOINS: Joins = Joins::STANDARD;

/// Emits the words of `text`, whose lower-cased copy is `lower` and whose runs are `runs`.
#[inline(never)]
pub(crate) fn words<S: SpanSink>(
    text: &str,
    lower: Lower<'_>,
    runs: Runs<'_>,
    fold: &mut Fold,
    out: &mut Emitter<S>,
) {
    walk(lower, runs, &JOINS, out, |floor, run, out| slow_lane(text, lower, floor, run, fold, out));
}

/// Emits runs that are words alone. Calls `slow(floor, run, out)` for the others.
///
/// `slow` emits everything from `floor` to at least the end of the run. It returns the end of what
/// it emitted, in bytes of the text: the next floor. This may be inside a later run, but only
/// inside a mixed one.
#[inline(always)]
pub(crate) fn walk<S: SpanSink>(
    lower: Lower<'_>,
    mut runs: Runs<'_>,
    joins: &Joins,
    out: &mut Emitter<S>,
    mut slow: impl FnMut(usize, Run, &mut Emitter<S>) -> usize,
) {
    let mut floor = 0;
    let mut position = out.summary.tokens;
    let mut next = runs.next();
    while let Some(run @ Run { start, end, mixed }) = next {
        if mixed | joins.suspect(lower.byte_before(start), lower.pair(end)) {
            out.summary.tokens = position;
            floor = slow(floor, run, out);
            position = out.summary.tokens;
            debug_assert!(floor >= end);
            // Runs below the floor are emitted, and so is the part of a mixed run below it.
            next = runs.find(|run| run.end > floor);
            next = next.map(|run| Run { start: run.start.max(floor), ..run });
        } else {
            out.emit_at(position, lower.from(start), end - start, start..end);
            position += 1;
            floor = end;
            next = runs.next();
        }
    }
    out.summary.tokens = position;
}

/// Cuts runs that are not words alone, see [`walk`].
#[cold]
#[inline(never)]
fn slow_lane<S: SpanSink>(
    text: &str,
    lower: Lower<'_>,
    mut floor: usize,
    run: Run,
    fold: &mut Fold,
    out: &mut Emitter<S>,
) -> usize {
    let mut at = with_underscores(lower, floor, run.start);
    while at < run.end {
        let (class, len) = class_at(text, at);
        if class & (CORE | UNKNOWN) == 0 {
            at += len;
            continue;
        }
        let end = if class == UNKNOWN { None } else { word_end(text, at) };
        let Some(end) = end else { return region(text, floor, run.end, fold, out) };
        emit_word(text, lower, [at, end], fold, out);
        (floor, at) = (end, end);
    }
    at
}

/// Returns the beginning of the word whose run begins at byte `start`, if only `_` are added in
/// front.
pub(crate) fn with_underscores(lower: Lower<'_>, floor: usize, mut start: usize) -> usize {
    while start > floor && lower.byte_before(start) == b'_' {
        start -= 1;
    }
    start
}

/// Emits one word of the text, unless it has only `_`.
pub(crate) fn emit_word<S: SpanSink>(
    text: &str,
    lower: Lower<'_>,
    [start, end]: [usize; 2],
    fold: &mut Fold,
    out: &mut Emitter<S>,
) {
    let word = &text[start..end];
    if !word.is_ascii() {
        fold.emit_lower(word, start, out);
    } else if word.bytes().any(|byte| byte != b'_') {
        out.emit_outlined(lower.from(start), word.len(), start..end);
    }
}

/// Lets the segmentation crate cut the region that begins at `floor` and contains byte `from`.
/// Returns its end.
#[inline(never)]
fn region<S: SpanSink>(
    text: &str,
    floor: usize,
    from: usize,
    fold: &mut Fold,
    out: &mut Emitter<S>,
) -> usize {
    let end = region_end(text.as_bytes(), from);
    for (at, word) in text[floor..end].unicode_word_indices() {
        fold.emit_lower(word, floor + at, out);
    }
    end
}

/// Returns the end of the region that contains byte `from`: see the head of this file. Each round
/// of the loop begins after the last white space.
pub(crate) fn region_end(text: &[u8], from: usize) -> usize {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let mut at = from;
    loop {
        let Some(end) = text[at..].iter().position(is_space).map(|n| at + n) else {
            return text.len();
        };
        let Some(next) = text[end..].iter().position(|byte| !is_space(byte)).map(|n| end + n)
        else {
            return end;
        };
        if text[next].is_ascii() {
            return end;
        }
        at = next;
    }
}
